"""Write: a sentence goes in. The first page that people see."""

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from burnish.commands.write import build_request
from burnish.errors import SetupProblem
from burnish.model_choice import last_speeds
from burnish.models.catalog import CATALOG
from burnish.models.discovery import list_all_models
from burnish.models.weights import is_checked
from burnish.web.forms import MINUTES, SURE, read_form, read_limits, read_text
from burnish.web.model_menu import describe_estimate, estimate, list_menu
from burnish.web.page import Tab, choose_language, render, render_problem, translator
from burnish.web.views.runs import list_cut_off

TAB = Tab("Write", "/")
EXAMPLES = {
    "A price with tax": "a function with_tax(net, percent=19) that adds a tax to a price and rounds to two decimals, "
    "e.g. with_tax(100) == 119.0, with_tax(10, 7) == 10.7, with_tax(19.99) == 23.79",
    "Roman numerals": "a function roman(n) that turns 1..3999 into a Roman numeral, e.g. roman(1994) == 'MCMXCIV'; "
    "ValueError for anything else",
    "Leap years": "a function is_leap(year) that says whether a year has 366 days, e.g. is_leap(2024) is True, "
    "is_leap(2023) is False, is_leap(1900) is False, is_leap(2000) is True",
}
"""To click: what it is about, and the sentence."""


async def show_form(request: Request) -> Response:
    """The empty form; the models of servers come a moment later, as those have to be asked."""
    return await run_in_threadpool(_render_form, request)


def _render_form(request: Request, status: int = 200, problem: str = "", **typed: str) -> Response:
    t = translator(choose_language(request))
    models = list_menu((), last_speeds(), t)
    from_run = request.query_params.get("from", "")
    values = {"sentence": "", "model": models[0].name, "minutes": "3", "from_run": from_run, **typed}
    return render(
        request,
        "write.html",
        status,
        models=models,
        examples=EXAMPLES,
        choices=tuple(MINUTES),
        verb="write",
        problem=problem,
        cut_off=len(list_cut_off(request.app.state.runs)),
        earlier=request.app.state.store.open_version(values["from_run"]) if values["from_run"] else None,
        **values,
    )


async def show_menu(request: Request) -> Response:
    """The options of the model menu, those of servers too."""

    def build() -> Response:
        t = translator(choose_language(request))
        models = list_menu(list_all_models(), last_speeds(), t)
        return render(request, "parts/model_options.html", models=models, model=request.query_params.get("model", ""))

    return await run_in_threadpool(build)


async def show_estimate(request: Request) -> Response:
    """About how long, and at most how much, for what is chosen; and how far its weights are, where it has none yet."""
    chosen, t = request.query_params, translator(choose_language(request))

    def build() -> Response:
        verb = "fix" if read_text(chosen, "verb") == "fix" else "write"
        name = read_text(chosen, "model")
        found = estimate(name, read_limits(chosen), request.app.state.store, verb)
        entry, job = CATALOG.get(name), request.app.state.model_jobs.find("fetch", name)
        missing = entry if entry and not is_checked(entry) else None
        said = render(
            request, "parts/estimate.html", text=describe_estimate(found, t), verb=verb, missing=missing, job=job
        )
        if "fetching" in chosen and not missing:
            said.headers["HX-Trigger"] = "models-changed"
        return said

    return await run_in_threadpool(build)


async def begin(request: Request) -> Response:
    """Begin a run and go to its page. What the user can put right is said above the form, which stays as it was."""
    form = await read_form(request)
    typed = {name: read_text(form, name) for name in ("sentence", "model", "minutes", "from_run")}

    def start() -> Response:
        try:
            if not typed["sentence"]:
                raise SetupProblem("Say in a sentence what you would like to have written.")
            asked = build_request(
                typed["sentence"],
                typed["model"] or None,
                store=request.app.state.store,
                from_run=typed["from_run"] or None,
                fast=read_text(form, "fast") == "on",
                limits=read_limits(form),
                confidence=SURE.get(read_text(form, "sure"), SURE["usual"]),
                ask=read_text(form, "ask") == "on",
                review=read_text(form, "review") == "on",
            )
            active = request.app.state.runs.write(asked, request.state.owner)
        except SetupProblem as problem:
            return _render_form(request, 400, str(problem), **typed)
        return RedirectResponse(f"/runs/{active.id}", 303)

    return await run_in_threadpool(start)


async def set_language(request: Request) -> Response:
    """Remember the reader's language, and go back to where they were."""
    from burnish.web.page import LANGUAGE_COOKIE, LANGUAGES

    form = await read_form(request)
    chosen, back = read_text(form, "language"), read_text(form, "back")
    if chosen not in LANGUAGES:
        return render_problem(request, SetupProblem("There is no such language here."))
    response = RedirectResponse(back if back.startswith("/") and not back.startswith("//") else "/", 303)
    response.set_cookie(LANGUAGE_COOKIE, chosen, max_age=365 * 24 * 3600, httponly=True, samesite="strict")
    return response


ROUTES = [
    Route("/", show_form),
    Route("/write", begin, methods=["POST"]),
    Route("/write/models", show_menu),
    Route("/write/estimate", show_estimate),
    Route("/language", set_language, methods=["POST"]),
]
