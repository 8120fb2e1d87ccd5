"""What a person sees of evaluations: numbers while one runs, a table at its end, a list of them, two side by side.

No number is without its protocol. Where there is no terminal, a plain line now and then. Text from models and data
files is shown, never obeyed.
"""

import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import typer
from rich import box
from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from burnish.agent.limits import Limits, explain_missing_cap
from burnish.cli.eval_apps import describe_apps
from burnish.cli.eval_pages import compare_on_screen as compare_pages_on_screen
from burnish.cli.eval_pages import describe_pages, read_pages
from burnish.cli.io import print_json, print_table
from burnish.cli.setup import show_fetching
from burnish.errors import SetupProblem
from burnish.evals.compare import Comparison, describe_difference
from burnish.evals.compare import compare as compare_results
from burnish.evals.eval_store import APPS_FILE, PAGES_FILE, PLAN_FILE, Folder, find_evaluation, list_evaluations
from burnish.evals.handle import AnswerCounted, AttemptFinished, EvalBegun, EvalEvent, EvalHandle, Preparing
from burnish.evals.metrics import RESULTS_FILE, compute_results, count_results, read_results
from burnish.evals.reports.plots import draw_comparison
from burnish.evals.reports.report import write_reports
from burnish.evals.reports.report_text import (
    describe_answers,
    describe_limit,
    describe_not_recorded,
    describe_replay,
    describe_verdicts,
    list_estimates,
)
from burnish.evals.runner import TooManyErrors
from burnish.evals.schema import Attempt, Interval, Results
from burnish.evals.strategies.kinds import STRATEGIES, find_strategy
from burnish.evals.suites import SUITES
from burnish.paths import write_atomically
from burnish.text import one_line, plural, strip_controls

LINE_SECONDS, LINE_SHARE = 10.0, 0.1
"""Without a terminal a line comes so often, or after such a share of the work, whichever is later."""
MOST_NAMED = 10
"""Rows left out and attempts that broke, in the table at the end; report.md has them all."""
MOST_TASKS = 20
"""Tasks that only one side of a comparison solves; --json has them all."""
MOST_KEPT = 20
"""Evaluations in the list."""


def run_on_screen(handle: EvalHandle, verbose: bool, as_json: bool) -> Results:
    """Show an evaluation that has begun, to its end.

    Whatever ends it early ends with a table of what is finished and the line that goes on.
    """
    console = Console(highlight=False, stderr=as_json)
    with EvalScreen(console, verbose) as screen, ExitStack() as stack:
        stack.callback(handle.stop)  # what goes wrong with the screen ends it too; one that is over stays as it is
        try:
            for event in handle.events():
                screen.show(event)
            results = handle.wait()
        except (KeyboardInterrupt, TooManyErrors) as error:
            handle.stop()
            screen.close()
            stopped = "Stopped. Finished attempts are kept; those under way are forgotten."
            if screen.folder:
                _show_table(console, compute_results(screen.folder), screen.folder)
                print(f"burnish: {strip_controls(str(error) or stopped)}", file=sys.stderr, flush=True)
                write_reports(screen.folder)  # last: they take a while
            if isinstance(error, TooManyErrors):
                raise typer.Exit(1) from error
            raise
    assert screen.folder
    _show_table(console, results, screen.folder)
    return results


