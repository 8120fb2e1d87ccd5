"""A run as its page shows it, made from its events alone, and the parts of the page that change while it goes on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2s
from typing import NamedTuple

from burnish.agent.ask import Checkpoint
from burnish.agent.questions import LETTERS, OpenQuestion
from burnish.errors import SetupProblem
from burnish.events import Asked, BaseEvent, Compared, Event, ModelReplied, RunFinished
from burnish.events.history import Run, Version
from burnish.report.costs import describe_going_on
from burnish.report.deliverables import TestRow, list_open_questions, list_tests
from burnish.runs.record import is_running, read_record
from burnish.runs.store import NotBegun, Store, open_run
from burnish.web.page import Translate, render_part
from burnish.web.page_view import PageView
from burnish.web.result_view import ResultView
from burnish.web.steps import Step, tell_steps
from burnish.web.work.active_runs import ActiveRun, ActiveRuns
from burnish.web.work.person import Wish


class Screen(NamedTuple):
    """How runs of one kind are shown."""

    template: str
    parts: Mapping[str, str]
    """What is written anew when it changes, each with its template; the timeline only grows."""


def _name_parts(folder: str, *names: str) -> dict[str, str]:
    return {name: f"{folder}/{name}.html" for name in names}


RUN_SCREEN = Screen("run.html", _name_parts("run", "status", "wish", "tests", "versions", "result"))
SCREENS = {
    "page": Screen(
        "page/run.html", _name_parts("page", "status", "frame", "said", "problems", "versions", "score", "result")
    )
}
"""By verb; all others look alike."""


@dataclass(frozen=True)
class RunView:
    """One run at one moment."""

    id: str
    prompt: str
    run: Run | None
    """None as long as nothing is on record."""
    active: ActiveRun | None = None
    is_elsewhere: bool = False
    """Whether another process works on it."""
    count: int = 0
    """How many events of its record this is made from."""
    frame: str = ""
    """Of a page: the address of what runs in this browser right now; empty: nothing does."""

    @property
    def state(self) -> str:
        """One word: queued, asking, working, waiting, done, stopped, broken, unfinished, problem; idle or running in
        place of working for a page.
        """
        active = self.active
        if active and not active.is_over:
            if active.ticket.ahead:
                return "queued"
            return "waiting" if active.person.wish else self._work_state
        if self.run and self.run.verdict:
            return "done"
        if self.is_elsewhere:
            return self._work_state
        if self.run is None:
            return "problem"
        return {"interrupted": "stopped"}.get(self.run.state, self.run.state)

    @property
    def is_live(self) -> bool:
        """Whether more will come."""
        return self.state in ("queued", "asking", "working", "waiting", "idle", "running")

    @property
    def verb(self) -> str:
        """What is done; of a run that waits for its turn, too."""
        return self.run.started.verb if self.run else self.active.verb if self.active else ""

    @property
    def screen(self) -> Screen:
        """How it is shown."""
        return SCREENS.get(self.verb, RUN_SCREEN)

    @cached_property
    def page(self) -> PageView | None:
        """Of a run of a page, what is known of it."""
        return PageView(self.run, self.frame) if self.run and self.verb == "page" else None

    @property
    def problem(self) -> str:
        """What kept it from its work."""
        return self.active.problem if self.active else ""

    @property
    def ahead(self) -> int:
        """How many runs have their turn before it."""
        return self.active.ticket.ahead if self.active else 0

    @property
    def wish(self) -> Wish | None:
        """What it waits for."""
        return self.active.person.wish if self.active and not self.active.is_over else None

    @property
    def wish_kind(self) -> str:
        """Which form answers it."""
        kinds = {OpenQuestion: "question", Checkpoint: "review"}
        return kinds.get(type(self.wish), "assumption") if self.wish else ""

    @property
    def wish_number(self) -> int:
        """So that a form answers what it shows, and nothing that came later."""
        return self.active.person.wishes if self.active else 0

    @property
    def letters(self) -> str:
        """What the options of a question are called."""
        return LETTERS

    @cached_property
    def best(self) -> Version | None:
        """The version that carries the verdict; before there is one, the last of those that pass most tests."""
        if self.run is None:
            return None
        ran = [version for version in self.run.versions if version.graded and not version.problem]
        return self.run.final or max(
            ran, key=lambda one: (one.graded.passed if one.graded else 0, one.number), default=None
        )

    @cached_property
    def tests(self) -> list[TestRow]:
        """Every test, as the best version met it."""
        try:
            return list_tests(self.run, self.best) if self.run and self.run.events else []
        except SetupProblem:
            return []

    @cached_property
    def finished(self) -> RunFinished | None:
        """The verdict."""
        return self.run.ending(RunFinished) if self.run else None

    @cached_property
    def result(self) -> ResultView | None:
        """What came of it, once it is over."""
        return ResultView(self.run, self.best) if self.run and not self.is_live else None

    @cached_property
    def open_points(self) -> list[str]:
        """What nothing has settled, but for the question that has a form of its own."""
        asked = self.run.open_question if self.run else None
        points = list_open_questions(self.run) if self.run else []
        return points[1:] if asked else points

    @cached_property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Versions that behave alike, as they were last compared."""
        compared = self.run.last(Compared) if self.run else None
        return compared.groups if compared else ()

    @property
    def can_go_on(self) -> bool:
        """Whether the run can be taken up again where it ended."""
        if self.run is None or self.is_live or self.run.started.verb not in ("write", "fix", "page"):
            return False
        return self.run.verdict is None or bool(describe_going_on(self.run))

    @cached_property
    def _work_state(self) -> str:
        if self.run is None:
            return "working"
        answered = {event.ask_id for event in self.run.all(ModelReplied)}
        if any(event.ask_id not in answered for event in self.run.all(Asked)):
            return "asking"
        return self.page.state if self.page else "working"

    @cached_property
    def rounds_left(self) -> int | None:
        """How often the agent may still go back to the code."""
        cap = self.run.settings.limits.get("rounds") if self.run else None
        done = max((version.round for version in self.run.versions), default=0) if self.run else 0
        return max(0, cap - done) if isinstance(cap, int) else None


