"""The tests that the evidence lists, as a suite; and whether the delivered file holds these tests and no others."""

import ast
import re
from collections.abc import Iterator

from burnish.checks.suite import Suite
from burnish.evidence.form import Dossier
from burnish.evidence.given import given_in_strange_words
from burnish.parsing import parse
from burnish.report import file_of
from burnish.tasks.kinds import AskedKinds, kinds_in_words
from burnish.text import one_line

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_NOT_SHOWN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Signs at which a line may end, begin anew or turn round and no reader sees it. Burnish writes them as escapes."""
UNREADABLE = (SyntaxError, ValueError, MemoryError, RecursionError)


def suite_in(dossier: Dossier) -> Suite:
    """The suite, as the judge of the run had it."""
    named = [(test.origin, test.test) for test in dossier.tests if test.given_in != "project"]
    return Suite(
        entry_point=dossier.task.entry_point,
        imports=dossier.task.imports,
        file=dossier.task.test_file,
        given=tuple(test for origin, test in named if origin == "given"),
        model=tuple(test for origin, test in named if origin == "model"),
        added=tuple(test for origin, test in named if origin in ("spec", "agreed")),
        pinned=tuple(test for origin, test in named if origin == "pinned"),
        project=tuple(test.test for test in dossier.tests if test.given_in == "project"),
        kinds=_kinds(dossier),
    )


def disputed_in(dossier: Dossier) -> tuple[str, ...]:
    """Tests that were set aside."""
    return tuple(test.test for test in dossier.tests if test.disputed)


def hidden_signs(dossier: Dossier) -> Iterator[str]:
    """Tests that a reader would not see as Python does."""
    for listed in dossier.tests:
        if found := _NOT_SHOWN.search(listed.test):
            yield f"{one_line(listed.name, 80)} holds signs that are not shown (U+{ord(found[0]):04X})"


def suite_of_words(dossier: Dossier) -> Suite:
    """The tests that the task's own words give, and nothing else: no text of the evidence's stands beside them."""
    found = set(_in_words(dossier) or ())
    given = tuple(test.test for test in dossier.tests if test.origin == "given" and test.test in found)
    task = dossier.task
    return Suite(entry_point=task.entry_point, imports=task.imports, given=given, kinds=_kinds(dossier))


def _kinds(dossier: Dossier) -> AskedKinds:
    """What the task's words ask for; where they do not say, how the tests use a name decides."""
    return kinds_in_words(dossier.task.words, (dossier.task.entry_point.partition(".")[0], *dossier.task.imports))


def _in_words(dossier: Dossier) -> tuple[str, ...] | None:
    task = dossier.task
    return given_in_strange_words(task.words, bool(dossier.run.continues), frozenset((task.entry_point, *task.imports)))


def other_tests(dossier: Dossier, text: str) -> Iterator[str]:
    """How the delivered file differs from the tests that are listed. Layout and comments do not count.

    Both are read as Python and never run.
    """
    suite = suite_in(dossier)
    for test in dossier.tests:
        if suite.names.get(test.name) != test.test:
            yield f"{one_line(test.name, 80)} is not what the test is called in the file of tests"
    listed = file_of(suite, disputed_in(dossier), dossier.task.module)
    try:
        modules = parse(listed), parse(text)
        wanted, there = map(_parts, modules)
        ordered = [[ast.dump(node) for node in module.body] for module in modules]
    except UNREADABLE:
        yield "the tests are not Python that can be read"
        return
    for name in dict.fromkeys((*wanted, *there)):
        if name not in there:
            yield f"the listed {_called(name)} is not in the file of tests"
        elif name not in wanted:
            yield f"the file of tests holds {_called(name)}, which the evidence does not list"
        elif wanted[name] != there[name]:
            yield f"{_called(name)} in the file of tests is not the one that the evidence lists"
    if wanted == there and ordered[0] != ordered[1]:  # what is defined twice is what it was last
        yield "the file of tests has another order than the evidence"


def other_given(dossier: Dossier) -> Iterator[str]:
    """Whether the task's own words give the tests that are said to be given; looked up again."""
    task, given = dossier.task, {test.test for test in dossier.tests if test.origin == "given"}
    goes_on, name = bool(dossier.run.continues), frozenset((task.entry_point,))
    in_words = _in_words(dossier)
    certain = given_in_strange_words(task.words, goes_on, name) if goes_on else in_words
    if in_words is None or certain is None:
        yield "the task's words could not be searched for tests"
        return
    for test in certain:
        if test not in given and not _taken_back(dossier, test):
            yield f"the task's words give `{one_line(test, 120)}`, and the evidence does not list it as given"
    for listed in dossier.tests:
        if listed.given_in == "words" and listed.test not in in_words:
            yield f"`{one_line(listed.test, 120)}` is not among the tests that the task's words give"
        if listed.origin == "given" and listed.disputed:
            yield f"{one_line(listed.name, 80)} was given, and a given test is never set aside"
        if listed.given_in == "file" and not task.test_file:
            yield f"{one_line(listed.name, 80)} is said to be in the user's file, and there is none"


def _taken_back(dossier: Dossier, test: str) -> bool:
    """Whether a person wanted it so."""
    reviewed = any(word.kind == "reviewed" and word.about == "tests" for word in dossier.people)
    return reviewed and test in dossier.task.taken_back


def _parts(module: ast.Module) -> dict[str, str]:
    """What a file does, by the names that it defines; two of one name, and all that has none, count together."""
    found: dict[str, str] = {}
    for node in module.body:
        name = node.name if isinstance(node, DEFINITIONS) else ""
        found[name] = found.get(name, "") + ast.dump(node)
    return found


def _called(name: str) -> str:
    return f"test {one_line(name, 80)}" if name.startswith("test") else name or "text outside of tests"
