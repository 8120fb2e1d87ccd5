"""An evaluation as its page shows it: from its folder, and while it works here from what its handle says.

`eval.json` and the attempts on disk are the truth, so a page is the same after the server was started anew.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from markupsafe import Markup

from burnish.errors import SetupProblem
from burnish.evals.eval_store import ATTEMPTS, PLAN_FILE, Folder, evals_home, list_evaluations
from burnish.evals.metrics import RESULTS_FILE, compute_results, count_results, group_by_task, read_results
from burnish.evals.reports.plots import Series, draw_curves, draw_reliability
from burnish.evals.schema import Attempt, Results
from burnish.evals.verdicts import list_bins
from burnish.events import (
    Answered,
    Asked,
    BaseEvent,
    CodeProposed,
    ModelReplied,
    RunSettings,
    RunStarted,
    Scored,
    TestsRan,
)
from burnish.intervals import wilson
from burnish.report.narrate import Tone
from burnish.text import one_line
from burnish.web.page import Translate, format_percent
from burnish.web.steps import VERDICTS, Step, describe_step
from burnish.web.work.active_evals import ActiveEvaluation, ActiveEvaluations

MOST_POINTS = 25
"""Of the curve that grows."""
MOST_ROWS = 60
"""Evaluations in the list; more are found by searching."""
MOST_FAILURES = 10
LONGEST = 20_000
"""Characters of one text in a transcript."""
SPEAKERS = {"system": "What it was told beforehand", "user": "The question", "assistant": "Its earlier answer"}

Stamp = tuple[int, int, int]


class EvaluationRow(NamedTuple):
    """One line of the list."""

    id: str
    suite: str
    strategy: str
    model: str
    done: int
    total: int
    solved: float | None
    """The share; None where nobody has counted yet."""

    @property
    def words(self) -> str:
        """What a search looks at."""
        return f"{self.id} {self.suite} {self.strategy} {self.model}".lower()


def list_rows(search: str) -> list[EvaluationRow]:
    """The evaluations that hold every word of the search, newest first. What cannot be read is left out."""
    wanted, rows = search.lower().split(), []
    for path in list_evaluations():
        try:
            row = _read_row(path, _stamp(path))
        except (SetupProblem, OSError):
            continue
        if all(word in row.words for word in wanted):
            rows.append(row)
    return rows[:MOST_ROWS]


@lru_cache(maxsize=1000)
def _read_row(path: Path, stamp: Stamp) -> EvaluationRow:
    folder = Folder.open(path)
    plan, share = folder.plan, None
    if _is_counted(stamp):
        shares = read_results(path).pass_at_1
        share = shares[-1] if shares else None
    done, suite = len(folder.finished_attempts()), " ".join(filter(None, (plan.suite, plan.variant)))
    strategy = f"{plan.strategy} (replayed)" if plan.replayed else plan.strategy
    return EvaluationRow(path.name, suite, strategy, plan.model, done, folder.total, share)


def open_folder(evaluation: str) -> Folder:
    """The evaluation of this very id in the usual place."""
    if evaluation not in {path.name for path in list_evaluations()}:
        raise SetupProblem(f"There is no evaluation {one_line(evaluation, 60)!r} any more, or there never was.")
    return Folder.open(evals_home() / evaluation)


def measure(folder: Folder) -> Results:
    """Its figures: as they were counted last where nothing came since, else counted anew."""
    return _measure(folder.path, _stamp(folder.path))


@lru_cache(maxsize=6)
def _measure(path: Path, stamp: Stamp) -> Results:
    if _is_counted(stamp):
        try:
            return read_results(path)
        except SetupProblem:  # they are made from the attempts, and can be made again
            pass
    return compute_results(Folder.open(path))


def _stamp(path: Path) -> Stamp:
    """When plan, attempts and results last changed."""
    plan, attempts, results = (_changed_at(path / name) for name in (PLAN_FILE, ATTEMPTS, RESULTS_FILE))
    return plan, attempts, results


def _changed_at(path: Path) -> int:
    return path.stat().st_mtime_ns if path.exists() else 0


def _is_counted(stamp: Stamp) -> bool:
    plan, attempts, results = stamp
    return results >= max(plan, attempts)


@dataclass(frozen=True)
class EvaluationView:
    """One evaluation at one moment."""

    id: str
    folder: Folder | None
    """None as long as its plan is not on disk."""
    active: ActiveEvaluation | None
    t: Translate

    @property
    def state(self) -> str:
        """One word: queued, preparing, working, done, unfinished, problem."""
        active = self.active
        if active and not active.is_over:
            return "queued" if active.ticket.ahead else "working" if active.begun else "preparing"
        if self.results and self.results.complete:
            return "done"
        return "problem" if self.problem else "unfinished"

    @property
    def title(self) -> str:
        """What is measured, in a few words."""
        if self.folder:
            plan = self.folder.plan
            return " · ".join(filter(None, (plan.suite, plan.variant, plan.strategy, plan.model)))
        typed = self.active.typed if self.active else {}
        return " · ".join(typed[name] for name in ("suite", "strategy", "model") if typed.get(name))

    @property
    def is_live(self) -> bool:
        """Whether more will come."""
        return self.state in ("queued", "preparing", "working")

    @property
    def problem(self) -> str:
        """What kept it from its work."""
        return self.active.problem if self.active else ""

    @cached_property
    def results(self) -> Results | None:
        """The figures so far; while it works only what is counted in a moment."""
        active, folder = self.active, self.folder
        if folder is None:
            return None
        if active and active.begun and not active.is_over:
            return count_results(folder.plan, len(folder.task_ids), folder.broken, list(active.attempts))
        return measure(folder)

    @property
    def growth(self) -> str:
        """The curve of the share that is solved, as SVG: drawn by us, all words in it escaped."""
        if not self.results or not self.results.finished:
            return ""
        return Markup(draw_growth(self.results.attempts, self.results.planned, self.t))

    @property
    def reliability(self) -> str:
        """How often answers are right, by how sure they were said to be."""
        bins = list(list_bins(self.results.attempts)) if self.results else []
        if not bins:
            return ""
        return Markup(draw_reliability(bins, "", self.t("confidence in %"), self.t("right in %")))


def open_evaluation(evaluations: ActiveEvaluations, evaluation: str, t: Translate) -> EvaluationView:
    """The evaluation of this id as it is now. Raises SetupProblem where there is none."""
    active = evaluations.find(evaluation)
    if active and not (evals_home() / evaluation / PLAN_FILE).is_file():
        return EvaluationView(evaluation, None, active, t)
    return EvaluationView(evaluation, open_folder(evaluation), active, t)


def draw_growth(attempts: Sequence[Attempt], planned: int, t: Translate) -> str:
    """How the share that is solved came about, attempt by attempt as they were finished."""
    ordered = sorted(attempts, key=lambda one: one.started + one.seconds)
    step = math.ceil(len(ordered) / MOST_POINTS)
    places = sorted({*range(step, len(ordered) + 1, step), len(ordered)})
    shares, intervals = [], []
    for place in places:
        by_task = group_by_task(ordered[:place])
        shares.append(fmean(fmean(one.solved for one in tries) for tries in by_task.values()))
        intervals.append(wilson(shares[-1] * len(by_task), len(by_task)))
    last = Series("", (0, planned), (shares[-1], shares[-1]), is_guide=True)
    curve = Series("", places, shares, intervals)
    return draw_curves([curve, last], t("finished attempts"), y_label=t("solved, in %"))


OUTCOMES: dict[str, Callable[[Attempt], bool]] = {
    "all": lambda one: True,
    "solved": lambda one: one.solved,
    "unsolved": lambda one: not one.solved and not one.error,
    "proven_wrong": lambda one: one.verdict == "proven" and not one.solved,
    "broke": lambda one: bool(one.error),
}
"""What the table of attempts can be narrowed to."""


class Moment(NamedTuple):
    """One step of an attempt, and the texts that belong to it."""

    step: Step
    texts: tuple[tuple[str, str], ...]
    """What each is, and its words."""
    is_open: bool


def tell_transcript(events: Sequence[BaseEvent], t: Translate) -> Iterator[Moment]:
    """All that happened in an attempt."""
    for event in events:
        told = _describe_scoring(event, t) or describe_step(event, t)
        if told:
            kind, text, tone = told
            texts = tuple((label, _shorten(words, t)) for label, words in _list_texts(event, t) if words.strip())
            is_open = isinstance(event, CodeProposed | Scored)
            yield Moment(Step(kind, one_line(text, 300), tone, event.at), texts, is_open)


def _describe_scoring(event: BaseEvent, t: Translate) -> tuple[str, str, Tone] | None:
    match event:
        case ModelReplied():
            text = t("The model answers: {n} tokens in {s} s.", n=event.tokens_out, s=f"{event.seconds:.1f}")
            return "model", text, ""
        case Answered(version=None):
            return "code", t("If it had to end here, it would have nothing to hand over."), "quiet"
        case Answered(confidence=None):
            return "code", t("If it had to end here, it would hand over version {n}.", n=event.version), "quiet"
        case Answered():
            said = f"{t(VERDICTS[event.verdict])}, " if event.verdict else ""
            sure = f"{said}{format_percent(event.confidence)}"
            text = t("If it had to end here, it would hand over version {n} ({sure}).", n=event.version, sure=sure)
            return "code", text, "quiet"
        case Scored(passed=True):
            return "end", t("The tests that decide: version {n} is right.", n=event.version), "good"
        case Scored():
            return "end", t("The tests that decide: version {n} is wrong.", n=event.version), "bad"
    return None


def _list_texts(event: BaseEvent, t: Translate) -> Iterator[tuple[str, str]]:
    """What a reader may want to read of an event."""
    match event:
        case RunStarted():
            yield t("The task"), event.prompt
            yield t("The code that was there"), str(RunSettings.merge(event.settings).task.get("base_code", ""))
        case Asked():
            for message in event.messages:
                yield t(SPEAKERS.get(message.role, "The question")), message.content
        case ModelReplied():
            yield t("Its words"), event.text
        case CodeProposed():
            yield t("The code"), event.code
        case TestsRan(graded=graded):
            failed = [case.message or case.name for case in graded.cases if case.outcome != "passed"]
            yield t("What the tests say"), "\n\n".join(filter(None, (graded.problem, *failed[:MOST_FAILURES])))
        case Scored():
            yield t("What the tests say"), event.why


def _shorten(text: str, t: Translate) -> str:
    rest = len(text) - LONGEST
    return f"{text[:LONGEST]}\n… {t('{n} more characters', n=rest)}" if rest > 0 else text
