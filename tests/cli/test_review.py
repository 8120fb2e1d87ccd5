"""`--review` at the command line: what is shown, how a line is understood, and where nobody is there to answer."""

import io
import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

from burnish.agent.ask import Checkpoint
from burnish.cli import review
from burnish.cli.review import HEADS, HELP, MOST_ODD, edit_in_editor, find_editor, read_answer, read_file, show
from burnish.errors import SetupProblem
from burnish.events import Evidence, Reviewed
from burnish.runs import Store
from tests.cli.conftest import Call
from tests.support import DOUBLE, ESC, assert_words, block, burnish, refused, script

TESTS = Checkpoint(where="tests", tests="from solution import f\n\n\ndef test_model_1():\n    assert f(1) == 1\n")
COMMAND = ("write", DOUBLE, "--model", "scripted:demo", "--fast", "--review")
WANTED = block('def double(n):\n    """Twice the number, as you wanted it."""\n    return n + n')


@pytest.fixture
def command(tmp_path: Path) -> tuple[str, ...]:
    """The command with a model whose first version is right, which saves the work that leads to a look."""
    (tmp_path / "model.json").write_text(json.dumps(script(review=WANTED)))
    return (*COMMAND, "--model", f"scripted:{tmp_path / 'model.json'}")


def told(shown: Checkpoint) -> str:
    console = Console(file=io.StringIO(), width=100)
    show(shown, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def said(line: str) -> tuple[str, str, int | None]:
    found = read_answer(line, TESTS)
    assert isinstance(found, Reviewed), found
    return found.said, found.words, found.line


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("", ("go_on", "", None)),
        ("go on", ("go_on", "", None)),
        ("OK", ("go_on", "", None)),
        ("q", ("stop", "", None)),
        ("c test fractions too", ("change", "test fractions too", None)),
        ("change: this one", ("change", "this one", None)),
        ("3: should be 5", ("comment", "should be 5", 3)),
        ("line 12 : remove", ("comment", "remove", 12)),
    ],
)
def test_a_line_is_read_answer(line: str, meant: tuple[str, str, int | None]) -> None:
    assert said(line) == meant


@pytest.mark.parametrize("line", ["make it faster", "c", "3:", "?", "e /nowhere/at/all.py", "cat", "9" * 5000 + ": x"])
def test_what_is_not_understood_is_said(line: str) -> None:
    found = read_answer(line, TESTS)
    assert isinstance(found, str)
    assert found


def test_lines_are_numbered_and_nothing_in_them_is_obeyed() -> None:
    evil = f"assert f('[bold]x[/bold]') == 1  # {ESC}[2J{ESC}]0;gone\x07 :smile:"
    shown = told(Checkpoint(where="tests", tests=f"import a\n{evil}\nlast", note=f"[red]no{ESC}[31m"))
    assert ESC not in shown
    assert HEADS["tests"] in shown
    assert "   2  assert f('[bold]x[/bold]') == 1  #  :smile:" in shown
    assert "   3  last" in shown
    assert "[red]no" in shown


def test_an_escape_that_swallows_lines_does_not_shift_their_numbers() -> None:
    assert "   2  second" in told(Checkpoint(where="tests", tests=f"first {ESC}]0;open\nsecond"))


def test_code_comes_with_a_table_of_what_the_checks_say() -> None:
    evidence = (
        Evidence(check="tests", verdict="passed", why="5 tests pass"),
        Evidence(check="security", verdict="failed", why=f"[link]eval{ESC}[2J", figure="1 finding"),
    )
    shown = told(Checkpoint(where="checks", tests="never shown", code="def f(n):\n    return n", evidence=evidence))
    assert HEADS["checks"] in shown
    assert "   1  def f(n):" in shown
    assert "never shown" not in shown
    assert all(part in shown for part in ("security", "failed", "1 finding", "[link]eval"))
    assert ESC not in shown


def test_a_file_edited_elsewhere_is_read(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_bytes(b"\xef\xbb\xbfassert f(1) == 1\r\n")
    found = read_answer(f"e {tmp_path / 'mine.py'}", TESTS)
    assert isinstance(found, Reviewed)
    assert (found.said, found.text) == ("edited", "assert f(1) == 1\n")


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"x" * 1_000_001, None])
def test_a_file_that_cannot_be_read_is_said(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "mine.py").write_bytes(content)
    with pytest.raises(SetupProblem, match=r"e FILE$"):
        read_file(tmp_path / "mine.py")


