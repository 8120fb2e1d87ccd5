"""Statements as whole lines: what a deletion takes away and a move carries along."""

import ast
from collections.abc import Iterator

from burnish.agent.tweaks.code import Code
from burnish.tasks.definitions import split

LOOPS = (ast.For, ast.AsyncFor, ast.While)
BLOCKS = ("body", "orelse", "finalbody")


def blocks(code: Code) -> Iterator[tuple[ast.AST, list[ast.stmt]]]:
    """Every block that can be edited, with the statement it belongs to."""
    for node in code.nodes:
        for field in BLOCKS:
            block = getattr(node, field, None)
            if isinstance(block, list):
                found = [one for one in block if one in code.parents]
                if found:
                    yield node, found


def lines_of(code: Code, first: ast.stmt, last: ast.stmt | None = None) -> tuple[int, int] | None:
    """The span of whole lines that statements fill, with the line's end; None when they share a line with others."""
    start, end = _start(code, first), code.end(last or first)
    top, bottom = code.line_start(start), code.line_end(end)
    rest = code.between(end, bottom).strip()
    if code.between(top, start).strip() or (rest and not rest.startswith("#")):
        return None
    return top, bottom


def _start(code: Code, node: ast.stmt) -> int:
    first = [*getattr(node, "decorator_list", []), node][0]
    return code.start(first) - isinstance(first, ast.expr)  # the `@` stands before the decorator


def margin_of(code: Code, node: ast.stmt) -> str:
    """The white space before a statement that begins its line."""
    start = code.start(node)
    return code.between(code.line_start(start), start)


def step_of(code: Code) -> str:
    """One level of indentation, as this function has it."""
    first = margin_of(code, code.root.body[0])
    outer = margin_of(code, code.root)
    return first[len(outer) :] if not first.strip() and len(first) > len(outer) else "    "


def moved(text: str, old: str, new: str) -> str:
    """Whole lines with another margin, and a line's end after the last."""
    lines = split(text)
    changed = "".join(new + line[len(old) :] if line.startswith(old) and line.strip() else line for line in lines)
    return changed if changed.endswith(("\n", "\r")) else changed + "\n"


def holds_long_text(code: Code, nodes: list[ast.stmt]) -> bool:
    """Whether a string runs over several lines: another margin would change what it says."""
    parts = (part for node in nodes for part in ast.walk(node) if isinstance(part, ast.Constant | ast.JoinedStr))
    return any(part.lineno != part.end_lineno for part in parts)


def leaves_a_loop(node: ast.AST) -> bool:
    """Whether there is a `break` or `continue` somewhere inside."""
    return any(isinstance(part, ast.Break | ast.Continue) for part in ast.walk(node))


def is_in_loop(code: Code, node: ast.AST) -> bool:
    """Whether `break` may stand here."""
    parent, field = code.parent(node)
    if parent is None or isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
        return False
    return (isinstance(parent, LOOPS) and field == "body") or is_in_loop(code, parent)


def is_elif(code: Code, node: ast.AST) -> bool:
    """Whether an `if` is the `elif` of another."""
    return isinstance(node, ast.If) and code.data[code.start(node) :].startswith(b"elif")
