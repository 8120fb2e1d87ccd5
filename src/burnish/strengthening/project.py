"""What is to be strengthened in a project: tests that pass, code that can be changed, and the mutants that survive."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.bench.project_finder import is_collected, is_named_as_test, python_files
from burnish.checks.bench.project_run import PASSING, SuiteRun, run_suite
from burnish.checks.mutation.mutant import Mutant
from burnish.checks.mutation.mutate_project import MutantPlan, plan_mutants
from burnish.checks.project import Project
from burnish.errors import CheckError, SetupProblem
from burnish.tasks.repair import from_file, function_names
from burnish.text import one_line, plural


@dataclass(frozen=True)
class Scope:
    """A project, the sources that mutants are made of, and one function where only that is meant."""

    project: Project
    texts: Mapping[Path, str]
    """The sources as Python reads them."""
    function: str = ""

    @cached_property
    def test_files(self) -> tuple[Path, ...]:
        """Every file of tests, in full."""
        root = self.project.root
        places = [root / test for test in self.project.tests]
        inside = [file for place in places if place.is_dir() for file in python_files(place)]
        tests = [file for file in inside if is_named_as_test(file) or is_collected(file, root)]
        return tuple(dict.fromkeys([*(place for place in places if place.is_file()), *tests]))

    @cached_property
    def test_texts(self) -> tuple[str, ...]:
        """The files of tests, to learn from how they call the code; one that cannot be read is empty."""
        texts = []
        for file in self.test_files:
            try:
                texts.append(file.read_text("utf-8"))
            except (OSError, ValueError):
                texts.append("")
        return tuple(texts)


@dataclass(frozen=True)
class WeakFunction:
    """One function with mutants that no test notices."""

    source: Path
    name: str
    text: str
    """Of the whole source."""
    survivors: tuple[Mutant, ...]


def open_scope(project: Project, function: str, trying_seconds: float) -> Scope:
    """The scope of a project, or of the sources that define one function; mutants have no more time than given here.

    Raises SetupProblem with the nearest names where no source defines it.
    """
    texts = {path: project.text(path) for path in project.sources}
    if function:
        whole = "\n\n".join(texts.values())
        texts = {path: text for path, text in texts.items() if function in function_names(text)}
        if not texts:
            from_file(whole, function)
    budget = min(project.settings.mutation_seconds, trying_seconds)
    changes = {
        "sources": tuple(texts),
        "functions": (function,) if function else (),
        "settings": project.settings.model_copy(update={"mutation_seconds": budget}),
    }
    return Scope(project.model_copy(update=changes), texts, function)


def require_tests(tests: Path) -> None:
    """Refuse what can hold no tests."""
    if tests.is_file() and tests.suffix != ".py":
        raise SetupProblem(f"{str(tests)!r} is no file of tests: its name does not end in .py. Name one that does.")
    if tests.is_dir() and not any(python_files(tests)):
        raise SetupProblem(f"There is no Python file in {str(tests)!r}. Name the folder of the tests: tests/")


def require_writable(scope: Scope) -> None:
    """Refuse, before any work is done, folders that new tests could not be put into."""
    for test in scope.project.tests:
        place = scope.project.root / test
        folder = place if place.is_dir() else place.parent
        if not os.access(folder, os.W_OK | os.X_OK):
            raise SetupProblem(
                f"{str(folder)!r} cannot be written, so new tests could not be put there. "
                f"Make it writable, or leave out --apply: chmod u+w {folder}"
            )


def run_passing_tests(scope: Scope, context: CheckContext) -> SuiteRun:
    """Run the tests as they are. Raises SetupProblem unless all pass, with the first that fails."""
    try:
        ran = run_suite(scope.project, context)
    except CheckError as error:
        raise SetupProblem(
            f"The tests could not be run: {error}. Look at them by themselves: python -m pytest"
        ) from error
    failed = [*ran.broken, *(test for test in ran.tests.values() if test.outcome == "failed")]
    named = " ".join(map(str, scope.project.tests))
    if failed:
        said = one_line(failed[0].message, 200)
        more = f", and {plural(len(failed) - 1, 'other')}" if len(failed) > 1 else ""
        raise SetupProblem(
            f"The tests fail before anything is changed: {failed[0].id}{more} ({said}). "
            f"Make them pass first: python -m pytest {named}"
        )
    if ran.problem:
        raise SetupProblem(f"The tests give no verdict: {ran.problem}. Look at them: python -m pytest {named}")
    if not ran.counted(*PASSING):
        raise SetupProblem(
            f"There is no test in {named}, or all are skipped, so there is nothing to strengthen. "
            f"Have the first ones written: burnish write --help"
        )
    return ran


def require_mutants(scope: Scope) -> MutantPlan:
    """The mutants that `check` would try; raises SetupProblem where there is none."""
    try:
        plan = plan_mutants(scope.project)
    except CheckError as error:
        raise SetupProblem(f"{error}. Name sources that are Python, or leave this one out.") from error
    if not plan.mutants:
        what = f"function {scope.function!r}" if scope.function else "code"
        raise SetupProblem(
            f"There is nothing to change in the {what}: small changes are made inside functions without decorators, at "
            f"the top of a module or in a class there. Name a file that has some: --for FILE.py"
        )
    return plan


def weak_functions(scope: Scope, survivors: Sequence[Mutant]) -> Iterator[WeakFunction]:
    """The survivors by function, in the order of the text."""
    groups: dict[tuple[str, str], list[Mutant]] = {}
    for mutant in survivors:
        groups.setdefault((mutant.file, mutant.name), []).append(mutant)
    for (file, name), mutants in groups.items():
        yield WeakFunction(Path(file), name, scope.texts[Path(file)], tuple(mutants))
