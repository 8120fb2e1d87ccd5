"""Evaluate: let a model solve many tasks whose answers are known, and see how often it is right."""

import itertools
import json
import re
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

import burnish
from burnish.agent.limits import Limits, check_priced
from burnish.agent.questions import MOST_QUESTIONS
from burnish.errors import SetupProblem
from burnish.evals.compare import compare as compare_results
from burnish.evals.eval_store import evals_home, new_path
from burnish.evals.evaluate import resume as resume_evaluation
from burnish.evals.metrics import count_attempt
from burnish.evals.reports.plots import draw_comparison, draw_plots
from burnish.evals.reports.report import page_policy, render_html
from burnish.evals.reports.report_text import list_estimates, list_warnings
from burnish.evals.runner import BUGGY, GOLD
from burnish.evals.schema import EvalLimits
from burnish.evals.strategies.kinds import STRATEGIES, check_answers
from burnish.evals.suites import SUITES, check_protocol, resolve_variant
from burnish.model_choice import last_speeds
from burnish.models.discovery import ServerModels, list_all_models
from burnish.text import one_line
from burnish.web.evaluation_view import (
    OUTCOMES,
    EvaluationView,
    list_rows,
    measure,
    open_evaluation,
    open_folder,
    tell_transcript,
)
from burnish.web.forms import read_form, read_text
from burnish.web.german import tell, tell_page
from burnish.web.model_menu import DEMO, MenuModel, list_menu
from burnish.web.page import Tab, Translate, choose_language, render, translator
from burnish.web.work.active_evals import ActiveEvaluations

TAB = Tab("Evaluate", "/evaluate")
SUITE_WORDS = {
    "humanevalfix": "Functions with a bug, to be repaired; a description says what they should do.",
    "humaneval": "Functions to be written from a description; the best known of all.",
    "mbpp": "Short functions, to be written from one sentence and one example.",
    "mbppplus": "The same, judged with about a hundred inputs each: hard to pass by luck.",
    "mbppfix": "Short functions with a mistake that was put in on purpose, to be repaired.",
    "mbppplusfix": "The same, judged with about a hundred inputs each.",
}
STRATEGY_WORDS = {
    "single": "One answer, taken as it is: what the model can do alone.",
    "retry": "Asks for fresh answers until one passes the tests that it may see.",
    "reflect": "A published method: shows the model what failed, and asks again.",
    "burnish": "Ours: writes, tests, repairs, compares versions, and says how sure it is.",
    "burnish-tests": "The same, with tests that the model writes besides.",
}
CHOICES = {
    "variant": ("", "docs", "tests", "file", "one", "all"),
    "protocol": ("visible", "oracle"),
    "ask": ("auto", "write", "fix"),
    "split": ("eval", "tune", "calibrate"),
}
POLICY = "; img-src data:; form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts"
"""Of a report, which lies in a frame of our page: its one script is ours, and it has no origin and no network."""


class Number(NamedTuple):
    """A number that people type."""

    label: str
    most: float
    least: float = 0
    is_whole: bool = True
    usual: str = ""


NUMBERS = {
    "limit": Number("Tasks, the first so many (empty: all)", 100_000, 1, usual="20"),
    "seeds": Number("Attempts at each task", 100, 1, usual="1"),
    "rounds": Number("Rounds after the first answer", 1000, usual="5"),
    "answers": Number("Questions that the known answer settles in your place", MOST_QUESTIONS, usual="0"),
    "minutes": Number("Minutes at most, for all of it", 100_000, 0.1, is_whole=False),
    "tokens": Number("Tokens at most, for all of it", 10**12, 1),
    "dollars": Number("Dollars at most, for all of it", 1_000_000, is_whole=False),
    "timeout_seconds": Number("Seconds for the tests of a task", 3600, 0.1, is_whole=False),
    "confidence": Number("How sure it must be to stop early (0 to 1)", 1, 0.01, is_whole=False, usual="0.95"),
    "temperature": Number("Temperature in place of the usual", 5, is_whole=False),
    "max_tokens": Number("Tokens of one answer at most", 1_000_000, 1),
    "thinking": Number("Tokens for the thoughts before an answer", 1_000_000),
}
LONGEST_NOTE = 300
"""Of the texts in a report: a longer one is code or a prompt, and no sentence of ours."""
FIRST = ("limit", "seeds")
"""Not folded away."""


