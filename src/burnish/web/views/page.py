"""Pages: a sentence or a case goes in, and JavaScript runs before one's eyes. The page of such a run is `run`'s."""

import re
from importlib.resources import files

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Route

from burnish.commands.page import build_request, tick
from burnish.errors import SetupProblem
from burnish.model_choice import last_speeds
from burnish.pages.rubric import SHIPPED, load_case
from burnish.web.forms import MINUTES, read_form, read_limits, read_number, read_text
from burnish.web.model_menu import list_menu
from burnish.web.page import Tab, choose_language, render, translator
from burnish.web.page_view import PageView
from burnish.web.run_view import RunView, open_view
from burnish.web.views.runs import STATES

TAB = Tab("Pages", "/pages")
EXAMPLES = {
    "The Game of Life": "Conway's Game of Life on the canvas, a start button, generations per second in a box",
    "A clock": "An analogue clock on the canvas with a second hand that moves, and below it the date in words",
}
"""To click: what it is about, and the sentence."""
MOST_ROWS = 20
PICTURE = re.compile(r"\d{1,6}\.(png|webp)")
SAID = {"yes": True, "no": False, "back": None}
FIELDS = ("sentence", "case", "model", "where", "rounds", "minutes", "dollars", "from_run")


async def show_form(request: Request) -> Response:
    """The form, and the pages so far."""
    return await run_in_threadpool(_render_form, request, {"from_run": request.query_params.get("from", "")})


def _render_form(request: Request, typed: dict[str, str], problem: str = "") -> Response:
    models, store = list_menu((), last_speeds(), translator(choose_language(request))), request.app.state.store
    context = read_usual_context()
    usual = dict.fromkeys(FIELDS, "") | {"model": models[0].name, "rounds": "4", "minutes": "3", "context": context}
    earlier = store.open_version(typed["from_run"]) if typed["from_run"] else None
    return render(
        request,
        "page.html",
        400 if problem else 200,
        models=models,
        examples=EXAMPLES,
        choices=tuple(MINUTES),
        cases=[load_case(name) for name in SHIPPED],
        context=context,
        problem=problem,
        earlier=earlier,
        rows=[row for row in store.list() if row.verb == "page"][:MOST_ROWS],
        states=STATES,
        typed=usual | {name: text for name, text in typed.items() if text},
    )


def read_usual_context() -> str:
    """What a model is told of its surroundings, unless somebody says it otherwise."""
    return (files("burnish.pages") / "context.md").read_text("utf-8")


async def begin(request: Request) -> Response:
    """Begin a page and go to it. What the user can put right is said above the form, which stays as it was."""
    form = await read_form(request)
    typed = {name: read_text(form, name) for name in (*FIELDS, "context")}

    def start() -> Response:
        try:
            if not (typed["sentence"] or typed["case"]):
                raise SetupProblem("Say in a sentence what you would like to see, or choose a case.")
            limits = read_limits(form).model_copy(update={"rounds": min(read_number(form, "rounds") or 0, 100)})
            asked = build_request(
                typed["sentence"],
                typed["model"] or None,
                case=typed["case"],
                context=typed["context"],
                from_run=typed["from_run"] or None,
                headless=typed["where"] == "headless",
                limits=limits,
                store=request.app.state.store,
            )
            active = request.app.state.runs.page(asked, request.state.owner)
        except SetupProblem as problem:
            return _render_form(request, typed, str(problem))
        return RedirectResponse(f"/runs/{active.id}", 303)

    return await run_in_threadpool(start)


def _open_page(request: Request) -> tuple[RunView, PageView]:
    view = open_view(request.app.state.runs, request.path_params["run"])
    if view.page is None:
        raise SetupProblem("This is no page.")
    return view, view.page


async def show_version(request: Request) -> Response:
    """Code of one version, and what differs from the one before."""

    def build() -> Response:
        view, page = _open_page(request)
        found = next((one for one in page.versions if one.cycle == request.path_params["cycle"]), None)
        if found is None:
            raise SetupProblem("There is no such version.")
        return render(request, "page/version.html", view=view, one=found)

    return await run_in_threadpool(build)


async def show_picture(request: Request) -> Response:
    """A picture of one version: a recording where there is one, else as it looked."""
    name = request.path_params["file"]
    folder = await run_in_threadpool(request.app.state.store.find, request.path_params["run"])
    moving = folder / "pages" / name
    found = [file for file in (moving, moving.with_suffix(".png")) if PICTURE.fullmatch(name) and file.is_file()]
    if not found:
        raise SetupProblem("There is no such picture.")
    return FileResponse(found[0])


async def play(request: Request) -> Response:
    """Run the version that is handed over in this browser; nobody watches it, and no model answers it."""

    def build() -> Response:
        run = _open_page(request)[1].run
        if not run.versions:
            raise SetupProblem("No version has come of it, so there is nothing to run.")
        request.app.state.runs.pages.play(run, run.final or run.versions[-1])
        return render(request, "page/frame.html", view=_open_page(request)[0])

    return await run_in_threadpool(build)


async def keep_tick(request: Request) -> Response:
    """What a person says of one criterion."""
    form = await read_form(request)

    def build() -> Response:
        view, _ = _open_page(request)
        said = read_text(form, "holds")
        if said not in SAID:
            raise SetupProblem("Say yes or no.")
        tick(view.id, read_text(form, "criterion"), SAID[said], store=request.app.state.store)
        return render(request, "page/score.html", view=_open_page(request)[0])

    return await run_in_threadpool(build)


ROUTES = [
    Route("/pages", show_form),
    Route("/pages", begin, methods=["POST"]),
    Route("/runs/{run}/pages/{cycle:int}", show_version),
    Route("/runs/{run}/pages/{file}", show_picture),
    Route("/runs/{run}/play", play, methods=["POST"]),
    Route("/runs/{run}/tick", keep_tick, methods=["POST"]),
]
