"""What a person sees of an evaluation: a bar and the numbers while it runs, a table of them at its end.

No number is without its protocol. Where there is no terminal, a plain line now and then. Text from models and data
files is shown, never obeyed.
"""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from burnish.evals.eval_store import Folder
from burnish.evals.metrics import count_attempt, count_results
from burnish.evals.runner import EvalProgress
from burnish.evals.schema import Attempt, Interval, Results
from burnish.evals.strategies.kinds import find_strategy
from burnish.events import Broke, Event, ModelReplied, Scored
from burnish.text import one_line, plural

LINE_SECONDS, LINE_SHARE = 10.0, 0.1
"""Without a terminal a line comes so often, or after such a share of the work, whichever is later."""
REFRESH_SECONDS = 0.5
MOST_NAMED = 10
"""Rows left out and attempts that broke, in the table at the end; report.md has them all."""


class EvalScreen(EvalProgress):
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
        self._done_before = 0
        self._tokens = 0
        self._started = self._line_time = self._results_time = time.monotonic()
        self._line_done = 0
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

    def on_fetch(self, done: int, total: int, source: str) -> None:
        """Weights are on their way, under the same bar as everywhere."""
        if self._fetch is None:
            from burnish.cli.models import show_fetching

            self.close()  # one moving part at a time
            self._fetch = self._stack.enter_context(show_fetching())
        self._fetch(done, total, source)

    def on_prepare(self, done: int, total: int, what: str) -> None:
        """Tasks are fetched, made, or tried with their own answers before any is used."""
        if what != self._preparing[2]:
            self._print_line(Text(f"{one_line(what)} …", style="dim"))
        self._preparing = (done, total, what)
        self._start_live()

    def on_begin(self, folder: Folder) -> None:
        """Attempts begin, or go on from what is on disk."""
        self.folder = folder
        self._attempts = [
            count_attempt(task, seed, events, folder.bugs[task]) for task, seed, events in folder.attempts()
        ]
        self._done_before = self._line_done = len(self._attempts)
        self._started = self._line_time = time.monotonic()
        for line in heading(folder):
            self._print_line(Text(line))
        if self._done_before:
            self._print_line(Text(f"going on: {self._done_before} of {plural(folder.total, 'attempt')} are on disk"))
        if self._done_before < folder.total:
            self._start_live()

    def on_event(self, event: Event) -> None:
        """Count tokens as answers come."""
        if isinstance(event, ModelReplied):
            with self._lock:
                self._tokens += event.tokens_out

    def on_finish(self, task_id: str, seed: int, events: Sequence[Event]) -> None:
        """One more."""
        assert self.folder
        attempt = count_attempt(task_id, seed, events, self.folder.bugs[task_id])
        with self._lock:
            self._attempts.append(attempt)
        if self.verbose:
            self._print_line(attempt_line(attempt, events))
        now, done, total = time.monotonic(), len(self._attempts), self.folder.total
        due = now - self._line_time >= LINE_SECONDS and done - self._line_done >= LINE_SHARE * total
        if self._live is None and (due or done == total):
            self._line_time, self._line_done = now, done
            self._print_line(
                Text(f"{self._format_position()}  {self._format_numbers(self._current_results(max_age_seconds=0))}")
            )

    def __rich__(self) -> Group:
        """The moving part."""
        if self.folder is None:
            done, total, what = self._preparing
            return Group(_bar(done, total, f"{done}/{total} {one_line(what)}"))
        bar = _bar(len(self._attempts), self.folder.total, self._format_position())
        return Group(bar, Text(self._format_numbers(self._current_results()), style="dim"))

    def _start_live(self) -> None:
        if self._live is None and self.console.is_terminal:
            self._fetch = None
            self._stack.close()
            live = Live(self, console=self.console, refresh_per_second=1 / REFRESH_SECONDS, transient=True)
            self._live = self._stack.enter_context(live)

    def _print_line(self, line: Text) -> None:
        self.console.print(line, soft_wrap=True)

    def _current_results(self, max_age_seconds: float = REFRESH_SECONDS) -> Results:
        """The numbers, counted anew when they are too old."""
        assert self.folder
        now = time.monotonic()
        if self._results is None or now - self._results_time >= max_age_seconds:
            with self._lock:
                attempts = list(self._attempts)
            self._results = count_results(self.folder.plan, len(self.folder.task_ids), (), attempts)
            self._results_time = now
        return self._results

    def _format_position(self) -> str:
        """How far it is, and how long it will take."""
        assert self.folder
        done, total = len(self._attempts), self.folder.total
        fresh, seconds = done - self._done_before, time.monotonic() - self._started
        left = f", {clock(seconds / fresh * (total - done))} left" if fresh and done < total else ""
        return f"{done}/{total} done{left}"

    def _format_numbers(self, results: Results) -> str:
        """Solved so far, by round, with the protocol beside it; then the pace and what broke."""
        seconds = time.monotonic() - self._started
        speed = f" · {self._tokens / seconds:.0f} tokens/s" if seconds > 1 and self._tokens else ""
        errors = f" · {plural(results.errors, 'error')}" if results.errors else ""
        if not results.finished:
            return f"{results.protocol}: nothing finished yet{speed}"
        rounds = " → ".join(f"{100 * share:.1f}" for share in results.pass_at_1)
        by_round = f" · by round {rounds}" if len(results.pass_at_1) > 1 else ""
        share, (low, high) = results.pass_at_1[-1], results.pass_at_1_interval[-1]
        spread = f"{100 * share:.1f}% ({100 * low:.1f}-{100 * high:.1f})"
        return f"{results.protocol}: solved {results.solved}, {spread}{by_round}{speed}{errors}"


