"""Tests that stand on their own: the bodies of a pytest file, to find calls in, and tests of several steps in a text.

A text of several steps is what a class needs: a few lines that build something, and an assert.
"""

import ast
import builtins
import re
from collections.abc import Collection, Iterator
from itertools import product

from burnish.parsing import PARSE_ERRORS, try_parse
from burnish.tasks.source import find_local_names
from burnish.tasks.static_analysis import has_side_effects

MOST_ROWS = 4
"""Of the parameters that one test is run with."""
MOST_STEPS = 12
"""Statements of one test."""
_STEPS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Assert, ast.With, ast.For, ast.Try)
_BULLET = re.compile(r"^(?:\d+[.)]|[-*])\s+", re.MULTILINE)
Steps = list[ast.stmt]


def extract_bodies(text: str, names: Collection[str]) -> list[str]:
    """The body of each test, what its fixtures make and its parameters above it; `names` are those of the module.

    A name of the module stands as the module itself writes it. What cannot be read is left out.
    """
    tree = try_parse(text)
    if tree is None:
        return []
    tree = ast.fix_missing_locations(_PlainNames(tree, names).visit(tree))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    fixtures = {node.name: _fixture_steps(node) for node in functions if _find_decorators(node, "fixture")}
    bodies: list[str] = []
    for test in functions:
        if not test.name.startswith("test"):
            continue
        steps = [step for argument in test.args.args for step in fixtures.get(argument.arg, [])]
        steps += [node for node in test.body if not _is_constant(node)]
        for rows in product(*(_parameter_rows(mark) for mark in _find_decorators(test, "parametrize"))):
            assignments = [step for row in rows for step in row]
            bodies.append(ast.unparse(ast.Module([*assignments, *steps], [])))
    return bodies


def _fixture_steps(fixture: ast.FunctionDef) -> Steps:
    """A fixture as the steps that give its name a value."""
    *steps, last = fixture.body
    value = last.value if isinstance(last, ast.Return) else getattr(getattr(last, "value", None), "value", None)
    if value is None:
        return []
    return [*steps, ast.fix_missing_locations(ast.Assign([ast.Name(fixture.name, ast.Store())], value, lineno=1))]


def _parameter_rows(mark: ast.expr) -> list[Steps]:
    """The first rows of parameters, each as assignments; one empty row where they are no plain values."""
    try:
        assert isinstance(mark, ast.Call)
        named, rows = (ast.literal_eval(argument) for argument in mark.args[:2])
        names = [name.strip() for name in named.split(",")] if isinstance(named, str) else list(named)
        pairs = [zip(names, row if len(names) > 1 else [row], strict=True) for row in list(rows)[:MOST_ROWS]]
        texts = ["\n".join(f"{name} = {value!r}" for name, value in row) for row in pairs]
    except (*PARSE_ERRORS, TypeError, AssertionError):
        return [[]]
    return [tree.body for text in texts if (tree := try_parse(text))] or [[]]


def _find_decorators(node: ast.FunctionDef, word: str) -> list[ast.expr]:
    heads = [(item, item.func if isinstance(item, ast.Call) else item) for item in node.decorator_list]
    return [item for item, head in heads if ast.unparse(head).rpartition(".")[2] == word]


class _PlainNames(ast.NodeTransformer):
    """`shop.Cart` becomes `Cart`, an alias its own name, and `self.assertEqual(a, b)` an assert."""

    def __init__(self, tree: ast.Module, names: Collection[str]) -> None:
        self.names = names
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
        found = [alias for node in imports for alias in node.names]
        self.aliases = {alias.asname: alias.name for alias in found if alias.asname and alias.name in names}
        self.modules = {alias.asname or alias.name for alias in found if alias.name not in names}

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Name(self.aliases.get(node.id, node.id), node.ctx)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if node.attr in self.names and ast.unparse(node.value) in self.modules:
            return ast.Name(node.attr, node.ctx)
        self.generic_visit(node)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        self.generic_visit(node)
        call = node.value
        if not isinstance(call, ast.Call) or not call.args or "self.assert" not in ast.unparse(call.func):
            return node
        if ast.unparse(call.func) == "self.assertEqual" and len(call.args) > 1:
            return ast.Assert(ast.Compare(call.args[0], [ast.Eq()], [call.args[1]]))
        return ast.Expr(call.args[0])


def extract_multi_step_tests(text: str, names: set[str]) -> list[str]:
    """The tests in a text, each an empty string where it does not stand on its own.

    A paragraph is a test, a line with semicolons is one, and so is the body of a test function.
    """
    found: list[str] = []
    for part in _split_paragraphs(_BULLET.sub("", text)):
        tree = try_parse(part)
        if tree is None:
            found += [""] if "assert" in part else []
            continue
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test")]
        tests = [node.body for node in functions if not node.args.args]
        if not functions:
            tests = [[node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom)]]
        found += [_write_test(steps, names) for steps in tests if any(isinstance(node, ast.Assert) for node in steps)]
    return found


def _split_paragraphs(text: str) -> Iterator[str]:
    """Paragraphs; of one that holds several whole tests a line, each line."""
    for paragraph in re.split(r"\n\s*\n(?=\S)", text.strip()):
        lines = [line.strip().strip("`") for line in paragraph.splitlines()]
        alone = [line for line in lines if line and not line.startswith("#")]
        if alone and all("assert " in line and (";" in line or line.startswith("assert ")) for line in alone):
            yield from alone
        else:
            yield paragraph


def _write_test(steps: Steps, names: set[str]) -> str:
    """The steps as one text, asserts without their messages; empty where they are no test of these names alone."""
    module = ast.Module([node for node in steps if not _is_constant(node)], [])
    heads = [node.func for node in ast.walk(module) if isinstance(node, ast.Call)]
    roots = [head.value if isinstance(head, ast.Attribute) else head for head in heads]  # `Cart.of(1)` is of Cart
    called = {root.id for root in roots if isinstance(root, ast.Name)}
    plain = all(isinstance(node, _STEPS) for node in module.body) and len(module.body) <= MOST_STEPS
    if not plain or not called & names or not is_standalone(module, names):
        return ""
    for node in module.body:
        if isinstance(node, ast.Assert) and not isinstance(node.test, ast.Tuple):  # one of a tuple says nothing
            node.msg = None
    return "\n".join(map(ast.unparse, module.body))


def _is_constant(node: ast.stmt) -> bool:
    """Whether it is a docstring, or as idle as one."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def is_standalone(test: ast.AST, names: set[str]) -> bool:
    """Whether the test stands on its own: no name in it that only a longer script would have bound.

    One that could do more than compute does not: people run the written tests without a sandbox.
    """
    used = {name.id for name in ast.walk(test) if isinstance(name, ast.Name)} - find_local_names(test) - names
    return all(hasattr(builtins, name) for name in used) and not has_side_effects(test, names)
