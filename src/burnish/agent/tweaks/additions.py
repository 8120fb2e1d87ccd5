"""What may be missing: an operand, half a condition, a step through a helper, a line that gathers.

A variable, parameter or helper that nothing reads is the best hint there is: somebody meant to use it.
"""

import ast
from collections.abc import Iterable, Iterator

from burnish.agent.tweaks.blocks import is_in_loop, lines_of, margin_of, moved
from burnish.agent.tweaks.code import Code
from burnish.agent.tweaks.edit import Edit, quoted
from burnish.agent.tweaks.levels import AND, BINARY, NOT, OR, PRODUCT, level_of
from burnish.agent.tweaks.names import bound_in_scopes, visible_at
from burnish.agent.tweaks.operators import SIGNS

GROWTH = ("* {0}", "% 2", "** 2", "* 2", "// 2", "/ 2", "% 10", "** 3")
VALUES = (ast.Name, ast.Call, ast.BinOp, ast.Subscript, ast.Attribute)
MOST_CONDITIONS = 4
GATHERING = {"[": ("{0}.append({1})",), "0": ("{0} += 1", "{0} += {1}"), "s": ("{0}.add({1})",), "'": ("{0} += {1}",)}
"""By how a variable begins: the lines that make it grow."""


def additions(code: Code) -> Iterator[Edit]:
    """Every edit that puts in what may be missing."""
    known = bound_in_scopes(code)
    for node in code.nodes:
        if isinstance(node, VALUES) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            yield from _grown(code, node)
        if isinstance(node, ast.If | ast.While):
            yield from _joined(code, node.test)
        if isinstance(node, ast.If | ast.For | ast.While) and is_in_loop(code, node.body[-1]):
            yield from _gathered(code, node, visible_at(code, node.body[-1], known))


def _grown(code: Code, node: ast.expr) -> Iterator[Edit]:
    parent, field = code.parent(node)
    if field in ("func", "value") and isinstance(parent, ast.Call | ast.Attribute | ast.Subscript | ast.Expr):
        return
    sort = code.shape(node)
    for name in code.unread:
        yield from _with_unread(code, node, name, SIGNS if sort != "text" else "+")
    for helper in code.unread_helpers:
        yield code.instead("helper", node, f"{helper}({code.text(node)})")
    if (
        isinstance(node, ast.Name)
        and sort in ("", "number")
        and not isinstance(parent, ast.For | ast.comprehension | ast.Starred)
    ):
        yield from (_with_operand(code, "growth", node, part.format(node.id)) for part in GROWTH)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("max", "min"):
        other = {"max": "min", "min": "max"}[node.func.id] + code.text(node)[3:]
        yield from (_with_operand(code, "growth", node, f"{sign} {other}") for sign in "-+")


def _with_unread(code: Code, node: ast.expr, name: str, signs: Iterable[str]) -> Iterator[Edit]:
    """A value joined with what nothing reads: by a sign, as one more argument, as an end of a slice."""
    parent, field = code.parent(node)
    for sign in signs:
        yield _with_operand(code, "unread", node, f"{sign} {name}")
    if isinstance(parent, ast.Call) and field == "args" and node is parent.args[-1]:
        yield code.span("unread", node, code.end(node), code.end(node), f", {name}", f"`{name}` is added")
    match node:
        case ast.Call(func=ast.Name(id=function), args=[_]):
            yield from (_with_operand(code, "unread", node, f"{sign} {function}({name})") for sign in "+-&|^*")
        case ast.Subscript(slice=ast.Slice() as part):
            low, high = (code.text(one) if one else "" for one in (part.lower, part.upper))
            for new in (f"{name}:{high}", f"{low}:{name}", f"{low}:{high}:{name}"):
                yield code.span("unread", node, code.start(part), code.end(part), new)


def _with_operand(code: Code, kind: str, node: ast.expr, part: str) -> Edit:
    level = BINARY.get(SIGNS[part.split()[0]], PRODUCT)
    return code.instead(kind, node, f"{code.operand(node, level)} {part}", level)


def _joined(code: Code, test: ast.expr) -> Iterator[Edit]:
    """A condition together with another one of the function."""
    others = {code.text(one.test): one.test for one in code.nodes if isinstance(one, ast.If | ast.While)}
    for other in list(others.values())[:MOST_CONDITIONS]:
        if code.text(other) != code.text(test):
            both = f"{code.operand(test, AND)} and {code.operand(other, NOT)}"
            yield code.instead("joined", test, both, AND)
            yield code.instead("joined", test, f"{code.operand(test, OR)} or {code.operand(other, AND)}", OR)


def _gathered(code: Code, owner: ast.If | ast.For | ast.While, names: list[str]) -> Iterator[Edit]:
    """A line at the end of a block that adds to what was begun outside."""
    last = owner.body[-1]
    lines = lines_of(code, last)
    if lines is None or isinstance(last, ast.Return | ast.Break | ast.Continue | ast.Raise):
        return
    for name, begin in _begun(code):
        for new in GATHERING.get(begin, ()):
            for other in names if "{1}" in new else names[:1]:
                if other == name:
                    continue
                line = new.format(name, other)
                text = f"{moved(code.between(*lines), '', '')}{margin_of(code, last)}{line}\n"
                yield code.span("gathering", last, *lines, text, f"{quoted(line)} is added below")


def _begun(code: Code) -> list[tuple[str, str]]:
    """Variables that begin empty or at zero, and how."""
    found: dict[str, str] = {}
    for node in code.nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if level_of(value) > 0:
                text = code.text(value).replace('"', "'")
                if text in ("[]", "0", "set()", "''", "list()"):
                    found.setdefault(name, "[" if text == "list()" else text[0])
    return list(found.items())