def test_only_a_plain_file_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    for name in (str(tmp_path / "pipe.py"), "/dev/zero", str(tmp_path)):
        with refused():
            read_file(Path(name))


def test_the_persons_own_editor_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "code --wait")
    monkeypatch.delenv("VISUAL", raising=False)
    assert find_editor() == ["code", "--wait"]
    monkeypatch.setenv("VISUAL", "my editor'")
    assert find_editor() == ["my editor'"]
    monkeypatch.delenv("VISUAL")
    monkeypatch.delenv("EDITOR")
    monkeypatch.setenv("PATH", "")
    with refused():
        find_editor()


def test_an_editor_needs_a_terminal() -> None:
    with pytest.raises(SetupProblem, match="e FILE$"):
        edit_in_editor(TESTS)


@pytest.mark.parametrize("option", ["--quiet", "--events", "--json"])
def test_it_does_not_go_with_silence(call: Call, command: tuple[str, ...], store: Store, option: str) -> None:
    answer = call(*command, option)
    assert (answer.code, store.list()) == (2, [])
    assert_words(answer.err)


@pytest.mark.slow
def test_nobody_at_the_other_end_is_said_before_any_work(store: Store, work_folder: Path) -> None:
    answer = burnish(*COMMAND, cwd=work_folder)
    assert (answer.returncode, store.list()) == (2, [])
    assert_words(answer.stderr)


@pytest.mark.slow
def test_answers_come_from_a_pipe_a_line_each(call: Call, command: tuple[str, ...], store: Store) -> None:
    answer = call(*command, stdin="what?\n7: should be 4\nc caf\xe9\n\nc add\n\n".encode("latin-1"))
    assert answer.code == 0, answer.err
    assert HEADS["tests"] in answer.out
    assert HEADS["checks"] in answer.out
    run = store.open("last")
    assert [event.said for event in run.all(Reviewed)] == ["comment", "change", "go_on", "change", "go_on"]
    assert run.final
    assert (run.final.by, "as you wanted it" in run.code) == ("review", True)
    assert run.started.settings["review"] is True
    assert answer.out.count(HELP) == 6, "once at each question, and after what was no answer"


def test_a_pipe_that_never_answers_is_not_read_for_ever(call: Call, command: tuple[str, ...], store: Store) -> None:
    answer = call(*command, stdin=b"hello\n" * 1000)
    assert (answer.code, store.open("last").verdict) == (2, None)
    assert answer.out.count(HELP) == 1 + MOST_ODD
    assert answer.err.strip().endswith(f"burnish resume {store.open('last').id}")


@pytest.mark.slow
def test_answers_that_end_too_early_leave_a_run_that_can_be_gone_on_with(
    call: Call, command: tuple[str, ...], store: Store
) -> None:
    answer = call(*command, stdin=b"\n")
    run = store.open("last")
    assert (answer.code, run.verdict) == (2, None)
    assert answer.err.strip().endswith(f"burnish resume {run.id}")
    refused = call("resume", "--quiet")
    assert refused.code == 2
    assert_words(refused.err)
    resumed = call("resume", stdin=b"\n")
    assert (resumed.code, store.open("last").verdict) == (0, "plausible")
    assert HEADS["tests"] not in resumed.out
    assert HEADS["checks"] in resumed.out
    assert [event.said for event in store.open("last").all(Reviewed)] == ["go_on", "go_on"]


@pytest.mark.slow
def test_words_with_escapes_and_markup_are_shown_plain(call: Call, command: tuple[str, ...], store: Store) -> None:
    evil = f"c {ESC}[2J[bold]more[/bold]{ESC}]0;gone\x07 of it\n"
    answer = call(*command, stdin=f"{evil}\n\n".encode())
    assert answer.code == 0, answer.err
    assert store.open("last").all(Reviewed)[0].words == "[bold]more[/bold] of it"
    assert ESC not in answer.out + call("show").out + call("explain").out


