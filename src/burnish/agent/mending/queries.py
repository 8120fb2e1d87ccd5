"""Values that are written into an SQL text become its parameters: for SQLite, and where only a value can stand."""

import ast
import re
from collections.abc import Iterator

from burnish.agent.mending.source import CannotMendError, Change, Source, names_in

VERBS = ("select ", "insert ", "update ", "delete ", "replace ")
A_VALUE_FOLLOWS = re.compile(
    r"([=<>]|\b(limit|offset))\s*$|\bvalues\s*\(\s*(('[^']*'|[\w?.]+)\s*,\s*)*$", re.IGNORECASE
)
NO_VALUE = re.compile(r"col|field|table|expr|cond|where|clause|sql|query", re.IGNORECASE)
"""Names of what is part of the query rather than a value in it."""


def queries(source: Source) -> Iterator[Change]:
    """`execute` of a text that is put together, written there or in a variable that is used only there."""
    if not any("sqlite3" in (alias.name for alias in node.names) for node in _imports(source)):
        return
    for call in source.each(ast.Call):
        match call:
            case ast.Call(func=ast.Attribute(attr="execute"), args=[text], keywords=[]):
                built = _text_of(source, text)
                found = _parameterised(built) if built is not None else None
                if built is not None and found:
                    yield source.instead(built, repr(found[0]))
                    yield source.behind(text, f", ({', '.join(found[1])},)")


def _imports(source: Source) -> Iterator[ast.Import]:
    return (node for node in source.nodes if isinstance(node, ast.Import))


def _text_of(source: Source, node: ast.expr) -> ast.expr | None:
    """Where the text is put together: here, or in the one assignment of the variable that is given.

    What goes into it must still be the same when the query is sent.
    """
    if not isinstance(node, ast.Name):
        return node
    function = source.function_of(node)
    within = [one for one in source.nodes if isinstance(one, ast.Name) and one.id == node.id]
    stored = [one for one in within if isinstance(one.ctx, ast.Store)]
    if function is None or len(stored) != 1 or len(within) != 2:
        return None
    assigned = source.parent(stored[0])
    if not isinstance(assigned, ast.Assign) or source.function_of(assigned) is not function:
        return None
    return None if _changes_later(function, assigned) else assigned.value


def _changes_later(function: ast.AST, assigned: ast.Assign) -> bool:
    values = names_in(assigned.value)
    later = [one for one in ast.walk(function) if isinstance(one, ast.Name) and one.lineno > assigned.lineno]
    return any(one.id in values and not isinstance(one.ctx, ast.Load) for one in later)


def _parameterised(node: ast.expr) -> tuple[str, list[str]] | None:
    """The text with a question mark for each value, and the values; None where that is not the same query."""
    try:
        parts = list(_parts(node))
        text, values = _with_marks(parts)
    except CannotMendError:
        return None
    return (text, values) if values and text.lower().lstrip().startswith(VERBS) else None


def _with_marks(parts: list[str | ast.expr]) -> tuple[str, list[str]]:
    """A value in quotes is a text, and they go; any other must stand where only a value can."""
    text, values, closing = "", list[str](), False
    for place, part in enumerate(parts):
        if isinstance(part, str):
            text += part[1:] if closing else part
            closing = False
            continue
        following = parts[place + 1] if place + 1 < len(parts) else ""
        quoted = text.count("'") % 2 == 1
        closing = quoted and isinstance(following, str) and following.startswith("'")
        text = text[:-1] if closing and text.endswith("'") else text
        if (quoted and text.count("'") % 2 == 1) or text.endswith("'") or not _is_plain(part):
            raise CannotMendError
        if not A_VALUE_FOLLOWS.search(text) or (closing and str(following)[1:2] == "'"):
            raise CannotMendError
        values.append(f"str({ast.unparse(part)})" if quoted else ast.unparse(part))
        text += "?"
    return text, values


def _is_plain(node: ast.expr) -> bool:
    """Whether this can only be a value; what a call made of it may be prepared for being part of the text."""
    return isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and not NO_VALUE.search(ast.unparse(node))


def _parts(node: ast.expr) -> Iterator[str | ast.expr]:
    """Fixed texts and values: of an f-string, a sum, `%` with plain `%s`, or `format` with empty braces."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        for value in node.values:
            if isinstance(value, ast.Constant):
                yield str(value.value)
            elif isinstance(value, ast.FormattedValue) and value.format_spec is None and value.conversion == -1:
                yield value.value
            else:
                raise CannotMendError
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _parts(node.left)
        yield from _parts(node.right)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant):
        values = list(node.right.elts) if isinstance(node.right, ast.Tuple) else [node.right]
        yield from _filled(str(node.left.value), "%s", values)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        if not isinstance(node.func.value, ast.Constant) or node.keywords:
            raise CannotMendError
        yield from _filled(str(node.func.value.value), "{}", list(node.args))
    else:
        yield node


def _filled(text: str, mark: str, values: list[ast.expr]) -> Iterator[str | ast.expr]:
    pieces = text.split(mark)
    if len(pieces) != len(values) + 1 or any(sign in piece for piece in pieces for sign in "%{}"):
        raise CannotMendError
    for piece, value in zip(pieces, values, strict=False):
        yield piece
        yield value
    yield pieces[-1]