def open_view(runs: ActiveRuns, run_id: str) -> RunView:
    """The run of this id as it is now. Raises SetupProblem where there is none."""
    active = runs.find(run_id)
    if active and active.handle and not active.is_over:
        return view_events(active, active.handle.live.lasting)
    if active and not active.is_over:  # all that is on record comes by the stream, once its turn has come
        return RunView(run_id, active.prompt, None, active)
    if active and active.problem:
        return RunView(run_id, active.prompt, _open_if_there(runs.store, run_id), active)
    try:
        folder = runs.store.find(run_id)
    except SetupProblem as missing:  # its words are for a terminal
        raise SetupProblem("There is no such result, or no longer. Look for it under Results.") from missing
    run = open_run(folder)
    if active is None and is_running(folder):
        events = read_record(folder)
        return RunView(run.id, run.started.prompt, Run(events), None, True, len(events))
    return RunView(run.id, run.started.prompt, run, active, frame=runs.pages.find_frame(run.id))


def _open_if_there(store: Store, run_id: str) -> Run | None:
    try:
        return open_run(store.runs / run_id)
    except (SetupProblem, NotBegun, OSError):
        return None


def view_events(active: ActiveRun, events: Sequence[BaseEvent]) -> RunView:
    """The view of a run that is at work, from what its log holds."""
    begun: Sequence[Event] = events  # type: ignore[assignment]
    run = Run(begun) if begun else None
    return RunView(active.id, active.prompt, run, active, count=len(events), frame=active.frame)


def render_parts(view: RunView, language: str) -> dict[str, dict[str, str]]:
    """Each part of the page as it is now, with a key that says whether a page has it already."""
    parts = {name: render_part(file, language, view=view) for name, file in view.screen.parts.items()}
    return {
        name: {"html": html, "key": blake2s(html.encode(), digest_size=8).hexdigest()} for name, html in parts.items()
    }


def render_steps(events: Sequence[BaseEvent], language: str, t: Translate) -> str:
    """Further lines of the timeline."""
    steps: list[Step] = list(tell_steps(events, t))
    return render_part("run/steps.html", language, steps=steps)
