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
    old: str
    new: str
    node: ast.AST
    """Where it happens, for judging how likely it is."""
    said: str = ""
    """Words of its own, where "this becomes that" would not tell."""

    @property
    def what(self) -> str:
        """The edit in one line: "`<` becomes `<=`"."""
        return self.said or f"{quoted(self.old)} becomes {quoted(self.new)}"


def quoted(text: str) -> str:
    """Code inside a sentence: on one line, and short."""
    return f"`{one_line(text, LONGEST)}`"
