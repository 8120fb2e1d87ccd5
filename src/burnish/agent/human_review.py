"""A person at a checkpoint: what they are shown, what they say, and what each answer does to the tests.

The rule: a person is the user, so their word decides. What they say is on record before anything is done about it, and
it is never asked twice about the same thing. Tests that they changed or added are theirs and decide; a file that cannot
be taken whole is not taken at all.
"""

import ast
import hashlib
import re
import sys
import textwrap
import time
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from dataclasses import dataclass

from burnish.agent import prompts
from burnish.agent.ask import Checkpoint, Tools
from burnish.agent.model_tests import ask_for_tests, tests_question
from burnish.agent.prompts import Messages
from burnish.agent.state import AgentState
from burnish.checks.suite import Suite
from burnish.errors import ModelError
from burnish.events import Event, Evidence, Frozen, Notice, Refused, Reviewed, SpecAgreed, Stopped, TestsProposed
from burnish.parsing import explain_syntax_error, try_parse
from burnish.tasks.assemble import offered_names
from burnish.tasks.contradiction import find_contradiction
from burnish.tasks.examples import find_called_names, find_examples
from burnish.tasks.test_file import name_in_file
from burnish.text import one_line, plural

MOST_ASKED = 3
"""Times that the model is asked for what a person wants at one checkpoint."""
MOST_LOOKS = 20
"""Times that one checkpoint is shown; somebody who never goes on is taken to have seen enough."""
MOST_VERSIONS = 6
"""Versions that are made at one person's word, by the model or by the person."""
ENDED = "you wanted no more at the review"
MODULE = "solution"
_REMOVE = re.compile(
    r"(?:please )?(?:remove|delete|drop|(?:(?:this|that|it)(?: is|'s) )?wrong)(?: it| this| this test)?"
)
_ALONE = (ast.Assert, ast.With)
"""Statements that are a test by themselves."""


class AgreedTests(Frozen):
    """The tests as they stand: what decides is in the spec."""

    spec: SpecAgreed
    written: tuple[str, ...] = ()
    """The model's."""


class EditedTests(Frozen):
    """The tests of a file as a person wants them; `problem` says why they cannot be taken."""

    given: tuple[str, ...] = ()
    """Those that decide: given before, changed or added now."""
    model: tuple[str, ...] = ()
    problem: str = ""


def look(
    shown: Checkpoint, tools: Tools, evidence: Callable[[], tuple[Evidence, ...]] | None = None
) -> Generator[Event, None, Reviewed | None]:
    """What a person says to this, from the record where it is there; None where nobody is to be asked.

    `evidence` is gathered only for somebody who is there to see it.
    """
    # Figures of checks differ a little each time, so they are no part of what is asked about.
    about = "\0".join((shown.where, shown.tests, shown.code))
    basis = hashlib.sha256(about.encode("utf-8", "surrogatepass")).hexdigest()
    said = tools.replay.reviewed(basis)
    if said is None and tools.review:
        if evidence:
            yield Notice(text="checking what there is, for you to look at")
            shown = shown.model_copy(update={"evidence": evidence()})
        started = time.monotonic()
        with tools.meter.pause():
            said = tools.review(shown)
        # A record cannot hold lone surrogates, which a terminal may hand us.
        words, text = (one.encode("utf-8", "replace").decode() for one in (said.words, said.text))
        said = said.model_copy(update={"words": words, "text": text, "seconds": time.monotonic() - started})
    if said and not tools.cancel.is_set():
        yield (said := said.model_copy(update={"where": shown.where, "basis": basis, "at": time.time()}))
    return said


def refuse_more_looks() -> Refused:
    """Said to somebody who never goes on."""
    return Refused(what="one more look", why=f"it was shown {MOST_LOOKS} times, so the work goes on")