def _evaluations(request: Request) -> ActiveEvaluations:
    evaluations: ActiveEvaluations = request.app.state.evaluations
    return evaluations


def _view(request: Request) -> EvaluationView:
    t = translator(choose_language(request))
    return open_evaluation(_evaluations(request), request.path_params["evaluation"], t)


def read_number(form: Mapping[str, object], name: str) -> float | int | None:
    """A number as it was typed; None for an empty field. Raises SetupProblem for anything else."""
    text, known = read_text(form, name).replace(",", "."), NUMBERS[name]
    if not text:
        return None
    try:
        value = int(text) if known.is_whole else float(text)
    except ValueError:
        value = float("nan")
    if not known.least <= value <= known.most:
        kind = "whole number" if known.is_whole else "number"
        raise SetupProblem(f"“{known.label}”: type a {kind} from {known.least:g} to {known.most:,.0f}, not {text!r}.")
    return value


def read_eval_limits(form: Mapping[str, object]) -> EvalLimits:
    """What the whole evaluation may take."""
    minutes = read_number(form, "minutes")
    caps = {"tokens": read_number(form, "tokens"), "dollars": read_number(form, "dollars")}
    return EvalLimits.model_validate({**caps, "seconds": None if minutes is None else 60 * minutes})


async def show(request: Request) -> Response:
    """The form, and all evaluations there are."""
    return await run_in_threadpool(_render_form, request)


def _render_form(
    request: Request, status: int = 200, problem: str = "", typed: Mapping[str, str] | None = None
) -> Response:
    models = _list_models((), translator(choose_language(request)))
    usual = {name: known.usual for name, known in NUMBERS.items()} | {name: of[0] for name, of in CHOICES.items()}
    usual |= {"suite": "humanevalfix", "strategy": "burnish", "model": models[0].name}
    earlier = _evaluations(request).find(request.query_params.get("from", ""))
    return render(
        request,
        "evaluate.html",
        status,
        typed={**usual, **(typed or (earlier.typed if earlier else {}))},
        problem=problem,
        models=models,
        suites=[(name, info.rows, SUITE_WORDS.get(name, info.what)) for name, info in SUITES.items()],
        strategies=[(name, STRATEGY_WORDS.get(name, "")) for name in STRATEGIES],
        choices=CHOICES,
        numbers=NUMBERS,
        first=FIRST,
        **_list(request),
    )


def _list(request: Request) -> dict[str, Any]:
    search = one_line(request.query_params.get("search", ""), 200)
    return {"rows": list_rows(search), "search": search, "working": {one.id for one in _evaluations(request).at_work}}


async def show_list(request: Request) -> Response:
    """The evaluations that a search finds."""
    return await run_in_threadpool(lambda: render(request, "evaluation/list.html", **_list(request)))


def _list_models(servers: tuple[ServerModels, ...], t: Translate) -> list[MenuModel]:
    """Who can be measured: models, and two that know the answers, which tell whether everything works."""
    known = [model for model in list_menu(servers, last_speeds(), t) if model.name != DEMO]
    gold = MenuModel(GOLD, t("no model: the known answers, to see that everything works"), True)
    return [*known, gold, MenuModel(BUGGY, t("no model: the code as it was, unchanged"), True)]


async def show_models(request: Request) -> Response:
    """The options of the model menu, those of servers too."""

    def build() -> Response:
        models = _list_models(tuple(list_all_models()), translator(choose_language(request)))
        return render(request, "parts/model_options.html", models=models, model=request.query_params.get("model", ""))

    return await run_in_threadpool(build)


async def begin(request: Request) -> Response:
    """Begin, and go to its page. What the user can put right is said above the form, which stays as it was."""
    form = await read_form(request)
    names = ("suite", "strategy", "model", *CHOICES, *NUMBERS)

    def start() -> Response:
        typed: dict[str, str] = {}
        try:
            typed |= {name: one_line(read_text(form, name, 300), 300) for name in names}
            path = new_path(f"{typed['suite']} {typed['strategy']} {typed['model'].partition(':')[2]}")
            make = partial(burnish.evaluate, out=path, **_read_settings(typed))
            active = _evaluations(request).begin(path.name, make, request.state.owner, typed)
        except SetupProblem as problem:
            return _render_form(request, 400, str(problem), typed)
        return RedirectResponse(f"/evaluate/{active.id}", 303)

    return await run_in_threadpool(start)


