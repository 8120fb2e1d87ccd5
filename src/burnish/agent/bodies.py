"""What the tests in a pytest file do, as bodies that stand alone: to find calls in, never to judge by."""

import ast
from collections.abc import Collection, Iterator
from itertools import product

from burnish.tasks.syntax import parsed

MOST_ROWS = 4
"""Of the parameters that one test is run with."""
_BROKEN = (ValueError, TypeError, SyntaxError, MemoryError, RecursionError)
Steps = list[ast.stmt]


def bodies_of(text: str, names: Collection[str]) -> list[str]:
    """The body of each test, what its fixtures make and its parameters above it; `names` are those of the module.

    A name of the module stands as the module itself writes it. What cannot be read is left out.
    """
    tree = parsed(text)
    if tree is None:
        return []
    tree = ast.fix_missing_locations(_Plain(tree, names).visit(tree))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    made = {node.name: _made(node) for node in functions if _marks(node, "fixture")}
    tests = [node for node in functions if node.name.startswith("test")]
    return [ast.unparse(ast.Module(steps, [])) for node in tests for steps in _told(node, made)]


def _told(test: ast.FunctionDef, made: dict[str, Steps]) -> Iterator[Steps]:
    fixtures = [step for argument in test.args.args for step in made.get(argument.arg, [])]
    own = [node for node in test.body if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))]
    for rows in product(*(_rows(mark) for mark in _marks(test, "parametrize"))):
        yield [*(step for row in rows for step in row), *fixtures, *own]


def _made(fixture: ast.FunctionDef) -> Steps:
    """A fixture as the steps that give its name a value."""
    *steps, last = fixture.body
    value = last.value if isinstance(last, ast.Return) else getattr(getattr(last, "value", None), "value", None)
    if value is None:
        return []
    return [*steps, ast.fix_missing_locations(ast.Assign([ast.Name(fixture.name, ast.Store())], value, lineno=1))]


def _rows(mark: ast.expr) -> list[Steps]:
    """The first rows of parameters, each as assignments; one empty row where they are no plain values."""
    try:
        assert isinstance(mark, ast.Call)
        named, rows = (ast.literal_eval(argument) for argument in mark.args[:2])
        names = [name.strip() for name in named.split(",")] if isinstance(named, str) else list(named)
        pairs = [zip(names, row if len(names) > 1 else [row], strict=True) for row in list(rows)[:MOST_ROWS]]
        texts = ["\n".join(f"{name} = {value!r}" for name, value in row) for row in pairs]
    except (*_BROKEN, AssertionError):
        return [[]]
    return [tree.body for text in texts if (tree := parsed(text))] or [[]]


def _marks(node: ast.FunctionDef, word: str) -> list[ast.expr]:
    """The decorators of that name."""
    heads = [(item, item.func if isinstance(item, ast.Call) else item) for item in node.decorator_list]
    return [item for item, head in heads if ast.unparse(head).rpartition(".")[2] == word]


class _Plain(ast.NodeTransformer):
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
