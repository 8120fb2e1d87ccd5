"""One task, start to finish: whatever breaks is on record, and what was done is kept."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from burnish import ScriptedModel, SetupProblem, Store, Task
from burnish.errors import ModelError, SandboxError
from burnish.events import BaseEvent, Broke, CodeProposed, Stopped
from burnish.models.model import Ask, Chunk, Done, Waiting
from burnish.runs.record import FILE
from burnish.tasks import from_sentence
from tests.support import DOUBLE, attempt, refused, script

TASK = from_sentence(DOUBLE)


class Breaking(ScriptedModel):
    """Breaks when it is asked for code."""

    def __init__(self, error: Exception) -> None:
        super().__init__(script())
        self.error = error

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Chunk | Waiting | Done]:
        if ask.purpose == "draft":
            raise self.error
        yield from super().stream(ask, cancel)


@pytest.mark.usefixtures("open_box")
@pytest.mark.parametrize("error", [ModelError("the server hung up"), SandboxError("the cell is gone")])
def test_an_attempt_that_breaks_is_on_record_and_has_no_verdict(store: Store, error: Exception) -> None:
    run = attempt(TASK, Breaking(error), store=store)
    broke = run.last(Broke)
    assert broke
    assert (broke.error, broke.message) == (type(error).__name__, str(error))
    assert (run.verdict, run.state, run.why) == (None, "broken", str(error))
    assert store.open("last").state == "broken"


@pytest.mark.usefixtures("open_box")
def test_our_own_bug_is_recorded_and_then_raised_again(store: Store) -> None:
    with pytest.raises(ZeroDivisionError):
        attempt(TASK, Breaking(ZeroDivisionError("ours")), store=store)
    run = store.open("last")
    assert (run.state, run.why) == ("broken", "ours")


@pytest.mark.usefixtures("open_box")
def test_a_watcher_that_breaks_loses_no_run(store: Store) -> None:
    def watch(event: BaseEvent) -> None:
        if isinstance(event, CodeProposed):
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        attempt(TASK, ScriptedModel(script()), store=store, watch=watch)
    assert store.open("last").versions


@pytest.mark.usefixtures("open_box")
def test_hidden_tests_and_gold_never_reach_the_prompt_or_the_record(store: Store) -> None:
    task = TASK.model_copy(update={"hidden_tests": "assert double(777) == 1554", "gold": "GOLDEN = 1"})
    model = ScriptedModel(script(draft="no", repair="no", rewrite="no"))
    run = attempt(task, model, store=store)
    told = "".join(message.content for ask in model.asked for message in ask.messages)
    record = (store.runs / run.id / FILE).read_text()
    for secret in ("double(777", "GOLDEN"):
        assert secret not in told
        assert secret not in record
    assert "double(2)" in told


@pytest.mark.slow
@pytest.mark.usefixtures("open_box")
def test_the_record_says_what_decided_the_run(store: Store) -> None:
    run = attempt(TASK, ScriptedModel(script(), name="scripted:mine"), store=store)
    assert run.started.model == "scripted:mine"
    assert run.started.settings["limits"]["rounds"] == 5  # type: ignore[index]
    assert run.started.sandbox


def test_no_sandbox_is_said_before_a_run_begins(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(kind: str, **more: object) -> None:
        raise SetupProblem("Bubblewrap is not installed. Type: apt-get install bubblewrap")

    monkeypatch.setattr("burnish.runs.attempt.open_sandbox", refuse)
    with pytest.raises(SetupProblem, match="apt-get install bubblewrap$"):
        attempt(TASK, ScriptedModel(script()), store=store)
    assert store.list() == []


@pytest.mark.usefixtures("open_box")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_disk_that_fills_up_during_the_run_is_one_paragraph(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    begin = store.begin

    def on_a_full_disk(name: str) -> object:
        run_id, record = begin(name)
        record._file.close()
        record._file = open("/dev/full", "ab", buffering=0)  # noqa: PTH123, SIM115
        return run_id, record

    monkeypatch.setattr(store, "begin", on_a_full_disk)
    with refused():
        attempt(TASK, ScriptedModel(script()), store=store)


INTERRUPTED = """
import sys
from burnish import ScriptedModel
from burnish.tasks import from_sentence
from tests.support import DOUBLE, attempt, block, script

class Slow(ScriptedModel):
    def stream(self, ask, cancel):
        if ask.purpose == "draft" and sys.argv[1] == "answering":
            print("now", flush=True)
            cancel.wait(60)
        yield from super().stream(ask, cancel)

def watch(event):
    if event.kind == ("notice" if sys.argv[1] == "fetching" else "code_proposed"):
        print("now", flush=True)

body = "def double(n):\\n    while True: pass"
endless = block(f"import torch\\n{body}" if sys.argv[1] == "fetching" else body)
attempt(from_sentence(DOUBLE), Slow(script(draft=endless)), watch=watch)
"""


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["answering", "running", "fetching"])
def test_ctrl_c_ends_within_two_seconds_and_keeps_the_run(store: Store, silent_index: None, moment: str) -> None:
    command = [sys.executable, "-c", INTERRUPTED, moment]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "now\n"
        time.sleep(0.5)
        asked = time.monotonic()
        os.kill(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=20)
        took = time.monotonic() - asked
    assert took < 2, errors
    assert errors.strip().endswith("KeyboardInterrupt")
    run = store.open("last")
    stopped = run.last(Stopped)
    assert stopped
    assert (stopped.reason, run.state) == ("interrupted", "interrupted")
    assert run.model_tests, "what was done before is kept"
    assert run.events[-1] == stopped, "nothing is said after the end"


@pytest.mark.slow
def test_a_task_may_be_made_by_hand(open_box: object) -> None:
    task = Task(id="inc", prompt="adds one", entry_point="inc", visible_tests=("assert inc(1) == 2",))
    answer = "```python\ndef inc(n):\n    return n + 1\n```"
    assert attempt(task, ScriptedModel([answer])).verdict == "plausible"
