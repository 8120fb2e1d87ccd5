"""tests: ask the model for tests of its own, show them to a person who wants to see them, and freeze them all.

The model's tests rank versions and never decide against the given ones. Tests that a person changed or added are theirs
and decide; a file that cannot be taken whole is not taken at all.
"""

import ast
import re
import sys
import textwrap
import time
from collections.abc import Collection, Generator, Iterator, Sequence

from burnish.agent import prompts
from burnish.agent.answer.code import python_blocks
from burnish.agent.ask import Checkpoint, Tools, ask, drop_limits
from burnish.agent.nodes.review import ASKED_ENOUGH, MOST_ASKED, NotTaken, hold_review
from burnish.agent.prompts import Messages
from burnish.agent.state import AgentState
from burnish.checks.suite import Suite
from burnish.errors import ModelError
from burnish.events import Event, Reviewed, TestsFrozen, TestsProposed
from burnish.models.model import Ask
from burnish.parsing import explain_syntax_error, try_parse
from burnish.search.standalone_tests import extract_multi_step_tests, is_standalone
from burnish.tasks.assemble import offered_names
from burnish.tasks.contradiction import find_contradiction
from burnish.tasks.examples import (
    ASSUMED,
    find_assumed_tests,
    find_called_names,
    find_examples,
)
from burnish.tasks.sentence import FILE_WITH, reads_file
from burnish.tasks.test_file import name_in_file
from burnish.text import one_line, plural, strip_controls

MOST_TESTS = 8
MOST_TOKENS = 240
"""Room for about eight lines. Where lines are easy, models go on counting for ever; the rest is then not waited for."""
MODULE = "solution"
_REMOVE = re.compile(
    r"(?:please )?(?:remove|delete|drop|(?:(?:this|that|it)(?: is|'s) )?wrong)(?: it| this| this test)?"
)

GivenAndModel = tuple[tuple[str, ...], tuple[str, ...]]
"""Tests that decide (given before, changed or added now), and the others: examples in words, and the model's."""


def write_tests(state: AgentState, tools: Tools) -> Iterator[Event]:
    """Ask for short tests, keep those that stand on their own, show them to a person who wants to see them, and freeze
    all tests there are, as they will be run; the judge compares.
    """
    spec = state.spec
    question = prompts.tests(state.task, spec.signature, spec.given_tests)
    found = yield from ask_for_tests(state, tools, "tests-0", question, spec.given_tests)
    if found:
        # What was assumed is tested too, and said to be no more than that.
        names, marked = {spec.entry_point, *state.task.also}, find_assumed_tests(spec.assumptions)
        assumed = [test for test in marked if names & {*find_called_names(test)}]
        assumed = [test for test in assumed if test.removesuffix(ASSUMED) not in spec.given_tests]
        plain = {test.removesuffix(ASSUMED) for test in assumed}
        found = found.model_copy(update={"tests": (*assumed, *(test for test in found.tests if test not in plain))})
        yield found
        suite = yield from review_tests(state, tools, found.tests)
    else:
        suite = Suite.for_task(state.task, spec)
    yield TestsFrozen(sha256=suite.sha256, given=len(suite.given) + len(suite.project), model=len(suite.model))


def ask_for_tests(
    state: AgentState, tools: Tools, ask_id: str, messages: Messages, given: tuple[str, ...]
) -> Generator[Event, None, TestsProposed | None]:
    """Tests that stand on their own and are not given already; None when a limit or the user ended the work."""
    spec, task = state.spec, state.task
    # A class, or a method of one, is asked for: its tests build something first.
    has_steps = (
        "." in spec.entry_point
        or bool(re.search(rf"\b(?:class(?:es)?|Klassen?)\b[^.;]*\b{re.escape(spec.entry_point)}\b", task.prompt))
        or any("\n" in test for test in spec.given_tests if not test.startswith(("with ", "#")))
    )

    needs_file = reads_file(task.prompt)

    def usable(text: str) -> tuple[list[str], int]:
        also = (*task.also, FILE_WITH) if needs_file else task.also
        found, dropped = extract_tests(text, spec.entry_point, also, has_steps)
        usable = [test for test in found if not needs_file or f"{FILE_WITH}(" in test]  # no other file is there
        return [test for test in usable if test not in given], dropped + len(found) - len(usable)

    def enough(text: str) -> bool:
        whole_lines = text[: text.rindex("\n")]
        return len(usable(whole_lines)[0]) >= MOST_TESTS + has_steps  # steps may go on in the next line

    question = Ask(purpose="tests", messages=messages, max_tokens=MOST_TOKENS)
    reply = yield from ask(tools, ask_id, question, enough=enough)
    if reply is None:
        return None
    fresh, dropped = usable(reply.text)
    return TestsProposed(tests=tuple(fresh[:MOST_TESTS]), dropped=dropped + len(fresh[MOST_TESTS:]))