def heading(folder: Folder) -> list[str]:
    """What is measured, in two lines."""
    plan = folder.plan
    variant = f" ({plan.variant})" if plan.variant else ""
    most = find_strategy(plan.strategy).calls(plan)
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


def show_table(console: Console, results: Results, folder: Folder) -> None:
    """The table, what was left out or broke, where the files are, and what to type next."""
    console.print()
    for line in _table_lines(results, folder):
        console.print(Text(line), soft_wrap=True)


def _table_lines(results: Results, folder: Folder) -> Iterator[str]:
    """pass@1 after each round and after each call, one table where the two are the same; then all else."""
    title = f"pass@1 on {one_line(results.suite)}{f' ({results.variant})' if results.variant else ''}"
    yield f"{title}, protocol {results.protocol}, strategy {results.strategy}"
    yield f"{one_line(results.model)} on {one_line(results.engine)}"
    if results.finished:
        same = results.pass_at_1 == results.pass_at_1_by_call
        yield from _share_rows("round", results.pass_at_1, results.pass_at_1_interval, 0, calls=same)
        if not same:
            yield from _share_rows("call", results.pass_at_1_by_call, results.pass_at_1_by_call_interval, 1)
        partly = "" if results.complete else f" so far, of {results.planned}"
        yield (
            f"{results.solved} of {plural(results.finished, 'attempt')}{partly} solved ({results.protocol}); "
            f"{results.calls_per_task:.1f} calls each, {results.cost.tokens_out:.0f} tokens written, "
            f"{results.cost.seconds:.0f} s, {results.tokens_per_second:.0f} tokens/s"
        )
    else:
        yield "nothing is finished yet"
    if results.broken:
        yield f"left out: {plural(len(results.broken), 'broken row')}"
        yield from _name_rows([(row.id, row.why) for row in results.broken])
    if results.errors:
        yield f"broke: {plural(results.errors, 'attempt')}, counted as not solved"
        yield from _name_rows([(f"{row.task_id}.{row.seed}", row.error) for row in results.attempts if row.error])
    yield f"report   {folder.path / 'report.html'}"
    yield f"         {folder.path / 'report.md'}  results.json  attempts/"
    if results.complete:
        yield f"compare  burnish compare {folder.name} OTHER"
    else:
        yield f"go on    burnish eval resume {folder.name}"


def _share_rows(
    what: str, shares: Sequence[float], intervals: Sequence[Interval], first: int, calls: bool = False
) -> Iterator[str]:
    yield f"  {what:>5}{'  call' if calls else ''}  pass@1  95% interval"
    for place, (share, (low, high)) in enumerate(zip(shares, intervals, strict=True)):
        call = f"{place + 1:>6}" if calls else ""
        yield f"  {place + first:>5}{call}  {100 * share:5.1f}%  {100 * low:.1f}-{100 * high:.1f}%"


def _name_rows(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    for name, why in rows[:MOST_NAMED]:
        yield f"  {one_line(name, 60)}: {one_line(why, 160)}"
    if len(rows) > MOST_NAMED:
        yield f"  … and {len(rows) - MOST_NAMED} more; see report.md"