class EvalScreen:
    """Reads what happens and shows where things stand. Numbers are counted by the same code as the reports."""

    def __init__(self, console: Console, verbose: bool = False) -> None:
        self.console = console
        self.verbose = verbose
        self.folder: Folder | None = None
        self._stack = ExitStack()
        """Holds the one moving part there is: ours, or the bar of weights that are fetched."""
        self._live: Live | None = None
        self._fetch: Any = None
        self._attempts: list[Attempt] = []
        self._done_before = self._line_done = self._tokens = 0
        self._started = self._line_time = time.monotonic()
        self._preparing = (0, 0, "")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Take the moving part away."""
        self._stack.close()
        self._live = self._fetch = None

    def show(self, event: EvalEvent) -> None:
        """One more thing that happened."""
        match event:
            case Preparing(kind="fetching", done=done, total=total, what=source):
                self._show_fetching(done, total, source)
            case Preparing(done=done, total=total, what=what):
                if what != self._preparing[2]:
                    self._print(Text(f"{one_line(what)} …", style="dim"))
                self._preparing = (done, total, what)
                self._start_live()
            case EvalBegun():
                self._begin(Folder.open(Path(event.folder)), event.attempts)
            case AnswerCounted(tokens_out=tokens):
                self._tokens += tokens
            case AttemptFinished(attempt=attempt, why=why):
                self._show_finished(attempt, why)

    def _show_fetching(self, done: int, total: int, source: str) -> None:
        """Weights are on their way, under the same bar as everywhere."""
        if self._fetch is None:
            self.close()
            self._fetch = self._stack.enter_context(show_fetching())
        self._fetch(done, total, source)

    def _begin(self, folder: Folder, there: Sequence[Attempt]) -> None:
        """Attempts begin, or go on from those that are on disk."""
        self.folder, plan = folder, folder.plan
        self._attempts = list(there)
        done = self._done_before = self._line_done = len(self._attempts)
        self._started = self._line_time = time.monotonic()
        variant = f" ({plan.variant})" if plan.variant else ""
        seeds = f" x {plural(len(plan.seeds), 'seed')}" if len(plan.seeds) > 1 else ""
        most = plural(find_strategy(plan.strategy).calls(plan), "call")
        tasks = f"{one_line(plan.suite)}{variant}: {plural(len(folder.task_ids), 'task')}{seeds}"
        self._print(f"{tasks}, protocol {plan.protocol}, strategy {plan.strategy} with at most {most} a task")
        self._print(f"{one_line(plan.model)} on {one_line(plan.engine)}")
        if plan.replayed:
            self._print(f"replayed: {describe_replay(plan)}")
        if doubt := explain_missing_cap(Limits(dollars=folder.contents.limits.dollars), plan.model):
            self._print(doubt)
        if done:
            self._print(f"going on: {done} of {plural(folder.total, 'attempt')} are on disk")
        if done < folder.total:
            self._start_live()

    def _show_finished(self, attempt: Attempt, why: str) -> None:
        """One more; it is said at once where somebody wants that, else now and then where nothing moves."""
        assert self.folder
        self._attempts.append(attempt)
        if self.verbose:
            self._print(_attempt_line(attempt, why))
        now, done, total = time.monotonic(), len(self._attempts), self.folder.total
        due = now - self._line_time >= LINE_SECONDS and done - self._line_done >= LINE_SHARE * total
        if self._live is None and (due or done == total):
            self._line_time, self._line_done = now, done
            self._print(f"{self._format_position()}  {self._format_numbers()}")

    def __rich__(self) -> Group:
        """The moving part: a bar, and once attempts are made the numbers below it."""
        done, total, what = self._preparing
        says, numbers = f"{done}/{total} {one_line(what)}", []
        if self.folder:
            done, total, says = len(self._attempts), self.folder.total, self._format_position()
            numbers = [Text(self._format_numbers(), style="dim")]
        grid = Table.grid(padding=(0, 2))
        grid.add_row(ProgressBar(total=max(1, total), completed=done, width=40), Text(says))
        return Group(grid, *numbers)

    def _start_live(self) -> None:
        if self._live is None and self.console.is_terminal:
            self.close()
            live = Live(self, console=self.console, refresh_per_second=2, transient=True)
            self._live = self._stack.enter_context(live)

    def _print(self, line: str | Text) -> None:
        self.console.print(Text(line) if isinstance(line, str) else line, soft_wrap=True)

    def _format_position(self) -> str:
        """How far it is, and how long it will take."""
        assert self.folder
        done, total = len(self._attempts), self.folder.total
        fresh, seconds = done - self._done_before, time.monotonic() - self._started
        left = f", {clock(seconds / fresh * (total - done))} left" if fresh and done < total else ""
        return f"{done}/{total} done{left}"

    def _format_numbers(self) -> str:
        """Solved so far, by round, with the protocol beside it; then the pace and what broke."""
        assert self.folder
        attempts = list(self._attempts)
        results = count_results(self.folder.plan, len(self.folder.task_ids), (), attempts)
        seconds = time.monotonic() - self._started
        speed = f" · {self._tokens / seconds:.0f} tokens/s" if seconds > 1 and self._tokens else ""
        if not results.finished:
            return f"{results.protocol}: nothing finished yet{speed}"
        errors = f" · {plural(results.errors, 'error')}" if results.errors else ""
        errors += f" · {results.not_recorded} not on record" if results.not_recorded else ""
        rounds = " → ".join(f"{100 * share:.1f}" for share in results.pass_at_1)
        by_round = f" · by round {rounds}" if len(results.pass_at_1) > 1 else ""
        share, (low, high) = results.pass_at_1[-1], results.pass_at_1_interval[-1]
        spread = f"{100 * share:.1f}% ({100 * low:.1f}-{100 * high:.1f})"
        return f"{results.protocol}: solved {results.solved}, {spread}{by_round}{speed}{errors}"


def _attempt_line(attempt: Attempt, why: str) -> Text:
    """One attempt on one line: solved, or the first thing that went wrong."""
    cost = f"{plural(attempt.calls, 'call')}, {attempt.tokens_out} tokens, {attempt.seconds:.1f} s"
    state, colour = (
        ("solved", "green") if attempt.solved else ("broke", "bold red") if attempt.error else ("failed", "red")
    )
    state = "not on record" if attempt.not_recorded else state
    said = "" if attempt.solved else f": {one_line(why, 120)}"
    name = one_line(attempt.task_id, 60) + (f".{attempt.seed}" if attempt.seed else "")
    return Text.assemble(f"{name:<24} ", (state, colour), f" ({cost}){said}")


def clock(seconds: float) -> str:
    """A time for people: 45 s, 3:05 min, 2:10 h."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02} min"
    return f"{whole // 3600}:{whole % 3600 // 60:02} h"


