"""The context: a project is seen where it is, read-only, with its own interpreter, and nothing of ours in its way."""

import subprocess
import sys
from pathlib import Path

import pytest

from burnish.checks.bench.check_context import PROJECT, CheckContext, copy_folder, place_of
from burnish.checks.bench.interpreter import read_interpreter
from burnish.checks.project import Project
from burnish.errors import CheckError, SetupProblem
from burnish.sandbox import owner
from tests.checks.project_support import TEST, judged, made


@pytest.mark.parametrize(
    ("folder", "place"),
    [
        ("/home/me/shop", "/home/me/shop"),
        ("/tmp/shop", PROJECT),
        ("/work/shop", PROJECT),
        ("/usr/src/shop", PROJECT),
        ("/opt", "/opt"),
    ],
)
def test_a_project_is_seen_where_it_is_unless_the_cell_has_its_own_there(folder: str, place: str) -> None:
    assert place_of(Path(folder), PROJECT) == place


@pytest.mark.slow
def test_a_project_that_only_its_owner_may_read_is_seen_and_cannot_be_changed(tmp_path: Path) -> None:
    project = made(tmp_path, {"data/secret.txt": "words"})
    (tmp_path / "data/secret.txt").chmod(0o600)
    (tmp_path / "data").chmod(0o700)
    with CheckContext(project) as context:
        assert context.run(["cat", f"{context.root}/data/secret.txt"]).output == "words"
        assert context.run(["sh", "-c", f"echo x > {context.root}/data/secret.txt"]).exit_code != 0
    assert (tmp_path / "data/secret.txt").read_text() == "words"


def test_a_copy_of_a_project_is_closed_to_other_users_and_that_of_a_killed_burnish_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, place = made(tmp_path / "shop", {"secret.txt": "words"}), tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(owner.tempfile, "tempdir", str(place))
    left = place / "burnish-project-0-1-0-0-0"  # of another start of the machine
    left.mkdir()
    top = copy_folder(project.root)
    assert top.stat().st_mode & 0o777 == 0o700
    assert (top / "copy/secret.txt").read_text() == "words"
    assert not left.exists()


@pytest.mark.slow
def test_an_environment_brings_its_own_packages_and_borrows_only_pytest(tmp_path: Path) -> None:
    python = environment(tmp_path / "shop" / ".venv")
    packages = next((tmp_path / "shop/.venv/lib").glob("python*")) / "site-packages"
    (packages / "own_package.py").write_text("WORD = 'own'\n")
    tests = "import pytest\nimport own_package\n\n\ndef test_pydantic_is_not_lent():\n"
    tests += "    with pytest.raises(ImportError):\n        import pydantic\n    assert own_package.WORD == 'own'\n"
    project = made(tmp_path / "shop", {"test_it.py": tests}).model_copy(update={"python": python})
    evidence = judged(project)
    assert (evidence.verdict, evidence.figure) == ("passed", "1 passed"), evidence


def environment(folder: Path) -> Path:
    """A virtual environment with nothing in it, not even pip."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    return folder / "bin" / "python"


def test_an_environments_start_up_code_does_not_run_outside_the_cell(tmp_path: Path) -> None:
    python = environment(tmp_path / "env")
    packages = next((tmp_path / "env/lib").glob("python*")) / "site-packages"
    (packages / "evil.pth").write_text(f"import pathlib; pathlib.Path({str(tmp_path / 'ran')!r}).touch()\n")
    assert read_interpreter(python).environment == tmp_path / "env"
    assert not (tmp_path / "ran").exists()


def test_an_interpreter_that_does_not_start_is_named(tmp_path: Path) -> None:
    (tmp_path / "python").write_text("#!/bin/sh\nexit 3\n")
    (tmp_path / "python").chmod(0o755)
    with pytest.raises(SetupProblem, match="--python"):
        read_interpreter(tmp_path / "python")


@pytest.mark.slow
def test_a_missing_tool_is_named_and_a_present_one_answers(tmp_path: Path) -> None:
    with CheckContext(made(tmp_path, {})) as context:
        assert "pytest" in context.tool("pytest", "--version")
        with pytest.raises(CheckError, match="no_such_tool"):
            context.tool("no_such_tool")


def test_without_isolation_the_project_is_where_it_is(tmp_path: Path) -> None:
    project: Project = made(tmp_path, {"test_it.py": TEST})
    with CheckContext(project, "process") as context:
        assert context.root == str(tmp_path)
        assert context.run([context.python, "-c", "print('hello')"]).output == "hello\n"
