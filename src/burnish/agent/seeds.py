"""The calls that tests make, taken apart: what is called, and the plain values that could be others."""

import ast
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from burnish.parsing import parse

LONGEST = 300
"""A call that a test makes is taken as it is up to this length."""
_HOLE = re.compile(r"_hole_(\d+)_")
_COMPARING = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__", "__bool__"}
_BROKEN = (SyntaxError, ValueError, MemoryError, RecursionError, TypeError)


@dataclass(frozen=True)
class Seed:
    """One call: its form, with a hole for each plain value, and the values that stood there."""

    form: str
    values: tuple[Any, ...]

    def call(self, values: tuple[Any, ...] | None = None) -> str:
        """The call with these values in its holes; with its own when none are given."""
        chosen = self.values if values is None else values
        return _HOLE.sub(lambda hole: written(chosen[int(hole[1])]), self.form)


def written(value: Any) -> str:
    """A plain value as Python writes it, sets in one order."""
    if isinstance(value, list | tuple):
        inside = ", ".join(map(written, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' * (len(value) == 1)})"
    if isinstance(value, set) and value:
        return f"{{{', '.join(sorted(map(written, value)))}}}"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{written(key)}: {written(one)}' for key, one in value.items())}}}"
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value}')"
    return repr(value)


def seeds_of(entry_point: str, tests: Iterable[str]) -> list[Seed]:
    """Every call of the entry point in the tests, in order, each once; text that is no Python has none.

    Of a method, "Cart.total": what tests do with such objects, and only that method where any of them calls it.
    """
    owner, _, method = entry_point.rpartition(".")
    found = [
        seed
        for test in tests
        for seed in _seeds(owner.rpartition(".")[2] or entry_point, test, method if owner else "")
    ]
    telling = [seed for seed in found if owner and re.search(rf"\.{method}\b", seed.form)]
    return list({seed.call(): seed for seed in telling or found}.values())


def seed_of(expression: ast.expr) -> Seed:
    """An expression with its plain values taken out."""
    values: list[Any] = []
    form = ast.unparse(ast.fix_missing_locations(_Holes(values).visit(expression)))
    return Seed(form, tuple(values))


def _seeds(entry_point: str, test: str, method: str = "") -> Iterator[Seed]:
    try:
        tree = parse(test)
        known = _known(tree)
        story = _story(entry_point, tree, _is_special(method))
        finder = _Calls(entry_point, bool(method))
        finder.visit(tree)
        found = _asserted(entry_point, tree, method) if _is_special(method) else finder.found
        expressions = [story] if story else found
        seeds = [seed_of(_Inline(known).visit(expression)) for expression in expressions]
    except _BROKEN:
        return
    yield from (seed for seed in seeds if len(seed.call()) <= LONGEST)


def _known(tree: ast.Module) -> dict[str, ast.expr]:
    """Names that stand for a plain value in this test."""
    assigned = [node for node in ast.walk(tree) if isinstance(node, ast.Assign) and len(node.targets) == 1]
    pairs = [(node.targets[0], node.value) for node in assigned]
    return {name.id: value for name, value in pairs if isinstance(name, ast.Name) and is_plain(value)}


def is_plain(node: ast.AST) -> bool:
    """True for a literal: a number, a text, or a collection of such."""
    try:
        return isinstance(node, ast.expr) and ast.literal_eval(node) is not Ellipsis
    except _BROKEN:
        return False


def _is_special(method: str) -> bool:
    return method.startswith("__") and method.endswith("__")


def _asserted(name: str, tree: ast.Module, method: str) -> list[ast.expr]:
    """What is asserted of new objects: Python calls such a method by itself, as in `len(Cart([1]))`."""
    tests = [node.test for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    told = [test.left if isinstance(test, ast.Compare) and method not in _COMPARING else test for test in tests]
    return [test for test in told if any(_calls(node, name) for node in ast.walk(test))]


def _story(entry_point: str, tree: ast.Module, special: bool = False) -> ast.expr | None:
    """A test that makes an object and then uses it, as one expression: a list of what each step gives."""
    made = [node for node in tree.body if isinstance(node, ast.Assign) and _calls(node.value, entry_point)]
    names = {target.id for node in made for target in node.targets if isinstance(target, ast.Name)}
    used = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)]
    if not any(isinstance(node.value, ast.Name) and node.value.id in names for node in used) and not (
        special and names
    ):
        return None
    steps = [step for node in tree.body for step in _step(node)]
    while steps and len(", ".join(steps)) > LONGEST - 2:
        steps.pop()
    return parse(f"[{', '.join(steps)}]").body[0].value if steps else None  # type: ignore[attr-defined]


def _step(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        yield f"[{node.targets[0].id} := {ast.unparse(node.value)}].clear()"
    elif isinstance(node, ast.Expr):
        yield ast.unparse(node.value)
    elif isinstance(node, ast.Assert):
        yield ast.unparse(node.test.left if isinstance(node.test, ast.Compare) else node.test)


def _calls(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


class _Calls(ast.NodeVisitor):
    """Finds the calls of one name; of a class, with the methods called on the new object."""

    def __init__(self, name: str, of_class: bool = False) -> None:
        self.name = name
        self.of_class = of_class or name[:1].isupper()
        self.found: list[ast.expr] = []

    def visit(self, node: ast.AST) -> None:
        if _calls(node, self.name) or (self.of_class and self._is_chain(node)):
            assert isinstance(node, ast.expr)
            self.found.append(node)
        else:
            self.generic_visit(node)

    def _is_chain(self, node: ast.AST) -> bool:
        root: ast.AST | None = node if isinstance(node, ast.Call | ast.Attribute | ast.Subscript) else None
        while root is not None and not _calls(root, self.name) and not self._is_from_class(root):
            root = getattr(root, "func", getattr(root, "value", None))
        return root is not None

    def _is_from_class(self, node: ast.AST) -> bool:
        """Whether it is `Cart.of(…)`: a call of what belongs to the class itself."""
        inner = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
        return isinstance(inner, ast.Name) and inner.id == self.name


class _Inline(ast.NodeTransformer):
    """Puts plain values where their names stand."""

    def __init__(self, known: dict[str, ast.expr]) -> None:
        self.known = known

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.known.get(node.id, node) if isinstance(node.ctx, ast.Load) else node


class _Holes(ast.NodeTransformer):
    """Takes out the largest plain values, in order; texts with expressions in them and functions stay as they are."""

    def __init__(self, values: list[Any]) -> None:
        self.values = values

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.JoinedStr | ast.Lambda | ast.comprehension):
            return node
        if not is_plain(node):
            return self.generic_visit(node)
        assert isinstance(node, ast.expr)
        self.values.append(ast.literal_eval(node))
        return ast.Name(f"_hole_{len(self.values) - 1}_", ast.Load())