def _show_table(console: Console, results: Results, folder: Folder) -> None:
    """The table, what was left out or broke, where the files are, and what to type next."""
    console.print()
    for line in _table_lines(results, folder):
        console.print(Text(line), soft_wrap=True)


def _table_lines(results: Results, folder: Folder) -> Iterator[str]:
    """pass@1 after each round and after each call, one table where the two are the same; then all else."""
    variant = f" ({results.variant})" if results.variant else ""
    yield f"pass@1 on {one_line(results.suite)}{variant}, protocol {results.protocol}, strategy {results.strategy}"
    yield f"{one_line(results.model)} on {one_line(results.engine)}"
    if results.replayed:
        yield f"replayed: {describe_replay(results)}"
    if results.finished:
        same = results.pass_at_1 == results.pass_at_1_by_call
        yield from _share_rows("round", results.pass_at_1, results.pass_at_1_interval, 0, calls=same)
        if not same:
            yield from _share_rows("call", results.pass_at_1_by_call, results.pass_at_1_by_call_interval, 1)
        if results.answers:
            yield from _share_rows("answers", results.pass_at_1_by_answers, results.pass_at_1_by_answers_interval, 0)
            yield f"  {describe_answers(results)}"
        partly = "" if results.complete else f" so far, of {results.planned}"
        yield (
            f"{results.solved} of {plural(results.finished, 'attempt')}{partly} solved ({results.protocol}); "
            f"{results.calls_per_task:.1f} calls each, {results.cost.tokens_out:.0f} tokens written, "
            f"{results.cost.seconds:.0f} s, {results.tokens_per_second:.0f} tokens/s{_format_dollars(results)}"
        )
        if results.verdicts:
            yield describe_verdicts(results.verdicts)
    else:
        yield "nothing is finished yet"
    broken = [(row.id, row.why) for row in results.broken]
    errors = [
        (f"{row.task_id}.{row.seed}", row.error) for row in results.attempts if row.error and not row.not_recorded
    ]
    heads = f"left out: {plural(len(broken), 'broken row')}", f"broke: {plural(results.errors, 'attempt')}"
    for head, rows in ((heads[0], broken), (f"{heads[1]}, counted as not solved", errors)):
        if rows:
            yield head
            yield from (f"  {one_line(name, 60)}: {one_line(why, 160)}" for name, why in rows[:MOST_NAMED])
        if len(rows) > MOST_NAMED:
            yield f"  … and {len(rows) - MOST_NAMED} more; see report.md"
    if results.not_recorded:
        yield describe_not_recorded(results)
    if results.stopped_by:
        yield f"stopped: {describe_limit(results)}; finished attempts are kept"
    yield f"report   {folder.path / 'report.html'}"
    yield f"         {folder.path / 'report.md'}  results.json  attempts/"
    name = results.stopped_by  # a limit that was reached is raised to twice as much
    raised = f" --{name} {2 * getattr(results.limits, name):g}" if name else ""
    following = (
        f"compare  burnish compare {folder.name} OTHER",
        f"go on    burnish eval resume {folder.name}{raised}",
    )
    yield following[0] if results.complete else following[1]


