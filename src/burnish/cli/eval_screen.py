"""What a person sees while an evaluation runs: a bar and the numbers so far, with the protocol beside them.

Where there is no terminal, a plain line now and then. Text from models and data files is shown, never obeyed.
"""

import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from burnish.cli.eval_table import spread
from burnish.evals.folder import Folder
from burnish.evals.results import Results, counted_up
from burnish.evals.strategies.kinds import strategy
from burnish.evals.tally import Attempt, tally
from burnish.evals.watcher import Watcher
from burnish.events import Broke, Event, ModelReplied, Scored
from burnish.text import one_line, plural

LINE_SECONDS, LINE_SHARE = 10.0, 0.1
"""Without a terminal a line comes so often, or after such a share of the work, whichever is later."""
REFRESH_SECONDS = 0.5


class EvalScreen(Watcher):
    """Reads what happens and shows where things stand. Numbers are counted by the same code as the reports."""

    def __init__(self, console: Console, verbose: bool = False) -> None:
        self.console = console
        self.verbose = verbose
        self.folder: Folder | None = None
        self._stack = ExitStack()
        self._lock = threading.Lock()
        self._live: Live | None = None
        self._fetch: Any = None
        self._attempts: list[Attempt] = []
        self._before = 0
        self._tokens = 0
        self._started = self._said = self._counted = time.monotonic()
        self._said_done = 0
        self._results: Results | None = None
        self._preparing = (0, 0, "")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Take the moving part away."""
        self._stack.close()
        self._live = None

    def fetching(self, done: int, total: int, source: str) -> None:
        """Weights are on their way, under the same bar as everywhere."""
        if self._fetch is None:
            from burnish.cli.models import show_fetching

            self.close()  # one moving part at a time
            self._fetch = self._stack.enter_context(show_fetching())
        self._fetch(done, total, source)

    def preparing(self, done: int, total: int, what: str) -> None:
        """Tasks are fetched, made, or tried with their own answers before any is used."""
        if what != self._preparing[2]:
            self._say(Text(f"{one_line(what)} …", style="dim"))
        self._preparing = (done, total, what)
        self._move()

    def begun(self, folder: Folder) -> None:
        """Attempts begin, or go on from what is on disk."""
        self.folder = folder
        self._attempts = [tally(task, seed, events, folder.bugs[task]) for task, seed, events in folder.attempts()]
        self._before = self._said_done = len(self._attempts)
        self._started = self._said = time.monotonic()
        for line in heading(folder):
            self._say(Text(line))
        if self._before:
            self._say(Text(f"going on: {self._before} of {plural(folder.total, 'attempt')} are on disk"))
        if self._before < folder.total:
            self._move()

    def heard(self, event: Event) -> None:
        """Count tokens as answers come."""
        if isinstance(event, ModelReplied):
            with self._lock:
                self._tokens += event.tokens_out

    def finished(self, task_id: str, seed: int, events: Sequence[Event]) -> None:
        """One more."""
        assert self.folder
        attempt = tally(task_id, seed, events, self.folder.bugs[task_id])
        with self._lock:
            self._attempts.append(attempt)
        if self.verbose:
            self._say(attempt_line(attempt, events))
        if self._live is None and self._line_is_due():
            self._said, self._said_done = time.monotonic(), len(self._attempts)
            self._say(Text(f"{self._where()}  {self._numbers(self._so_far(max_age_seconds=0))}"))

    def __rich__(self) -> Group:
        """The moving part."""
        if self.folder is None:
            done, total, what = self._preparing
            return Group(_bar(done, total, f"{done}/{total} {one_line(what)}"))
        bar = _bar(len(self._attempts), self.folder.total, self._where())
        return Group(bar, Text(self._numbers(self._so_far()), style="dim"))

    def _move(self) -> None:
        if self._live is None and self.console.is_terminal:
            self._fetch = None
            self._stack.close()
            live = Live(self, console=self.console, refresh_per_second=1 / REFRESH_SECONDS, transient=True)
            self._live = self._stack.enter_context(live)

    def _say(self, line: Text) -> None:
        self.console.print(line, soft_wrap=True)

    def _line_is_due(self) -> bool:
        assert self.folder
        done = len(self._attempts)
        waited = time.monotonic() - self._said >= LINE_SECONDS
        return done == self.folder.total or (waited and done - self._said_done >= LINE_SHARE * self.folder.total)

    def _so_far(self, max_age_seconds: float = REFRESH_SECONDS) -> Results:
        """The numbers, counted anew when they are too old."""
        assert self.folder
        now = time.monotonic()
        if self._results is None or now - self._counted >= max_age_seconds:
            with self._lock:
                attempts = list(self._attempts)
            self._results = counted_up(self.folder.plan, len(self.folder.task_ids), (), attempts)
            self._counted = now
        return self._results

    def _where(self) -> str:
        """How far it is, and how long it will take."""
        assert self.folder
        done, total = len(self._attempts), self.folder.total
        fresh, seconds = done - self._before, time.monotonic() - self._started
        left = f", {clock(seconds / fresh * (total - done))} left" if fresh and done < total else ""
        return f"{done}/{total} done{left}"

    def _numbers(self, results: Results) -> str:
        """Solved so far, by round, with the protocol beside it; then the pace and what broke."""
        seconds = time.monotonic() - self._started
        speed = f" · {self._tokens / seconds:.0f} tokens/s" if seconds > 1 and self._tokens else ""
        errors = f" · {plural(results.errors, 'error')}" if results.errors else ""
        if not results.finished:
            return f"{results.protocol}: nothing finished yet{speed}"
        rounds = " → ".join(f"{100 * share:.1f}" for share in results.pass_at_1)
        by_round = f" · by round {rounds}" if len(results.pass_at_1) > 1 else ""
        share = spread(results.pass_at_1[-1], results.pass_at_1_interval[-1])
        return f"{results.protocol}: solved {results.solved}, {share}{by_round}{speed}{errors}"


def heading(folder: Folder) -> list[str]:
    """What is measured, in two lines."""
    plan = folder.plan
    variant = f" ({plan.variant})" if plan.variant else ""
    most = strategy(plan.strategy).calls(plan)
    seeds = f" x {plural(len(plan.seeds), 'seed')}" if len(plan.seeds) > 1 else ""
    return [
        f"{one_line(plan.suite)}{variant}: {plural(len(folder.task_ids), 'task')}{seeds}, protocol {plan.protocol}, "
        f"strategy {plan.strategy} with at most {plural(most, 'call')} a task",
        f"{one_line(plan.model)} on {one_line(plan.engine)}",
    ]


def attempt_line(attempt: Attempt, events: Sequence[Event]) -> Text:
    """One attempt on one line: solved, or the first thing that went wrong."""
    scores = [event for event in events if isinstance(event, Scored)]
    broke = [event.message for event in events if isinstance(event, Broke)]
    why = broke[0] if broke else scores[-1].why if scores else "no answer could be run"
    cost = f"{plural(attempt.calls, 'call')}, {attempt.tokens_out} tokens, {attempt.seconds:.1f} s"
    state, colour = ("solved", "green") if attempt.solved else ("broke", "bold red") if broke else ("failed", "red")
    said = "" if attempt.solved else f": {one_line(why, 120)}"
    name = f"{one_line(attempt.task_id, 60)}" + (f".{attempt.seed}" if attempt.seed else "")
    return Text.assemble(f"{name:<24} ", (state, colour), f" ({cost}){said}")


def clock(seconds: float) -> str:
    """A time for people: 45 s, 3:05 min, 2:10 h."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02} min"
    return f"{whole // 3600}:{whole % 3600 // 60:02} h"


def _bar(done: int, total: int, words: str) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_row(ProgressBar(total=max(1, total), completed=done, width=40), Text(words))
    return grid