def extract_tests(
    answer: str, entry_point: str, also: tuple[str, ...] = (), stories: bool = False
) -> tuple[list[str], int]:
    """Test bodies that call the entry point or one of `also`, and how many other ones there were.

    One line each; with `stories`, also a few steps that build something and then assert. Of a method, "Cart.total", a
    test makes a Cart and uses what the method is called; one such as `__len__` is used by no name.
    """
    owner, _, method = entry_point.rpartition(".")
    names = {owner.partition(".")[0] or entry_point, *also}
    text = "\n".join(python_blocks(answer)) or strip_controls(answer)
    if stories:
        found = extract_multi_step_tests(text, names)
    else:
        lines = (re.sub(r"^\s*(?:\d+[.)]|[-*])\s*", "", line).strip().strip("`") for line in text.splitlines())
        found = [_read_assert(line, names) for line in lines if line.startswith("assert ")]
    by_name = re.compile(rf"\.{re.escape(method)}\b" if owner and not method.startswith("__") else "")
    kept = [test for test in dict.fromkeys(found) if test and by_name.search(test)]
    return kept, len(found) - len(kept)


def _read_assert(line: str, names: set[str]) -> str:
    """One assert in its plain form; empty where it does not stand on its own, or calls something else."""
    tree = try_parse(line)
    match tree.body if tree else []:
        case [ast.Assert(test=condition)] if not isinstance(condition, ast.Tuple):
            test = f"assert {ast.unparse(condition)}"
            called = set(find_called_names(test))
            return test if called & names and called <= names and is_standalone(condition, names) else ""
    return ""


def review_tests(state: AgentState, tools: Tools, written: tuple[str, ...]) -> Generator[Event, None, Suite]:
    """Show the tests before they are frozen, until the person goes on; what they changed is in the suite."""
    held = _TestReview(state, tools, written)
    yield from hold_review(tools, held.show, held.follow)
    return held.suite


