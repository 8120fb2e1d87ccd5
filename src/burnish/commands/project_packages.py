"""The packages of a project that has no environment of its own: from its requirements, or those that the user names."""

import shlex
from collections.abc import Callable, Sequence

from burnish.checks.project import Project
from burnish.errors import SetupProblem
from burnish.events import PackagesAdded
from burnish.packages import Budget, Layer, prepare_layer, read_project_needs
from burnish.packages.layer import list_recorded_packages, prepare_recorded_layer
from burnish.packages.requirements import normalise_requirements
from burnish.text import one_line, plural

MOST_NAMED = 5
"""Requirements that one notice has room for."""
Tell = Callable[[str], None]


def add_project_layer(
    project: Project, asked: Sequence[str] = (), tell: Tell | None = None, budget: Budget | None = None
) -> tuple[Project, Layer | None]:
    """The project with all that it may import, and that layer; as it is where an environment brings its packages.

    What a project requires and cannot be had is said, and the work goes on without; what the user asks for by name and
    cannot be had raises SetupProblem.
    """
    say: Tell = tell or (lambda text: None)
    if project.has_environment:
        if asked:
            install = shlex.join([str(project.python), "-m", "pip", "install", *asked])
            raise SetupProblem(
                "The project has an interpreter of its own, and what is installed there counts. Leave out --with, and "
                f"install what is missing: {install}"
            )
        return project, None
    try:
        needs = read_project_needs(project.root)
        if needs.left_out:
            more = len(needs.left_out) - MOST_NAMED
            named = [one_line(words, 160) for words in needs.left_out[:MOST_NAMED]] + [f"{more} more"] * (more > 0)
            say(f"of what the project requires this is not there: {'; '.join(named)}. {needs.instead}")
        requirements = normalise_requirements([*needs.packages, *asked])
    except SetupProblem as problem:
        say(_explain_not_there(problem))
        requirements = normalise_requirements(asked)
    if not requirements:
        return project, None
    try:
        layer = prepare_layer(requirements, tell=tell, budget=budget)
    except SetupProblem as problem:
        if asked:
            raise
        say(_explain_not_there(problem))
        return project, None
    say(f"no environment was found: {plural(len(layer.packages), 'package')} prepared from what the project requires")
    return project.model_copy(update={"layer": layer.folder, "alone": True}), layer


def add_recorded_layer(project: Project, event: PackagesAdded, budget: Budget | None = None) -> Project:
    """The project with the very versions that are on record. Raises SetupProblem where they cannot be had."""
    if not event.packages:
        return project
    layer = prepare_recorded_layer(list_recorded_packages(event), budget=budget)
    return project.model_copy(update={"layer": layer.folder, "alone": True})


def _explain_not_there(problem: SetupProblem) -> str:
    return f"no environment was found, and what the project requires is not there: {one_line(str(problem), 400)}"
