"""A definition's text made to fit another place: its indentation, its line ends. What strings hold stays."""

import ast
import re

from burnish.tasks.definitions import Definition, lines_of

UNIT = re.compile(r"[ \t]+")


def fitted(lines: list[str], node: Definition, indent: str, unit: str) -> str:
    """The definition, taken from the lines of its module, with another indentation; no line end after its last line.

    `unit` is what one more level looks like at its new place; it is taken over where the text is regular enough.
    """
    first, last = lines_of(node)
    old, own = indent_of(lines[first]), unit_of(lines, node)
    held, words = _in_strings(node), _in_docstrings(node)
    made: list[str] = []
    for number in range(first, last):
        line = lines[number].rstrip("\r\n")
        if number in words:
            begins = words[number]
            line = _along(line, indent_of(lines[begins]), indent_of(made[begins - first]))
        elif number not in held:
            line = _moved(line, old, indent, own, unit)
        made.append(line)
    return "\n".join(made)


def indent_of(line: str) -> str:
    """The blanks a line begins with."""
    match = UNIT.match(line.lstrip("\f"))
    return match[0] if match else ""


def unit_of(lines: list[str], node: Definition) -> str:
    """What the body is indented with, beyond its definition; "" where it stands on the same line."""
    outer, inner = indent_of(lines[node.lineno - 1]), indent_of(lines[node.body[0].lineno - 1])
    same = node.body[0].lineno == node.lineno
    return inner[len(outer) :] if not same and inner.startswith(outer) else ""


def ended_as(text: str, end: str) -> str:
    """The text with these line ends."""
    return re.sub(r"\r\n|\r|\n", lambda _: end, text)


def line_end(text: str) -> str:
    """How lines end in a text; its first line decides."""
    match = re.search(r"\r\n|\r|\n", text)
    return match[0] if match else "\n"


def _moved(line: str, old: str, new: str, own: str, unit: str) -> str:
    if not line.strip():
        return line if old == new else ""
    bare = line.lstrip("\f")
    if not bare.startswith(old):
        return new + bare.lstrip(" \t")
    rest = bare[len(old) :]
    inner = indent_of(rest)
    if own and unit and own != unit and inner and inner == own * (len(inner) // len(own)):
        rest = unit * (len(inner) // len(own)) + rest[len(inner) :]
    return new + rest


def _along(line: str, old: str, new: str) -> str:
    """A line of a docstring moves as far as its first line did, and keeps its own shape."""
    return new + line[len(old) :] if line.strip() and line.startswith(old) else line


def _in_docstrings(node: Definition) -> dict[int, int]:
    """Lines (from 0) that begin inside a docstring, and the line on which that begins."""
    found = [doc for part in ast.walk(node) if (doc := _docstring(part)) is not None]
    return {number: doc.lineno - 1 for doc in found for number in range(doc.lineno, doc.end_lineno or doc.lineno)}


def _in_strings(node: Definition) -> set[int]:
    """Lines (from 0) that begin inside a string; those of docstrings may move."""
    held: set[int] = set()
    free = {id(doc) for part in ast.walk(node) if (doc := _docstring(part)) is not None}
    for part in ast.walk(node):
        if isinstance(part, ast.Constant | ast.JoinedStr) and id(part) not in free:
            if isinstance(part, ast.Constant) and not isinstance(part.value, str | bytes):
                continue
            held.update(range(part.lineno, part.end_lineno or part.lineno))
    return held


def _docstring(node: ast.AST) -> ast.expr | None:
    body = getattr(node, "body", None)
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or not body:
        return None
    first = body[0]
    is_text = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    return first.value if is_text else None
