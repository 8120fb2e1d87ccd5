"""Thoughts that a server leaves in the answer, `<think>…</think>` at its very beginning, taken apart as they come."""

from collections.abc import Iterator

from burnish.models.model import Chunk, Thought

OPENS, CLOSES = "<think>", "</think>"
CHARACTERS_PER_TOKEN, MOST_PER_PIECE = 4, 8
"""About four; a piece with more than eight is surely more than one token."""


def about_tokens(pieces: int, characters: int) -> int:
    """About how many tokens a text has that came in so many pieces, where nobody counts them for us."""
    return pieces if characters <= MOST_PER_PIECE * pieces else characters // CHARACTERS_PER_TOKEN


class Apart:
    """Sorts an answer's text into thoughts and answer. Only what the answer begins with can be a thought."""

    def __init__(self) -> None:
        self._held = ""
        self._state = "beginning"

    def sort(self, text: str) -> Iterator[Chunk | Thought]:
        """What can be told by now; the rest is held back until more has come."""
        self._held += text
        if self._state == "beginning":
            self._look_at_beginning()
        if self._state == "thinking":
            yield from self._thoughts()
        if self._state == "answering" and self._held:
            yield Chunk(text=self._held)
            self._held = ""

    def rest(self) -> Iterator[Chunk | Thought]:
        """What was held back when the answer came to its end."""
        if self._held:
            yield Thought(text=self._held) if self._state == "thinking" else Chunk(text=self._held)
        self._held = ""

    def _look_at_beginning(self) -> None:
        start = self._held.lstrip()
        if start.startswith(OPENS):
            self._state, self._held = "thinking", start.removeprefix(OPENS)
        elif not OPENS.startswith(start):
            self._state = "answering"

    def _thoughts(self) -> Iterator[Thought]:
        said, closes, after = self._held.partition(CLOSES)
        if closes:
            self._state, self._held = "answering", after.lstrip("\n")
        else:
            kept = next((size for size in range(len(CLOSES) - 1, 0, -1) if said.endswith(CLOSES[:size])), 0)
            said, self._held = said[: len(said) - kept], said[len(said) - kept :]
        if said:
            yield Thought(text=said)
