"""`burnish fix` at its edges: what is looked at before anything is fetched, and what becomes of the diff."""

import hashlib
import sys
from pathlib import Path

import pytest

from burnish.cli.session import CommandSession
from burnish.commands.apply import DIFF, save_diff
from burnish.errors import SetupProblem
from burnish.events import CodeProposed, Graded, RunFinished, RunStarted, TestsRan
from burnish.report.deliverables import check_free
from burnish.runs import Run, Store
from burnish.runs.store import RunRow
from tests.cli.conftest import Call
from tests.support import ESC, assert_words, refused

BAD = "def f(x):\n    return x\n"
GOOD = f"def f(x):\n    return x + 1  # {ESC}[31mred\n"


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The models whose weights were asked for."""
    asked: list[str] = []

    def ensure(name: str, progress: object) -> Path:
        asked.append(name)
        raise SetupProblem("Fetching. Type: anything")

    monkeypatch.setattr("burnish.models.weights.ensure_weights", ensure)
    return asked


@pytest.fixture
def repaired(store: Store) -> Run:
    """A run that mended `f`, in the store."""
    run_id, record = store.begin("fix-f")
    sha256 = hashlib.sha256(BAD.encode()).hexdigest()
    facts = {"file": "/p/f.py", "name": "f.py", "sha256": sha256, "encoding": "utf-8", "apply": False, "aside": []}
    task = {"id": "fix-f", "prompt": "…", "base_code": BAD}
    events = (
        RunStarted(
            run_id=run_id, verb="fix", prompt="…", model="m", burnish="0", settings={"fix": facts, "task": task}
        ),
        CodeProposed(version=1, code=GOOD, by="draft"),
        TestsRan(version=1, graded=Graded(cases=(), seconds=0.0)),
        RunFinished(verdict="proven", why="it passes", version=1),
    )
    with record:
        for event in events:
            record.append(event)
    run = store.open(run_id)
    assert save_diff(run, store)
    return run


def test_a_file_that_is_not_there_is_said_before_weights_are_fetched(call: Call, fetched: list[str]) -> None:
    told = call("fix", "nosuch.py")
    assert (told.code, fetched) == (2, [])
    assert_words(told.err)


@pytest.mark.slow
def test_where_nothing_is_to_be_fixed_no_weights_are_fetched(
    call: Call, fetched: list[str], work_folder: Path, store: Store
) -> None:
    (work_folder / "f.py").write_text('def f(x):\n    """Gives f(1) == 1."""\n    return x\n')
    told = call("fix", "f.py", "--quiet")
    assert (told.code, told.out, fetched) == (0, "", [])
    assert (store.open("last").verdict, store.open("last").code) == ("proven", "")


@pytest.mark.slow
def test_weights_are_fetched_once_it_is_known_what_to_fix(
    call: Call, fetched: list[str], work_folder: Path, store: Store
) -> None:
    (work_folder / "f.py").write_text('def f(x):\n    """Gives f(1) == 2."""\n    return x\n')
    assert call("fix", "f.py", "--quiet", "--model", "local:qwen2.5-coder-0.5b").code == 2
    assert fetched == ["local:qwen2.5-coder-0.5b"]
    assert not list(store.runs.glob("*")), "no run has begun"


def test_a_cap_on_money_needs_a_price(call: Call, work_folder: Path) -> None:
    (work_folder / "f.py").write_text(BAD)
    told = call("fix", "f.py", "--model", "nobody:knows", "--dollars", "1")
    assert told.code == 2
    assert_words(told.err)


def test_a_current_folder_that_is_gone_is_one_paragraph(call: Call, work_folder: Path) -> None:
    work_folder.rmdir()
    told = call("fix", "f.py", "--out", "fix.diff")
    assert (told.code, "cd ~" in told.err) == (2, True)


@pytest.mark.parametrize("out", ["taken.diff", "no/such/folder.diff", "n" * 300, "/proc/fix.diff/x"])
def test_a_place_where_no_diff_can_go_is_refused_at_once(out: str, call: Call, work_folder: Path) -> None:
    (work_folder / "taken.diff").write_text("mine")
    told = call("fix", "nosuch.py", "--out", out)
    assert (told.code, "--out fix.diff" in told.err) == (2, True)
    assert (work_folder / "taken.diff").read_text() == "mine"


def test_a_diff_goes_into_an_empty_folder_under_its_usual_name(tmp_path: Path) -> None:
    assert check_free(tmp_path, file="fix.diff") == tmp_path / "fix.diff"
    (tmp_path / "mine").touch()
    with pytest.raises(SetupProblem, match=r"--out fix\.diff$"):
        check_free(tmp_path, file="fix.diff")


def test_a_diff_that_cannot_be_written_after_all_is_shown_and_kept(
    repaired: Run, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    with refused() as problem:
        CommandSession(verbose=False, events=False, quiet=False).finish(repaired, Path("/proc/fix.diff"))
    assert str(store.runs / repaired.id / DIFF) in str(problem.value)
    assert "+    return x + 1" in capsys.readouterr().out


def test_a_diff_file_holds_the_bytes_that_are_kept(repaired: Run, store: Store, tmp_path: Path) -> None:
    (store.runs / repaired.id / DIFF).write_bytes(b"caf\xe9\r\n")
    CommandSession(verbose=False, events=True, quiet=False).finish(repaired, tmp_path / "fix.diff")
    assert (tmp_path / "fix.diff").read_bytes() == b"caf\xe9\r\n"


def test_quiet_prints_the_diff_and_on_a_terminal_no_escape_code(
    repaired: Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = CommandSession(verbose=False, events=False, quiet=True)
    session.finish(repaired)
    assert f"+    return x + 1  # {ESC}[31mred\n" in capsys.readouterr().out, "a program gets what `git apply` reads"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    session.finish(repaired)
    assert "+    return x + 1  # red\n" in capsys.readouterr().out


def test_json_is_the_row_of_the_repair_and_its_diff_goes_to_the_other_stream(
    repaired: Run, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    CommandSession(verbose=False, events=False, quiet=False, as_json=True).finish(repaired)
    told = capsys.readouterr()
    assert [RunRow.model_validate_json(told.out)] == store.list()
    assert "+    return x + 1" in told.err
    CommandSession(verbose=False, events=False, quiet=True, as_json=True).finish(repaired)
    assert capsys.readouterr() == (told.out, "")


def test_show_prints_code_without_escape_codes_on_a_terminal(
    repaired: Run, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert call("show", repaired.id, "--code").out == GOOD
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert call("show", repaired.id, "--code").out == GOOD.replace(f"{ESC}[31m", "")
