"""What models say, as it comes: their words in full (`--verbose`), and their thoughts folded into one line."""

from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from burnish.events import ModelThought
from burnish.models.tokens import guess_tokens
from burnish.text import one_line, plural, strip_controls

MARK = "┊ "
"""At the beginning of each line of a thought: it is no part of the answer."""
KEPT = 400
"""Characters that are remembered of a thought: more than a terminal is wide."""
LEAST_ROOM = 8
"""Columns below which no words are shown."""


class StreamedAnswers:
    """Prints each answer in one piece: several are written at once, and the words of those who wait are kept.

    Thoughts come before the answer, in full, slanted and with a mark at each line.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self._speaker = ""
        self._thinking = False
        self._kept: dict[str, list[tuple[str, bool]]] = {}
        self._ended: set[str] = set()

    def hear(self, ask_id: str, words: str, thinking: bool = False) -> None:
        """A few more words of one answer, or of the thoughts before it."""
        if not self._speaker:
            self._begin(ask_id)
        if ask_id == self._speaker:
            self._speak(words, thinking)
        else:
            self._kept.setdefault(ask_id, []).append((words, thinking))

    def end(self, ask_id: str) -> None:
        """An answer is complete; whoever waits goes on."""
        self._ended.add(ask_id)
        while self._speaker in self._ended:
            self._say("\n")
            self._speaker = ""
            if self._kept:
                waiting = next(iter(self._kept))
                self._begin(waiting)
                for words, thinking in self._kept.pop(waiting):
                    self._speak(words, thinking)

    def _begin(self, ask_id: str) -> None:
        self._speaker, self._thinking = ask_id, False
        self._say(f"── {ask_id} ──\n")

    def _speak(self, words: str, thinking: bool) -> None:
        """Say it; where thoughts begin or end, on a new line that says so."""
        if thinking:
            words = ("" if self._thinking else MARK) + strip_controls(words).replace("\n", f"\n{MARK}")
            self._say(words, "dim italic")
        else:
            self._say(("\n" if self._thinking else "") + words)
        self._thinking = thinking

    def _say(self, words: str, style: str = "dim") -> None:
        self.console.print(Text(strip_controls(words), style=style), end="", soft_wrap=True)


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


class StreamedThoughts:
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
        room, words = room - len(said) - len(', ""'), ""
        for word in reversed(one_line(one.last, 2 * KEPT).split(" ") if room >= LEAST_ROOM else []):
            longer = f"{word} {words}".rstrip()
            if cell_len(longer) > room:
                break
            words = longer
        return f'{said}, "{words}"' if words else said
