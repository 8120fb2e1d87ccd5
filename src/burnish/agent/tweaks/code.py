"""A module as text and tree: which nodes may be edited, and where each stands in the bytes."""

import ast
import re
from bisect import bisect_right
from collections.abc import Iterator

from burnish.agent.tweaks.edit import Edit
from burnish.agent.tweaks.levels import ATOM, level_of, level_of_slot
from burnish.agent.tweaks.shapes import shape, shapes_of_names
from burnish.parsing import parse
from burnish.tasks.definitions import DEFINITIONS, Definition, find

MOST_UNREAD = 3
"""Unread names that are looked at: where there are many, being unread says little."""
LEFT_ALONE = {"annotation", "returns", "decorator_list", "type_params", "ctx"}


def read(module: str, entry_point: str) -> "Code | None":
    """The function to edit, in its module; None when there is none."""
    try:
        tree = parse(module)
        data = module.encode()
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    found = find(tree, entry_point)
    helpers = [one.name for one in tree.body if isinstance(one, ast.FunctionDef) and one is not found]
    return Code(module, data, found, helpers) if found else None


class Code:
    """One function (or class) of a module and all that may be edited in it.

    Left alone: docstrings, annotations, decorators, and f-strings, whose parts have no true place before Python 3.12.
    """

    def __init__(self, module: str, data: bytes, root: Definition, helpers: list[str]) -> None:
        self.module = module
        self.data = data
        self.root = root
        self.nodes: list[ast.AST] = []
        self.parents: dict[ast.AST, tuple[ast.AST, str]] = {}
        self._lines = [0, *(found.end() for found in re.finditer(rb"\r\n|\r|\n", data))]
        self._collect(root)
        read = {node.id for node in self.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        self.bound_on = _bound(self.nodes)
        """Parameters and variables, and the line of each."""
        unread = [name for name in self.bound_on if name not in read | {"self", "cls", "_"}]
        self.unread = unread[:MOST_UNREAD]
        """Parameters and variables that nothing reads."""
        self.shapes = shapes_of_names(self.nodes)
        """Variables of which the sort of value is known."""
        self.unread_helpers = [name for name in helpers if name not in read][:MOST_UNREAD]
        """Functions of the module that this one does not use."""

    def _collect(self, root: ast.AST) -> None:
        """All nodes in the order they are written; a long sum is nested too deep for recursion."""
        waiting = [root]
        while waiting:
            node = waiting.pop()
            self.nodes.append(node)
            children = list(_children(node))
            self.parents.update((child, (node, field)) for field, child in children)
            waiting += (child for _, child in reversed(children))

    def start(self, node: ast.AST) -> int:
        """The byte at which a node begins."""
        return self._lines[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined, no-any-return]

    def end(self, node: ast.AST) -> int:
        """The byte after a node."""
        return self._lines[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined, no-any-return]

    def line_start(self, byte: int) -> int:
        """The first byte of the line that a byte is in."""
        return self._lines[self.line_at(byte) - 1]

    def line_end(self, byte: int) -> int:
        """The first byte of the next line, or the end of the module."""
        line = self.line_at(byte)
        return self._lines[line] if line < len(self._lines) else len(self.data)

    def line_at(self, byte: int) -> int:
        """The number of the line that a byte is in, from 1."""
        return bisect_right(self._lines, byte)

    def between(self, start: int, end: int) -> str:
        """The text of a span."""
        return self.data[start:end].decode()

    def text(self, node: ast.AST) -> str:
        """A node as written, without parentheses around it."""
        return self.between(self.start(node), self.end(node))

    def operand(self, node: ast.expr, level: int = ATOM) -> str:
        """A node as written, in parentheses where an operator of this level would tear it apart."""
        return self.text(node) if level_of(node) >= level else f"({self.text(node)})"

    def parent(self, node: ast.AST) -> tuple[ast.AST | None, str]:
        """What a node is part of, and as what."""
        return self.parents.get(node, (None, ""))

    def shape(self, node: ast.expr) -> str:
        """What sort of value an expression has, as far as can be told."""
        return shape(node, self.shapes)

    def statement(self, node: ast.AST) -> ast.AST:
        """The innermost statement that a node is in."""
        while not isinstance(node, ast.stmt) and node in self.parents:
            node = self.parents[node][0]
        return node

    def instead(self, kind: str, node: ast.expr, new: str, level: int = ATOM) -> Edit:
        """The edit that puts an expression of some level in the place of another."""
        parent, field = self.parent(node)
        start, end = self.start(node), self.end(node)
        around = self.data[start - 1 : start] + self.data[end : end + 1]
        shares_parentheses = isinstance(node, ast.GeneratorExp) and parent and self.end(parent) == end
        if shares_parentheses or (around != b"()" and level < level_of_slot(parent, field)):
            new = f"({new})"
        return self.span(kind, node, start, end, new)

    def span(self, kind: str, node: ast.AST, start: int, end: int, new: str, what: str = "") -> Edit:
        """The edit of any span; new lines end as the module's lines do."""
        if b"\r\n" in self.data:
            new = re.sub(r"(?<!\r)\n", "\r\n", new)
        return Edit(kind, start, end, self.between(start, end), new, node, what)

    def with_edit(self, edit: Edit) -> str:
        """The whole module after an edit."""
        return (self.data[: edit.start] + edit.new.encode() + self.data[edit.end :]).decode()

    def still_parses(self, edit: Edit) -> bool:
        """Whether the smallest piece around an edit is still Python: a statement, or its head alone."""
        piece = self._statement_around(edit)
        start, end = self.start(piece), self.end(piece)
        inner = [*getattr(piece, "body", []), piece][0]
        is_head = edit.end < self.start(inner) and not getattr(inner, "decorator_list", [])
        rest = self.data[edit.end : self.start(inner)] + b"pass" if is_head else self.data[edit.end : end]
        margin = self.between(self.line_start(start), start)
        within = f"if 1:\n{margin}" if margin and not margin.strip() else ""
        start += 2 * self.data.startswith(b"elif", start)
        try:
            parse(within + (self.data[start : edit.start] + edit.new.encode() + rest).decode())
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            return False
        return True

    def _statement_around(self, edit: Edit) -> ast.AST:
        piece = self.statement(edit.node)
        while piece is not self.root and not self._holds(piece, edit):
            piece = self.statement(self.parents[piece][0])
        return piece

    def _holds(self, piece: ast.AST, edit: Edit) -> bool:
        start = self.start(piece)
        first = start if isinstance(edit.node, ast.expr) else start + 1  # its first word is the statement itself
        return first <= edit.start and edit.end <= self.end(piece)


def _bound(nodes: list[ast.AST]) -> dict[str, int]:
    found: dict[str, int] = {}
    for node in nodes:
        match node:
            case ast.arg():
                found.setdefault(node.arg, node.lineno)
            case ast.Name(ctx=ast.Store()):
                found.setdefault(node.id, node.lineno)
    return found


def _children(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node, ast.JoinedStr):
        return
    for field, value in ast.iter_fields(node):
        if field in LEFT_ALONE:
            continue
        for place, child in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(child, ast.AST) and not (place == 0 and field == "body" and _is_docstring(node, child)):
                yield field, child


def _is_docstring(node: ast.AST, child: ast.AST) -> bool:
    value = getattr(child, "value", None)
    is_text = isinstance(child, ast.Expr) and isinstance(getattr(value, "value", None), str)
    return isinstance(node, DEFINITIONS) and is_text
