"""One off: indices, slices, ranges and results that begin or end in the wrong place."""

import ast
from collections.abc import Iterator

from burnish.agent.tweaks.code import Code
from burnish.agent.tweaks.edit import Edit
from burnish.agent.tweaks.levels import ATOM, SUM

NUMERIC = (ast.Name, ast.Call, ast.BinOp, ast.Subscript, ast.Attribute)


def bounds(code: Code) -> Iterator[Edit]:
    """Every edit of where something begins or ends."""
    for node in code.nodes:
        match node:
            case ast.Call(func=ast.Name(id="range")) if not node.keywords and node.args:
                yield from _range(code, node)
            case ast.Subscript(slice=ast.Slice() as part):
                yield from _slice(code, node, part)
            case ast.Subscript(ctx=ast.Load()):
                yield from _index(code, node)
        if isinstance(node, ast.expr):
            yield from _shifted(code, node)
            yield from _reversed(code, node)


def _shifted(code: Code, node: ast.expr) -> Iterator[Edit]:
    """One more, one less."""
    kind = _shift_kind(code, node)
    if not kind or not isinstance(node, NUMERIC) or not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return
    for sign in "+-" if code.shape(node) in ("", "number") else "":
        yield code.instead(kind, node, f"{code.operand(node, SUM)} {sign} 1", SUM)


def _shift_kind(code: Code, node: ast.expr) -> str:
    parent, field = code.parent(node)
    match parent:
        case ast.Slice() | ast.Subscript() if field in ("slice", "lower", "upper"):
            return "bound"
        case ast.Call(func=ast.Name(id="range")) if field == "args":
            return "bound"
        case ast.Compare() | ast.Return() | ast.BinOp():
            return "shift"
        case ast.Assign() | ast.AugAssign() | ast.Call() if field in ("value", "args"):
            return "far shift"
    return ""


def _range(code: Code, node: ast.Call) -> Iterator[Edit]:
    first, last = code.start(node.args[0]), code.end(node.args[-1])
    words = [code.text(one) for one in node.args]
    more = [code.operand(one, SUM) for one in node.args]
    others: list[str] = []
    match words:
        case [end]:
            others = [f"1, {end}", f"1, {more[0]} + 1", f"2, {end}", f"2, {more[0]} + 1", f"{end}, 0, -1"]
            others += [f"{more[0]} - 1, -1, -1", f"0, {end}, 2"]
        case [start, end]:
            others = [end, f"0, {end}", f"1, {end}", f"2, {end}", f"{start}, {end}, 2", f"{start}, {end}, -1"]
            others += [f"{more[0]} + 1, {more[1]} + 1", f"{more[0]} - 1, {more[1]} - 1", f"{more[1]} + 1"]
        case [start, end, step]:
            others = [f"{start}, {end}", f"{end}, {start}, {step}", f"{start}, {end}, -{code.operand(node.args[2])}"]
    for new in others:
        yield code.span("range", node, first, last, new)


def _slice(code: Code, node: ast.Subscript, part: ast.Slice) -> Iterator[Edit]:
    lower, upper, step = (code.text(one) if one else "" for one in (part.lower, part.upper, part.step))
    value = code.text(node.value)
    others = [(lower, "", step), ("", upper, step), (lower, upper, ""), (upper, lower, step)]
    others += [("1", upper, step)] if not lower else []
    others += [(lower, "-1", step)] if not upper else []
    others += [(lower, upper, "-1"), (lower, upper, "2")] if not step else [(lower, upper, "-1")]
    for one in others:
        new = f"{one[0]}:{one[1]}" + (f":{one[2]}" if one[2] else "")
        yield code.span("slice", node, code.start(part), code.end(part), new)
    if isinstance(node.ctx, ast.Load):
        yield code.instead("less", node, value, ATOM)
    if upper and not lower and not step:
        yield code.instead("slice", node, f"{value}[{upper}]")


def _index(code: Code, node: ast.Subscript) -> Iterator[Edit]:
    value, index = code.text(node.value), code.text(node.slice)
    yield code.instead("less", node, value, ATOM)
    if isinstance(node.value, ast.Subscript) and not isinstance(node.value.slice, ast.Slice):
        inner, first = code.text(node.value.value), code.text(node.value.slice)
        yield code.instead("sides", node, f"{inner}[{index}][{first}]")
    if not isinstance(node.slice, ast.Tuple):
        yield from (code.instead("slice", node, f"{value}[{new}]") for new in (f":{index}", f"{index}:", f"-{index}"))
    if isinstance(node.slice, ast.Constant):
        return
    yield from (code.instead("slice", node, f"{value}[{new}]") for new in ("0", "-1"))


def _reversed(code: Code, node: ast.expr) -> Iterator[Edit]:
    """The other way round, where a sequence is likely: what is returned, gone through or compared."""
    parent, field = code.parent(node)
    goes_through = isinstance(parent, ast.For | ast.comprehension) and field == "iter"
    if not goes_through and not isinstance(parent, ast.Return | ast.Compare):
        return
    sequence = code.shape(node) in ("", "text", "list")
    if sequence and isinstance(node, ast.Name | ast.Call | ast.Attribute | ast.ListComp | ast.BinOp):
        yield code.instead("reversed", node, f"{code.operand(node)}[::-1]")
        yield from (code.instead("part", node, f"{code.operand(node)}[{new}]") for new in ("0", "-1", "1:", ":-1"))