class _TestReview:
    """The tests while a person changes them; counts how often the model was asked for that."""

    def __init__(self, state: AgentState, tools: Tools, written: tuple[str, ...]) -> None:
        self._state, self._tools, self._asked = state, tools, 0
        self._spec, self._written = state.spec, written
        self._in_file = tuple(test for test in state.spec.given_tests if name_in_file(test))

    @property
    def suite(self) -> Suite:
        """All tests as they stand."""
        return Suite.for_task(self._state.task, self._spec, self._written)

    @property
    def _open_suite(self) -> Suite:
        """Without tests in a file of the user's own, which are changed there."""
        suite = self.suite
        given = tuple(test for test in suite.given if test not in self._in_file)
        return suite.model_copy(update={"file": "", "given": given})

    def show(self, note: str) -> Checkpoint:
        """What the person sees."""
        return Checkpoint(where="tests", tests=self._open_suite.render(), note=note)

    def follow(self, said: Reviewed) -> Generator[Event, None, str]:
        """Take the tests as the person wants them. Raises NotTaken where that cannot be done."""
        yours, rest = yield from self._apply(said, self._open_suite)
        worded = tuple(one for one in self._spec.worded if one.test in rest)
        given = (*yours, *self._in_file)
        if (given, worded) != (self._spec.given_tests, self._spec.worded):
            self._spec = self._spec.model_copy(update={"given_tests": given, "worded": worded, "at": time.time()})
            yield self._spec
        model = [test for test in rest if test not in self.suite.worded]
        # Those of a run that this one goes on from stay in force, and are no new ones.
        written = tuple(test for test in model if test not in self._state.task.earlier_tests)
        if written != self._written:
            self._written = written
            yield TestsProposed(tests=written)
        return f"{plural(len(yours), 'test')} of yours, {len(model)} of the model's"

    def _apply(self, said: Reviewed, suite: Suite) -> Generator[Event, None, GivenAndModel]:
        """The tests after an answer; the model is asked where the words leave open what is wanted."""
        task, signature, words = self._state.task, self._state.spec.signature, said.words.strip()
        names = {suite.entry_point.partition(".")[0], *offered_names(task)}
        if said.said == "edited":
            return read_edited_tests(said.text, suite, names)
        if said.said == "change":  # examples in the words decide, even where the model has nothing to say
            examples = [test for test in find_examples(words) if names & {*find_called_names(test)}]
            yours = (*suite.given, *examples)
            _agree(yours, ())
            try:
                found = yield from self._ask(prompts.tests(task, signature, yours, words), suite)
            except NotTaken:
                if not examples:
                    raise
                return _agree(yours, (*suite.worded, *suite.model))
            return _agree(yours, (*suite.worded, *task.earlier_tests, *found))
        test = find_test_on_line(said.line or 0, suite)
        if not test:
            raise NotTaken(f"line {said.line} holds no test")
        undecided = (*suite.worded, *suite.model)
        given, model = (tuple(one for one in tests if one != test) for tests in (suite.given, undecided))
        if _REMOVE.fullmatch(words.lower().rstrip(" .!")):
            return _agree(given, model)
        if value := replace_value(test, words):
            place = suite.given.index(test) if test in suite.given else len(given)
            return _agree([*given[:place], value, *given[place:]], model)
        if test in (*suite.given, *suite.worded):
            raise NotTaken(f"line {said.line} is your own test: say what is right, e.g. `should be 5`, or edit it")
        found = yield from self._ask(prompts.one_test(task, signature, test, words), suite)
        return _agree(suite.given, [found[0] if one == test else one for one in undecided])

    def _ask(self, messages: Messages, suite: Suite) -> Generator[Event, None, tuple[str, ...]]:
        """Tests of the model's, at least one. Raises NotTaken where there is none."""
        if self._asked >= MOST_ASKED:
            raise NotTaken(f"{ASKED_ENOUGH}; edit the tests yourself, or go on")
        self._asked += 1
        limits: list[str] = []
        asking = ask_for_tests(self._state, self._tools, f"tests-{self._asked}", messages, suite.given)
        try:
            found = yield from drop_limits(asking, limits)
        except ModelError as error:
            raise NotTaken(f"the model did not answer: {error}") from error
        if limits:
            raise NotTaken(f"{limits[0]}, so the model cannot be asked; edit the tests yourself, or go on")
        if not found or not found.tests:
            raise NotTaken("the model gave no test that can be used")
        return found.tests


def _agree(given: Sequence[str], model: Sequence[str]) -> GivenAndModel:
    """The tests, each once; one of the model's that contradicts those that decide is dropped.

    Raises NotTaken where two that decide contradict each other.
    """
    if pair := find_contradiction(given):
        said = " and ".join(f"`{one_line(test)}`" for test in pair)
        raise NotTaken(f"{said} contradict each other, and no code can pass both")
    kept = [test for test in dict.fromkeys(model) if test not in given and not find_contradiction((*given, test))]
    return tuple(dict.fromkeys(given)), tuple(kept)


def find_test_on_line(line: int, suite: Suite) -> str:
    """The test on a line of the suite's file; empty where there is none."""
    tree = try_parse(suite.render())
    for node in tree.body if tree else []:
        if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or node.lineno):
            return suite.names.get(node.name, "")
    return ""


def replace_value(test: str, words: str) -> str:
    """The test with the value that the words plainly name ("should be 5", "raises ValueError"); empty where they are
    more than that.
    """
    tree, words = try_parse(test), words.strip().strip("`").rstrip(" .!")
    match tree.body if tree else []:
        case (
            [*steps, ast.With(body=[ast.Expr(value=ast.Call() as node)])]
            | [*steps, ast.Assert(test=ast.Call() as node)]
            | [*steps, ast.Assert(test=ast.UnaryOp(operand=ast.Call() as node))]
            | [*steps, ast.Assert(test=ast.Compare(left=ast.Call() as node))]
            | [*steps, ast.Assert(test=ast.Compare(left=ast.UnaryOp(operand=ast.Call() as node)))]
        ) if words:
            call = ast.unparse(node)
        case _:
            return ""
    for said in (f"{call} {words}", f"{call} == {words}"):
        found = find_examples(said)
        raised = re.match(r"with pytest\.raises\((\w+)\)", found[0]) if found else None
        if len(found) == 1 and call in found[0] and words.endswith(raised[1] if raised else found[0].split(" == ")[-1]):
            return "\n".join([*map(ast.unparse, steps), found[0]])
    return ""


