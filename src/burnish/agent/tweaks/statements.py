"""Statements that should not be there, that should be another, or that are missing."""

import ast
import re
from collections.abc import Iterator

from burnish.agent.tweaks.blocks import (
    LOOPS,
    blocks,
    holds_long_text,
    is_elif,
    is_in_loop,
    leaves_a_loop,
    lines_of,
    margin_of,
    moved,
)
from burnish.agent.tweaks.code import Code
from burnish.agent.tweaks.edit import Edit, quoted

KEPT = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)


def statements(code: Code) -> Iterator[Edit]:
    """Every edit of a whole statement, but for moves."""
    for owner, block in blocks(code):
        for place, node in enumerate(block):
            if not isinstance(node, (*KEPT, ast.Pass)):
                yield from _deleted(code, node, len(block) > 1)
            if isinstance(node, ast.If | ast.While | ast.For):
                yield from _opened(code, node)
            yield from _keywords(code, node, block[place - 1] if place else None)
        yield from _ends(code, owner, block)


def _deleted(code: Code, node: ast.stmt, has_company: bool) -> Iterator[Edit]:
    lines = lines_of(code, node)
    what = f"{quoted(code.text(node))} is deleted"
    is_last_word = isinstance(node, ast.Return) and node is code.root.body[-1]
    if is_elif(code, node) or is_last_word:
        return
    if lines and has_company:
        yield code.span("delete", node, *lines, "", what)
    else:
        yield code.span("delete", node, code.start(node), code.end(node), "pass", what)


def _opened(code: Code, node: ast.If | ast.While | ast.For) -> Iterator[Edit]:
    """Without the `else`, and without the condition or the loop."""
    gap_start = code.line_end(code.end(node.body[-1]))
    if node.orelse:
        found = re.match(
            r"(?:[ \t]*(?:#[^\n]*)?\r?\n)*[ \t]*(?=el(?:se|if)\b)", code.between(gap_start, code.end(node))
        )
        if found:
            yield code.span("delete", node, gap_start, code.line_end(code.end(node)), "", "the `else` is deleted")
    if isinstance(node, ast.If) and is_elif(code, node):
        if not node.orelse:
            test = code.data.index(b":", code.end(node.test))
            yield code.span("open", node, code.start(node), test, "else")
        return
    for block in (node.body, node.orelse):
        yield from _only(code, node, block)


def _only(code: Code, node: ast.If | ast.While | ast.For, block: list[ast.stmt]) -> Iterator[Edit]:
    lines = lines_of(code, block[0], block[-1]) if block else None
    whole = lines_of(code, node)
    if lines is None or whole is None or is_elif(code, block[0]) or holds_long_text(code, block):
        return
    if isinstance(node, LOOPS) and any(leaves_a_loop(one) for one in block):
        return
    new = moved(code.between(*lines), margin_of(code, block[0]), margin_of(code, node))
    head = code.between(code.start(node), code.line_end(code.start(node)))
    yield code.span("open", node, *whole, new, f"{quoted(head)} is taken away from around its block")


def _keywords(code: Code, node: ast.stmt, before: ast.stmt | None) -> Iterator[Edit]:
    """One keyword for another."""
    start = code.start(node)
    for old, new in _exchanges(code, node, before):
        if code.data[start:].startswith(old.encode()):
            kind = "odd keyword" if new in ("while", "yield") else "keyword"
            yield code.span(kind, node, start, start + len(old), new)


def _exchanges(code: Code, node: ast.stmt, before: ast.stmt | None) -> Iterator[tuple[str, str]]:
    loops = is_in_loop(code, node)
    match node:
        case ast.Break():
            yield from (("break", new) for new in ("continue", "return", "pass"))
        case ast.Continue():
            yield from (("continue", new) for new in ("break", "return", "pass"))
        case ast.Pass() if loops:
            yield from (("pass", new) for new in ("continue", "break"))
        case ast.If():
            if isinstance(before, ast.If):
                yield "if", "elif"
            yield from (("elif", "if"), ("if", "while"))
        case ast.While() if not leaves_a_loop(node):
            yield "while", "if"
        case ast.Return(value=ast.expr()):
            yield "return", "yield"
        case ast.Expr(value=ast.Yield()):
            yield "yield", "return"


def _ends(code: Code, owner: ast.AST, block: list[ast.stmt]) -> Iterator[Edit]:
    """What may be missing where a block ends: a `return`, or a way out of the loop."""
    last = block[-1]
    start, end = code.start(last), code.end(last)
    if isinstance(last, ast.Expr) and not isinstance(last.value, ast.Yield | ast.YieldFrom | ast.Await):
        yield code.span("missing return", last, start, start, "return ", f"{quoted(code.text(last))} is returned")
    if isinstance(last, ast.Assign):
        kept = f"return {code.text(last.value)}"
        yield code.span("missing return", last, start, end, kept)
    lines = lines_of(code, last)
    if lines is None or isinstance(last, ast.Return | ast.Break | ast.Continue | ast.Raise):
        return
    for new in _missing(code, owner, last):
        text = moved(code.between(*lines), "", "") + f"{margin_of(code, last)}{new}\n"
        yield code.span("added", last, *lines, text, f"{quoted(new)} is added below")


def _missing(code: Code, owner: ast.AST, last: ast.stmt) -> Iterator[str]:
    if isinstance(owner, ast.If | ast.For | ast.While) and is_in_loop(code, last):
        yield from ("break", "continue") if isinstance(owner, ast.If) else ("break",)
    if isinstance(owner, ast.FunctionDef):
        stored = [one.id for one in code.nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
        given = [one.arg for one in code.nodes if isinstance(one, ast.arg)]
        yield from (f"return {name}" for name in dict.fromkeys([*stored, *given]) if name != "self")
