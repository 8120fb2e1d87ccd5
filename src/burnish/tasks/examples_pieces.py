"""Pieces of a sentence that are Python: where one may end, and whether it stands on its own."""

import ast
import builtins
from collections.abc import Callable

from burnish.parsing import parse_expression


def longest(text: str, fits: Callable[[str], bool]) -> str:
    """The longest beginning of the text that fits; a full stop at its end is the sentence's, not the number's."""
    line = text if text.lstrip().startswith(("[", "{", "(")) else text.split("\n", 1)[0]
    for end in reversed(_whole_at(line)):
        piece = line[:end].rstrip()
        if piece and fits(piece):
            shorter = piece.rstrip(".")
            return shorter if shorter != piece and fits(shorter) else piece
    return ""


def _whole_at(text: str) -> list[int]:
    """Where a beginning of the text may end: outside of brackets and quotes. Parsing at every place takes for ever."""
    ends, depth, quote, skip = [], 0, "", False
    for place, letter in enumerate(text, 1):
        if skip or letter == "\\":
            skip = not skip
        elif quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        else:
            depth += (letter in "([{") - (letter in ")]}")
        if depth < 0:
            break
        if not (depth or quote or skip):
            ends.append(place)
    return ends


def own_names_only(node: ast.AST) -> bool:
    """Every name is called or built in: `f(n) == n` in a sentence speaks of all n and is no example."""
    called = {call.func.id for call in ast.walk(node) if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)}
    bound = {name.id for name in ast.walk(node) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)}
    bound |= {argument.arg for argument in ast.walk(node) if isinstance(argument, ast.arg)}
    used = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
    return all(name in called | bound or hasattr(builtins, name) for name in used) and not _ends_a_sentence(node)


def _ends_a_sentence(node: ast.AST) -> bool:
    """Whether a dot has a space behind it: `f(4) == 'IV'. It` has a full stop in it and asks for no attribute."""
    dotted = [part for part in ast.walk(node) if isinstance(part, ast.Attribute)]
    return any(
        part.end_lineno == part.value.end_lineno
        and (part.end_col_offset or 0) - len(part.attr.encode()) - (part.value.end_col_offset or 0) > 1
        for part in dotted
    )


def arguments_are_values(node: ast.AST) -> bool:
    """Whether nothing is left out with three dots."""
    return not any(isinstance(part, ast.Constant) and part.value is Ellipsis for part in ast.walk(node))


def expression(piece: str) -> ast.expr | None:
    """The piece as one expression, if it is one."""
    try:
        return parse_expression(piece)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