def read_edited_tests(text: str, suite: Suite, names: Collection[str]) -> GivenAndModel:
    """What an edited file of the suite's tests says. `names` are those that the module to be written has.

    Raises NotTaken for a file that cannot be taken whole.
    """
    tree = try_parse(text)
    if tree is None:
        raise NotTaken(f"the file is not Python that can be read: {explain_syntax_error(text)}")
    for node in tree.body:
        _check_statement(node, names)
    # The suite's file has the imports of the module and of pytest anyway.
    imports = [
        node
        for node in tree.body
        if (isinstance(node, ast.ImportFrom) and node.module != MODULE)
        or (isinstance(node, ast.Import) and any(alias.name != "pytest" or alias.asname for alias in node.names))
    ]
    known = {_unparse(test): test for test in (*suite.given, *suite.worded, *suite.model)}
    given, model = list[str](), list[str]()
    for name, body in _test_bodies(text, tree):
        test = known.get(_unparse(body))
        if test is None:  # a test stands alone, so it takes the imports of the file along that it leans on
            used = set(re.findall(r"[^\W\d]\w*", body))
            needed = [one for one in imports if used & {(a.asname or a.name).partition(".")[0] for a in one.names}]
            test = "\n".join([*map(ast.unparse, needed), body])
            nodes = list(ast.walk(try_parse(test) or ast.Module([], [])))
            if "pytest.raises" not in test and not any(isinstance(node, ast.Assert) for node in nodes):
                raise NotTaken(f"{name} asserts nothing")
            if not {*names} & {node.id for node in nodes if isinstance(node, ast.Name)}:
                raise NotTaken(f"{name} does not use {' or '.join(sorted(names))}")
        (model if test in (*suite.worded, *suite.model) else given).append(test)
    return _agree(given, model)


def _unparse(test: str) -> str:
    """A test without its layout and its comments."""
    tree = try_parse(test)
    return ast.unparse(tree) if tree else test


def _check_statement(node: ast.stmt, names: Collection[str]) -> None:
    """Raise NotTaken for a statement that cannot stand in a file of tests here."""
    match node:
        case ast.Import() | ast.ImportFrom():
            _check_import(node, names)
        case ast.FunctionDef(name=name) if name.startswith("test"):
            if node.decorator_list or ast.unparse(node.args):
                raise NotTaken(f"{name} has a decorator or parameters; write its cases out, each as a test of its own")
        case ast.Assert() | ast.With() | ast.Expr(value=ast.Constant(value=str())):
            pass
        case _:
            why = "is no test: only functions test_…, asserts and imports can be taken here"
            raise NotTaken(f"line {node.lineno} {why}")


def _check_import(node: ast.Import | ast.ImportFrom, names: Collection[str]) -> None:
    of_ours = isinstance(node, ast.ImportFrom) and node.module == MODULE
    modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or "."]
    for root in (module.partition(".")[0] or "." for module in modules):
        if root not in (MODULE, "pytest") and (root not in sys.stdlib_module_names or root == "__future__"):
            raise NotTaken(f"it imports {one_line(root)}, and tests can use only Python's own modules and pytest here")
    if any(alias.name == "*" for alias in node.names) or (MODULE in modules and not of_ours):
        raise NotTaken(f"line {node.lineno} imports everything; name what the tests use")
    for alias in node.names if of_ours else ():
        if (alias.asname or alias.name) not in names:
            there = ", ".join(sorted(names))
            raise NotTaken(f"line {node.lineno} imports {alias.name!r}; of {MODULE} there is only {there}")


def _test_bodies(text: str, tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Each test of the file, under its name: the body of a function, or a statement that is one by itself."""
    lines = text.split("\n")
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            shown = textwrap.dedent("\n".join(lines[node.body[0].lineno - 1 : node.end_lineno]))
            body = ast.unparse(ast.Module(node.body, []))
            one_liner = node.body[0].lineno == node.lineno
            yield node.name, shown if not one_liner and _unparse(shown) == body else body
        elif isinstance(node, ast.Assert | ast.With):
            yield f"line {node.lineno}", ast.unparse(node)
