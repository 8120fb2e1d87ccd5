"""A repair is put in place all at once, with what the file held beside it, or not at all."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from burnish import SetupProblem, Store, apply
from burnish.commands.apply import diff_of, put_in_place, read_target, save_diff
from burnish.events import Applied, CodeProposed, RunFinished, RunStarted, Verdict
from burnish.runs import Run
from burnish.tasks.repair import from_file
from tests.support import refused

BUGGY = "# é\r\ndef double(n):\r\n    return n\r\n\r\n\r\nlast = 1"
FIXED = BUGGY.replace("return n", "return 2 * n")


def finished(store: Store, file: Path, verdict: Verdict = "proven", code: str = FIXED, verb: str = "fix") -> Run:
    """A run of fix as its record tells it."""
    target = read_target(file)
    task = from_file(target.text, "double")
    facts = {"file": str(target.path), "name": file.name, "sha256": target.sha256, "encoding": target.encoding}
    settings = {"task": task.model_dump(), **({"fix": facts} if verb == "fix" else {})}
    run_id, record = store.begin("fix")
    with record:
        record.append(
            RunStarted(run_id=run_id, verb=verb, prompt="p", model="scripted:x", burnish="0", settings=settings)
        )
        record.append(CodeProposed(version=1, code=code, by="draft"))
        record.append(RunFinished(verdict=verdict, why="because", version=1))
    return store.open(run_id)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "double.py"
    path.write_bytes(BUGGY.encode("utf-8"))
    path.chmod(0o640)
    return path


def test_the_file_is_written_with_its_mode_and_line_ends_and_its_old_content_is_kept(store, file):
    run = apply(finished(store, file).id, store=store)
    assert file.read_bytes() == FIXED.encode()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    backup = file.with_name("double.py.orig")
    assert backup.read_bytes() == BUGGY.encode()
    written = run.last(Applied)
    assert written is not None
    assert (written.file, written.backup) == (str(file), str(backup))
    assert store.open(run.id).last(Applied) == written, "on record"
    assert sorted(path.name for path in file.parent.iterdir()) == ["double.py", "double.py.orig", "home"]


def test_a_backup_that_is_there_is_never_overwritten(store, file):
    file.with_name("double.py.orig").write_text("mine")
    apply(finished(store, file), store=store)
    assert file.with_name("double.py.orig").read_text() == "mine"
    assert file.with_name("double.py.orig.2").read_bytes() == BUGGY.encode()


def test_a_file_that_changed_meanwhile_is_left_and_the_diff_is_kept(store, file):
    run = finished(store, file)
    file.write_text("changed")
    with refused():
        apply(run.id, store=store)
    assert file.read_text() == "changed"
    assert (store.runs / run.id / "fix.diff").read_text("utf-8") == diff_of(run).replace("\r\n", "\n")
    assert not file.with_name("double.py.orig").exists()


def test_a_failed_repair_is_never_applied(store, file):
    with refused():
        apply(finished(store, file, "failed"), store=store)
    assert file.read_bytes() == BUGGY.encode()


def test_nothing_is_applied_twice_or_from_a_run_of_another_kind_or_one_that_changed_nothing(store, file):
    run = apply(finished(store, file), store=store)
    with pytest.raises(SetupProblem, match="already"):
        apply(run.id, store=store)
    file.write_bytes(BUGGY.encode())
    with refused():
        apply(finished(store, file, verb="write"), store=store)
    with refused():
        apply(finished(store, file, code=BUGGY), store=store)


def test_a_link_is_written_through_to_its_file(store, file, tmp_path):
    link = tmp_path / "link.py"
    link.symlink_to(file)
    apply(finished(store, link), store=store)
    assert link.is_symlink()
    assert file.read_bytes() == FIXED.encode()


@pytest.mark.parametrize(
    "data", [b"# coding: utf-8\ndef double(n):\n    return '\xc3\xa9'\n", b"\xef\xbb\xbfdef double(n): 1\n"]
)
def test_the_byte_order_mark_of_a_file_is_kept(store, tmp_path, data):
    path = tmp_path / "old.py"
    path.write_bytes(data)
    target = read_target(path)
    apply(finished(store, path, code=target.text.replace("def double(n)", "def double(m)")), store=store)
    assert path.read_bytes() == data.replace(b"double(n)", b"double(m)")


def test_the_diff_is_one_that_patch_reads(store, file):
    lines = diff_of(finished(store, file)).split("\n")
    assert lines[:2] == ["--- a/double.py", "+++ b/double.py"]
    assert "-    return n\r" in lines
    assert "+    return 2 * n\r" in lines
    assert "\\ No newline at end of file" in lines


def test_what_goes_wrong_while_writing_leaves_everything_as_it_was(file, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with refused(OSError):
        put_in_place(file, read_target(file).sha256, b"new")
    assert [path.name for path in file.parent.iterdir()] == ["double.py"]
    assert file.read_bytes() == BUGGY.encode()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("empty.py", b" \n"),
        ("data.txt", b"x"),
        ("zero.py", b"x\0"),
        ("latin.py", b"x = '\xe9'\n"),
        ("old.py", b"# coding: latin-1\nx = '\xe9'\n"),
        ("odd.py", b"# coding: klingon\n"),
        ("mac.py", b"x = 1\ry = 2\r"),
        ("test_cart.py", b"x = 1"),
        ("tests/conftest.py", b"x = 1"),
        ("tests.py", b"x = 1"),
        ("testcart.py", b"class Cart(unittest.TestCase):\n    pass\n"),
        ("testcart.py", b"def test_cart():\n    pass\n"),
        ("folder.py/inner.py", b"x = 1"),
    ],
)
def test_what_cannot_be_repaired_is_refused_with_what_to_name_instead(tmp_path, name, data):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    with refused():
        read_target(path.parent if name.startswith("folder") else path)


def test_a_file_that_is_not_there_is_said_so(tmp_path):
    with refused():
        read_target(tmp_path / "nothing.py")


def test_a_link_to_a_test_is_a_test(tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_cart.py").write_text("def test_cart():\n    assert False\n")
    (tmp_path / "cart.py").symlink_to("tests/test_cart.py")
    (tmp_path / "app").symlink_to("tests")
    (tmp_path / "tests/shared.py").write_text("x = 1\n")
    for named in ("cart.py", "app/shared.py"):
        with pytest.raises(SetupProblem, match="is a test"):
            read_target(tmp_path / named)


def test_what_the_projects_settings_make_a_test_is_one_and_its_neighbours_are_not(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\npython_files = check_*.py specs/*.py\n")
    (tmp_path / "setup.py").write_text("")
    for name in ("checks/check_cart.py", "specs/cart.py", "checks/digits.py", "testimony.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("def told():\n    return 1\n")
    for named in ("checks/check_cart.py", "specs/cart.py"):
        with pytest.raises(SetupProblem, match="is a test"):
            read_target(tmp_path / named)
    for named in ("checks/digits.py", "testimony.py"):
        assert read_target(tmp_path / named).text
    (tmp_path / "pytest.ini").write_text("[pytest]\npython_files = *.py\ntestpaths = checks\n")
    (tmp_path / "checks/told.py").write_text("def test_told():\n    pass\n")
    assert read_target(tmp_path / "checks/digits.py").text
    with pytest.raises(SetupProblem, match="is a test"):
        read_target(tmp_path / "checks/told.py")


def test_no_backup_stays_where_nothing_could_be_written(file, monkeypatch):
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    for place, name in ((os, "fsync"), (shutil, "copymode")):
        with monkeypatch.context() as patched:
            patched.setattr(place, name, full)
            with pytest.raises(OSError, match="28"):
                put_in_place(file, read_target(file).sha256, b"new")
        assert [path.name for path in file.parent.iterdir()] == ["double.py"]


def test_a_repair_that_was_put_in_place_but_never_recorded_is_recorded(store, file):
    run = finished(store, file)
    backup = put_in_place(file, read_target(file).sha256, FIXED.encode())
    again = apply(run.id, store=store)
    assert [(event.file, event.backup) for event in again.all(Applied)] == [(str(file), str(backup))]
    assert file.read_bytes() == FIXED.encode()
    assert [path.name for path in file.parent.glob("double*")].count("double.py.orig") == 1
    assert len(list(file.parent.glob("double*"))) == 2, "one backup is enough"


def test_the_old_content_is_kept_even_if_the_first_backup_is_gone(store, file):
    run = finished(store, file)
    put_in_place(file, read_target(file).sha256, FIXED.encode()).unlink()
    apply(run.id, store=store)
    assert file.with_name("double.py.orig").read_bytes() == BUGGY.encode()


@pytest.mark.slow
@pytest.mark.parametrize(
    "data", [b"# coding: utf-8\ndef double(n):\n    return '\xc3\xa9'\n", b"\xef\xbb\xbfdef double(n): 1\n"]
)
def test_the_diff_that_is_kept_has_the_bytes_of_the_file(store, tmp_path, data):
    path = tmp_path / "old.py"
    path.write_bytes(data)
    text = read_target(path).text
    run = finished(store, path, code=text.replace("def double(n)", "def double(m)"))
    save_diff(run, store)
    patched = subprocess.run(
        ["git", "apply", "-p1", str(store.runs / run.id / "fix.diff")], cwd=tmp_path, capture_output=True, check=False
    )
    assert patched.returncode == 0, patched.stderr
    assert path.read_bytes() == data.replace(b"double(n)", b"double(m)")


@pytest.mark.parametrize("line", ["# coding: utf-7\n", "#\rimport os\n"])
def test_a_repair_that_python_would_import_as_another_text_is_not_put_in_place(store, file, line):
    with refused():
        apply(finished(store, file, code=line + FIXED), store=store)
    assert file.read_bytes() == BUGGY.encode()