def review_tests(state: AgentState, tools: Tools, tests: AgreedTests) -> Generator[Event, None, AgreedTests]:
    """Show the tests before they are frozen, until the person goes on; what they changed is in what comes back."""
    note = ""
    in_file = tuple(test for test in tests.spec.given_tests if name_in_file(test))
    changes = _TestChanges(state, tools)
    for _ in range(MOST_LOOKS):
        # Tests in a file of the user's own are changed there.
        suite = Suite.for_task(state.task, tests.spec, tests.written)
        suite = suite.model_copy(update={"file": "", "given": tuple(t for t in suite.given if t not in in_file)})
        said = yield from look(Checkpoint(where="tests", tests=suite.render(), note=note), tools)
        if said is None or said.said == "go_on" or tools.cancel.is_set():
            return tests
        if said.said == "stop":
            yield Stopped(reason="review", why=ENDED)
            return tests
        edited = yield from changes.apply(said, suite)
        note = edited.problem
        if edited.problem:
            yield Refused(what="what you said about the tests", why=one_line(edited.problem, 300))
            continue
        note = f"{plural(len(edited.given), 'test')} of yours, {len(edited.model)} of the model's"
        if (given := (*edited.given, *in_file)) != tests.spec.given_tests:
            tests = tests.model_copy(update={"spec": tests.spec.model_copy(update={"given_tests": given})})
            yield tests.spec.model_copy(update={"at": time.time()})
        # Those of a run that this one goes on from stay in force, and are no new ones.
        written = tuple(test for test in edited.model if test not in state.task.earlier_tests)
        if written != tests.written:
            tests = tests.model_copy(update={"written": written})
            yield TestsProposed(tests=written)
    yield refuse_more_looks()
    return tests


@dataclass
class _TestChanges:
    """What a person's answers do to the tests; counts how often the model was asked for that."""

    state: AgentState
    tools: Tools
    asked: int = 0

    def apply(self, said: Reviewed, suite: Suite) -> Generator[Event, None, EditedTests]:
        """The tests after an answer; the model is asked where the words leave open what is wanted."""
        task, signature, words = self.state.task, self.state.spec.signature, said.words.strip()
        names = {suite.entry_point.partition(".")[0], *offered_names(task)}
        if said.said == "edited":
            return read_edited_tests(said.text, suite, names)
        if said.said == "change":  # examples in the words decide, even where the model has nothing to say
            examples = [test for test in find_examples(words) if names & {*find_called_names(test)}]
            yours = (*suite.given, *examples)
            if (alone := agree(yours, ())).problem:
                return alone
            found = yield from self._ask(prompts.tests(task, signature, yours, words), suite)
            if isinstance(found, str):
                return agree(yours, suite.model) if examples else EditedTests(problem=found)
            return agree(yours, (*task.earlier_tests, *found))
        test = find_test_on_line(said.line or 0, suite)
        if not test:
            return EditedTests(problem=f"line {said.line} holds no test")
        given, model = (tuple(one for one in tests if one != test) for tests in (suite.given, suite.model))
        if _REMOVE.fullmatch(words.lower().rstrip(" .!")):
            return agree(given, model)
        if value := replace_value(test, words):
            place = suite.given.index(test) if test in suite.given else len(given)
            return agree([*given[:place], value, *given[place:]], model)
        if test in suite.given:
            why = f"line {said.line} is your own test: say what is right, e.g. `should be 5`, or edit it"
            return EditedTests(problem=why)
        found = yield from self._ask(prompts.one_test(task, signature, test, words), suite)
        if isinstance(found, str):
            return EditedTests(problem=found)
        return agree(suite.given, [found[0] if one == test else one for one in suite.model])

    def _ask(self, messages: Messages, suite: Suite) -> Generator[Event, None, tuple[str, ...] | str]:
        """Tests of the model's, or why there are none."""
        tools = self.tools
        if self.asked >= MOST_ASKED:
            return f"the model was asked {MOST_ASKED} times already; edit the tests yourself, or go on"
        self.asked += 1
        limit = tools.meter.refusal(tools.with_limits(tests_question(messages)), tools.model.name)
        if limit:
            return f"{limit.why}, so the model cannot be asked; edit the tests yourself, or go on"
        try:
            found = yield from ask_for_tests(self.state, tools, f"tests-{self.asked}", messages, suite.given)
        except ModelError as error:
            return f"the model did not answer: {error}"
        return found.tests if found and found.tests else "the model gave no test that can be used"


def agree(given: Sequence[str], model: Sequence[str]) -> EditedTests:
    """The tests, unless two that decide contradict each other; one of the model's that contradicts them is dropped."""
    if pair := find_contradiction(given):
        said = " and ".join(f"`{one_line(test)}`" for test in pair)
        return EditedTests(problem=f"{said} contradict each other, and no code can pass both")
    kept = [test for test in dict.fromkeys(model) if test not in given and not find_contradiction((*given, test))]
    return EditedTests(given=tuple(dict.fromkeys(given)), model=tuple(kept))


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
    *steps, last = tree.body if tree and tree.body else [ast.Pass()]
    call = _find_call(last)
    for said in (f"{call} {words}", f"{call} == {words}") if call and words else ():
        found = find_examples(said)
        raised = re.match(r"with pytest\.raises\((\w+)\)", found[0]) if found else None
        if len(found) == 1 and call in found[0] and words.endswith(raised[1] if raised else found[0].split(" == ")[-1]):
            return "\n".join([*map(ast.unparse, steps), found[0]])
    return ""


