"""Runs what an evaluation still lacks: many attempts at once, each on disk before it is counted.

More attempts are under way than the model has slots, so that it goes on writing while others wait for the sandbox.
"""

import queue
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import NamedTuple

from burnish.errors import BurnishError
from burnish.evals.attempt import stream_attempt
from burnish.evals.eval_store import Folder
from burnish.evals.strategies.strategy import Strategy
from burnish.evals.task_models import model_for_task
from burnish.events import Broke, Event
from burnish.models.model import Model
from burnish.runs.attempt import Resources
from burnish.sandbox import JobLimits, Sandbox, open_sandbox
from burnish.tasks.task import Task
from burnish.text import one_line

NICENESS_BESIDE_LLAMA = 5
"""How far grading stands back from llama.cpp, whose threads spin: see `sandbox.JobLimits.niceness`."""
FEWEST_TO_JUDGE, MOST_BROKEN = 10, 0.2
"""Once so many attempts are finished, a larger share of broken ones ends the run."""
POLL_SECONDS = 0.2


class TooManyErrors(BurnishError):
    """So many attempts broke that going on would measure nothing."""


class EvalProgress:
    """Who looks on while an evaluation runs. Every method may be left as it is: it then does nothing.

    `on_event` comes from many threads at once; the other methods come from one.
    """

    def on_fetch(self, done: int, total: int, source: str) -> None:
        """Weights are on their way: bytes so far, bytes in all, where from."""

    def on_prepare(self, done: int, total: int, what: str) -> None:
        """Tasks are fetched, made, or tried with their own reference solution before any is used."""

    def on_begin(self, folder: Folder) -> None:
        """The plan is on disk; attempts begin, or go on."""

    def on_event(self, event: Event) -> None:
        """Something happened in one of the attempts under way."""

    def on_finish(self, task_id: str, seed: int, events: Sequence[Event]) -> None:
        """An attempt is finished, and on disk."""


class AttemptEnd(NamedTuple):
    """How one attempt ended. `bug` is an error of ours, which ends the run."""

    task_id: str
    seed: int
    events: Sequence[Event]
    bug: Exception | None = None


def run_missing(
    folder: Folder,
    tasks: Sequence[Task],
    resources: Resources,
    watch: EvalProgress | None = None,
    strategy: Strategy | None = None,
) -> None:
    """Make every attempt that is not on disk yet, in the order of tasks.

    An attempt that breaks is recorded and the rest goes on, unless too many do (TooManyErrors). Setting
    `resources.cancel`, or Ctrl-C in this thread, ends it at once; attempts under way are then forgotten and finished
    ones kept. Without a sandbox in `resources`, one of the plan's kind is opened.
    """
    watch = watch or EvalProgress()
    done = folder.finished_attempts()
    missing = [(task, seed) for task in tasks for seed in folder.plan.seeds if (task.id, seed) not in done]
    watch.on_begin(folder)
    if not missing:
        return
    box = resources.sandbox
    with nullcontext(box) if box else open_eval_sandbox(resources.models[0], folder.plan.sandbox) as sandbox:
        workers = Workers(folder, replace(resources, sandbox=sandbox), watch, strategy)
        try:
            _count_ends(workers.run(missing), watch, folder)
        except BaseException:
            resources.cancel.set()
            raise
        finally:
            workers.wait_for_writes()


def open_eval_sandbox(model: Model, kind: str) -> AbstractContextManager[Sandbox]:
    """A sandbox that leaves the model its processors: beside llama.cpp one cell, which stands back."""
    if model.name.startswith("local:"):
        return open_sandbox(kind, cells=1, limits=JobLimits(niceness=NICENESS_BESIDE_LLAMA))
    return open_sandbox(kind)


class Workers:
    """Threads that each take the next attempt until there is none. They share the edits of `resources`."""

    def __init__(self, folder: Folder, resources: Resources, watch: EvalProgress, strategy: Strategy | None) -> None:
        self.folder, self.resources, self.watch, self.strategy = folder, resources, watch, strategy
        self.model, self.cancel = resources.models[0], resources.cancel
        self._ends: queue.SimpleQueue[AttemptEnd] = queue.SimpleQueue()
        self._write_locks: list[threading.Lock] = []
        """One for each thread, held while it writes: whoever has all of them knows that nobody writes any more."""

    def run(self, missing: Sequence[tuple[Task, int]]) -> Iterator[AttemptEnd]:
        """Each attempt as it ends; stops early when cancelled."""
        waiting: queue.SimpleQueue[tuple[Task, int]] = queue.SimpleQueue()
        for pair in missing:
            waiting.put(pair)
        at_once = self.folder.plan.at_once or self.model.slots + max(2, self.model.slots // 4)
        self._write_locks = [threading.Lock() for _ in range(min(len(missing), at_once))]
        for lock in self._write_locks:
            threading.Thread(target=self._work, args=(waiting, lock), name="burnish-attempt", daemon=True).start()
        left = len(missing)
        while left and not self.cancel.is_set():
            try:
                end = self._ends.get(timeout=POLL_SECONDS)
            except queue.Empty:
                continue
            left -= 1
            yield end

    def wait_for_writes(self) -> None:
        """Wait for those who are writing. After a cancel nobody begins to, so then nothing is written any more."""
        for lock in self._write_locks:
            with lock:
                pass

    def _work(self, waiting: "queue.SimpleQueue[tuple[Task, int]]", write_lock: threading.Lock) -> None:
        while not self.cancel.is_set():
            try:
                task, seed = waiting.get_nowait()
            except queue.Empty:
                return
            events, bug = self._attempt(task, seed)
            with write_lock:
                if self.cancel.is_set():
                    return
                if bug is None or (events and isinstance(events[-1], Broke)):
                    try:
                        self.folder.write(task.id, seed, events)
                    except Exception as error:
                        bug = error
            self._ends.put(AttemptEnd(task.id, seed, events, bug))
            if bug:
                return

    def _attempt(self, task: Task, seed: int) -> tuple[list[Event], Exception | None]:
        """What lasts of one attempt, and the bug of ours that ended it, if one did."""
        events: list[Event] = []
        try:
            resources = replace(self.resources, models=[model_for_task(task, self.model)])
            for event in stream_attempt(task, self.folder.plan, seed, resources, self.strategy):
                if event.lasting:
                    events.append(event)
                self.watch.on_event(event)
        except Exception as error:
            return events, error
        return events, None


def _count_ends(ends: Iterable[AttemptEnd], watch: EvalProgress, folder: Folder) -> None:
    """Tell who looks on of each attempt, and stop at a bug of ours or at too many broken attempts."""
    reasons = Counter[str]()
    for finished, end in enumerate(ends, 1):
        if end.bug:
            raise end.bug
        reasons.update(
            f"{event.error}: {one_line(event.message, 300)}" for event in end.events if isinstance(event, Broke)
        )
        watch.on_finish(end.task_id, end.seed, end.events)
        if finished >= FEWEST_TO_JUDGE and reasons.total() > MOST_BROKEN * finished:
            [(reason, count)] = reasons.most_common(1)
            often = "each time" if count == reasons.total() else f"{count} times"
            raise TooManyErrors(
                f"{reasons.total()} of {finished} attempts broke, so the evaluation was stopped. The commonest reason "
                f"({often}): {reason}. Finished attempts are kept, broken ones too; to have one made again delete its "
                f"file in {folder.path / 'attempts'}. When the cause is gone, go on with: "
                f"burnish eval resume {folder.name}"
            )
