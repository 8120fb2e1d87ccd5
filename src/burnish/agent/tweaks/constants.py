"""Other constants: next door, the other sign, or one that the function already uses."""

import ast
from collections.abc import Iterator

from burnish.agent.tweaks.code import Code
from burnish.agent.tweaks.edit import Edit
from burnish.agent.tweaks.levels import SIGN

MOST_BORROWED = 6
"""Constants of the function that are tried in the place of another; a table of hundreds would drown the rest."""


def constants(code: Code) -> Iterator[Edit]:
    """Every edit of a constant."""
    known = [node for node in code.nodes if isinstance(node, ast.Constant)]
    for node in known:
        match node.value:
            case bool():
                yield code.instead("flag", node, str(not node.value))
            case int() | float():
                yield from _numbers(code, node, node.value)
            case str():
                yield from _texts(code, node, node.value)
            case None:
                yield from (code.instead("value", node, new) for new in ("0", "False", "[]", '""', "True"))
        yield from _borrowed(code, node, known)
    for part in code.nodes:
        if isinstance(part, ast.List | ast.Dict) and not code.text(part).strip("[{ }]") and _is_loaded(part):
            yield from (code.instead("value", part, new) for new in ("[]", "{}", "0", "set()", "None"))


def _is_loaded(node: ast.expr) -> bool:
    return not isinstance(getattr(node, "ctx", None), ast.Store)


def _numbers(code: Code, node: ast.Constant, value: int | float) -> Iterator[Edit]:
    for new in (value + 1, value - 1):
        yield code.instead("number", node, _written(new), SIGN)
    if value:
        yield code.instead("number", node, f"-{code.text(node)}", SIGN)
    far = (0, 1, 2, 10) if isinstance(value, int) else (0.0, 1.0, value * 2, value / 2, int(value))
    for one in far:
        yield code.instead("value", node, _written(one), SIGN)
    if isinstance(value, int) and value > 1:
        yield from (code.instead("value", node, _written(one), SIGN) for one in (value * 2, value // 2, value * 10))


def _written(number: int | float) -> str:
    return str(round(number, 12) if isinstance(number, float) else number)


def _texts(code: Code, node: ast.Constant, value: str) -> Iterator[Edit]:
    if isinstance(code.statement(node), ast.Expr) and isinstance(code.parent(node)[0], ast.Expr):
        return
    for new in ("" if value else " ", " " if value == "" else value.strip(), value.swapcase(), value[1:], value[:-1]):
        if new != value:
            yield code.instead("text", node, repr(new))
    if len(value) <= 2:
        yield from (code.instead("text", node, repr(new)) for new in (value + " ", " " + value) if value != " ")


def _borrowed(code: Code, node: ast.Constant, known: list[ast.Constant]) -> Iterator[Edit]:
    """A constant of the same sort from elsewhere in the function."""
    others = {code.text(one): one for one in known if type(one.value) is type(node.value) and one.value != node.value}
    for written in list(others)[:MOST_BORROWED]:
        if "\n" not in written:
            yield code.instead("borrowed", node, written)