def _find_call(node: ast.stmt) -> str:
    """The call that a test is about."""
    about: ast.AST = node
    if isinstance(node, ast.With) and len(node.body) == 1 and isinstance(node.body[0], ast.Expr):
        about = node.body[0].value
    elif isinstance(node, ast.Assert):
        about = node.test.left if isinstance(node.test, ast.Compare) else node.test
        about = about.operand if isinstance(about, ast.UnaryOp) else about
    return ast.unparse(about) if isinstance(about, ast.Call) else ""


def read_edited_tests(text: str, suite: Suite, names: Collection[str]) -> EditedTests:
    """What an edited file of the suite's tests says. `names` are those that the module to be written has."""
    tree = try_parse(text)
    if tree is None:
        return EditedTests(problem=f"the file is not Python that can be read: {explain_syntax_error(text)}")
    if problem := next(_find_problems(tree, names), ""):
        return EditedTests(problem=problem)
    # The suite's file has the imports of the module and of pytest anyway.
    imports = [
        node
        for node in tree.body
        if (isinstance(node, ast.ImportFrom) and node.module != MODULE)
        or (isinstance(node, ast.Import) and any(alias.name != "pytest" or alias.asname for alias in node.names))
    ]
    known = {_unparse(test): test for test in (*suite.given, *suite.model)}
    given, model = [], []
    for name, body in _test_bodies(text, tree):
        test = known.get(_unparse(body))
        if test is None:  # a test stands alone, so it takes the imports of the file along that it leans on
            used = set(re.findall(r"[^\W\d]\w*", body))
            needed = [one for one in imports if used & {(a.asname or a.name).partition(".")[0] for a in one.names}]
            test = "\n".join([*map(ast.unparse, needed), body])
        if test in suite.model:
            model.append(test)
            continue
        nodes = list(ast.walk(try_parse(test) or ast.Module([], [])))
        asserts = any(isinstance(node, ast.Assert) for node in nodes) or "pytest.raises" in test
        if test not in suite.given and not asserts:
            return EditedTests(problem=f"{name} asserts nothing")
        if test not in suite.given and not {*names} & {node.id for node in nodes if isinstance(node, ast.Name)}:
            return EditedTests(problem=f"{name} does not use {' or '.join(sorted(names))}")
        given.append(test)
    return agree(given, model)


def _unparse(test: str) -> str:
    """A test without its layout and its comments."""
    tree = try_parse(test)
    return ast.unparse(tree) if tree else test


def _find_problems(tree: ast.Module, names: Collection[str]) -> Iterator[str]:
    """What in a file cannot be taken, in words."""
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            of_ours = isinstance(node, ast.ImportFrom) and node.module == MODULE
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or "."]
            for root in (module.partition(".")[0] or "." for module in modules):
                if root not in (MODULE, "pytest") and (root not in sys.stdlib_module_names or root == "__future__"):
                    yield f"it imports {one_line(root)}, and tests can use only Python's own modules and pytest here"
            if any(alias.name == "*" for alias in node.names) or MODULE in modules and not of_ours:
                yield f"line {node.lineno} imports everything; name what the tests use"
            for alias in node.names if of_ours else ():
                if (alias.asname or alias.name) not in names:
                    there = ", ".join(sorted(names))
                    yield f"line {node.lineno} imports {alias.name!r}; of {MODULE} there is only {there}"
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            if node.decorator_list or ast.unparse(node.args):
                yield f"{node.name} has a decorator or parameters; write its cases out, each as a test of its own"
        elif not isinstance(node, _ALONE) and not (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        ):
            yield f"line {node.lineno} is no test: only functions test_…, asserts and imports can be taken here"


def _test_bodies(text: str, tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Each test of the file, under its name: the body of a function, or a statement that is one by itself."""
    lines = text.split("\n")
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            shown = textwrap.dedent("\n".join(lines[node.body[0].lineno - 1 : node.end_lineno]))
            body = ast.unparse(ast.Module(node.body, []))
            one_liner = node.body[0].lineno == node.lineno
            yield node.name, shown if not one_liner and _unparse(shown) == body else body
        elif isinstance(node, _ALONE):
            yield f"line {node.lineno}", ast.unparse(node)