def _format_dollars(results: Results) -> str:
    """What it cost; nothing where nobody has to pay."""
    if results.cost.dollars is None:
        return f"; dollars not known: {one_line(results.dollars_unknown, 160)}"
    return f", {results.cost.dollars:.4g} dollars" if results.cost.dollars else ""


def _share_rows(
    what: str, shares: Sequence[float], intervals: Sequence[Interval], first: int, calls: bool = False
) -> Iterator[str]:
    yield f"  {what:>5}{'  call' if calls else ''}  pass@1  95% interval"
    for place, (share, (low, high)) in enumerate(zip(shares, intervals, strict=True)):
        call = f"{place + 1:>6}" if calls else ""
        yield f"  {place + first:>5}{call}  {100 * share:5.1f}%  {100 * low:.1f}-{100 * high:.1f}%"


def show_list(as_json: bool) -> None:
    """Which suites and strategies there are, and which evaluations were made: tables, or one JSON object."""
    suites = [(info.name, info.variants, info.splits, info.rows, info.what) for info in SUITES.values()]
    strategies = [(name, one_line((kind.__doc__ or "").split("\n")[0], 200)) for name, kind in STRATEGIES.items()]
    kept = []
    for path in list_evaluations(PLAN_FILE, PAGES_FILE, APPS_FILE)[:MOST_KEPT]:
        try:
            if not (path / PLAN_FILE).is_file():
                describe = describe_pages if (path / PAGES_FILE).is_file() else describe_apps
                kept.append((path.name, *describe(path)))
                continue
            folder = Folder.open(path)
        except SetupProblem:  # it cannot be read, and is left out here
            continue
        plan, done = folder.plan, f"{len(folder.finished_attempts())}/{folder.total}"
        strategy = f"{plan.strategy} (replayed)" if plan.replayed else plan.strategy
        kept.append((path.name, done, one_line(plan.suite, 40), plan.protocol, strategy, one_line(plan.model, 50)))
    if as_json:
        print_json(json.dumps({"suites": suites, "strategies": strategies, "evaluations": kept}))
        return
    texts = [(name, ", ".join(kinds), ", ".join(splits), str(rows), what) for name, kinds, splits, rows, what in suites]
    tables: list[tuple[Sequence[str], Sequence[Sequence[str]]]] = [
        (("suite", "variants", "splits", "tasks", ""), texts),
        (("strategy", ""), strategies),
        (("evaluation", "finished", "suite", "protocol", "strategy", "model"), kept),
    ]
    console = Console(highlight=False)
    for heads, rows in tables if kept else tables[:2]:
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
        for head in heads:
            table.add_column(Text(head, style="bold"), overflow="fold", no_wrap=head == heads[0])
        for row in rows:
            table.add_row(*(Text(one_line(cell, 200)) for cell in row))
        print_table(console, table)
        console.print()
    console.print(
        Text("Begin one with: burnish eval SUITE --strategy NAME --model NAME. Your own tasks: a .jsonl file.")
    )


