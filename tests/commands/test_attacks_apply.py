"""`apply` on runs that a stranger made or edited: only the file that was repaired is written, and nothing beside it."""

import hashlib
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from burnish import SetupProblem, Store, apply, rate
from burnish.commands.apply import read_target, save_diff
from burnish.events import Applied, CodeProposed, NewTest, RunFinished, RunStarted, Strengthened
from burnish.runs import Record
from tests.support import MINE

BUGGY = "def double(n):\n    return n\n"
FIXED = "def double(n):\n    return 2 * n\n"
EVIL = "import os\nos.system('true')\n"


@pytest.fixture(autouse=True)
def patience() -> Iterator[None]:
    """What would wait for ever fails."""

    def over(*_: object) -> None:
        raise AssertionError("it waits for ever")

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(10)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "project" / "double.py"
    path.parent.mkdir()
    path.write_text(BUGGY)
    return path


def forged(store: Store, file: Path, base: str = BUGGY, code: str = FIXED, **more: Any) -> str:
    """A run of `fix` as a stranger may write it down; its folder's name."""
    folder = store.runs / "double-abcd"
    folder.mkdir(parents=True)
    facts = {
        "file": str(file),
        "name": file.name,
        "sha256": hashlib.sha256(base.encode()).hexdigest(),
        "encoding": "utf-8",
    }
    settings = {"task": {"id": "double", "prompt": "p", "base_code": base}, "fix": facts | more.pop("facts", {})}
    with Record(folder) as record:
        started = RunStarted(run_id=folder.name, verb="fix", prompt="p", model="m", burnish="0", settings=settings)
        record.append(started.model_copy(update=more))
        record.append(CodeProposed(version=1, code=code, by="draft"))
        record.append(RunFinished(verdict="proven", why="because", version=1))
    return folder.name


def test_a_record_that_names_a_file_that_is_no_python_writes_nothing(store: Store, mine: Path) -> None:
    with pytest.raises(SetupProblem):
        apply(forged(store, mine, base=MINE, code=EVIL), store=store)
    assert mine.read_text() == MINE
    assert [path.name for path in mine.parent.iterdir()] == [mine.name]


@pytest.mark.parametrize("name", ["conftest.py", "test_double.py"])
def test_a_record_that_names_a_test_writes_nothing(store: Store, file: Path, name: str) -> None:
    tests = file.with_name(name)
    tests.write_text(MINE := "x = 1\n")
    with pytest.raises(SetupProblem):
        apply(forged(store, tests, base=MINE, code=EVIL), store=store)
    assert tests.read_text() == MINE


def test_a_record_whose_diff_would_be_about_another_text_writes_nothing(store: Store, file: Path) -> None:
    was = "import os\n\nSECRET = 1\n"
    file.write_text(was)
    sha256 = hashlib.sha256(was.encode()).hexdigest()
    with pytest.raises(SetupProblem):
        apply(forged(store, file, facts={"sha256": sha256}), store=store)
    assert file.read_text() == was


def test_a_record_whose_diff_names_another_file_writes_nothing(store: Store, file: Path) -> None:
    with pytest.raises(SetupProblem):
        apply(forged(store, file, facts={"name": "README.md\n+++ b/../../.bashrc"}), store=store)
    assert file.read_text() == BUGGY


@pytest.mark.parametrize("encoding", ["utf-7", "utf-16", "unicode_escape", "no-such", 7, None, "idna"])
def test_the_encoding_is_the_files_own_whatever_a_record_says(store: Store, file: Path, encoding: object) -> None:
    apply(forged(store, file, code=FIXED + "# é +AGEAYg-\n", facts={"encoding": encoding}), store=store)
    assert file.read_bytes() == (FIXED + "# é +AGEAYg-\n").encode()


@pytest.mark.parametrize("there", ["relative", "absolute"])
def test_a_record_that_says_it_is_another_run_is_not_opened(store: Store, file: Path, mine: Path, there: str) -> None:
    elsewhere = mine.parent if there == "absolute" else Path(os.path.relpath(mine.parent, store.runs))
    name = forged(store, file, run_id=str(elsewhere))
    with pytest.raises(SetupProblem):
        apply(name, store=store)
    with pytest.raises(SetupProblem):
        rate(name, stars=5, store=store)
    assert [path.name for path in mine.parent.iterdir()] == [mine.name], "neither a diff nor a record"


def test_a_diff_is_not_written_through_a_link_in_the_runs_folder(store: Store, file: Path, mine: Path) -> None:
    name = forged(store, file)
    (store.runs / name / "fix.diff").symlink_to(mine)
    assert save_diff(store.open(name), store)
    apply(name, store=store)
    assert mine.read_text() == MINE
    assert file.read_text() == FIXED


def test_a_diff_does_not_wait_for_the_reader_of_a_pipe(store: Store, file: Path) -> None:
    name = forged(store, file)
    os.mkfifo(store.runs / name / "fix.diff")
    apply(name, store=store)
    assert file.read_text() == FIXED


def test_nothing_is_appended_through_a_record_that_is_a_link(store: Store, file: Path, mine: Path) -> None:
    name = forged(store, file)
    record = store.runs / name / "events.jsonl"
    elsewhere = mine.with_name("events.jsonl")
    record.rename(elsewhere)
    was = elsewhere.read_bytes()
    record.symlink_to(elsewhere)
    with pytest.raises(SetupProblem):
        apply(name, store=store)
    with pytest.raises(SetupProblem):
        rate(name, stars=5, store=store)
    assert elsewhere.read_bytes() == was


