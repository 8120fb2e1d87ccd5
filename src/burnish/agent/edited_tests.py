"""A file of tests that a person has edited: which tests are theirs now, which stay the model's, which are gone.

The rule: what a person changed or added is theirs and decides; what cannot be taken whole is not taken at all.
"""

import ast
import re
import sys
import textwrap
from collections.abc import Collection, Iterator, Sequence

from burnish.checks.suite import Suite
from burnish.events import Frozen
from burnish.tasks.contradiction import contradiction
from burnish.tasks.examples import find_examples
from burnish.tasks.syntax import complaint, parsed
from burnish.text import one_line

REMOVED = re.compile(
    r"(?:please )?(?:remove|delete|drop|(?:(?:this|that|it)(?: is|'s) )?wrong)(?: it| this| this test)?"
)
MODULE = "solution"
_ALONE = (ast.Assert, ast.With)
"""Statements that are a test by themselves."""


class EditedTests(Frozen):
    """The tests of a file as a person wants them; `problem` says why they cannot be taken."""

    given: tuple[str, ...] = ()
    """Those that decide: given before, changed or added now."""
    model: tuple[str, ...] = ()
    problem: str = ""


def read_edited_tests(text: str, suite: Suite, names: Collection[str]) -> EditedTests:
    """What an edited file of the suite's tests says. `names` are those that the module to be written has."""
    tree = parsed(text)
    if tree is None:
        return EditedTests(problem=f"the file is not Python that can be read: {complaint(text)}")
    problem = next(_find_odd(tree, names), "")
    if problem:
        return EditedTests(problem=problem)
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom) and not _is_ours(node)]
    known = {bare(test): test for test in (*suite.given, *suite.model)}
    given, model = [], []
    for name, body in _bodies(text, tree):
        test = known.get(bare(body)) or _with_imports(body, imports)
        if test in suite.model:
            model.append(test)
            continue
        if test not in suite.given and (problem := _find_useless(name, test, names)):
            return EditedTests(problem=problem)
        given.append(test)
    return agreeing(given, model)


def agreeing(given: Sequence[str], model: Sequence[str]) -> EditedTests:
    """The tests, unless two that decide contradict each other; one of the model's that contradicts them is dropped."""
    if pair := contradiction(given):
        said = " and ".join(f"`{one_line(test)}`" for test in pair)
        return EditedTests(problem=f"{said} contradict each other, and no code can pass both")
    kept = [test for test in dict.fromkeys(model) if test not in given and not contradiction((*given, test))]
    return EditedTests(given=tuple(dict.fromkeys(given)), model=tuple(kept))


def bare(test: str) -> str:
    """A test without its layout and its comments."""
    tree = parsed(test)
    return ast.unparse(tree) if tree else test


def find_test_on_line(line: int, suite: Suite) -> str:
    """The test on a line of the suite's file; empty where there is none."""
    tree = parsed(suite.render())
    for node in tree.body if tree else []:
        if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or node.lineno):
            return suite.names.get(node.name, "")
    return ""


def replace_value(test: str, words: str) -> str:
    """The test with the value that the words plainly name ("should be 5", "raises ValueError"); empty where they are
    more than that.
    """
    tree, words = parsed(test), words.strip().strip("`").rstrip(" .!")
    call = _call_of(tree.body[-1]) if tree and tree.body else ""
    for said in (f"{call} {words}", f"{call} == {words}") if call and words else ():
        found = find_examples(said)
        raised = re.match(r"with pytest\.raises\((\w+)\)", found[0]) if found else None
        if len(found) == 1 and call in found[0] and words.endswith(raised[1] if raised else found[0].split(" == ")[-1]):
            steps = [ast.unparse(node) for node in tree.body[:-1]] if tree else []
            return "\n".join([*steps, found[0]])
    return ""


def _call_of(node: ast.stmt) -> str:
    """The call that a test is about."""
    if isinstance(node, ast.With) and len(node.body) == 1 and isinstance(node.body[0], ast.Expr):
        about: ast.expr = node.body[0].value
    elif isinstance(node, ast.Assert):
        about = node.test
        about = about.left if isinstance(about, ast.Compare) else about
        about = about.operand if isinstance(about, ast.UnaryOp) else about
    else:
        return ""
    return ast.unparse(about) if isinstance(about, ast.Call) else ""


def _find_odd(tree: ast.Module, names: Collection[str]) -> Iterator[str]:
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


def _is_ours(node: ast.Import | ast.ImportFrom) -> bool:
    """Whether the suite's file has this import anyway."""
    if isinstance(node, ast.ImportFrom):
        return node.module == MODULE
    return all(alias.name == "pytest" and not alias.asname for alias in node.names)


def _bodies(text: str, tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Each test of the file, under its name: the body of a function, or a statement that is one by itself."""
    lines = text.split("\n")
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            shown = textwrap.dedent("\n".join(lines[node.body[0].lineno - 1 : node.end_lineno]))
            body = ast.unparse(ast.Module(node.body, []))
            one_liner = node.body[0].lineno == node.lineno
            yield node.name, shown if not one_liner and bare(shown) == body else body
        elif isinstance(node, _ALONE):
            yield f"line {node.lineno}", ast.unparse(node)


def _with_imports(body: str, imports: Sequence[ast.Import | ast.ImportFrom]) -> str:
    """The body with the imports of the file that it leans on: a test stands alone."""
    used = set(re.findall(r"[^\W\d]\w*", body))
    needed = [
        node
        for node in imports
        if any((alias.asname or alias.name).partition(".")[0] in used or alias.name == "*" for alias in node.names)
    ]
    return "\n".join([*map(ast.unparse, needed), body])


def _find_useless(name: str, test: str, names: Collection[str]) -> str:
    """Why a person's test could not decide anything; empty where it can."""
    tree = parsed(test)
    nodes = list(ast.walk(tree)) if tree else []
    if not any(isinstance(node, ast.Assert) for node in nodes) and "pytest.raises" not in test:
        return f"{name} asserts nothing"
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    return "" if used & {*names} else f"{name} does not use {' or '.join(sorted(names))}"
