"""Says why a test failed, for a person and for a small model: the assertion as written, then what was got instead."""

import ast
import reprlib
import sys
from typing import Any

from burnish.sandbox.inside.candidate import find_code_line, list_lines, read_message

FILE = "tests.py"
FAIL = "@fail"
LONGEST = 300
MOST_NAMES = 4


class Unmet(AssertionError):
    """An assertion of the tests that does not hold; its text says why."""


def rewrite(node: ast.stmt) -> ast.stmt:
    """The statement with its asserts rewritten so that a failing one knows its values.

    Everything is still computed once and in order. Only statements are looked into: no assert is in an expression.
    """
    if isinstance(node, ast.Assert):
        return rewrite_assert(node)
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        if isinstance(block, list):
            block[:] = [rewrite(inner) for inner in block]
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        part.body[:] = [rewrite(inner) for inner in part.body]
    return node


def rewrite_assert(node: ast.Assert) -> ast.stmt:
    """`assert left == right` remembers both sides, any other assert its one value."""
    test = node.test
    at: dict[str, Any] = {"lineno": node.lineno, "col_offset": 0, "end_lineno": node.end_lineno, "end_col_offset": 0}
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        right = test.comparators[0]
        sides: list[ast.expr] = [store_value("@left", test.left, at), store_value("@right", right, at)]
        holds: ast.expr = ast.Compare(sides[0], test.ops, sides[1:], **at)
        swapped = not isinstance(test.left, ast.Call) and not has_call(test.left) and has_call(right)
        names = ["@right", "@left"] if swapped else ["@left", "@right"]
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        holds, names = ast.UnaryOp(ast.Not(), store_value("@left", test.operand, at), **at), ["@left"]
    else:
        holds, names = store_value("@left", test, at), ["@left"]
    lines: list[ast.expr] = [ast.Constant(node.lineno, **at), ast.Constant(node.end_lineno, **at)]
    call = ast.Call(load_value(FAIL, at), [*lines, *(load_value(name, at) for name in names)], [], **at)
    return ast.If(ast.UnaryOp(ast.Not(), holds, **at), [ast.Expr(call, **at)], [], **at)


def store_value(name: str, value: ast.expr, at: dict[str, Any]) -> ast.NamedExpr:
    """An expression that also remembers its value, under a name no program can have."""
    return ast.NamedExpr(ast.Name(name, ast.Store(), **at), value, **at)


def load_value(name: str, at: dict[str, Any]) -> ast.expr:
    """A remembered value."""
    return ast.Name(name, ast.Load(), **at)


def has_call(node: ast.expr) -> bool:
    """True when something is called in the expression."""
    return any(isinstance(part, ast.Call) for part in ast.walk(node))


class Explainer:
    """Writes messages about one text of tests."""

    def __init__(self, source: str) -> None:
        self.lines = source.split("\n")
        self.source = source

    def fail(self, first: int, last: int, got: Any, expected: Any = None) -> None:
        """What a rewritten assert calls when it does not hold."""
        statement = self.quote(first, last)
        message = f"{shorten(statement)}\ngot: {format_value(got)}"
        tree = parse_assert(statement)
        if tree is not None and isinstance(tree.test, ast.Compare):
            sides = [tree.test.left, *tree.test.comparators]
            # A side without a name or a call can be read off the assertion as written.
            if all(any(isinstance(part, ast.Name | ast.Call) for part in ast.walk(side)) for side in sides):
                message += f"\nexpected: {format_value(expected)}"
        raise Unmet(message + describe_locals(tree, sys._getframe(1).f_locals))

    def quote(self, first: int, last: int) -> str:
        """Some lines of the tests as they were written, without their indentation."""
        return "\n".join(line.strip() for line in self.lines[first - 1 : last])

    def describe_failure(self, error: BaseException) -> str:
        """Why a test failed with this exception."""
        if isinstance(error, Unmet):
            return str(error)
        lines = list_lines(error, FILE)
        statement = self.quote_statement(lines[-1]) if lines else ""
        return f"{shorten(statement)}\n{describe_error(error)}".strip()

    def quote_statement(self, line: int) -> str:
        """The statement that a line belongs to; of a compound one only its first line."""
        found = [node for node in ast.walk(ast.parse(self.source)) if isinstance(node, ast.stmt) and holds(node, line)]
        inner = max(found, key=lambda node: node.lineno, default=None)
        if inner is None or hasattr(inner, "body"):
            return self.quote(line, line)
        return self.quote(inner.lineno, inner.end_lineno or line)


def name_failure(error: BaseException) -> str:
    """How a test failed with this exception, as `burnish.events.Case.how` says it."""
    return "wrong_value" if isinstance(error, Unmet) else "raised"


def holds(node: ast.stmt, line: int) -> bool:
    """Whether a line is in a statement."""
    return node.lineno <= line <= (node.end_lineno or 0)


def describe_error(error: BaseException) -> str:
    """The exception, and the line of the code that raised it."""
    words = shorten(read_message(error))
    line, text = getattr(error, "_line", None) or find_code_line(error)
    place = f"\nin the code, line {line}: {shorten(text)}" if line else ""
    return f"raised {type(error).__name__}{': ' if words else ''}{words}{place}"


def parse_assert(statement: str) -> ast.Assert | None:
    """The assert in a text, if it is one."""
    try:
        node = ast.parse(statement).body[0]
    except (SyntaxError, IndexError):
        return None
    return node if isinstance(node, ast.Assert) else None


def describe_locals(tree: ast.Assert | None, names: dict[str, Any]) -> str:
    """What the local variables in the assertion were, for assertions in loops and functions."""
    used = {part.id for part in ast.walk(tree) if isinstance(part, ast.Name)} if tree else set()
    values = {name: names[name] for name in sorted(used & names.keys()) if not callable(names[name])}
    shown = [f"{name} = {format_value(value)}" for name, value in values.items() if type(value).__name__ != "module"]
    return "\nwith " + ", ".join(shown[:MOST_NAMES]) if shown else ""


def format_value(value: Any) -> str:
    """The value as a person would write it, whatever its class does."""
    try:
        return shorten(repr(value)) if not isinstance(value, int) else shorten(reprlib.repr(value))
    except Exception as error:
        return f"<{type(value).__name__}, whose repr raised {type(error).__name__}>"


def shorten(text: str) -> str:
    """The text, with its middle left out if it is long."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} … {text[-LONGEST // 2 :]}"