@pytest.mark.parametrize("kind", ["pipe", "folder", "gone"])
def test_what_is_no_file_is_neither_read_nor_written(store: Store, file: Path, kind: str) -> None:
    name = forged(store, file)
    file.unlink()
    if kind == "pipe":
        os.mkfifo(file)
    if kind == "folder":
        file.mkdir()
    with pytest.raises(SetupProblem):
        apply(name, store=store)


def test_backups_that_are_pipes_or_links_are_neither_read_nor_written(store: Store, file: Path, mine: Path) -> None:
    os.mkfifo(file.with_name("double.py.orig"))
    file.with_name("double.py.orig.2").symlink_to(mine)
    file.with_name("double.py.orig.3").symlink_to(mine.with_name("new"))
    name = forged(store, file)
    file.write_text(FIXED)  # as a call that was cut off leaves it
    done = apply(name, store=store).last(Applied)
    assert done is not None
    assert Path(done.backup).name == "double.py.orig.4"
    assert mine.read_text() == MINE
    assert not mine.with_name("new").exists()


def test_a_backup_is_never_more_readable_than_its_file(store: Store, file: Path, monkeypatch: Any) -> None:
    file.chmod(0o600)
    modes: list[int] = []
    copied = shutil.copymode

    def watched(source: Path, target: Path) -> None:
        modes.append(Path(target).stat().st_mode & 0o777)
        copied(source, target)

    monkeypatch.setattr(shutil, "copymode", watched)
    apply(forged(store, file), store=store)
    assert modes
    assert {mode & 0o077 for mode in modes} == {0}, "not even until it gets the file's own mode"


def test_a_link_that_leads_out_of_its_project_is_not_followed(store: Store, file: Path, tmp_path: Path) -> None:
    (file.parent / "pyproject.toml").write_text("")
    outside = tmp_path / "other" / "double.py"
    outside.parent.mkdir()
    file.rename(outside)
    file.symlink_to(outside)
    with pytest.raises(SetupProblem):
        read_target(file)
    with pytest.raises(SetupProblem):
        apply(forged(store, file), store=store)
    assert outside.read_text() == BUGGY


def test_a_file_name_that_would_write_lines_into_a_diff_is_refused(file: Path) -> None:
    odd = file.with_name("x\n+++ b\n.py")
    odd.write_text(BUGGY)
    with pytest.raises(SetupProblem):
        read_target(odd)


def strengthened(store: Store, root: Path, files: dict[str, str], tests: list[str]) -> str:
    """A run of `strengthen` as a stranger may write it down."""
    folder = store.runs / "strengthen-abcd"
    for name, text in files.items():
        place = folder / "tests" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    facts = {"root": str(root), "tests": tests, "sources": ["double.py"]}
    with Record(folder) as record:
        settings = {"strengthen": facts}
        record.append(
            RunStarted(run_id=folder.name, verb="strengthen", prompt="p", model="m", burnish="0", settings=settings)
        )
        new = NewTest(test="assert double(1) == 2", origin="spec", notices=(), why="its docstring says so")
        record.append(Strengthened(version=0, tests=(new,), noticed=1, pinned=0, seconds=1.0))
        record.append(RunFinished(verdict="proven", why="because", version=1))
    return folder.name


@pytest.mark.parametrize("name", ["sitecustomize.py", "conftest.py", "tests/conftest.py", "tests/__init__.py"])
def test_new_files_that_are_no_tests_are_not_put_in_place(store: Store, file: Path, name: str) -> None:
    (file.parent / "tests").mkdir()
    with pytest.raises(SetupProblem):
        apply(strengthened(store, file.parent, {name: EVIL}, ["tests"]), store=store)
    assert not (file.parent / name).exists()


def test_new_tests_are_not_put_where_no_tests_are(store: Store, file: Path, mine: Path) -> None:
    (file.parent / "tests").mkdir()
    run = strengthened(store, mine.parent, {"test_x.py": EVIL}, ["tests"])
    with pytest.raises(SetupProblem):
        apply(run, store=store)
    assert not mine.with_name("test_x.py").exists()


def test_new_tests_are_not_written_through_a_folder_that_is_a_link(store: Store, file: Path, mine: Path) -> None:
    (file.parent / "tests").symlink_to(mine.parent)
    run = strengthened(store, file.parent, {"tests/test_x.py": EVIL}, ["tests"])
    with pytest.raises(SetupProblem):
        apply(run, store=store)
    assert not mine.with_name("test_x.py").exists()


def test_what_a_link_in_the_runs_folder_leads_to_is_not_copied_into_the_project(
    store: Store, file: Path, mine: Path
) -> None:
    (file.parent / "tests").mkdir()
    run = strengthened(store, file.parent, {"tests/test_x.py": EVIL}, ["tests"])
    place = store.runs / run / "tests" / "tests" / "test_x.py"
    place.unlink()
    place.symlink_to(mine)
    with pytest.raises(SetupProblem):
        apply(run, store=store)
    assert not (file.parent / "tests" / "test_x.py").exists()


def test_new_tests_are_put_beside_the_tests_of_the_run(store: Store, file: Path) -> None:
    (file.parent / "tests" / "unit").mkdir(parents=True)
    apply(strengthened(store, file.parent, {"tests/unit/test_x_more.py": "x = 1\n"}, ["tests"]), store=store)
    assert (file.parent / "tests" / "unit" / "test_x_more.py").read_text() == "x = 1\n"