def compare_on_screen(names: tuple[str, str], plot: Path | None, as_json: bool) -> None:
    """Compare two evaluations, or two groups of them, and print and draw what came of it."""
    if plot and plot.suffix.lower() != ".svg":
        raise SetupProblem(f"A plot is an SVG file, and {plot.name!r} is not named like one. Try: --plot compare.svg")
    pages = [[read_pages(name.strip()) for name in side.split(",")] for side in names]
    if any(one is not None for side in pages for one in side):
        picture = compare_pages_on_screen(names, pages, as_json)
        if plot:
            _keep_plot(plot, picture)
        return
    a, b = ([_read_results(name.strip()) for name in side.split(",")] for side in names)
    found = compare_results(a, b)
    if plot:
        _keep_plot(plot, draw_comparison(a, b))
    if as_json:
        print_json(json.dumps(found.model_dump(mode="json"), indent=2))
        return
    _show_comparison(found, names)
    if plot:
        print(f"Drawn into {strip_controls(str(plot))}")


def _keep_plot(file: Path, picture: str) -> None:
    try:
        write_atomically(file, picture.encode())
    except OSError as error:
        raise SetupProblem(
            f"The plot cannot be written to {str(file)!r} ({error.strerror}). Choose another place: --plot FILE.svg"
        ) from error


def _read_results(name: str) -> Results:
    """Read from `results.json` where that is what was named, else counted anew from the attempts on disk."""
    path = Path(name).expanduser()
    if path.is_file() or ((path / RESULTS_FILE).is_file() and not (path / PLAN_FILE).is_file()):
        return read_results(path)
    return compute_results(Folder.open(find_evaluation(name)))


def _show_comparison(found: Comparison, names: tuple[str, str]) -> None:
    """A table with a column for each side, which tasks only one side solves, and what the difference means."""
    console = Console(highlight=False)

    def show(text: str, style: str = "") -> None:
        console.print(Text(strip_controls(text), style), soft_wrap=True)

    a, b, final, early = found.a, found.b, found.final, found.at_equal_calls
    differ, calls = a.most_calls != b.most_calls, plural(found.equal_calls, "call")
    stopped = (f"stopped after {calls}", f"{100 * early.share_a:.1f} %", f"{100 * early.share_b:.1f} %")
    show(f"{found.suite}: {final.tasks} tasks that both finished", "bold")
    for warning in found.warnings:
        show(f"NOTE: {warning}", "bold yellow")
    said_a, said_b = (dict(list_estimates(side.verdicts)) if side.verdicts else {} for side in (a, b))
    rows = [
        ("what", a.name, b.name),
        ("solved", f"{100 * final.share_a:.1f} %", f"{100 * final.share_b:.1f} %"),
        *([stopped] if differ else []),
        ("most calls", str(a.most_calls), str(b.most_calls)),
        ("tokens a task", f"{a.tokens_per_task:,.0f}", f"{b.tokens_per_task:,.0f}"),
        ("seconds a task", f"{a.seconds_per_task:.1f}", f"{b.seconds_per_task:.1f}"),
        ("tasks left out", str(a.left_out), str(b.left_out)),
        *((label, said_a.get(label, "not said"), said_b.get(label, "not said")) for label in said_a or said_b),
    ]
    table = Table("", box=box.SIMPLE, pad_edge=False, show_edge=False)
    for letter, name in zip("AB", names, strict=True):
        table.add_column(Text(strip_controls(f"{letter}: {name}")), justify="right", overflow="fold")
    for label, *cells in rows:
        table.add_row(label, *(Text(strip_controls(cell)) for cell in cells))
    print_table(console, table)
    for name, tasks in (("A", final.more_by_a), ("B", final.more_by_b)):
        if tasks:
            rest = f" and {len(tasks) - MOST_TASKS} more" if len(tasks) > MOST_TASKS else ""
            show(f"More by {name}: {', '.join(tasks[:MOST_TASKS])}{rest}", "dim")
    show(found.sentence, "bold")
    if differ:
        show(f"Stopped after {calls} each: {describe_difference(early)}")
