"""Results: every run, searched, opened, gone on with, compared and deleted."""

import difflib
from collections.abc import Sequence
from typing import Any, NamedTuple

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from burnish.errors import SetupProblem
from burnish.runs import Store
from burnish.runs.store import RUNNING, UNREADABLE, RunRow
from burnish.web.forms import read_form
from burnish.web.page import Tab, Translate, choose_language, render, translator
from burnish.web.run_view import RunView, open_view
from burnish.web.uploads import remove_unneeded
from burnish.web.work.active_runs import ActiveRuns

TAB = Tab("Results", "/runs")
PAGE_ROWS = 50
MOST_CHOSEN = 500
STATES = {
    "proven": "Proven",
    "plausible": "Plausible",
    "failed": "Failed",
    "unfinished": "cut off",
    "interrupted": "stopped",
    "broken": "broken",
    RUNNING: "at work",
    UNREADABLE: "cannot be read",
}
"""What a row of the list may be, in plain words."""
CAN_GO_ON = ("unfinished", "interrupted", "broken")
KINDS = {"write": "written", "fix": "repaired", "strengthen": "tests made stronger", "page": "page", "": "unknown"}


class RunFilter(NamedTuple):
    """Which runs are wanted, as it stands in the address."""

    words: str = ""
    state: str = ""
    kind: str = ""
    model: str = ""
    page: int = 1

    @classmethod
    def read(cls, query: QueryParams) -> "RunFilter":
        """What the address says; what it cannot say is left out."""
        page = query.get("page", "")
        number = int(page) if page.isdecimal() and len(page) < 6 else 1
        words, state, kind, model = (query.get(name, "")[:300] for name in cls._fields[:4])
        return cls(words, state, kind, model, max(1, number))

    def fits(self, row: RunRow) -> bool:
        """Whether this one is wanted: all words are in its task or its id."""
        text = f"{row.prompt} {row.id}".lower()
        named = (self.state, row.state), (self.kind, row.verb), (self.model, row.model)
        return all(word in text for word in self.words.lower().split()) and all(
            wanted in ("", is_so) for wanted, is_so in named
        )


def list_cut_off(runs: ActiveRuns) -> list[RunRow]:
    """Runs whose process died under them, and that nobody has taken up again."""
    taken = {active.id for active in runs.at_work}
    return [row for row in runs.store.list() if row.state == "unfinished" and _can_go_on(row) and row.id not in taken]


def _can_go_on(row: RunRow) -> bool:
    return row.state in CAN_GO_ON and row.verb in ("write", "fix", "page")