@pytest.mark.slow
def test_what_happens_while_somebody_looks_is_shown_afterwards(call: Call, command: tuple[str, ...]) -> None:
    out = call(*command, stdin=b"\n\n").out
    looking = out[out.index(HEADS["tests"]) : out.index("> ", out.index(HELP))]
    assert "version 1" not in looking
    assert "version 1" in out


def _until(ours: int, words: str, seen: list[bytes], times: int = 1) -> None:
    """Read until the words were shown so often, and a question after them."""
    deadline = time.monotonic() + 60
    while True:
        parts = b"".join(seen).decode(errors="replace").split(words)
        if len(parts) > times and "> " in parts[-1]:
            return
        assert time.monotonic() < deadline, parts
        seen.append(_read(ours))
        assert seen[-1], parts


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other end has gone
        return b""


@pytest.mark.slow
def test_a_person_edits_the_tests_in_a_terminal(work_folder: Path, command: tuple[str, ...], store: Store) -> None:
    script = work_folder / "ed.sh"
    script.write_text('#!/bin/sh\nsed -i "s/double(0) == 0/double(0) == 0.0/" "$1"\n')
    script.chmod(0o755)
    ours, theirs = pty.openpty()
    env = {**os.environ, "VISUAL": f"{script}"}
    seen: list[bytes] = []
    with subprocess.Popen(
        [sys.executable, "-m", "burnish", *command], stdin=theirs, stdout=theirs, stderr=theirs, env=env
    ) as process:
        os.close(theirs)
        for where, times, line in (("tests", 1, b"e\n"), ("tests", 2, b"\n"), ("checks", 1, b"\n")):
            _until(ours, HEADS[where], seen, times)
            os.write(ours, line)
        shown = b"".join([*seen, *iter(lambda: _read(ours), b"")]).decode()
    assert process.returncode == 0, shown
    run = store.open("last")
    assert [event.said for event in run.all(Reviewed)] == ["edited", "go_on", "go_on"]
    assert run.spec
    assert run.spec.given_tests[-1] == "assert double(0) == 0.0"
    assert run.verdict == "proven"


@pytest.mark.slow
def test_ctrl_c_at_the_question_ends_the_run_as_always(
    work_folder: Path, command: tuple[str, ...], store: Store
) -> None:
    started = [sys.executable, "-m", "burnish", *command]
    ours, theirs = pty.openpty()
    with subprocess.Popen(started, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        seen: list[bytes] = []
        _until(ours, HEADS["tests"], seen)
        process.send_signal(signal.SIGINT)
        shown = b"".join([*seen, *iter(lambda: _read(ours), b"")]).decode()
    run = store.open("last")
    assert (process.returncode, run.state) == (130, "interrupted"), shown
    assert f"burnish resume {run.id}" in shown
    assert run.all(Reviewed) == []


@pytest.mark.slow
def test_kill_9_between_the_checkpoints_then_resume_asks_only_the_second(
    work_folder: Path, command: tuple[str, ...], store: Store
) -> None:
    started = [sys.executable, "-m", "burnish", *command]
    with subprocess.Popen(started, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=work_folder) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(b"\n")
        process.stdin.flush()
        out = b""
        while HEADS["checks"].encode() not in out:
            out += os.read(process.stdout.fileno(), 4096) or pytest.fail(out.decode())
        process.kill()
    assert [event.where for event in store.open("last").all(Reviewed)] == ["tests"]

    nobody = burnish("resume", cwd=work_folder)
    assert nobody.returncode == 2
    assert "in a terminal: burnish resume" in nobody.stderr
    done = burnish("resume", cwd=work_folder, stdin="\n")
    assert done.returncode == 0, done.stderr
    assert HEADS["tests"] not in done.stdout
    assert HEADS["checks"] in done.stdout
    run = store.open("last")
    assert (run.verdict, [(event.where, event.said) for event in run.all(Reviewed)]) == (
        "plausible",
        [("tests", "go_on"), ("checks", "go_on")],
    )


def test_a_terminal_on_one_side_only_is_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "r") as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        assert not review.can_review(silent=False), "nobody sees what is shown"
    monkeypatch.setattr(sys, "stdin", None)
    assert not review.can_review(silent=False)
    os.close(ours)
