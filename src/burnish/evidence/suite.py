"""The tests that the evidence lists, as a suite; and whether the delivered file holds these tests and no others.

Which of them the words of the task give is looked up again, so that a given test can be neither invented nor dropped.
"""

import ast
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

from burnish.checks.suite import Suite
from burnish.errors import SetupProblem
from burnish.evidence.schema import Dossier, ListedTest
from burnish.parsing import parse, try_parse
from burnish.report.deliverables import render_suite
from burnish.tasks.examples import find_called_names, find_examples, find_values
from burnish.tasks.repair import examples_of
from burnish.tasks.sentence import AskedKinds, find_kinds_in_words, from_sentence
from burnish.text import one_line

ALSO = "\n\nAlso: "
"""Stands between the words of a run and those of the run that it goes on from."""
SECONDS = 15.0
"""Far more than a sentence takes; words can be made so that reading them takes for ever."""
HERE = "from burnish.evidence.suite import answer_question; answer_question()"
_NOT_SHOWN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Signs at which a line may end, begin anew or turn round and no reader sees it. Burnish writes them as escapes."""
MOST_QUOTE = 1000
"""Characters of words that are searched for values."""
UNREADABLE = (SyntaxError, ValueError, MemoryError, RecursionError)
KINDS = {"spec": "added", "agreed": "added"}
"""Where a suite keeps tests of an origin, if not under its own name."""


@cache
def find_given_tests(words: str, goes_on: bool, names: frozenset[str], function: str = "") -> tuple[str, ...]:
    """The tests that the words give, of every sentence where a run goes on from another; none where they say nothing.

    `names` are those that the module must define; of a repair, `function` is what the words are about.
    """
    if function:
        return tuple(dict.fromkeys(examples_of(words, function)))
    first, *further = words.split(ALSO) if goes_on else [words]
    try:
        found = list(from_sentence(first).visible_tests)
    except SetupProblem:
        return ()
    for sentence in further:
        found += [test for test in find_examples(sentence) if names & {*find_called_names(test)}]
    return tuple(dict.fromkeys(found))


@cache
def find_given_tests_safely(
    words: str, goes_on: bool, names: frozenset[str], function: str = ""
) -> tuple[str, ...] | None:
    """The same for words from anybody, in a process that can be ended; None where it had to be."""
    question = json.dumps([words, goes_on, sorted(names), function])
    command = [sys.executable, "-I", "-c", HERE]
    try:
        done = subprocess.run(command, input=question, capture_output=True, text=True, timeout=SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return tuple(map(str, json.loads(done.stdout)))


def answer_question() -> None:
    """Be that process: a question on standard input, the answer on standard output."""
    words, goes_on, names, function = json.load(sys.stdin)
    print(json.dumps(find_given_tests(words, goes_on, frozenset(names), function)))


def build_suite(dossier: Dossier) -> Suite:
    """The suite, as the judge of the run had it."""
    tests: dict[str, list[str]] = defaultdict(list)
    for test in dossier.tests:
        tests["project" if test.given_in == "project" else KINDS.get(test.origin, test.origin)].append(test.test)
    return Suite(
        entry_point=dossier.task.entry_point,
        imports=dossier.task.imports,
        file=dossier.task.test_file,
        kinds=_read_kinds(dossier),
        given=tuple(tests["given"]),
        worded=tuple(tests["worded"]),
        model=tuple(tests["model"]),
        added=tuple(tests["added"]),
        pinned=tuple(tests["pinned"]),
        project=tuple(tests["project"]),
    )


def list_disputed(dossier: Dossier) -> tuple[str, ...]:
    """Tests that were set aside."""
    return tuple(test.test for test in dossier.tests if test.disputed)


def build_suite_of_words(dossier: Dossier) -> Suite:
    """The tests that the task's own words give, and nothing else: no text of the evidence's stands beside them."""
    found = set(_find_in_words(dossier) or ())
    given = tuple(test.test for test in dossier.tests if test.origin == "given" and test.test in found)
    task = dossier.task
    return Suite(entry_point=task.entry_point, imports=task.imports, given=given, kinds=_read_kinds(dossier))


def _read_kinds(dossier: Dossier) -> AskedKinds:
    """What the task's words ask for; where they do not say, how the tests use a name decides."""
    return find_kinds_in_words(dossier.task.words, (dossier.task.entry_point.partition(".")[0], *dossier.task.imports))


def _find_in_words(dossier: Dossier) -> tuple[str, ...] | None:
    task = dossier.task
    names = frozenset((task.entry_point, *task.imports))
    function = task.entry_point if dossier.repair else ""
    return find_given_tests_safely(task.words, bool(dossier.run.continues), names, function)


