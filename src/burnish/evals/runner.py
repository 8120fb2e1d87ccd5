"""Runs what an evaluation still lacks: many attempts at once, each on disk before it is counted.

More attempts are under way than the model has slots, so that it goes on writing while others wait for the sandbox.
"""

import queue
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

from burnish.errors import BurnishError
from burnish.evals.answers import model_for
from burnish.evals.attempt import stream_attempt
from burnish.evals.folder import Folder
from burnish.evals.strategies.strategy import Strategy
from burnish.evals.watcher import Watcher
from burnish.events import Broke, Event
from burnish.models.model import Model
from burnish.runs.attempt import Resources
from burnish.sandbox import Limits, Sandbox, open_sandbox
from burnish.search.edits import EditCache
from burnish.tasks.task import Task
from burnish.text import one_line

NICENESS_BESIDE_LLAMA = 5
"""How far grading stands back from llama.cpp, whose threads spin: see `sandbox.Limits.niceness`."""
FEWEST_TO_JUDGE, MOST_BROKEN = 10, 0.2
"""Once so many attempts are finished, a larger share of broken ones ends the run."""
POLL_SECONDS = 0.2


class TooManyErrors(BurnishError):
    """So many attempts broke that going on would measure nothing."""


class Ended(NamedTuple):
    """How one attempt ended. `bug` is an error of ours, which ends the run."""

    task_id: str
    seed: int
    events: Sequence[Event]
    bug: Exception | None = None


def run(
    folder: Folder,
    tasks: Sequence[Task],
    model: Model,
    watch: Watcher | None = None,
    cancel: threading.Event | None = None,
    sandbox: Sandbox | None = None,
    strategy: Strategy | None = None,
) -> None:
    """Make every attempt that is not on disk yet, in the order of tasks.

    An attempt that breaks is recorded and the rest goes on, unless too many do (TooManyErrors). Setting `cancel`, or
    Ctrl-C in this thread, ends it at once; attempts under way are then forgotten and finished ones kept.
    """
    watch, cancel = watch or Watcher(), cancel or threading.Event()
    done = folder.finished()
    missing = [(task, seed) for task in tasks for seed in folder.plan.seeds if (task.id, seed) not in done]
    watch.begun(folder)
    if not missing:
        return
    box = nullcontext(sandbox) if sandbox else opened_for(model, folder.plan.sandbox)
    with box as place:
        crew = Crew(folder, model, place, cancel, watch, strategy)
        try:
            _count(crew.results(missing), watch, folder)
        except BaseException:
            cancel.set()
            raise
        finally:
            crew.settle()


def opened_for(model: Model, kind: str) -> AbstractContextManager[Sandbox]:
    """A sandbox that leaves the model its processors: beside llama.cpp one cell, which stands back."""
    if model.name.startswith("local:"):
        return open_sandbox(kind, cells=1, limits=Limits(niceness=NICENESS_BESIDE_LLAMA))
    return open_sandbox(kind)


class Crew:
    """Threads that each take the next attempt until there is none."""

    def __init__(
        self,
        folder: Folder,
        model: Model,
        sandbox: Sandbox,
        cancel: threading.Event,
        watch: Watcher,
        strategy: Strategy | None = None,
    ) -> None:
        self.folder, self.model, self.sandbox, self.strategy = folder, model, sandbox, strategy
        self.cancel, self.watch, self.edits = cancel, watch, EditCache()
        self._ended: queue.SimpleQueue[Ended] = queue.SimpleQueue()
        self._pens: list[threading.Lock] = []
        """One for each thread, held while it writes: whoever has all of them knows that nobody writes any more."""

    def results(self, missing: Sequence[tuple[Task, int]]) -> Iterator[Ended]:
        """Each attempt as it ends; stops early when cancelled."""
        waiting: queue.SimpleQueue[tuple[Task, int]] = queue.SimpleQueue()
        for pair in missing:
            waiting.put(pair)
        self._pens = [threading.Lock() for _ in range(min(len(missing), self.at_once))]
        for pen in self._pens:
            threading.Thread(target=self._work, args=(waiting, pen), name="burnish-attempt", daemon=True).start()
        left = len(missing)
        while left and not self.cancel.is_set():
            try:
                ended = self._ended.get(timeout=POLL_SECONDS)
            except queue.Empty:
                continue
            left -= 1
            yield ended

    def settle(self) -> None:
        """Wait for those who are writing. After a cancel nobody begins to, so then nothing is written any more."""
        for pen in self._pens:
            with pen:
                pass

    @property
    def at_once(self) -> int:
        """Attempts under way at the same time."""
        return self.folder.plan.at_once or self.model.slots + max(2, self.model.slots // 4)

    def _work(self, waiting: "queue.SimpleQueue[tuple[Task, int]]", pen: threading.Lock) -> None:
        while not self.cancel.is_set():
            try:
                task, seed = waiting.get_nowait()
            except queue.Empty:
                return
            events, bug = self._attempt(task, seed)
            with pen:
                if self.cancel.is_set():
                    return
                if bug is None or (events and isinstance(events[-1], Broke)):
                    bug = self._written(task.id, seed, events) or bug
            self._ended.put(Ended(task.id, seed, events, bug))
            if bug:
                return

    def _attempt(self, task: Task, seed: int) -> tuple[list[Event], Exception | None]:
        """What lasts of one attempt, and the bug of ours that ended it, if one did."""
        events: list[Event] = []
        try:
            for event in self._happenings(task, seed):
                if event.lasting:
                    events.append(event)
                self.watch.heard(event)
        except Exception as error:
            return events, error
        return events, None

    def _written(self, task_id: str, seed: int, events: Sequence[Event]) -> Exception | None:
        """Put the attempt on disk, or say why that was not possible."""
        try:
            self.folder.write(task_id, seed, events)
        except Exception as error:
            return error
        return None

    def _happenings(self, task: Task, seed: int) -> Iterable[Event]:
        model = model_for(task, self.model)
        resources = Resources([model], sandbox=self.sandbox, cancel=self.cancel, edits=self.edits)
        return stream_attempt(task, self.folder.plan, seed, resources, self.strategy)


def _count(results: Iterable[Ended], watch: Watcher, folder: Folder) -> None:
    """Tell the watcher of each attempt, and stop at a bug of ours or at too many broken attempts."""
    reasons = Counter[str]()
    for finished, ended in enumerate(results, 1):
        if ended.bug:
            raise ended.bug
        reasons.update(why_broken(ended.events))
        watch.finished(ended.task_id, ended.seed, ended.events)
        if finished >= FEWEST_TO_JUDGE and reasons.total() > MOST_BROKEN * finished:
            raise _too_many(finished, reasons, folder)


def why_broken(events: Sequence[Event]) -> list[str]:
    """The reason for which an attempt broke; nothing when it did not."""
    return [f"{event.error}: {one_line(event.message, 300)}" for event in events if isinstance(event, Broke)]


def _too_many(finished: int, reasons: Counter[str], folder: Folder) -> TooManyErrors:
    [(reason, count)] = reasons.most_common(1)
    often = "each time" if count == reasons.total() else f"{count} times"
    return TooManyErrors(
        f"{reasons.total()} of {finished} attempts broke, so the evaluation was stopped. The commonest reason "
        f"({often}): {reason}. Finished attempts are kept, broken ones too; to have one made again delete its file in "
        f"{folder.path / 'attempts'}. When the cause is gone, go on with: burnish eval resume {folder.name}"
    )
