"""The packages of a project that has no environment of its own: from its requirements, or those that the user names."""

import shlex
from collections.abc import Callable, Sequence

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from burnish.checks.bench.interpreter import read_interpreter
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
    project: Project,
    asked: Sequence[str] = (),
    tell: Tell | None = None,
    budget: Budget | None = None,
    for_work: bool = False,
) -> tuple[Project, Layer | None]:
    """The project with all that it may import, and that layer; as it is where an environment brings its packages.

    What a project requires and cannot be had is said, and the work goes on without; what the user asks for by name and
    cannot be had raises SetupProblem. With `for_work` that is also what the project states for its development: of an
    environment that lacks some of it, SetupProblem says what to type.
    """
    say: Tell = tell or (lambda text: None)
    if project.has_environment:
        if for_work:
            asked = [*asked, *find_lacking(project)]
        if asked:
            install = shlex.join([str(project.python), "-m", "pip", "install", *asked])
            raise SetupProblem(
                "The project has an interpreter of its own, and what is installed there counts. Leave out --with, and "
                f"install what is missing: {install}"
            )
        return project, None
    try:
        needs = read_project_needs(project.root, for_work)
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
        if asked or for_work:
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


def find_lacking(project: Project) -> list[str]:
    """What the project states for its tests and development, and its environment has not got in any version."""
    environment = read_interpreter(project.python).environment
    if environment is None:
        return []
    found = (folder.name.partition("-")[0] for folder in environment.glob("lib/python*/site-packages/*.dist-info"))
    installed = {canonicalize_name(name) for name in found}
    stated = read_project_needs(project.root, for_work=True).packages
    return [one for one in stated if canonicalize_name(Requirement(one).name) not in installed]


def _explain_not_there(problem: SetupProblem) -> str:
    return f"no environment was found, and what the project requires is not there: {one_line(str(problem), 400)}"
