"""What write, fix and resume share: who reads, what Ctrl-C says, and what is printed of other people's code."""

import json
import re
import sys
from pathlib import Path

import pytest

from burnish.cli.io import print_code
from burnish.cli.session import CommandSession, read_limits
from burnish.commands.write import write
from burnish.events import RunStarted
from burnish.models.scripted import ScriptedModel
from burnish.runs import Store
from tests.cli.conftest import Call
from tests.support import DOUBLE, ESC, ROOT, assert_words, refused, script

STARTED = RunStarted(run_id="double-1a2b", verb="write", prompt="…", model="scripted:demo", burnish="0")
NASTY = f"def f(x):\r\n    return x  # {ESC}]0;owned\x07\u202e\n"


def interrupted(session: CommandSession, *events: RunStarted) -> None:
    """The session hears these events, and then Ctrl-C."""
    for event in events:
        session.watch(event)
    with pytest.raises(KeyboardInterrupt), session:
        raise KeyboardInterrupt


def test_ctrl_c_before_the_run_has_begun_names_no_other_run(capsys: pytest.CaptureFixture[str]) -> None:
    interrupted(CommandSession(verbose=False, events=False, quiet=True))
    assert_words(capsys.readouterr().err)


def test_ctrl_c_in_a_run_names_it_whoever_reads(capsys: pytest.CaptureFixture[str]) -> None:
    for events, quiet in ((False, True), (True, False), (False, False)):
        interrupted(CommandSession(verbose=False, events=events, quiet=quiet), STARTED)
        assert capsys.readouterr().err.endswith(": burnish resume double-1a2b\n")


def test_ctrl_c_while_weights_are_fetched_for_a_run_that_goes_on_names_it(capsys: pytest.CaptureFixture[str]) -> None:
    interrupted(CommandSession(verbose=False, events=False, quiet=True, run_id="earlier-3c4d"))
    assert "burnish resume earlier-3c4d" in capsys.readouterr().err


@pytest.mark.parametrize("cap", ["--seconds", "--dollars"])
@pytest.mark.parametrize("command", [("write", DOUBLE), ("fix", "cart.py")])
def test_a_limit_that_is_no_number_is_said_and_nothing_begins(
    cap: str, command: tuple[str, ...], call: Call, store: Store
) -> None:
    for typed in ("nan", "inf"):
        told = call(*command, "--model", "scripted:demo", cap, typed)
        assert (told.code, told.out, cap in told.err) == (2, "", True)
    assert_words(told.err)
    assert not list(store.runs.glob("*"))


def test_limits_that_are_numbers_are_taken_as_typed() -> None:
    assert read_limits(calls=3, dollars=None, seconds=0.5).model_dump() == {
        "rounds": 5,
        "calls": 3,
        "tokens": 40_000,
        "seconds": 0.5,
        "dollars": None,
        "max_tokens": None,
        "thinking": None,
    }
    with refused():
        read_limits(seconds=float("nan"))


def test_code_on_a_terminal_is_shown_and_never_obeyed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_code(NASTY)
    assert capsys.readouterr().out == "def f(x):\n    return x  # \n"


def test_code_in_a_file_is_what_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for exact, expected in ((None, NASTY.encode()), (b"caf\xe9\n", b"caf\xe9\n")):
        with (tmp_path / "out.py").open("w") as file:
            monkeypatch.setattr(sys, "stdout", file)
            print_code(NASTY, exact)
        assert (tmp_path / "out.py").read_bytes() == expected


def test_no_command_borrows_what_another_keeps_to_itself() -> None:
    files = (ROOT / "src/burnish/cli").glob("*.py")
    imports = [line for file in files for line in file.read_text().splitlines() if "from burnish" in line]
    assert [line for line in imports if re.search(r"import (.*, )?_[a-z]", line)] == []


@pytest.mark.slow
def test_resume_in_a_folder_that_is_gone_is_one_paragraph(call: Call, work_folder: Path, store: Store) -> None:
    run = write(DOUBLE, ScriptedModel(script(), name="scripted:demo"), store=store)
    work_folder.rmdir()
    told = call("resume", run.id)
    assert told.code == 2
    assert_words(told.err)
    assert store.open(run.id).folder is None


@pytest.mark.slow
def test_resume_refuses_a_lower_limit_with_what_to_type(call: Call, store: Store) -> None:
    run = write(DOUBLE, ScriptedModel(script(), name="scripted:demo"), store=store)
    told = call("resume", run.id, "--calls", "3")
    assert (told.code, told.err.endswith(f"burnish resume {run.id} --calls 32\n")) == (2, True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cap", "value", "higher"), [("calls", "0", "1"), ("tokens", "9", "18"), ("seconds", "0", "1")]
)
@pytest.mark.parametrize("verb", ["write", "fix"])
def test_a_run_that_ends_at_a_limit_says_what_to_type_to_go_on(
    call: Call, work_folder: Path, tmp_path: Path, store: Store, verb: str, cap: str, value: str, higher: str
) -> None:
    (work_folder / "d.py").write_text("def double(n):\n    return n\n")
    wrong = "```python\ndef double(n):\n    return n - 1\n```"
    (tmp_path / "s.json").write_text(json.dumps(script(draft=wrong, repair=wrong, reflect=wrong)))
    task = [DOUBLE, "--fast"] if verb == "write" else ["d.py", "--spec", DOUBLE, "--function", "double"]
    told = call(verb, *task, "--model", f"scripted:{tmp_path}/s.json", f"--{cap}", value)
    assert f"burnish resume {store.open('last').id} --{cap} {higher}\n" in told.out + told.err
