"""The question at the terminal, and `burnish answer` for one that was left open."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from burnish.events import QuestionAnswered, QuestionAsked
from burnish.runs import Store
from tests.cli.conftest import Call
from tests.cli.test_review import _read, _until
from tests.commands.test_answer import DOWN, NOTHING, SENTENCE, UP
from tests.support import assert_snapshot, block

HEAD = "What should this give?"


@pytest.fixture
def command(work_folder: Path) -> tuple[str, ...]:
    """`write` with a model whose versions rank upwards or downwards."""
    script = {"tests": [""], "draft": [NOTHING], "rewrite": [block(UP)], "repair": ["no code", block(DOWN)]}
    (work_folder / "model.json").write_text(json.dumps(script))
    return "write", SENTENCE, "--model", f"scripted:{work_folder / 'model.json'}", "--fast"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lines", "said"),
    [
        pytest.param([b"B\n"], ["option"], id="a letter"),
        pytest.param([b"who knows\n", b"\n", b"\x04"], ["any"], id="no answer, then do not care, then leave it open"),
    ],
)
def test_a_person_is_asked_in_a_terminal(
    lines: list[bytes], said: list[str], work_folder: Path, command: tuple[str, ...], store: Store
) -> None:
    ours, theirs = pty.openpty()
    seen: list[bytes] = []
    started = [sys.executable, "-m", "burnish", *command]
    with subprocess.Popen(started, stdin=theirs, stdout=theirs, stderr=theirs, cwd=work_folder) as process:
        os.close(theirs)
        _until(ours, HEAD, seen)
        for line in lines:
            os.write(ours, line)
        shown = b"".join([*seen, *iter(lambda: _read(ours), b"")]).decode()
    assert process.returncode == 0, shown
    run = store.open("last")
    assert [event.said for event in run.all(QuestionAnswered)] == said, shown
    assert shown.count(run.all(QuestionAsked)[0].call) <= 4, (
        "the question stands on the screen once, and in what is said of it"
    )


def test_where_nobody_is_there_it_is_left_open_and_answered_with_a_command(
    call: Call, command: tuple[str, ...], store: Store
) -> None:
    told = call(*command)
    run = store.open("last")
    asked = run.open_question
    assert asked is not None
    assert f"burnish answer {run.id} A" in told.out
    assert f"burnish answer {run.id} A" in call("show").out.replace("\n", " ").replace("            ", "")

    nobody = call("answer", "last")
    assert (nobody.code, nobody.out) == (2, "")
    assert_snapshot(nobody.err, "cli/nobody is there to answer", run=run.id)
    no_answer = call("answer", "last", "perhaps")
    assert (no_answer.code, "Type A, B" in no_answer.err) == (2, True)

    done = call("answer", run.id, "B")
    assert done.code == 0, done.err
    answered = store.open(run.id)
    [answer] = answered.all(QuestionAnswered)
    assert (answer.value, answer.by) == (asked.options[1].value, "later")
    assert answered.code != run.code
    again = call("answer", run.id, "A")
    assert again.code == 2
    assert f"burnish show {run.id}" in again.err


@pytest.mark.slow
def test_a_value_that_begins_with_a_minus_is_an_answer(call: Call, command: tuple[str, ...], store: Store) -> None:
    call(*command, "--no-ask")
    assert call("answer", "last", "-5", "--quiet").code in (0, 1)
    assert [event.value for event in store.open("last").all(QuestionAnswered)] == ["-5"]
