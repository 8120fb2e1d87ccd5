"""The runner: every attempt once, on disk before it counts; one that breaks stops nobody, too many stop the run."""

import os
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from burnish.errors import ModelError
from burnish.evals.eval_store import Folder
from burnish.evals.runner import EvalProgress, TooManyErrors, open_eval_sandbox, run_missing
from burnish.evals.schema import Plan
from burnish.events import Broke, Event, Scored
from burnish.models.model import Ask, Chunk, Done, Waiting
from burnish.models.scripted import ScriptedModel
from burnish.runs.attempt import Resources
from burnish.sandbox import Sandbox
from burnish.tasks.task import Task
from tests.evals.toys import toys
from tests.support import block, refused


class Picky:
    """A model that fails on some tasks, and counts how many answers it writes at once."""

    name = "picky:one"
    slots = 3

    def __init__(self, *hates: str, seconds: float = 0.0) -> None:
        self.hates, self.seconds = hates, seconds
        self.now = self.most = self.asked = 0
        self._lock = threading.Lock()

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Chunk | Waiting | Done]:
        with self._lock:
            self.now, self.asked = self.now + 1, self.asked + 1
            self.most = max(self.most, self.now)
        cancel.wait(self.seconds)
        with self._lock:
            self.now -= 1
        if cancel.is_set():
            return
        if any(hated in ask.messages[-1].content for hated in self.hates):
            raise ModelError("this one I do not like")
        yield Chunk(text=block("def add_1(x):\n    return x + 1"))
        yield Done(tokens_in=1, tokens_out=1)

    def warm_up(self) -> None: ...

    def close(self) -> None: ...


class Notes(EvalProgress):
    """Writes down what it hears, and what is on disk at that moment."""

    def __init__(self) -> None:
        self.folder: Folder | None = None
        self.done: list[tuple[str, int]] = []
        self.on_disk = True

    def on_begin(self, folder: Folder) -> None:
        self.folder = folder

    def on_finish(self, task_id: str, seed: int, events: Sequence[Event]) -> None:
        assert self.folder
        self.on_disk &= (task_id, seed) in self.folder.finished_attempts()
        self.done.append((task_id, seed))


def planned(path: Path, tasks: Sequence[Task], **settings: object) -> Folder:
    usual: dict[str, object] = {"suite": "toys", "model": "picky:one", "strategy": "single"}
    return Folder.create(path / "eval", Plan.model_validate(usual | settings), tasks, [])


@pytest.mark.slow
def test_every_attempt_is_made_once_and_is_on_disk_before_it_counts(tmp_path: Path, box: Sandbox) -> None:
    folder, notes = planned(tmp_path, toys(4), seeds=(0, 1)), Notes()
    run_missing(folder, toys(4), Resources([ScriptedModel([], "scripted:gold")], sandbox=box), notes)
    assert sorted(notes.done) == [(f"toy-{n}", seed) for n in range(1, 5) for seed in (0, 1)]
    assert notes.on_disk
    assert all(events[-1].passed for _, _, events in folder.attempts() if isinstance(events[-1], Scored))


def test_what_is_on_disk_is_not_made_again_nor_touched(tmp_path: Path, box: Sandbox) -> None:
    folder, model = planned(tmp_path, toys(3)), ScriptedModel([], "scripted:gold")
    run_missing(folder, toys(3)[:2], Resources([model], sandbox=box))
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in (folder.path / "attempts").iterdir()}
    notes = Notes()
    run_missing(folder, toys(3), Resources([model], sandbox=box), notes)
    assert notes.done == [("toy-3", 0)]
    assert before == {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in before}
    run_missing(folder, toys(3), Resources([model], sandbox=box), notes)
    assert notes.done == [("toy-3", 0)]


@pytest.mark.slow
@pytest.mark.parametrize(("at_once", "most"), [(0, 5), (1, 1), (2, 2)])
def test_as_many_attempts_are_under_way_as_asked_for_or_as_keep_the_slots_busy(
    tmp_path: Path, box: Sandbox, at_once: int, most: int
) -> None:
    model = Picky(seconds=0.15)
    run_missing(planned(tmp_path, toys(10), at_once=at_once), toys(10), Resources([model], sandbox=box))
    assert model.most == most


def test_an_attempt_that_breaks_is_recorded_and_the_rest_goes_on(tmp_path: Path, box: Sandbox) -> None:
    folder, notes = planned(tmp_path, toys(12)), Notes()
    run_missing(folder, toys(12), Resources([Picky("add_7")], sandbox=box), notes)
    assert len(notes.done) == 12
    broke = {task_id: events[-1] for task_id, _, events in folder.attempts() if isinstance(events[-1], Broke)}
    assert {task_id: event.message for task_id, event in broke.items()} == {"toy-7": "this one I do not like"}


@pytest.mark.slow
def test_too_many_broken_attempts_stop_the_run_with_the_reason_and_how_to_go_on(tmp_path: Path, box: Sandbox) -> None:
    folder, model = planned(tmp_path, toys(40)), Picky("add_", seconds=0.02)
    with refused(TooManyErrors, "evals/too many broken attempts", folder=folder.path):
        run_missing(folder, toys(40), Resources([model], sandbox=box))
    assert 10 <= len(folder.finished_attempts()) < 40
    with pytest.raises(TooManyErrors):
        run_missing(folder, toys(40), Resources([model], sandbox=box))
    run_missing(folder, toys(40), Resources([Picky()], sandbox=box))
    assert len(folder.finished_attempts()) == 40


def test_our_own_bug_stops_the_run_and_is_on_record(tmp_path: Path, box: Sandbox) -> None:
    class Buggy(Picky):
        def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Chunk | Waiting | Done]:
            raise ZeroDivisionError("ours")

    folder = planned(tmp_path, toys(2), at_once=1)
    with pytest.raises(ZeroDivisionError, match="ours"):
        run_missing(folder, toys(2), Resources([Buggy()], sandbox=box))
    time.sleep(0.1)
    assert folder.finished_attempts() == {("toy-1", 0)}
    [(_, _, events)] = folder.attempts()
    assert isinstance(events[-1], Broke)


@pytest.mark.slow
def test_a_cancelled_run_ends_at_once_and_forgets_what_was_under_way(tmp_path: Path, box: Sandbox) -> None:
    folder, cancel = planned(tmp_path, toys(4)), threading.Event()
    threading.Timer(0.2, cancel.set).start()
    started = time.monotonic()
    run_missing(folder, toys(4), Resources([Picky(seconds=30)], sandbox=box, cancel=cancel))
    assert time.monotonic() - started < 2
    time.sleep(0.1)
    assert folder.finished_attempts() == set()


@pytest.mark.slow
def test_beside_llama_cpp_grading_stands_back_and_beside_others_it_does_not() -> None:
    ours = os.nice(0)
    for name, stands_back in (("local:any", True), ("scripted:any", False)):
        with open_eval_sandbox(ScriptedModel([], name), "process") as box:
            ran = box.run(["python", "-c", "import os; print(os.nice(0))"])
        assert (int(ran.output) > ours) is stands_back
