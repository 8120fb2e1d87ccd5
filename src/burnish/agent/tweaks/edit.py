"""One replacement of a span of bytes: what every kind of tweak is made of."""

import ast
from dataclasses import dataclass

from burnish.text import one_line

LONGEST = 40


@dataclass(frozen=True)
class Edit:
    """The bytes from `start` to `end` become `new`."""

    kind: str
    start: int
    end: int
    new: str
    line: int
    what: str
    """One line without the line number: "`<` becomes `<=`"."""
    node: ast.AST
    """Where it happens, for judging how likely it is."""


def becomes(old: str, new: str) -> str:
    """The words for a replacement."""
    return f"{quoted(old)} becomes {quoted(new)}"


def quoted(text: str) -> str:
    """Code inside a sentence: on one line, and short."""
    return f"`{one_line(text, LONGEST)}`"
