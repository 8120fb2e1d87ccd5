"""The packages of a project that has no environment of its own: from its requirements, or those that the user names."""

import shlex
from collections.abc import Callable, Sequence

from burnish.agent.packages import recorded
from burnish.checks.project import Project
from burnish.errors import SetupProblem
from burnish.events import PackagesAdded
from burnish.packages import Bounds, Layer, prepare, requirements_of
from burnish.packages.needed import Needed
from burnish.packages.same import prepare_again
from burnish.packages.wanted import normal
from burnish.text import one_line, plural

MOST_NAMED = 5
"""Requirements that one notice has room for."""
Tell = Callable[[str], None]


def layered(
    project: Project, asked: Sequence[str] = (), tell: Tell | None = None, bounds: Bounds | None = None
) -> tuple[Project, Layer | None]:
    """The project with all that it may import, and that layer; as it is where an environment brings its packages.

    What a project requires and cannot be had is said, and the work goes on without; what the user asks for by name and
    cannot be had raises SetupProblem.
    """
    say: Tell = tell or (lambda text: None)
    if project.has_environment:
        if asked:
            raise _has_its_own(project, asked)
        return project, None
    needed = _needed(project, asked, say)
    if not needed:
        return project, None
    try:
        layer = prepare(needed, tell=tell, bounds=bounds)
    except SetupProblem as problem:
        if asked:
            raise
        say(_not_there(problem))
        return project, None
    say(f"no environment was found: {plural(len(layer.packages), 'package')} prepared from what the project requires")
    return project.model_copy(update={"layer": layer.folder, "alone": True}), layer


def again(project: Project, event: PackagesAdded, bounds: Bounds | None = None) -> Project:
    """The project with the very versions that are on record. Raises SetupProblem where they cannot be had."""
    if not event.packages:
        return project
    layer = prepare_again(recorded(event), bounds=bounds)
    return project.model_copy(update={"layer": layer.folder, "alone": True})


def _needed(project: Project, asked: Sequence[str], say: Tell) -> tuple[str, ...]:
    """What the project requires, as far as that may be had here, and what the user asks for besides."""
    try:
        needed = requirements_of(project.root)
        if needed.left_out:
            say(_left_out(needed))
        return normal([*needed.packages, *asked])
    except SetupProblem as problem:
        say(_not_there(problem))
        return normal(asked)


def _not_there(problem: SetupProblem) -> str:
    return f"no environment was found, and what the project requires is not there: {one_line(str(problem), 400)}"


def _left_out(needed: Needed) -> str:
    more = len(needed.left_out) - MOST_NAMED
    named = [one_line(words, 160) for words in needed.left_out[:MOST_NAMED]] + [f"{more} more"] * (more > 0)
    return f"of what the project requires this is not there: {'; '.join(named)}. {needed.instead}"


def _has_its_own(project: Project, asked: Sequence[str]) -> SetupProblem:
    return SetupProblem(
        f"The project has an interpreter of its own, and what is installed there counts. Leave out --with, and install "
        f"what is missing: {shlex.join([str(project.python), '-m', 'pip', 'install', *asked])}"
    )
