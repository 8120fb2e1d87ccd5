"""Plain data as tests write it: literals, a few harmless ways to make longer ones, and the rows of `parametrize`."""

import ast
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

MOST_ITEMS = 10_000
MOST_ROWS = 50
MAKERS: dict[str, Callable[[Any], Any]] = {"list": list, "tuple": tuple, "set": set, "sorted": sorted}


def value_of(node: ast.expr, values: Mapping[str, Any]) -> Any:
    """The value of an expression that only holds data. Raises ValueError for any other."""
    if isinstance(node, ast.Name) and node.id in values:
        return values[node.id]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return times(value_of(node.left, values), value_of(node.right, values))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        return made(node.func.id, [value_of(argument, values) for argument in node.args])
    try:
        return plain(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError("not plain data") from error


def plain(value: Any) -> Any:
    """The value, if `repr` gives it back: no ellipsis, no infinite number."""
    if value is Ellipsis or isinstance(value, complex):
        raise ValueError("not plain data")
    return value


def times(left: Any, right: Any) -> Any:
    """`[1] * 5` and its like, within bounds."""
    if isinstance(left, int) and not isinstance(right, int):
        left, right = right, left
    if not isinstance(left, int | str | list | tuple | bytes) or not isinstance(right, int):
        raise ValueError("not plain data")
    if abs(right) * (abs(left) if isinstance(left, int) else len(left)) > MOST_ITEMS:
        raise ValueError("too long")
    return left * right


def made(name: str, arguments: list[Any]) -> Any:
    """`list(range(5))` and its like, within bounds."""
    if name == "range" and arguments and all(isinstance(argument, int) for argument in arguments):
        numbers = range(*arguments[:3])
        if len(numbers) > MOST_ITEMS:
            raise ValueError("too long")
        return list(numbers)
    if name in MAKERS and len(arguments) == 1:
        try:
            return MAKERS[name](arguments[0])
        except TypeError as error:
            raise ValueError("not plain data") from error
    raise ValueError("not plain data")


def rows(function: ast.FunctionDef) -> Iterator[dict[str, Any]]:
    """The values that `parametrize` gives a test's arguments, one row at a time; one empty row where it gives none."""
    found: list[dict[str, Any]] = [{}]
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("parametrize"):
            own = list(islice(rows_of(decorator), MOST_ROWS)) or [{}]
            found = [{**old, **new} for old in found for new in own][:MOST_ROWS]
    yield from found


def rows_of(decorator: ast.Call) -> Iterator[dict[str, Any]]:
    """The rows of one `parametrize`; a row with anything but data is left out."""
    if len(decorator.args) < 2 or not isinstance(decorator.args[1], ast.List | ast.Tuple):
        return
    try:
        named = value_of(decorator.args[0], {})
    except ValueError:
        return
    names = [name.strip() for name in named.split(",")] if isinstance(named, str) else list(named)
    for row in decorator.args[1].elts:
        cells = row.elts if len(names) > 1 and isinstance(row, ast.List | ast.Tuple) else [row]
        if isinstance(row, ast.Call) and ast.unparse(row.func).endswith("param"):
            cells = row.args
        values = {name: cell for name, cell in zip(names, map(or_nothing, cells), strict=False) if cell is not None}
        yield {name: cell[0] for name, cell in values.items()}


def or_nothing(node: ast.expr) -> tuple[Any] | None:
    """The value in a tuple of its own, or None."""
    try:
        return (value_of(node, {}),)
    except ValueError:
        return None
