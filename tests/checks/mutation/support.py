"""A small project on disk, and what the mutation check says about it."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from burnish.checks import CheckContext, Finding, Project
from burnish.checks.mutation import MutationCheck
from burnish.checks.mutation.mutant import MUTMUT, MutmutClient
from burnish.checks.project import Settings
from burnish.events import Evidence


def project_of(folder: Path, files: Mapping[str, str], generated: bool = False, **settings: Any) -> Project:
    """The files, those with "test" in their name as tests."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    named = [Path(name) for name in files if name.endswith(".py") and not name.endswith("conftest.py")]
    return Project(
        root=folder,
        sources=tuple(path for path in named if "test" not in path.name),
        tests=tuple(path for path in named if "test" in path.name),
        python=Path(sys.executable),
        generated=generated,
        settings=Settings(**settings),
    )


def judged(
    folder: Path,
    files: Mapping[str, str],
    maker: MutmutClient = MUTMUT,
    tell: Callable[[int, int], None] | None = None,
    **settings: Any,
) -> Evidence:
    """What the check says, in a real sandbox."""
    project = project_of(folder, files, **settings)
    with CheckContext(project, tell=tell) as context:
        return MutationCheck(maker).judge(project, context)


def findings(evidence: Evidence) -> list[Finding]:
    """The survivors."""
    found = evidence.details["findings"]
    assert isinstance(found, list)
    return [Finding(**one) for one in found]
