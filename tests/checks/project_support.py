"""Small projects on disk, and what the checks say about them in a real sandbox."""

import sys
from collections.abc import Mapping
from pathlib import Path

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.bench.project_finder import find_project
from burnish.checks.coverage import CoverageCheck
from burnish.checks.project import Project
from burnish.checks.tests import TestsOfProject
from burnish.events import Evidence

GOOD = Path(__file__).parent / "samples" / "project" / "good"
CODE = "def double(n):\n    return n * 2\n"
TEST = "from code_ import double\n\n\ndef test_double():\n    assert double(2) == 4\n"


def made(folder: Path, files: Mapping[str, str], settings: str = "", **options: object) -> Project:
    """A project with these files; `code_.py` holds a good function unless they say otherwise."""
    for name, text in {"code_.py": CODE, "pyproject.toml": f"[tool.burnish]\n{settings}\n", **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return find_project([folder], python=sys.executable, **options)  # type: ignore[arg-type]


def python_outside_only(folder: Path) -> Path:
    """The interpreter of an environment that does not start in a cell."""
    (folder / "bin").mkdir(parents=True)
    (folder / "pyvenv.cfg").write_text(f"home = {sys.base_prefix}/bin\n")
    python = folder / "bin" / "python"
    python.write_text(f'#!/bin/sh\n[ -d /cell ] && exit 127\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    return python


def judged(project: Project) -> Evidence:
    """What the tests check says."""
    with CheckContext(project) as context:
        return TestsOfProject().judge(project, context)


def covered(project: Project) -> Evidence:
    """What the coverage check says."""
    with CheckContext(project) as context:
        return CoverageCheck().judge(project, context)
