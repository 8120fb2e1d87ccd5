"""Values that are written into an SQL text become its parameters."""

import ast
from collections.abc import Iterator

from burnish.agent.mending.source import CannotMendError, Change, Source

EXECUTING = ("execute", "executemany")
VERBS = ("select ", "insert ", "update ", "delete ", "replace ")


def queries(source: Source) -> Iterator[Change]:
    """`execute` of a text that is put together, written there or in a variable that is used only there."""
    for call in source.each(ast.Call):
        assert isinstance(call, ast.Call)
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in EXECUTING or len(call.args) != 1:
            continue
        built = _text_of(source, call.args[0])
        found = _parameterised(built) if built is not None else None
        if built is not None and found:
            text, values = found
            yield source.instead(built, repr(text))
            yield source.behind(call.args[0], f", ({', '.join(values)},)")


def _text_of(source: Source, node: ast.expr) -> ast.expr | None:
    """Where the text is put together: here, or in the one assignment of the variable that is given."""
    if not isinstance(node, ast.Name):
        return node
    function = source.function_of(node)
    within = [one for one in source.nodes if isinstance(one, ast.Name) and one.id == node.id]
    stored = [one for one in within if isinstance(one.ctx, ast.Store)]
    if function is None or len(stored) != 1 or len(within) != 2:
        return None
    assigned = source.parent(stored[0])
    return assigned.value if isinstance(assigned, ast.Assign) else None


def _parameterised(node: ast.expr) -> tuple[str, list[str]] | None:
    """The text with a question mark for each value, and the values; None where nothing is put together."""
    text, values = "", list[str]()
    try:
        parts = list(_parts(node))
    except CannotMendError:
        return None
    for part in parts:
        if isinstance(part, str):
            closes = bool(values) and text.endswith("?") and part.startswith(("'", '"'))
            text += part[1:] if closes else part
        else:
            text = text[:-1] if text.endswith(("'", '"')) else text
            text += "?"
            values.append(ast.unparse(part))
    return (text, values) if values and text.lower().lstrip().startswith(VERBS) else None


def _parts(node: ast.expr) -> Iterator[str | ast.expr]:
    """Fixed texts and values: of an f-string, a sum, `%` with plain `%s`, or `format` with empty braces."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        for value in node.values:
            if isinstance(value, ast.Constant):
                yield str(value.value)
            elif isinstance(value, ast.FormattedValue) and value.format_spec is None:
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
    if len(pieces) != len(values) + 1:
        raise CannotMendError
    for piece, value in zip(pieces, values, strict=False):
        yield piece
        yield value
    yield pieces[-1]