def find_hidden_characters(dossier: Dossier) -> Iterator[str]:
    """Tests that a reader would not see as Python does."""
    for test in dossier.tests:
        if found := _NOT_SHOWN.search(test.test):
            yield f"{one_line(test.name, 80)} holds signs that are not shown (U+{ord(found[0]):04X})"


def compare_project_tests(dossier: Dossier) -> Iterator[str]:
    """What is wrong with the tests of a repair that has none but the project's."""
    for test in dossier.tests:
        if test.given_in != "project":
            yield f"the listed {one_line(test.name, 80)} is in no file of tests"
        elif test.name != test.test:
            yield f"{one_line(test.name, 80)} is not what the test is called in the project"


def compare_test_file(dossier: Dossier, text: str) -> Iterator[str]:
    """How the delivered file differs from the tests that are listed. Layout and comments do not count.

    Both are read as Python and never run.
    """
    suite = build_suite(dossier)
    for test in dossier.tests:
        if suite.names.get(test.name) != test.test:
            yield f"{one_line(test.name, 80)} is not what the test is called in the file of tests"
    listed = render_suite(suite, list_disputed(dossier), dossier.task.module)
    try:
        modules = parse(listed), parse(text)
        wanted, there = map(_group_by_name, modules)
        ordered = [[ast.dump(node) for node in module.body] for module in modules]
    except UNREADABLE:
        yield "the tests are not Python that can be read"
        return
    for name in dict.fromkeys((*wanted, *there)):
        called = f"test {one_line(name, 80)}" if name.startswith("test") else name or "text outside of tests"
        if name not in there:
            yield f"the listed {called} is not in the file of tests"
        elif name not in wanted:
            yield f"the file of tests holds {called}, which the evidence does not list"
        elif wanted[name] != there[name]:
            yield f"{called} in the file of tests is not the one that the evidence lists"
    if wanted == there and ordered[0] != ordered[1]:  # what is defined twice is what it was last
        yield "the file of tests has another order than the evidence"


def _group_by_name(module: ast.Module) -> dict[str, str]:
    """What a file does, by the names that it defines; two of one name, and all that has none, count together."""
    found: dict[str, str] = defaultdict(str)
    for node in module.body:
        name = node.name if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else ""
        found[name] += ast.dump(node)
    return found


def _stands_in_words(listed: ListedTest, words: str) -> bool:
    """Whether the words hold the quote, and the quote every value of the test."""
    values = {value.literal for value in find_values(listed.why[:MOST_QUOTE])}
    match try_parse(listed.test):
        case ast.Module(
            body=[ast.Assert(test=ast.Compare(left=ast.Call(args=args, keywords=[]), comparators=[output]))]
        ):
            return listed.why in words and {*map(ast.unparse, (*args, output))} <= values
    return False


def compare_given_tests(dossier: Dossier) -> Iterator[str]:
    """Whether the task's own words give the tests that are said to be given; looked up again."""
    task, given = dossier.task, {test.test for test in dossier.tests if test.origin == "given"}
    in_words = certain = _find_in_words(dossier)
    if dossier.run.continues and not dossier.repair:
        certain = find_given_tests_safely(task.words, True, frozenset((task.entry_point,)))
    if in_words is None or certain is None:
        yield "the task's words could not be searched for tests"
        return
    # Examples of a docstring lie in the code itself.
    in_project = (*dossier.repair.test_files, dossier.repair.file) if dossier.repair else ()
    reviewed = any(remark.kind == "reviewed" and remark.about == "tests" for remark in dossier.people)
    taken_back = task.taken_back if reviewed else ()  # only a person can take a test back
    for test in certain:
        if test not in given and test not in taken_back:
            yield f"the task's words give `{one_line(test, 120)}`, and the evidence does not list it as given"
    for listed in dossier.tests:
        if listed.given_in == "words" and listed.test not in in_words:
            yield f"`{one_line(listed.test, 120)}` is not among the tests that the task's words give"
        if listed.origin == "worded" and not _stands_in_words(listed, task.words):
            yield f"`{one_line(listed.test, 120)}` is said to be read from the task's words, and does not stand there"
        if listed.origin == "given" and listed.disputed:
            yield f"{one_line(listed.name, 80)} was given, and a given test is never set aside"
        if listed.given_in == "project" and listed.test.partition("::")[0] not in in_project:
            yield f"{one_line(listed.name, 80)} is said to be a test of the project, and none of its files is delivered"
        if listed.given_in == "file" and not task.test_file:
            yield f"{one_line(listed.name, 80)} is said to be in the user's file, and there is none"
