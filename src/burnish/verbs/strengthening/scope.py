"""What `strengthen` is about to look at: tests that pass, and code that can be changed. Found out before any work."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from burnish.checks.lab import Lab
from burnish.checks.project import Project
from burnish.checks.project_finder import find_project
from burnish.checks.project_run import PASSING, Ran, run_suite
from burnish.checks.python_files import python_files
from burnish.checks.suite_finder import is_collected, is_named_as_test
from burnish.errors import CheckError, SetupProblem
from burnish.tasks.repair import from_file, function_names
from burnish.text import counted, one_line
from burnish.verbs.layers import Tell, layered


@dataclass(frozen=True)
class Scope:
    """A project, the sources that mutants are made of, and one function where only that is meant."""

    project: Project
    texts: Mapping[Path, str]
    """The sources as Python reads them."""
    function: str = ""

    @property
    def test_texts(self) -> tuple[str, ...]:
        """The files of tests, to learn from how they call the code."""
        return tuple(_read(file) for file in self.test_files)

    @property
    def test_files(self) -> tuple[Path, ...]:
        """Every file of tests, in full."""
        root = self.project.root
        places = [root / test for test in self.project.tests]
        inside = [file for place in places if place.is_dir() for file in python_files(place) if _is_test(file, root)]
        return tuple(dict.fromkeys([*(place for place in places if place.is_file()), *inside]))


def scope_of(
    tests: Path | str,
    source: Path | str,
    function: str | None = None,
    python: Path | str | None = None,
    packages: Sequence[str] = (),
    tell: Tell | None = None,
) -> Scope:
    """The scope; raises SetupProblem for all that somebody can put right."""
    _must_be_tests(Path(tests))
    found = find_project([source], [tests], python)
    project = layered(found, packages, tell)[0].model_copy(update={"examples": False})
    texts = {path: project.text(path) for path in project.sources}
    if function:
        texts = _with(texts, function)
        project = project.model_copy(update={"sources": tuple(texts)})
    return Scope(project, texts, function or "")


def must_be_writable(scope: Scope) -> None:
    """Refuse, before any work is done, folders that new tests could not be put into."""
    for test in scope.project.tests:
        place = scope.project.root / test
        folder = place if place.is_dir() else place.parent
        if not os.access(folder, os.W_OK | os.X_OK):
            raise SetupProblem(
                f"{str(folder)!r} cannot be written, so new tests could not be put there. "
                f"Make it writable, or leave out --apply: chmod u+w {folder}"
            )


def passing_tests(scope: Scope, lab: Lab) -> Ran:
    """The tests as they are, all of them passing; raises SetupProblem where they do not, with the first that fails."""
    try:
        ran = run_suite(scope.project, lab)
    except CheckError as error:
        raise SetupProblem(
            f"The tests could not be run: {error}. Look at them by themselves: python -m pytest"
        ) from error
    failed = [*ran.broken, *(test for test in ran.tests.values() if test.outcome == "failed")]
    named = " ".join(map(str, scope.project.tests))
    if failed:
        said = one_line(failed[0].message, 200)
        more = f", and {counted(len(failed) - 1, 'other')}" if len(failed) > 1 else ""
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


def _must_be_tests(tests: Path) -> None:
    if tests.is_file() and tests.suffix != ".py":
        raise SetupProblem(f"{str(tests)!r} is no file of tests: its name does not end in .py. Name one that does.")
    if tests.is_dir() and not any(python_files(tests)):
        raise SetupProblem(f"There is no Python file in {str(tests)!r}. Name the folder of the tests: tests/")


def _with(texts: Mapping[Path, str], function: str) -> dict[Path, str]:
    """The sources that define the function; SetupProblem with the nearest names where none does."""
    found = {path: text for path, text in texts.items() if function in function_names(text)}
    if not found:
        from_file("\n\n".join(texts.values()), function)
    return found


def _is_test(file: Path, root: Path) -> bool:
    return is_named_as_test(file) or is_collected(file, root)


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except (OSError, ValueError):
        return ""
