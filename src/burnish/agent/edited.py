"""A file of tests that a person has edited: which tests are theirs now, which stay the model's, which are gone.

The rule: what a person changed or added is theirs and decides; what cannot be taken whole is not taken at all.
"""

import ast
import builtins
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
_OUR_IMPORTS = ("pytest", MODULE)
_ALONE = (ast.Assert, ast.With)
"""Statements that are a test by themselves."""


class Edited(Frozen):
    """The tests of a file as a person wants them; `problem` says why they cannot be taken."""

    given: tuple[str, ...] = ()
    """Those that decide: given before, changed or added now."""
    model: tuple[str, ...] = ()
    problem: str = ""


def read_edited(text: str, suite: Suite, names: Collection[str]) -> Edited:
    """What an edited file of the suite's tests says. `names` are those that the module to be written has."""
    tree = parsed(text)
    if tree is None:
        return Edited(problem=f"the file is not Python that can be read: {complaint(text)}")
    problem = next(_odd(tree, names), "")
    if problem:
        return Edited(problem=problem)
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom) and not _is_ours(node)]
    known = {bare(test): test for test in (*suite.given, *suite.model)}
    given, model = [], []
    for name, body in _bodies(text, tree):
        test = known.get(bare(body)) or _with_imports(body, imports)
        if test in suite.model:
            model.append(test)
            continue
        if test not in suite.given and (problem := _useless(name, test, names)):
            return Edited(problem=problem)
        given.append(test)
    return agreeing(given, model)


def agreeing(given: Sequence[str], model: Sequence[str]) -> Edited:
    """The tests, unless two that decide contradict each other; one of the model's that contradicts them is dropped."""
    if pair := contradiction(given):
        said = " and ".join(f"`{one_line(test)}`" for test in pair)
        return Edited(problem=f"{said} contradict each other, and no code can pass both")
    kept = [test for test in dict.fromkeys(model) if test not in given and not contradiction((*given, test))]
    return Edited(given=tuple(dict.fromkeys(given)), model=tuple(kept))


def bare(test: str) -> str:
    """A test without its layout and its comments."""
    tree = parsed(test)
    return ast.unparse(tree) if tree else test


def on_line(line: int, text: str, suite: Suite) -> str:
    """The test on a line of the suite's file; empty where there is none."""
    tree = parsed(text)
    inside = [
        node.name
        for node in (tree.body if tree else [])
        if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return suite.names.get(inside[0], "") if inside else ""


def with_value(test: str, words: str) -> str:
    """The test with the value that the words plainly name ("should be 5", "raises ValueError"); empty where they are
    more than that.
    """
    tree, words = parsed(test), words.strip().strip("`").rstrip(" .!")
    call = _call_of(tree.body[-1]) if tree and tree.body else ""
    for said in (f"{call} {words}", f"{call} == {words}") if call and words else ():
        found = find_examples(said)
        if len(found) == 1 and call in found[0] and words.endswith(_value_of(found[0])):
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


def _value_of(test: str) -> str:
    raised = re.match(r"with pytest\.raises\((\w+)\)", test)
    return raised[1] if raised else test.rpartition(" == ")[2]


def _odd(tree: ast.Module, names: Collection[str]) -> Iterator[str]:
    """What in a file cannot be taken, in words."""
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from _odd_import(node, names)
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            if node.decorator_list or ast.unparse(node.args):
                yield f"{node.name} has a decorator or parameters; write its cases out, each as a test of its own"
        elif not isinstance(node, _ALONE) and not _is_words(node):
            yield f"line {node.lineno} is no test: only functions test_…, asserts and imports can be taken here"


def _odd_import(node: ast.Import | ast.ImportFrom, names: Collection[str]) -> Iterator[str]:
    modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or "."]
    for module in modules:
        root = module.partition(".")[0]
        if root not in _OUR_IMPORTS and (root not in sys.stdlib_module_names or root == "__future__"):
            yield f"it imports {one_line(module)}, and tests can use only Python's own modules and pytest here"
    elsewhere = MODULE not in modules
    if elsewhere and any(alias.name == "*" for alias in node.names):
        yield f"line {node.lineno} imports everything; name what the tests use"
    if not elsewhere:
        wanted = [alias.asname or alias.name for alias in node.names if isinstance(node, ast.ImportFrom)]
        for name in wanted or ["*"]:
            if name not in names:
                yield f"line {node.lineno} imports {name!r}; of {MODULE} there is only {', '.join(sorted(names))}"


def _is_ours(node: ast.Import | ast.ImportFrom) -> bool:
    """Whether the suite's file has this import anyway."""
    if isinstance(node, ast.ImportFrom):
        return node.module == MODULE
    return all(alias.name == "pytest" and not alias.asname for alias in node.names)


def _is_words(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


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


def _useless(name: str, test: str, names: Collection[str]) -> str:
    """Why a person's test could not decide anything; empty where it can."""
    tree = parsed(test)
    nodes = list(ast.walk(tree)) if tree else []
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    if not any(isinstance(node, ast.Assert) for node in nodes) and "pytest.raises" not in test:
        return f"{name} asserts nothing"
    if not used & {*names}:
        return f"{name} does not use {' or '.join(sorted(names))}"
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    bound |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    bound |= {node.name for node in nodes if isinstance(node, ast.ExceptHandler) and node.name}
    bound |= {(node.asname or node.name).partition(".")[0] for node in nodes if isinstance(node, ast.alias)}
    bound |= {node.name for node in nodes if isinstance(node, ast.MatchAs | ast.MatchStar) and node.name}
    bound |= {node.rest for node in nodes if isinstance(node, ast.MatchMapping) and node.rest}
    known = bound | {*names, "pytest"}
    unknown = sorted(one for one in used - known if not hasattr(builtins, one))
    return f"{name} uses {unknown[0]!r}, which comes from nowhere" if unknown else ""
