"""One small change to the code that the tests should notice."""

import difflib
from collections.abc import Sequence

from burnish.checks.check import Finding
from burnish.events import Frozen
from burnish.text import one_line, strip_controls

MOST_CHARACTERS = 60


class Mutant(Frozen):
    """A function with one change in it, as mutmut made it."""

    key: str
    """mutmut's own name for it: module, function, number."""
    file: str
    function: str
    owner: str
    """The class the function is a method of; empty for a plain function."""
    line: int
    """Where the function's `def` stands."""
    first: int
    """Where the function's text begins, with the comments and decorators above it."""
    was: str
    text: str
    """The function before and after, without the indentation of its class."""
    old: str
    new: str
    """What was changed into what."""

    @property
    def name(self) -> str:
        """The function as people call it."""
        return f"{self.owner}.{self.function}" if self.owner else self.function

    @property
    def changed(self) -> int:
        """The first line of the file that is different."""
        pairs = zip(lines_of(self.was), lines_of(self.text), strict=False)
        same = next((number for number, (before, after) in enumerate(pairs) if before != after), 0)
        return self.first + same

    def finding(self, source: str, why: str) -> Finding:
        """What a person is told about a mutant that survived."""
        return Finding(
            file=self.file, line=self.changed, what=f"{why} {self.said()}", rule=self.key, diff=self.diff(source)
        )

    def said(self) -> str:
        """The change in a few words."""
        if not self.new:
            return f"`{one_line(self.old, MOST_CHARACTERS)}` is removed"
        return f"`{one_line(self.old, MOST_CHARACTERS)}` becomes `{one_line(self.new, MOST_CHARACTERS)}`"

    def diff(self, source: str) -> str:
        """The change as a unified diff of the file, not of what was made of it."""
        name = strip_controls(self.file)
        changed = difflib.unified_diff(lines_of(source), lines_of(self.module(source)), name, name, lineterm="")
        return strip_controls("\n".join(changed))

    def module(self, source: str) -> str:
        """The whole file with the change in it."""
        lines = lines_of(source)
        start, count = self.first - 1, len(lines_of(self.was))
        after = [*lines[:start], *self._place(lines[start : start + count]), *lines[start + count :]]
        return "\n".join(after) + "\n"

    def _place(self, lines: Sequence[str]) -> list[str]:
        """The changed function as it would stand in the file; lines that are as before are the file's own."""
        before, after = lines_of(self.was), lines_of(self.text)
        head = lines[self.line - self.first] if self.line - self.first < len(lines) else ""
        indent = head[: len(head) - len(head.lstrip())]
        made: list[str] = []
        for tag, a, b, c, d in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
            made += lines[a:b] if tag == "equal" else [indent + line for line in after[c:d]]
        return made


def lines_of(text: str) -> list[str]:
    """The lines as Python counts them: a form feed or an odd separator ends none."""
    return text.removesuffix("\n").split("\n")
