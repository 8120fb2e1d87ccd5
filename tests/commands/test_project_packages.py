"""Which projects get a layer: those without an environment, and only with what may be had."""

import shlex
import sys
from pathlib import Path

import pytest

from burnish.agent.limits import Limits
from burnish.checks.bench.project_finder import find_project
from burnish.checks.project import Project
from burnish.commands.fix import fix
from burnish.commands.project_packages import add_project_layer
from burnish.errors import SetupProblem
from burnish.packages import Budget
from tests.packages.conftest import only
from tests.packages.shelf import Shelf
from tests.support import assert_words, refused


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """An index and a cache of this test's own."""
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    made = only(tmp_path / "shelf", monkeypatch)
    made.wheel("click", "8.0")
    return made


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with one requirement."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "shop.py").write_text("import click\n")
    (folder / "requirements.txt").write_text("click\n")
    return folder


def project(root: Path) -> Project:
    return find_project([root / "shop.py"])


def test_an_environment_that_burnish_is_installed_in_too_is_the_projects_own(
    root: Path, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", str(root / ".venv"))
    monkeypatch.setattr(sys, "executable", str(root / ".venv/bin/python"))
    (root / ".venv/bin").mkdir(parents=True)
    (root / ".venv/bin/python").touch()
    found = project(root)
    assert found.python == Path(sys.executable)
    assert add_project_layer(found) == (found, None)
    with pytest.raises(SetupProblem) as problem:
        add_project_layer(found, ["pandas<3,>=2"])
    command = shlex.split(str(problem.value).partition("missing: ")[2])
    assert command == [sys.executable, "-m", "pip", "install", "pandas<3,>=2"], "a shell must not read it otherwise"


@pytest.mark.slow
def test_a_project_without_an_environment_has_what_it_requires(root: Path, shelf: Shelf) -> None:
    said: list[str] = []
    found, layer = add_project_layer(project(root), tell=said.append)
    assert layer
    assert (found.layer, found.alone) == (layer.folder, True)
    assert_words("\n".join(said))


@pytest.mark.slow
def test_what_is_left_out_of_what_the_project_requires_is_said(root: Path, shelf: Shelf) -> None:
    lines = ["mylib @ git+https://me:secret@192.0.2.1/mylib.git", "click", "./vendored"]
    (root / "requirements.txt").write_text("\n".join(lines))
    said: list[str] = []
    assert add_project_layer(project(root), tell=said.append)[1]
    assert "secret" not in said[0]
    assert_words("\n".join(said))
    (root / "requirements.txt").write_text(
        "\n".join(f"odd{number} @ https://192.0.2.1/{number}" for number in range(8))
    )
    said.clear()
    assert add_project_layer(project(root), tell=said.append)[1] is None
    assert_words(said[0])


@pytest.mark.slow
def test_where_the_project_names_an_index_nothing_is_fetched_and_that_is_said(root: Path, shelf: Shelf) -> None:
    (root / "requirements.txt").write_text("--index-url https://192.0.2.1/simple\nclick\n")
    said: list[str] = []
    found = project(root)
    assert add_project_layer(found, tell=said.append) == (found, None)
    assert_words(said[0])
    shelf.wheel("toml", "1.0")
    layer = add_project_layer(found, ["toml"])[1]
    assert layer
    assert [one.name for one in layer.packages] == ["toml"], "what the user asks for is theirs to say"


def test_fix_prepares_packages_within_its_own_time(root: Path, shelf: Shelf) -> None:
    said: list[str] = []
    with refused():
        fix(root / "shop.py", limits=Limits(seconds=0), packages=["click"])
    add_project_layer(project(root), tell=said.append, budget=Budget.within(0.0))
    assert_words(said[-1])  # of what the project requires it is said, no more