def _read_settings(typed: Mapping[str, str]) -> dict[str, Any]:
    """What `burnish.evaluate` takes. What it would refuse without a look at model or data is refused here."""
    suite, strategy, model = typed["suite"], typed["strategy"], typed["model"]
    for name, known in {"suite": tuple(SUITES), "strategy": tuple(STRATEGIES), **CHOICES}.items():
        if typed[name] not in known:
            raise SetupProblem(f"There is no {name} {typed[name]!r}. Choose one of: {', '.join(filter(None, known))}.")
    variant = resolve_variant(suite, typed["variant"])
    check_protocol(suite, typed["protocol"])  # type: ignore[arg-type]
    if typed["split"] not in SUITES[suite].splits:
        raise SetupProblem(f"The suite {suite!r} has no split {typed['split']!r}. Choose: {SUITES[suite].splits[0]}.")
    if ":" not in model:
        raise SetupProblem("An evaluation measures one model, and this names none for sure. Choose one from the menu.")
    limits = read_eval_limits(typed)
    check_priced(Limits(dollars=limits.dollars), model)
    numbers = {name: read_number(typed, name) for name in NUMBERS if name not in EvalLimits.model_fields}
    del numbers["minutes"]
    seeds = range(int(numbers.pop("seeds") or 1))
    optional = {"limit", "timeout_seconds", "temperature", "max_tokens", "thinking"}
    said = {name: value for name, value in numbers.items() if value is not None or name in optional}
    check_answers(int(said.get("answers") or 0), strategy)
    chosen = {name: typed[name] for name in ("suite", "strategy", "model", "protocol", "ask", "split")}
    return {**chosen, **said, "variant": variant, "seeds": tuple(seeds), "limits": limits}


async def show_one(request: Request) -> Response:
    """One evaluation: how it stands while it works, and what came of it."""

    def build() -> Response:
        view = _view(request)
        if view.is_live:
            return render(request, "evaluation/live.html", view=view)
        results = view.results
        others = [row for row in list_rows("") if row.id != view.id]
        return render(
            request,
            "evaluation/results.html",
            view=view,
            others=others,
            numbers=NUMBERS,
            estimates=list_estimates(results.verdicts) if results and results.verdicts else [],
            warnings=list(list_warnings(results)) if results else [],
            **_list_attempts(request, view),
        )

    return await run_in_threadpool(build)


async def show_now(request: Request) -> Response:
    """How it stands, for a page that looks every second; once it is over the page is loaded anew."""

    def build() -> Response:
        view = _view(request)
        if view.is_live:
            return render(request, "evaluation/now.html", view=view)
        return Response(headers={"HX-Refresh": "true"})

    return await run_in_threadpool(build)


def _list_attempts(request: Request, view: EvaluationView) -> dict[str, Any]:
    show, find = request.query_params.get("show", "all"), one_line(request.query_params.get("find", ""), 200)
    show = show if show in OUTCOMES else "all"
    attempts = view.results.attempts if view.results else ()
    counts = {name: sum(map(fits, attempts)) for name, fits in OUTCOMES.items()}
    found = [one for one in attempts if OUTCOMES[show](one) and find.lower() in f"{one.task_id} {one.bug}".lower()]
    return {"attempts": found, "counts": counts, "show": show, "find": find}


async def show_attempts(request: Request) -> Response:
    """The table of attempts, narrowed to what is asked for."""

    def build() -> Response:
        view = _view(request)
        return render(request, "evaluation/attempts.html", view=view, **_list_attempts(request, view))

    return await run_in_threadpool(build)


async def show_attempt(request: Request) -> Response:
    """All that happened in one attempt."""

    def build() -> Response:
        folder, t = open_folder(request.path_params["evaluation"]), translator(choose_language(request))
        task, said = request.query_params.get("task", ""), request.query_params.get("seed", "0")
        seed = int(said) if said.isdecimal() and len(said) < 12 else -1
        finished, seeds = folder.finished_attempts(), folder.plan.seeds
        if (task, seed) not in finished:
            raise SetupProblem("There is no such attempt in this evaluation, or it is not finished yet.")
        events = folder.read_attempt(task, seed)
        order = [one for one in itertools.product(folder.task_ids, seeds) if one in finished]
        place = order.index((task, seed))
        return render(
            request,
            "evaluation/attempt.html",
            evaluation=folder.path.name,
            attempt=count_attempt(task, seed, events, folder.bugs[task], folder.plan.answers),
            moments=list(tell_transcript(events, t)),
            several=len(seeds) > 1,
            near=(order[place - 1] if place else None, order[place + 1] if place + 1 < len(order) else None),
        )

    return await run_in_threadpool(build)


