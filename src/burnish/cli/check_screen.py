"""What a person sees while checks run: a line a check, with how far the long ones are.

Where there is no terminal, a plain line when a check has its answer. Text from code and tools is shown, never obeyed.
"""

import threading
import time
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from burnish.checks.verdict import Watcher
from burnish.events import Evidence
from burnish.report.check_words import SYMBOLS, VERDICTS
from burnish.text import one_line

COLOURS = {"passed": "green", "failed": "bold red", "not_run": "yellow"}
BAR_CELLS = 24


class CheckScreen(Watcher):
    """Shows which checks run and what the finished ones said."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._lock = threading.Lock()
        self._running: dict[str, tuple[float, int, int]] = {}
        self._finished: list[Text] = []
        self._spinner = Spinner("dots")
        self._live: Live | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Take the moving part away."""
        if self._live:
            self._live.stop()

    def told(self, text: str) -> None:
        """A line that stays."""
        self.console.print(Text(one_line(text, 400), style="dim"), soft_wrap=True)

    def begun(self, check: str) -> None:
        """One more line that moves."""
        with self._lock:
            self._running[check] = (time.monotonic(), 0, 0)
            if self._live is None and self.console.is_terminal:
                self._live = Live(self, console=self.console, refresh_per_second=10, transient=True)
                self._live.start()

    def moved(self, check: str, done: int, total: int) -> None:
        """How far it is."""
        with self._lock:
            if check in self._running:
                self._running[check] = (self._running[check][0], done, total)

    def finished(self, evidence: Evidence, seconds: float) -> None:
        """Its answer takes the place of its line; without a terminal it is a line of its own."""
        with self._lock:
            self._running.pop(evidence.check, None)
            self._finished.append(answer_line(evidence, seconds))
        if self._live is None:
            self.console.print(self._finished[-1], soft_wrap=True)

    def __rich__(self) -> Group:
        """Answers so far, and a line for each check that is under way."""
        with self._lock:
            running, finished = dict(self._running), list(self._finished)
        grid = Table.grid(padding=(0, 1))
        for check, (started, done, total) in running.items():
            clock = Text(f"{time.monotonic() - started:5.1f} s", style="dim")
            bar = ProgressBar(total=total, completed=min(done, total), width=BAR_CELLS) if total else Text("")
            count = Text(f"{done}/{total}" if total else str(done or ""), style="dim")
            grid.add_row(self._spinner, Text(f"{check:<12}", style="bold"), clock, bar, count)
        return Group(*finished, grid)


def answer_line(evidence: Evidence, seconds: float) -> Text:
    """One check's answer on one line."""
    colour = COLOURS[evidence.verdict]
    return Text.assemble(
        (f"{SYMBOLS[evidence.verdict]} ", colour),
        (f"{evidence.check:<12} ", "bold"),
        (f"{VERDICTS[evidence.verdict]:<7} ", colour),
        (f"{seconds:6.1f} s  ", "dim"),
        one_line(evidence.figure, 60),
    )
