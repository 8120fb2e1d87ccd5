"""What the tests of the static checks share: a project from a few texts, and a context for it."""

import sys
from collections.abc import Callable
from pathlib import Path

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.check import Check
from burnish.checks.project import Project, Settings
from burnish.events import Evidence

SAMPLES = Path(__file__).parent / "samples" / "static"
Judge = Callable[..., Evidence]


def project_in(folder: Path, files: dict[str, str], generated: bool = False, **settings: object) -> Project:
    """A project with these files, written to the folder."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return Project(
        root=folder,
        sources=tuple(Path(name) for name in files),
        python=Path(sys.executable),
        generated=generated,
        settings=Settings.model_validate(settings),
    )


def sample(name: str) -> dict[str, str]:
    """The files of a sample folder."""
    folder = SAMPLES / name
    files = sorted(folder.rglob("*.py.txt"))
    return {str(f.relative_to(folder)).removesuffix(".txt"): f.read_text(encoding="utf-8") for f in files}


def judged(check: Check, project: Project) -> Evidence:
    """What the check says. Nothing of the project runs, so the plainest sandbox will do."""
    with CheckContext(project, sandbox="process") as context:
        return check.judge(project, context)


def findings(evidence: Evidence) -> list[dict[str, object]]:
    """The findings as plain data."""
    found = evidence.details["findings"]
    assert isinstance(found, list)
    return found


class BrokenContext(CheckContext):
    """A context whose tools answer with this text."""

    def __init__(self, project: Project, said: str) -> None:
        super().__init__(project, sandbox="process")
        self.said = said

    def tool(self, *argv: str, timeout_seconds: float = 120.0, cwd: Path | None = None) -> str:
        return self.said
