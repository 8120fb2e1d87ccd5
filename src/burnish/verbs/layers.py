"""The packages of a project that has no environment of its own: from its requirements, or those that the user names."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from burnish.checks.project import Project
from burnish.errors import SetupProblem
from burnish.packages import Layer, prepare, requirements_of
from burnish.packages.wanted import normal
from burnish.text import counted, one_line

Tell = Callable[[str], None]


def layered(
    project: Project, asked: Sequence[str] = (), python: Path | str | None = None, tell: Tell | None = None
) -> tuple[Project, Layer | None]:
    """The project with all that it may import, and that layer; as it is where an environment brings its packages.

    `python` is the interpreter that the user named: it wins. What a project requires and cannot be had is said, and
    the work goes on without; what the user asks for by name and cannot be had raises SetupProblem.
    """
    say: Tell = tell or (lambda text: None)
    if python is not None or project.python != Path(sys.executable):
        if asked:
            raise _has_its_own(project, asked)
        return project, None
    needed = normal([*requirements_of(project.root), *asked])
    if not needed:
        return project, None
    try:
        layer = prepare(needed, tell=tell)
    except SetupProblem as problem:
        if asked:
            raise
        say(f"no environment was found, and what the project requires is not there: {one_line(str(problem), 300)}")
        return project, None
    say(f"no environment was found: {counted(len(layer.packages), 'package')} prepared from what the project requires")
    return project.model_copy(update={"layer": layer.folder, "alone": True}), layer


def again(project: Project, packages: Sequence[tuple[str, str]], tell: Tell | None = None) -> Project:
    """The project with the very versions that are on record. Raises SetupProblem where they cannot be had."""
    if not packages:
        return project
    layer = prepare([f"{name}=={version}" for name, version in packages], tell=tell)
    return project.model_copy(update={"layer": layer.folder, "alone": True})


def _has_its_own(project: Project, asked: Sequence[str]) -> SetupProblem:
    return SetupProblem(
        f"The project has an interpreter of its own, and what is installed there counts. Leave out --with, and install "
        f"what is missing: {project.python} -m pip install {' '.join(asked)}"
    )
