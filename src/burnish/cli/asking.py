"""`--ask`: assumptions are put to the user in the terminal. Enter agrees; what is typed takes their place."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from burnish.errors import SetupProblem
from burnish.text import strip_controls

if TYPE_CHECKING:
    from burnish.cli.screen import Screen


def check_terminal(silent: bool) -> None:
    """Refuse to ask where nobody could answer."""
    if not can_ask(silent):
        raise SetupProblem(
            "There is nobody to ask: --ask needs a terminal to read from and to show questions in, without --quiet and "
            "--events. Say in the sentence what should hold at the edges, and leave out --ask."
        )


def can_ask(silent: bool) -> bool:
    """Whether somebody sees a question and can answer it."""
    return not silent and sys.stdin.isatty() and sys.stdout.isatty()


def terminal(screen: "Screen | None") -> Callable[[str], str]:
    """Asks the user about one assumption; the moving line waits meanwhile. The end of input agrees to the rest."""

    def answer(assumption: str) -> str:
        if screen:
            screen.pause()
        print(f"Assume: {strip_controls(assumption)}")
        try:
            return input("  Enter to agree, or say what should hold: ").strip()
        except EOFError:
            return ""
        finally:
            if screen:
                screen.go_on()

    return answer