async def show_report(request: Request) -> Response:
    """The report that a file can hold, made anew; it lies in a frame that can reach nothing."""

    def build() -> Response:
        folder = open_folder(request.path_params["evaluation"])
        results = measure(folder)
        page = render_html(results, folder, draw_plots(results, captioned=False))
        page = tell_report(page, choose_language(request))
        headers = {"Content-Security-Policy": page_policy() + POLICY, "X-Frame-Options": "SAMEORIGIN"}
        return HTMLResponse(page.encode("utf-8", "replace"), headers=headers)

    return await run_in_threadpool(build)


def tell_report(page: str, language: str) -> str:
    """The report with words for its script, which says in the reader's language what is in a table of that name."""
    if language == "en":
        return page
    before, data, rest = tell_page(page, language).partition('<script type="application/json" id="transcripts">')
    texts: list[str] = json.loads(rest.partition("</script>")[0])["texts"]
    said = [*re.findall(r'\bsay\("([^"]+)"', rest), *(text for text in texts if len(text) <= LONGEST_NOTE)]
    words = {text: told for text in said if (told := tell(text, language)) != text}
    table = json.dumps(words).replace("<", "\\u003c")
    return f'{before}<script type="application/json" id="words">{table}</script>{data}{rest}'


async def compare(request: Request) -> Response:
    """Two evaluations, task by task."""

    def build() -> Response:
        chosen = request.query_params.getlist("run")
        if len(chosen) != 2 or chosen[0] == chosen[1]:
            raise SetupProblem("Choose two evaluations to compare: tick two different ones in the list.")
        a, b = (measure(open_folder(name)) for name in chosen)
        found = compare_results([a], [b])
        said = [dict(list_estimates(side.verdicts)) if side.verdicts else {} for side in (found.a, found.b)]
        return render(
            request,
            "evaluation/compare.html",
            found=found,
            ids=chosen,
            sides=(a, b),
            estimates=[(label, *(side.get(label) for side in said)) for label in {**said[0], **said[1]}],
            picture=Markup(draw_comparison([a], [b])),  # drawn by us, all words in it escaped
        )

    return await run_in_threadpool(build)


async def stop(request: Request) -> Response:
    """End it within two seconds."""
    active = _evaluations(request).find(request.path_params["evaluation"])
    if active and not active.is_over:
        await run_in_threadpool(active.stop)
    return _back(request)


async def resume(request: Request) -> Response:
    """Go on where it was left, with more attempts at each task or higher limits if that is asked for."""
    form = await read_form(request)

    def go_on() -> None:
        folder = open_folder(request.path_params["evaluation"])
        limits, seeds = read_eval_limits(form), int(read_number(form, "seeds") or 0)
        check_priced(Limits(dollars=limits.dollars), folder.plan.model)
        make = partial(resume_evaluation, str(evals_home() / folder.path.name), seeds=range(seeds), limits=limits)
        _evaluations(request).begin(folder.path.name, make, request.state.owner, {})

    await run_in_threadpool(go_on)
    return _back(request)


def _back(request: Request) -> Response:
    return RedirectResponse(f"/evaluate/{request.path_params['evaluation']}", 303)


ROUTES = [
    Route("/evaluate", show),
    Route("/evaluate", begin, methods=["POST"]),
    Route("/evaluate/list", show_list),
    Route("/evaluate/models", show_models),
    Route("/evaluate/compare", compare),
    Route("/evaluate/{evaluation}", show_one),
    Route("/evaluate/{evaluation}/now", show_now),
    Route("/evaluate/{evaluation}/attempts", show_attempts),
    Route("/evaluate/{evaluation}/attempt", show_attempt),
    Route("/evaluate/{evaluation}/report", show_report),
    Route("/evaluate/{evaluation}/stop", stop, methods=["POST"]),
    Route("/evaluate/{evaluation}/resume", resume, methods=["POST"]),
]
