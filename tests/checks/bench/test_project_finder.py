"""A project is found from a few named paths, or a clear paragraph says why not."""

import sys
from pathlib import Path

import pytest

from burnish.checks.bench import project_finder
from burnish.checks.bench.project_finder import find_project, find_python
from burnish.errors import SetupProblem
from tests.checks.project_support import CODE, GOOD, TEST, made
from tests.snapshots import assert_snapshot


def lay(folder: Path, *names: str) -> Path:
    """Empty files, with their folders."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x = 1\n" if name.endswith(".py") else "")
    return folder


def names(paths: tuple[Path, ...]) -> list[str]:
    return [str(path) for path in paths]


def test_a_project_is_found_from_its_source_folder() -> None:
    project = find_project([GOOD / "src"])
    assert project.root == GOOD
    assert names(project.sources) == ["src/shop/__init__.py", "src/shop/prices.py", "src/shop/stock.py"]
    assert names(project.tests) == ["tests"]
    assert project.settings.coverage == 75


def test_what_is_nobodys_own_code_is_left_out(tmp_path: Path) -> None:
    lay(tmp_path, "a.py", ".git/x.py", "node_modules/b.py", "build/c.py", "dist/d.py", "my/e.py", "my/pyvenv.cfg")
    lay(tmp_path, "pkg/__pycache__/f.py", "pkg/g.py", "pkg/tests/test_g.py", "conftest.py", "setup.py", "test_a.py")
    project = find_project([tmp_path])
    assert names(project.sources) == ["a.py", "pkg/g.py"]
    assert names(project.tests) == ["pkg/tests/test_g.py", "test_a.py"]


def test_one_file_without_a_project_is_judged_by_the_test_beside_it(tmp_path: Path) -> None:
    lay(tmp_path, "solution.py", "test_solution.py", "test_other.py")
    project = find_project([tmp_path / "solution.py"])
    assert project.root == tmp_path
    assert (names(project.sources), names(project.tests)) == (["solution.py"], ["test_solution.py"])


def test_what_a_user_keeps_in_a_clone_of_burnish_is_no_part_of_burnish(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(tmp_path, "pyproject.toml", "src/a.py", "tests/test_a.py", "mine/b.py", "mine/test_b.py", "c.py")
    lay(tmp_path, "own/pyproject.toml", "own/code/d.py")
    monkeypatch.setattr(project_finder, "CLONE", tmp_path)
    mine = find_project([tmp_path / "mine"])
    assert (mine.root, names(mine.tests)) == (tmp_path / "mine", ["test_b.py"])
    assert find_project([tmp_path / "own" / "code"]).root == tmp_path / "own"
    assert find_project([tmp_path / "src"], tests=[tmp_path / "tests"]).root == tmp_path
    with pytest.raises(SetupProblem) as refused:
        find_project([tmp_path / "c.py"])
    assert_snapshot(str(refused.value), "bench/what cannot be checked: a file beside Burnish itself")


def test_named_tests_win_and_widen_the_root(tmp_path: Path) -> None:
    lay(tmp_path, "code/a.py", "judges/a.py", "tests/test_a.py")
    project = find_project([tmp_path / "code"], tests=[tmp_path / "judges"])
    assert (project.root, names(project.tests)) == (tmp_path, ["judges"])


def test_named_tests_are_no_sources(tmp_path: Path) -> None:
    project = find_project([lay(tmp_path, "a.py", "judges/b.py")], tests=[tmp_path / "judges"])
    assert names(project.sources) == ["a.py"]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pyproject.toml", "[tool.pytest.ini_options]\ntestpaths = ['spec', 'more*']\n"),
        ("pytest.ini", "[pytest]\ntestpaths = spec\n    more1\n"),
        ("setup.cfg", "[tool:pytest]\ntestpaths = spec more1\n"),
    ],
)
def test_testpaths_are_honoured(tmp_path: Path, file: str, text: str) -> None:
    lay(tmp_path, ".git/HEAD", "a.py", "spec/test_a.py", "more1/test_b.py", "tests/test_c.py")
    (tmp_path / file).write_text(text)
    assert names(find_project([tmp_path]).tests) == ["more1", "spec"]


@pytest.mark.parametrize("named", [".", "shop"])
def test_a_package_with_its_tests_inside_is_code_and_tests(work_folder: Path, named: str) -> None:
    lay(work_folder, "shop/__init__.py", "shop/a.py", "shop/tests/__init__.py", "shop/tests/test_a.py")
    (work_folder / "pyproject.toml").write_text("[tool.pytest.ini_options]\ntestpaths = ['shop']\n")
    project = find_project([named])
    assert (names(project.sources), names(project.tests)) == (["shop/__init__.py", "shop/a.py"], ["shop"])


def test_the_current_folder_can_be_named_with_a_dot(work_folder: Path) -> None:
    lay(work_folder, "a.py", "test_a.py")
    assert find_project(["."]).root == work_folder


def test_a_binary_file_is_skipped_and_remembered_unless_named(tmp_path: Path) -> None:
    lay(tmp_path, "a.py")
    (tmp_path / "b.py").write_bytes(b"\xff\x00\x01")
    (tmp_path / "c.py").write_bytes(b"x = 1\x00\n")
    project = find_project([tmp_path])
    assert (names(project.sources), names(project.skipped)) == (["a.py"], ["b.py", "c.py"])
    with pytest.raises(SetupProblem, match=r"b\.py"):
        find_project([tmp_path / "b.py"])


def test_a_source_in_another_encoding_is_not_judged_and_remembered(tmp_path: Path) -> None:
    lay(tmp_path, "a.py")
    (tmp_path / "old.py").write_bytes("# coding: latin-1\nx = 'é'\n".encode("latin-1"))
    (tmp_path / "signed.py").write_bytes(b"\xef\xbb\xbfx = 1\r\n")
    project = find_project([tmp_path])
    assert (names(project.sources), names(project.foreign)) == (["a.py", "signed.py"], ["old.py"])
    assert project.text(Path("signed.py")) == "x = 1\n"
    (tmp_path / "a.py").unlink()
    (tmp_path / "signed.py").unlink()
    for named in (tmp_path, tmp_path / "old.py"):
        with pytest.raises(SetupProblem, match=r"old\.py .*'latin-1'.* iconv"):
            find_project([named])


def test_too_many_files_are_refused_with_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project_finder, "MOST_FILES", 3)
    with pytest.raises(SetupProblem, match=r" 3 .* burnish check "):
        find_project([lay(tmp_path, "a.py", "b.py", "c.py", "d.py")])


@pytest.mark.parametrize(
    "named", [[], ["nope"], ["empty"], ["README.md"], ["tests"]], ids=["nothing", "gone", "empty", "text", "tests"]
)
def test_what_cannot_be_checked_gets_a_clear_paragraph(work_folder: Path, named: list[str]) -> None:
    lay(work_folder, "README.md", "tests/test_a.py", "pyproject.toml")
    (work_folder / "empty").mkdir()
    (work_folder / "tests" / "nothing").mkdir()
    with pytest.raises(SetupProblem) as caught:
        find_project(named)
    assert_snapshot(str(caught.value), f"bench/what cannot be checked: {' '.join(named) or 'nothing'}")


def test_the_interpreter_is_the_named_the_active_the_roots_or_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    assert find_python(tmp_path, None) == Path(sys.executable)
    lay(tmp_path, ".venv/bin/python", "active/bin/python", "named/bin/python")
    (tmp_path / "named/bin/python").chmod(0o755)
    assert find_python(tmp_path, None) == tmp_path / ".venv/bin/python"
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "active"))
    assert find_python(tmp_path, None) == tmp_path / "active/bin/python"
    assert find_python(tmp_path, tmp_path / "named") == tmp_path / "named/bin/python"
    with pytest.raises(SetupProblem, match="/no/such/python.* --python"):
        find_python(tmp_path, "/no/such/python")


def test_a_command_is_kept_as_given(tmp_path: Path) -> None:
    lay(tmp_path, "a.py")
    assert find_project([tmp_path], test_command="make test").test_command == ("sh", "-c", "make test")
    assert find_project([tmp_path], test_command=["make", "test"]).test_command == ("make", "test")


def test_a_file_of_tests_that_pytest_collects_only_by_name_is_found_in_the_root(tmp_path: Path) -> None:
    made(tmp_path, {"code_.py": CODE, "tests.py": TEST})
    assert find_project([tmp_path / "code_.py"]).tests == (Path("tests.py"),)
    (tmp_path / "test_more.py").write_text(TEST)
    assert find_project([tmp_path / "code_.py"]).tests == (Path("test_more.py"),)