async def show_list(request: Request) -> Response:
    """The page; only the list where that is all that was asked for."""

    def build() -> Response:
        runs: ActiveRuns = request.app.state.runs
        rows = runs.store.list()
        wanted = RunFilter.read(request.query_params)
        found = [row for row in rows if wanted.fits(row)]
        pages = max(1, -(-len(found) // PAGE_ROWS))
        start = (min(wanted.page, pages) - 1) * PAGE_ROWS
        values: dict[str, Any] = {
            "rows": found[start : start + PAGE_ROWS],
            "count": len(found),
            "wanted": wanted._replace(page=min(wanted.page, pages)),
            "pages": pages,
            "states": STATES,
            "kinds": KINDS,
            "can_go_on": _can_go_on,
            "busy": {active.id for active in runs.at_work},
            "chosen": set(request.query_params.getlist("run")),
        }
        if "hx-request" in request.headers:
            return render(request, "runs/list.html", **values)
        return render(
            request,
            "runs.html",
            total=len(rows),
            verbs=sorted({row.verb for row in rows}),
            models=sorted({row.model for row in rows if row.model}),
            cut_off=list_cut_off(runs),
            **_tell_work(runs),
            **values,
        )

    return await run_in_threadpool(build)


def _tell_work(runs: ActiveRuns) -> dict[str, Any]:
    """Those at work, the one with the next turn first, and a key that changes when any of them does."""
    views = [RunView(active.id, active.prompt, None, active) for active in runs.at_work]
    views.sort(key=lambda view: view.ahead)
    return {"views": views, "key": " ".join(f"{view.id}.{view.state}.{view.ahead}" for view in views)}


async def show_work(request: Request) -> Response:
    """What is at work; nothing where the page has it so already. The list is told when a run began or ended."""
    told, had = _tell_work(request.app.state.runs), request.query_params.get("had", "")
    if told["key"] == had:
        return Response(status_code=204)
    response = render(request, "runs/at_work.html", **told)
    if _list_ids(str(told["key"])) != _list_ids(had):
        response.headers["HX-Trigger"] = "runs-changed"
    return response


def _list_ids(key: str) -> set[str]:
    return {part.partition(".")[0] for part in key.split()}


async def resume(request: Request) -> Response:
    """Go on with all that were named."""
    form, runs = await read_form(request), request.app.state.runs
    names = [str(name) for name in form.getlist("run")][:MOST_CHOSEN]

    def go_on() -> None:
        for name in names:
            runs.resume(runs.store.open(name), request.state.owner)

    await run_in_threadpool(go_on)
    return RedirectResponse("/runs", 303)


def _find_chosen(store: Store, names: Sequence[object]) -> list[RunRow]:
    """The rows of these ids, newest first. Raises SetupProblem where there are none."""
    wanted = {str(name) for name in names[:MOST_CHOSEN]}
    found = [row for row in store.list() if row.id in wanted]
    if not found:
        raise SetupProblem("No result is selected. Go back, and tick those that are meant.")
    return found


async def ask_delete(request: Request) -> Response:
    """Is that really meant?"""

    def build() -> Response:
        rows = _find_chosen(request.app.state.store, request.query_params.getlist("run"))
        return render(request, "delete.html", rows=rows, problems=[], states=STATES)

    return await run_in_threadpool(build)


async def delete(request: Request) -> Response:
    """Delete them for good. One that is at work is left, and that is said."""
    form, t = await read_form(request), translator(choose_language(request))

    def remove() -> Response:
        rows = _find_chosen(request.app.state.store, form.getlist("run"))
        left = {row.id: why for row in rows if (why := _remove(request.app.state.runs, row, t))}
        remove_unneeded(request.app.state.store)
        if not left:
            return RedirectResponse("/runs", 303)
        rows = [row for row in rows if row.id in left]
        return render(request, "delete.html", 409, rows=rows, problems=list(left.values()), states=STATES)

    return await run_in_threadpool(remove)


def _remove(runs: ActiveRuns, row: RunRow, t: Translate) -> str:
    """Why this run cannot be deleted; empty where it is."""
    active = runs.find(row.id)
    if active and not active.is_over:
        return t("{id} is at work. Stop it first.", id=row.id)
    try:
        runs.store.remove(row.id)
    except SetupProblem as problem:
        return str(problem)
    return ""


async def compare(request: Request) -> Response:
    """Two runs side by side."""
    query = request.query_params
    chosen = query.getlist("run")
    if len(chosen) == 2 and all(name.isprintable() for name in chosen):
        return RedirectResponse(f"/compare?{QueryParams([('a', chosen[0]), ('b', chosen[1])])}", 303)
    if not query.get("a") or not query.get("b"):
        raise SetupProblem("Two results can be compared. Go back, and tick two of them.")

    def build() -> Response:
        views = [open_view(request.app.state.runs, query[name]) for name in ("a", "b")]
        return render(request, "compare.html", views=views, diff=_diff(*views), states=STATES)

    return await run_in_threadpool(build)


def _diff(one: RunView, other: RunView) -> list[tuple[str, str]]:
    """What differs between their codes: each line with the class that colours it."""
    before, after = (view.best.code.splitlines() if view.best else [] for view in (one, other))
    kinds = {"-": "out", "+": "in", "@": "at"}
    lines = list(difflib.unified_diff(before, after, lineterm="", n=3))[2:]
    return [(kinds.get(line[:1], ""), line) for line in lines]


ROUTES = [
    Route("/runs", show_list),
    Route("/at-work", show_work),
    Route("/resume", resume, methods=["POST"]),
    Route("/delete", ask_delete),
    Route("/delete", delete, methods=["POST"]),
    Route("/compare", compare),
]
