"""Small projects with environments of their own, and services on this machine in place of the public ones."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.project import Project, Settings
from tests.checks.dependencies.services import Services, serving


class Tools(CheckContext):
    """A context for a check that runs nothing of the project: tools alone, and no sandbox to wait for."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.tell = lambda done, total: None

    def close(self) -> None:
        """There is nothing to close."""


@pytest.fixture(autouse=True)
def nearby(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy between the tests and their services; nothing written to the user's cache."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def services() -> Iterator[Services]:
    with serving() as both:
        yield both


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """A virtual environment without a package."""
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    (tmp_path / "venv" / "pyvenv.cfg").write_text("include-system-site-packages = false\n")
    python = tmp_path / "venv" / "bin" / "python"
    python.symlink_to(sys.executable)
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    (tmp_path / "venv" / "lib" / version / "site-packages").mkdir(parents=True)
    return python


def install(python: Path, name: str, version: str, *files: str, direct_url: str = "") -> None:
    """Leave what an installer leaves: metadata and the list of files."""
    site = next((python.parent.parent / "lib").glob("*/site-packages"))
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in files))
    if direct_url:
        (info / "direct_url.json").write_text(direct_url)


Make = Callable[..., Project]


@pytest.fixture
def make(tmp_path: Path, environment: Path) -> Make:
    """A project from texts by file name."""

    def made(files: dict[str, str], settings: Settings | None = None) -> Project:
        root = tmp_path / "project"
        for name, text in files.items():
            file = root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        sources = tuple(sorted(file.relative_to(root) for file in root.rglob("*.py")))
        return Project(root=root, sources=sources, python=environment, settings=settings or Settings())

    return made
