"""Attempts in several processes: the same results as in one, and nothing is left running."""

import errno
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from burnish.errors import ModelError, SandboxError
from burnish.evals import workers
from burnish.evals.eval_store import Folder
from burnish.evals.runner import run_missing
from burnish.evals.schema import Plan
from burnish.events import Broke, Scored
from burnish.models.model import Ask, Chunk, Done, Waiting
from burnish.runs.attempt import Resources
from burnish.sandbox import Sandbox, owner
from tests.evals.toys import toys
from tests.support import block

pytestmark = pytest.mark.slow
TASKS = toys(6)


class Knowing:
    """A model that lives in this process, knows the answers, and may be left."""

    name = "knowing:one"
    slots = 16

    def __init__(self, fails: str = "", seconds: float = 0.0) -> None:
        self.fails, self.seconds = fails, seconds
        self.asked_in: set[int] = set()
        self.left = 0

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Chunk | Waiting | Done]:
        self.asked_in.add(os.getpid())
        text = "\n".join(message.content for message in ask.messages)
        task = next(task for task in TASKS if task.entry_point in text)
        if task.id == self.fails:
            raise ModelError("no answer today")
        ends = time.monotonic() + self.seconds
        while time.monotonic() < ends and not cancel.is_set():
            yield Waiting()
            time.sleep(0.01)
        yield Chunk(text=block(task.gold))
        try:
            yield Chunk(text="\nand much more that nobody wants\n")
        except GeneratorExit:
            self.left += 1
            raise
        yield Done(tokens_in=1, tokens_out=2)

    def counted(self, ask: Ask, text: str) -> Done:
        return Done(tokens_in=1, tokens_out=len(text), ended="enough")

    def warm_up(self) -> None:
        pass

    def close(self) -> None:
        pass


@pytest.fixture(autouse=True)
def two_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FEWEST_ATTEMPTS", "FEWEST_AT_ONCE", "FEWEST_CORES"):
        monkeypatch.setattr(workers, name, 1)
    monkeypatch.setattr(workers, "MOST_WORKERS", 2)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})


def evaluate(folder: Path, model: Knowing, box: Sandbox, cancel: threading.Event | None = None) -> Folder:
    plan = Plan(suite="toys", model=model.name, strategy="retry", rounds=1, at_once=4)
    made = Folder.create(folder, plan, TASKS, ())
    run_missing(made, TASKS, Resources([model], sandbox=box, cancel=cancel or threading.Event()))
    return made


def children() -> list[int]:
    return [int(pid) for pid in Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split()]


def test_every_attempt_is_made_once_by_workers_that_ask_the_model_here(tmp_path: Path, box: Sandbox) -> None:
    model, before = Knowing(), children()
    made = evaluate(tmp_path / "run", model, box)
    assert {task for task, _, _ in made.attempts()} == {task.id for task in TASKS}
    assert all(event.passed for _, _, events in made.attempts() for event in events if isinstance(event, Scored))
    assert model.asked_in == {os.getpid()}
    assert children() == before


def test_an_error_of_the_model_breaks_one_attempt_and_says_the_same(tmp_path: Path, box: Sandbox) -> None:
    made = evaluate(tmp_path / "run", Knowing(fails=TASKS[2].id), box)
    broke = {task: event for task, _, events in made.attempts() for event in events if isinstance(event, Broke)}
    assert {task: (event.error, event.message) for task, event in broke.items()} == {
        TASKS[2].id: ("ModelError", "no answer today")
    }


def test_a_worker_that_is_killed_ends_the_evaluation_which_can_go_on(tmp_path: Path, box: Sandbox) -> None:
    before = set(children())
    model = Knowing(seconds=60.0)

    def kill() -> None:
        while not model.asked_in:
            time.sleep(0.05)
        os.kill(next(iter(set(all_children()) - before)), signal.SIGKILL)

    def all_children() -> list[int]:
        found = [int(pid) for one in Path("/proc/self/task").iterdir() for pid in read(one / "children").split()]
        return [pid for pid in found if b"work_for" in read(Path(f"/proc/{pid}/cmdline"))]

    def read(file: Path) -> bytes:
        """What the kernel says of a thread or a process; nothing of one that has just ended."""
        try:
            return file.read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            return b""

    threading.Thread(target=kill, daemon=True).start()
    with pytest.raises(SandboxError):
        evaluate(tmp_path / "run", model, box)
    assert not all_children()
    again = Folder.open(tmp_path / "run")
    run_missing(again, TASKS, Resources([Knowing()], sandbox=box))
    assert len(again.finished_attempts()) == len(TASKS)


