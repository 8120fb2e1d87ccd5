"""Statements in the wrong place: one level too deep or too shallow, or before what should come first."""

import ast
from collections.abc import Iterator

from burnish.agent.tweaks.blocks import (
    LOOPS,
    blocks,
    holds_long_text,
    is_elif,
    leaves_a_loop,
    lines_of,
    margin_of,
    moved,
)
from burnish.agent.tweaks.code import Code
from burnish.agent.tweaks.edit import Edit, quoted

NESTING = (ast.If, ast.For, ast.While, ast.With, ast.Try)


def moves(code: Code) -> Iterator[Edit]:
    """Every edit that only moves a statement."""
    for owner, block in blocks(code):
        for before, after in zip(block, block[1:], strict=False):
            yield from _exchanged(code, before, after)
            if isinstance(before, NESTING):
                yield from _in_at_the_end(code, before, after)
            if isinstance(after, NESTING):
                yield from _in_at_the_top(code, before, after)
        if isinstance(owner, NESTING) and len(block) > 1 and not is_elif(code, owner):
            yield from _out(code, owner, block)


def _exchanged(code: Code, before: ast.stmt, after: ast.stmt) -> Iterator[Edit]:
    first, second = lines_of(code, before), lines_of(code, after)
    if first is None or second is None or isinstance(after, ast.Return | ast.Raise):
        return
    between = code.between(first[1], second[0])
    new = moved(code.between(*second), "", "") + between + code.between(*first)
    what = f"{quoted(code.text(after))} comes before {quoted(code.text(before))}"
    yield code.span("exchange", before, first[0], second[1], new, what)


def _in_at_the_end(code: Code, nest: ast.stmt, node: ast.stmt) -> Iterator[Edit]:
    """Into the block above it, at each depth at which that block ends."""
    lines = lines_of(code, node)
    if lines is None or holds_long_text(code, [node]):
        return
    inner: ast.stmt = nest
    while isinstance(inner, NESTING):
        block: list[ast.stmt] = getattr(inner, "orelse", []) or inner.body
        inner = block[-1]
        if lines_of(code, inner) is None:
            return
        if not is_elif(code, inner):
            yield _carried(code, node, lines, margin_of(code, inner), "moves in")


def _carried(code: Code, node: ast.stmt, lines: tuple[int, int], margin: str, how: str) -> Edit:
    new = moved(code.between(*lines), margin_of(code, node), margin)
    return code.span("level", node, *lines, new, f"{quoted(code.text(node))} {how}")


def _in_at_the_top(code: Code, node: ast.stmt, nest: ast.stmt) -> Iterator[Edit]:
    """What was done once before a loop is done in each round."""
    first = getattr(nest, "body", [node])[0]
    lines, inside = lines_of(code, node), lines_of(code, first)
    if lines is None or inside is None or holds_long_text(code, [node]):
        return
    text = moved(code.between(*lines), margin_of(code, node), margin_of(code, first))
    new = code.between(lines[1], inside[0]) + text
    yield code.span("level", node, lines[0], inside[0], new, f"{quoted(code.text(node))} moves in")


def _out(code: Code, owner: ast.stmt, block: list[ast.stmt]) -> Iterator[Edit]:
    """The last statement of a block goes below it, the first one above it."""
    first, last = block[0], block[-1]
    bound = isinstance(owner, LOOPS)
    if _can_leave(code, last, bound) and code.end(last) == code.end(owner):
        lines = lines_of(code, last)
        if lines and lines_of(code, owner):
            yield _carried(code, last, lines, margin_of(code, owner), "moves out")
    whole, lines = lines_of(code, owner), lines_of(code, first)
    if whole and lines and _can_leave(code, first, bound) and first is owner.body[0]:  # type: ignore[attr-defined]
        text = moved(code.between(*lines), margin_of(code, first), margin_of(code, owner))
        new = text + code.between(whole[0], lines[0])
        yield code.span("level", first, whole[0], lines[1], new, f"{quoted(code.text(first))} moves out")


def _can_leave(code: Code, node: ast.stmt, bound: bool) -> bool:
    return not (bound and leaves_a_loop(node)) and not holds_long_text(code, [node])
