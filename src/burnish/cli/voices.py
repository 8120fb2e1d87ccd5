"""The model's words as they come (`--verbose`). Several answers are written at once; one speaks, the others wait."""

from rich.console import Console
from rich.text import Text

from burnish.text import plain


class Voices:
    """Prints each answer in one piece: the words of those who wait are kept until it is their turn."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._speaker = ""
        self._kept: dict[str, str] = {}
        self._ended: set[str] = set()

    def hear(self, ask_id: str, words: str) -> None:
        """A few more words of one answer."""
        if not self._speaker:
            self._begin(ask_id)
        if ask_id == self._speaker:
            self._say(words)
        else:
            self._kept[ask_id] = self._kept.get(ask_id, "") + words

    def end(self, ask_id: str) -> None:
        """An answer is complete; whoever waits goes on."""
        self._ended.add(ask_id)
        while self._speaker in self._ended:
            self._say("\n")
            self._speaker = ""
            if self._kept:
                waiting = next(iter(self._kept))
                self._begin(waiting)
                self._say(self._kept.pop(waiting))

    def _begin(self, ask_id: str) -> None:
        self._speaker = ask_id
        self._say(f"── {ask_id} ──\n")

    def _say(self, words: str) -> None:
        self.console.print(Text(plain(words), style="dim"), end="", soft_wrap=True)