def test_a_cancelled_evaluation_ends_at_once(tmp_path: Path, box: Sandbox) -> None:
    cancel, model = threading.Event(), Knowing(seconds=60.0)

    def stop() -> None:
        while not model.asked_in:
            time.sleep(0.05)
        cancel.set()

    threading.Thread(target=stop, daemon=True).start()
    made = evaluate(tmp_path / "run", model, box, cancel)
    assert not made.finished_attempts()


@pytest.mark.parametrize(
    ("name", "at_once", "missing", "some"),
    [("far:one", 64, 200, True), ("local:one", 64, 200, False), ("far:one", 64, 0, False), ("far:one", 0, 200, False)],
)
def test_processes_are_used_where_they_bring_something(name: str, at_once: int, missing: int, some: bool) -> None:
    model = Knowing()
    model.name = name
    assert bool(workers.count_workers(model, at_once, missing)) is some


def test_a_long_place_for_temporary_files_and_what_a_killed_evaluation_left_are_no_hindrance(
    tmp_path: Path, box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = tmp_path / f"{workers.FOLDER}0-1-0-0-0"  # of another start of the machine
    long = tmp_path / ("long" * 40)
    for folder in (left, long):
        folder.mkdir()
    monkeypatch.setattr(owner.tempfile, "tempdir", str(tmp_path))
    owner.remove_left_folders(workers.FOLDER)
    assert not left.exists()
    monkeypatch.setattr(owner.tempfile, "tempdir", str(long))
    assert len(evaluate(tmp_path / "run", Knowing(), box).finished_attempts()) == len(TASKS)
    assert not list(Path(owner.SHORT_TOP).glob(f"{workers.FOLDER}*-{os.getpid()}-*"))


def test_a_worker_imports_nothing_from_the_folder_in_which_it_is_started(
    tmp_path: Path, box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "queue.py").write_text("import pathlib; pathlib.Path('pwned').touch(); raise SystemExit(3)\n")
    monkeypatch.chdir(tmp_path)
    made = evaluate(tmp_path / "run", Knowing(), box)
    assert not (tmp_path / "pwned").exists()
    assert len(made.finished_attempts()) == len(TASKS)


class TwoWords(Exception):
    """An error that pickle writes, and cannot read again."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(f"{what}: {why}")


@pytest.mark.parametrize("bug", [TwoWords("zebra", "crossing"), RuntimeError("zebra: crossing", threading.Lock())])
def test_a_bug_that_cannot_cross_from_process_to_process_is_still_told(
    bug: Exception, tmp_path: Path, box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> Iterator[Chunk]:
        raise bug
        yield

    monkeypatch.setattr(Knowing, "stream", fail)
    with pytest.raises(RuntimeError, match="zebra.*crossing"):
        evaluate(tmp_path / "run", Knowing(), box)


def test_too_many_open_files_hold_an_evaluation_up_and_do_not_hang_it_and_no_thread_stays(
    tmp_path: Path, box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept, refused = workers.Listener.accept, [OSError(errno.EMFILE, "Too many open files")] * 3

    def fail_first(listener: workers.Listener) -> workers.Connection:
        if refused:
            raise refused.pop()
        return accept(listener)

    monkeypatch.setattr(workers.Listener, "accept", fail_first)
    assert len(evaluate(tmp_path / "run", Knowing(), box).finished_attempts()) == len(TASKS)
    desks = [thread for thread in threading.enumerate() if thread.name == "burnish-desk"]
    for thread in desks:
        thread.join(5)
    assert not any(thread.is_alive() for thread in desks)
