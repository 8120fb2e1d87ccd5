"""Thoughts that a server leaves in the answer, `<think>…</think>` at its very beginning, taken apart as they come."""

import re
from collections.abc import Iterator

from burnish.models.model import Chunk, Thought

OPENS, CLOSES = "<think>", "</think>"
CHARACTERS_PER_TOKEN, MOST_PER_PIECE = 4, 8
"""About four; a piece with more than eight is surely more than one token."""
_BEGUN = "|".join(CLOSES[:size] for size in range(1, len(CLOSES)))
_NEVER = re.compile(r"(?!)")
_MAY_CLOSE = re.compile(rf"(?:{_BEGUN})\Z")
_MAY_CLOSE_UNOPENED = re.compile(rf"(?:{_BEGUN}|{CLOSES}[ \t]*)\Z")
_CLOSES_UNOPENED = re.compile(rf"(?<=\n){CLOSES}|{CLOSES}[ \t]*\n")
"""At the beginning of a line or at the end of one: code that only speaks of the mark has quotes around it."""


def about_tokens(pieces: int, characters: int) -> int:
    """About how many tokens a text has that came in so many pieces, where nobody counts them for us."""
    return pieces if characters <= MOST_PER_PIECE * pieces else characters // CHARACTERS_PER_TOKEN


class Apart:
    """Sorts an answer's text into thoughts and answer. Only what the answer begins with can be a thought.

    Where a model's form of talk opens the thoughts in the prompt, only their end is in the text: once that comes, all
    before it was thought. A model that did so before is taken to do so again (`opened`), unless no end comes.
    """

    def __init__(self, opened: bool = False) -> None:
        self.opened = opened
        self._held = ""
        self._state = "beginning"
        self._sure = False
        self._given: list[str] = []
        """What was handed out before it was sure what it is."""

    def sort(self, text: str) -> Iterator[Chunk | Thought]:
        """What can be told by now; the rest is held back until more has come."""
        self._held += text
        if self._state == "beginning":
            self._look_at_beginning()
        if self._state == "thinking":
            yield from self._thoughts()
        if self._state == "answering":
            yield from self._answer()

    def know(self) -> None:
        """Thoughts come beside the text: none is in it that was not opened there."""
        self._sure, self.opened = True, False

    def rest(self, cut: bool = False) -> Iterator[Chunk | Thought]:
        """What was held back when the answer came to its end, or was cut."""
        thinking = self._state == "thinking"
        if thinking and not self._sure and not cut:  # it did not think this time
            self.opened = False
            yield Chunk(text="".join([*self._given, self._held]), instead=True)
        elif self._held:
            yield Thought(text=self._held) if thinking else Chunk(text=self._held)
        self._held = ""

    def _look_at_beginning(self) -> None:
        start = self._held.lstrip()
        if start.startswith(OPENS):
            self._state, self._held, self._sure = "thinking", start.removeprefix(OPENS), True
        elif not OPENS.startswith(start):
            self._state = "thinking" if self.opened else "answering"

    def _thoughts(self) -> Iterator[Thought]:
        said, closes, after = self._held.partition(CLOSES)
        if closes:
            self._state, self._held, self._sure = "answering", after.lstrip("\n"), True
        else:
            said = self._decided(_MAY_CLOSE)
        if said:
            self._given.append(said)
            yield Thought(text=said)

    def _answer(self) -> Iterator[Chunk | Thought]:
        before = "".join(self._given[-len(OPENS) :]) or "\n"
        self._sure = self._sure or OPENS in before + self._held
        found = None if self._sure else _CLOSES_UNOPENED.search(before + self._held, len(before))
        if found:
            thought = "".join([*self._given, found.string[len(before) : found.start()]])
            self._held = found.string[found.end() :].lstrip("\n")
            self._sure = self.opened = True
            yield Thought(text=thought, instead=True)
        if said := self._decided(_NEVER if self._sure else _MAY_CLOSE_UNOPENED):
            self._given.append(said)
            yield Chunk(text=said)

    def _decided(self, may_close: re.Pattern[str]) -> str:
        """What is held, without an end that may become a mark: that stays."""
        found = may_close.search(self._held)
        size = found.start() if found else len(self._held)
        said, self._held = self._held[:size], self._held[size:]
        return said
