"""The model's words as they come (`--verbose`). Several answers are written at once; one speaks, the others wait."""

from rich.console import Console
from rich.text import Text

from burnish.text import strip_controls

MARK = "┊ "
"""At the beginning of each line of a thought: it is no part of the answer."""


class Voices:
    """Prints each answer in one piece: the words of those who wait are kept until it is their turn.

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
