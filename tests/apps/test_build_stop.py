"""A build can be stopped within two seconds, killed at any moment, and gone on with: nothing is asked twice."""

import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from burnish.commands.resume import resume
from burnish.events import BaseEvent, FunctionBegun, FunctionWritten, ModuleBuilt
from burnish.models.model import Ask, Chunk, Piece
from burnish.models.scripted import ScriptedModel
from burnish.runs import Store
from tests.apps.built import FakeJudge, begin, script
from tests.killed import answered_twice, assert_goes_on, run_until

MOST_SECONDS = 2.0


class Endless(ScriptedModel):
    """Writes on and on where it is asked for `purpose`; and says when it began."""

    def __init__(self, purpose: str) -> None:
        super().__init__(script())
        self.purpose, self.began = purpose, threading.Event()

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Piece]:
        if ask.purpose != self.purpose:
            yield from super().stream(ask, cancel)
            return
        self.began.set()
        while not cancel.wait(0.02):
            yield Chunk(text="on ")


@pytest.mark.parametrize("purpose", ["plan", "draft"])
def test_a_stop_ends_it_and_the_runs_of_its_functions(
    purpose: str, monkeypatch: pytest.MonkeyPatch, store: Store
) -> None:
    FakeJudge(monkeypatch)
    model = Endless(purpose)
    handle, _ = begin(model, store=store)
    assert model.began.wait(20)
    started = time.monotonic()
    handle.stop()
    run = handle.wait()
    assert time.monotonic() - started < MOST_SECONDS
    assert (run.state, run.all(FunctionWritten)) == ("interrupted", [])
    begun = run.all(FunctionBegun)
    until = time.monotonic() + MOST_SECONDS
    while begun and store.open(begun[0].run_id).state == "unfinished" and time.monotonic() < until:
        time.sleep(0.02)
    assert [store.open(one.run_id).state for one in begun] == ["interrupted"] * len(begun)


def test_a_build_that_was_stopped_goes_on_with_the_function_it_was_at(
    monkeypatch: pytest.MonkeyPatch, store: Store
) -> None:
    FakeJudge(monkeypatch)
    model = Endless("draft")
    handle, _ = begin(model, store=store)
    assert model.began.wait(20)
    handle.stop()
    before = handle.wait()
    run = resume(before.id, (ScriptedModel(script()),), store=store)
    assert run.verdict == "plausible"
    assert_goes_on(run, before)
    assert len({one.run_id for one in run.all(FunctionBegun)}) == 1
    assert answered_twice(store.open(run.all(FunctionBegun)[0].run_id)) == []


class Killed(BaseException):
    """In place of the end of a process."""


@pytest.mark.parametrize("kind", ["app_planned", "function_begun", "function_written", "module_built", "app_judged"])
def test_wherever_it_ends_it_is_gone_on_with_and_nothing_is_asked_twice(
    kind: str, monkeypatch: pytest.MonkeyPatch, store: Store
) -> None:
    judge = FakeJudge(monkeypatch)

    def end(event: BaseEvent) -> None:
        if getattr(event, "kind", "") == kind:
            raise Killed

    model = ScriptedModel(script())
    handle, _ = begin(model, store=store, watch=end)
    with pytest.raises(Killed):
        handle.wait()
    before, judged = store.open(handle.id), len(judge.judged)
    run = resume(handle.id, (model,), store=store)
    assert run.verdict == "plausible"
    assert_goes_on(run, before)
    assert all(answered_twice(store.open(one.run_id)) == [] for one in run.all(FunctionBegun))
    assert len({one.module for one in run.all(ModuleBuilt)}) == 4
    assert judged <= len(judge.judged) <= 4, "what was judged is not judged again"
    assert resume(run.id, (model,), store=store).events == run.events


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["answer 1", "function_begun", "module_built"])
def test_kill_9_then_resume(moment: str, work_folder: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    sentence = "a book list with price and amount that computes the total"
    killed = run_until(moment, "build", sentence, "--model", "scripted:demo", "--out", "app", cwd=work_folder)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    before = store.open("last")
    assert before.started.verb == "build"
    FakeJudge(monkeypatch, plans=False)
    run = resume("last", store=store)
    assert_goes_on(run, before)
    assert (run.verdict, run.folder) == ("plausible", str(work_folder / "app"))
    assert [bool(one.code) for one in run.all(FunctionWritten)] == [True]
    assert "def the_total" in (work_folder / "app" / "app" / "book" / "computed.py").read_text()
