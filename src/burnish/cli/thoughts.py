"""What models say to themselves, folded: the last words on one line while they think, then how long it took."""

from dataclasses import dataclass

from rich.cells import cell_len

from burnish.events import ModelThought
from burnish.models.tokens import guess_tokens
from burnish.text import one_line, plural

KEPT = 400
"""Characters that are remembered of a thought: more than a terminal is wide."""
LEAST_ROOM = 8
"""Columns below which no words are shown."""


@dataclass
class _Thinking:
    """One model's thoughts before one answer."""

    since: float
    pieces: int = 0
    characters: int = 0
    last: str = ""

    @property
    def tokens(self) -> int:
        """About; the true number comes with the answer, where the provider tells it."""
        return guess_tokens(self.pieces, self.characters)


class Thoughts:
    """Follows several thinkers at once; what they think is shown, never kept."""

    def __init__(self) -> None:
        self._thinking: dict[str, _Thinking] = {}
        """By ask; who spoke last stands last."""

    def hear(self, event: ModelThought) -> None:
        """A few more words of one thinker."""
        one = self._thinking.pop(event.ask_id, None) or _Thinking(since=event.at)
        one.pieces += 1
        one.characters += len(event.text)
        one.last = (one.last + event.text)[-KEPT:]
        self._thinking[event.ask_id] = one

    def fold(self, ask_id: str, at: float) -> str:
        """In a few words what there was of it, now that it is over; empty where there was nothing, or it was told."""
        one = self._thinking.pop(ask_id, None)
        if one is None:
            return ""
        return f"for {max(0.0, at - one.since):.0f} s, {plural(one.tokens, 'token')} ({one_line(ask_id, 40)})"

    def forget(self) -> None:
        """Nobody thinks any more: whoever did was broken off, and will not answer."""
        self._thinking.clear()

    def now(self, room: int) -> str:
        """One line of at most so many columns while somebody thinks, with their last words; empty while nobody does."""
        if not self._thinking:
            return ""
        one = next(reversed(self._thinking.values()))
        several = f" ({len(self._thinking)} at once)" if len(self._thinking) > 1 else ""
        said = f"thinking{several} … {plural(one.tokens, 'token')}"
        words = _last_words(one.last, room - len(said) - len(', ""'))
        return f'{said}, "{words}"' if words else said


def _last_words(text: str, room: int) -> str:
    """The end of a text on one line, as many whole words as there is room for."""
    if room < LEAST_ROOM:
        return ""
    kept = ""
    for word in reversed(one_line(text, 2 * KEPT).split(" ")):
        longer = f"{word} {kept}".rstrip()
        if cell_len(longer) > room:
            break
        kept = longer
    return kept
