"""`fix` from a failing test: which tests are meant, and in which file of the project their fault may be.

A test command is only read, never run: what plainly is pytest with arguments is understood, anything else is refused.
"""

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.bench.fault_localisation import rank_places, read_original, run_watched
from burnish.checks.bench.inside.case_ids import all_ids
from burnish.checks.bench.project_finder import find_root, is_named_as_test
from burnish.checks.project import Project
from burnish.errors import CheckError, SetupProblem
from burnish.events import Place

_STARTS = (
    *(("python", "-m", "pytest"), ("python3", "-m", "pytest"), ("pytest",), ("py.test",), ("tox",)),
    *(("coverage", "run", "-m", "pytest"), ("python", "-m", "coverage", "run", "-m", "pytest")),
)
_HARMLESS = re.compile(
    r"-[qvxsl]+|-r\w*|--tb=\w+|--maxfail=\d+|--color=\w+|-n|-p|--verbose|--quiet|--exitfirst|--cov.*"
)
_VALUE = ("-n", "-p")
_WORD = re.compile(r"[\w.\[\]-]+|[()]")


@dataclass(frozen=True)
class ChosenTests:
    """The tests that somebody starts from."""

    ids: tuple[str, ...] = ()
    """Files, folders and ids below the root; empty: all."""
    words: str = ""
    """An expression of pytest's -k."""

    def holds(self, test: str) -> bool:
        """Whether a test is one of them."""
        return (not self.ids or not all_ids(test).isdisjoint(self.ids)) and _matches_words(test, self.words)


def is_test_named(path: Path | str) -> bool:
    """Whether what is to be repaired is named by a test of it: an id of pytest's, or a file of tests."""
    file, mark, _ = str(path).partition("::")
    return Path(file).is_file() and (bool(mark) or is_named_as_test(Path(file)))


def read_test_command(command: str, root: Path, depth: int = 0) -> ChosenTests:
    """The tests that a command runs. Raises SetupProblem for one that is not plainly pytest with arguments."""
    refusal = SetupProblem(
        f"The test command {command!r} cannot be read as pytest with arguments, and it is never run outside the "
        "sandbox. Name the failing test instead: burnish fix tests/test_x.py::test_y"
    )
    try:
        words = shlex.split(command)
    except ValueError:
        raise refusal from None
    if words[:1] == ["make"] and len(words) == 2 and depth == 0 and (root / "Makefile").is_file():
        text = (root / "Makefile").read_text("utf-8", "replace")
        recipe = re.search(rf"^{re.escape(words[1])}\s*:[^\n]*\n((?:\t[^\n]*\n?)+)", text, re.M)
        lines = [line.strip().lstrip("@-") for line in recipe[1].splitlines()] if recipe else []
        if len(lines) == 1:
            return read_test_command(lines[0], root, depth + 1)
    start = next((start for start in _STARTS if tuple(words[: len(start)]) == start), None)
    if start is None or (start == ("tox",) and len(words) > 1):
        raise refusal
    rest, ids, expression = words[len(start) :], list[str](), ""
    while rest:
        word = rest.pop(0)
        if word == "-k" and rest:
            expression = rest.pop(0)
        elif _HARMLESS.fullmatch(word):
            rest[:1] = [] if word in _VALUE else rest[:1]
        elif not word.startswith("-") and (root / word.partition("::")[0]).exists():
            ids.append(word.rstrip("/"))
        else:
            raise refusal
    return ChosenTests(tuple(ids), expression)


def find_place(
    project: Project, chosen: ChosenTests, sandbox: str, keep: Callable[[CheckContext], None] = lambda context: None
) -> tuple[tuple[str, ...], list[Place]]:
    """The failing tests among those that were chosen, and where in the project's sources their fault may be.

    `keep` is told of what runs them. Raises SetupProblem where none of them fails, and where no function of the project
    has to do with them.
    """
    try:
        with CheckContext(project, sandbox) as context:
            keep(context)
            run = run_watched(project, context, project.sources)
    except CheckError as error:
        raise SetupProblem(
            f"The tests could not be run: {error}. Look at them by themselves: python -m pytest"
        ) from None
    failing = tuple(test.id for test in run.failures if chosen.holds(test.id))
    if not failing:
        raise SetupProblem(
            f"None of the chosen tests fails ({len(run.tests)} were run), so there is nothing to start from. "
            'Name a file and say what is wrong: burnish fix FILE.py --spec "…"'
        )
    places: list[Place] = []
    for source in project.sources:
        text = project.text(source)
        places += rank_places(read_original(run, source, text), source, text, project.root, failing)
    if not places:
        raise SetupProblem(
            f"No function of the project was seen to run in {failing[0]}, though one may in another process. "
            f"Name the file: burnish fix FILE.py --tests {shlex.quote(failing[0])} --function NAME"
        )
    return failing, sorted(places, key=lambda place: -place.score)


def find_test_root(path: Path | str) -> tuple[Path, ChosenTests]:
    """The project that a test belongs to, and the test by its name there."""
    file, mark, rest = str(path).partition("::")
    full = Path(file).expanduser().absolute()
    root = find_root([full])
    return root, ChosenTests((f"{full.relative_to(root)}{mark}{rest}",))


def _matches_words(test: str, words: str) -> bool:
    """Whether an expression of pytest's -k, words with and, or, not, means a test."""

    def judge(word: str) -> str:
        if word == "(":
            return "not not ("  # after a word this is a SyntaxError; "True (" alone would be a call
        return word if word in ("and", "or", "not", ")") else str(word.lower() in test.lower())

    if not words:
        return True
    try:
        return bool(eval(" ".join(map(judge, _WORD.findall(words))), {"__builtins__": {}}))  # noqa: S307 only True, False and words of ours
    except SyntaxError:
        raise SetupProblem(f"-k {words!r} cannot be read. Name the test: burnish fix tests/test_x.py::test_y") from None
