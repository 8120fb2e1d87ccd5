"""A handle on an evaluation, of the same kind as the one on a run: followed by any number of readers, stopped, awaited.

`start_evaluation(evaluate, "humanevalfix", limit=10)` begins what `evaluate("humanevalfix", limit=10)` would do, in a
thread of its own; `replay` and `resume` begin in the same way. What happens is told in the small types of this file.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from functools import partial
from typing import ClassVar, Literal, ParamSpec, Self

from burnish.evals.eval_store import Folder
from burnish.evals.metrics import count_attempt
from burnish.evals.reports.report import write_reports
from burnish.evals.runner import EvalProgress
from burnish.evals.schema import Attempt, Results
from burnish.events import BaseEvent, Broke, Event, ModelReplied, Scored
from burnish.runs.handle import Handle
from burnish.runs.live import LiveLog

P = ParamSpec("P")


class Preparing(BaseEvent):
    """Something is made ready: weights are fetched, or tasks are fetched, made and tried before any is used."""

    lasting: ClassVar[bool] = False
    kind: Literal["fetching", "preparing"] = "preparing"
    done: int
    total: int
    what: str
    """Which tasks; of weights, where they come from."""


class EvalBegun(BaseEvent):
    """The plan is on disk; attempts begin, or go on."""

    kind: Literal["eval_begun"] = "eval_begun"
    folder: str
    attempts: tuple[Attempt, ...]
    """Those that are finished already."""
    total: int

    @classmethod
    def tell(cls, folder: Folder) -> Self:
        """What there is when attempts begin."""
        there = [AttemptFinished.tell(folder, *one).attempt for one in folder.attempts()]
        return cls(folder=str(folder.path), attempts=tuple(there), total=folder.total)


class AnswerCounted(BaseEvent):
    """A model has answered in one of the attempts under way."""

    lasting: ClassVar[bool] = False
    kind: Literal["answer_counted"] = "answer_counted"
    tokens_out: int


class AttemptFinished(BaseEvent):
    """An attempt is finished, and on disk."""

    kind: Literal["attempt_finished"] = "attempt_finished"
    attempt: Attempt
    why: str = ""
    """What went wrong first, where it is not solved."""

    @classmethod
    def tell(cls, folder: Folder, task_id: str, seed: int, events: Sequence[Event]) -> Self:
        """What came of an attempt at a task of this evaluation."""
        attempt = count_attempt(task_id, seed, events, folder.bugs[task_id], folder.plan.answers)
        scores = [event.why for event in events if isinstance(event, Scored)]
        broke = [event.message for event in events if isinstance(event, Broke)]
        why = broke[0] if broke else scores[-1] if scores else "no answer could be run"
        return cls(attempt=attempt, why="" if attempt.solved else why)


EvalEvent = Preparing | EvalBegun | AnswerCounted | AttemptFinished


class _EvalTeller(EvalProgress):
    """Puts what happens into a log for live readers."""

    def __init__(self, live: LiveLog) -> None:
        self.live = live
        self.folder: Folder | None = None

    def on_fetch(self, done: int, total: int, source: str) -> None:
        """Also the moment at which one that is stopped ends."""
        self.raise_if_stopped()
        self.live.add(Preparing(kind="fetching", done=done, total=total, what=source))

    def on_prepare(self, done: int, total: int, what: str) -> None:
        """Also the moment at which one that is stopped ends."""
        self.raise_if_stopped()
        self.live.add(Preparing(done=done, total=total, what=what))

    def on_begin(self, folder: Folder) -> None:
        """From now on there is something to go on from."""
        self.folder = folder
        self.live.add(EvalBegun.tell(folder))

    def on_event(self, event: Event) -> None:
        """Of attempts under way only the pace is told; what happens in one is on disk once it is finished."""
        if isinstance(event, ModelReplied):
            self.live.add(AnswerCounted(tokens_out=event.tokens_out))

    def on_finish(self, task_id: str, seed: int, events: Sequence[Event]) -> None:
        """One more, as it counts in the results."""
        assert self.folder
        self.live.add(AttemptFinished.tell(self.folder, task_id, seed, events))


class EvalHandle(Handle[EvalEvent, Results]):
    """An evaluation that goes on. What it has finished is on disk, and `burnish eval resume` goes on from there.

    `wait` gives the results and writes the reports, of a stopped evaluation those of what is finished. Of one that was
    stopped before its plan was on disk there is nothing: then it raises CancelledError.
    """

    def __init__(self, run: Callable[..., Results]) -> None:
        super().__init__(LiveLog())
        self._run = run
        self._results: Results | None = None
        self._progress = _EvalTeller(self.live)

    @property
    def folder(self) -> Folder | None:
        """Where it is kept; None until its plan is on disk."""
        return self._progress.folder

    @property
    def id(self) -> str:
        """What a user types to mean it; "" until its plan is on disk."""
        return self.folder.name if self.folder else ""

    def stop(self) -> None:
        """End it within two seconds, whatever it waits for; attempts under way are forgotten, finished ones kept."""
        self._progress.stop()
        super().stop()

    def _make(self) -> None:
        """What `evaluate`, `replay` or `resume` do."""
        self._results = self._run(watch=self._progress)

    def _close_record(self, error: BaseException | None) -> BaseException | None:
        """Each attempt was put on record as it finished, so nothing is left to write."""
        stopped = self._cancel.is_set() and not isinstance(error, KeyboardInterrupt)
        return None if stopped else error

    def _read_result(self) -> Results:
        """The results; reports of what a stopped evaluation has finished are written here, outside of its thread."""
        if self._results is None:
            if self.folder is None:
                raise CancelledError("The evaluation was stopped before it began.")
            self._results = write_reports(self.folder)
        return self._results


def start_evaluation(make: Callable[P, Results], *args: P.args, **kwargs: P.kwargs) -> EvalHandle:
    """Begin `make`, which is `evaluate`, `replay` or `resume`, with these arguments, in a thread of its own."""
    handle = EvalHandle(partial(make, *args, **kwargs))
    handle._begin("burnish-evaluation")
    return handle
