"""An evaluation's numbers at its end: by round and by call, with intervals, and never without their protocol."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from burnish.evals.folder import Folder
from burnish.evals.results import Results
from burnish.text import one_line, plural

MOST_NAMED = 10


def show(console: Console, results: Results, folder: Folder) -> None:
    """The table, what was left out or broke, where the files are, and what to type next."""
    console.print()
    for line in (*table(results), *troubles(results), *whereabouts(results, folder)):
        console.print(Text(line), soft_wrap=True)


def table(results: Results) -> Iterator[str]:
    """pass@1 after each round and after each call; one table where the two are the same."""
    title = f"pass@1 on {one_line(results.suite)}{f' ({results.variant})' if results.variant else ''}"
    yield f"{title}, protocol {results.protocol}, strategy {results.strategy}"
    yield f"{one_line(results.model)} on {one_line(results.engine)}"
    if not results.finished:
        yield "nothing is finished yet"
        return
    if results.pass_at_1 == results.pass_at_1_by_call:
        yield from _rows("round", results.pass_at_1, results.pass_at_1_interval, 0, calls=True)
    else:
        yield from _rows("round", results.pass_at_1, results.pass_at_1_interval, 0)
        yield from _rows("call", results.pass_at_1_by_call, results.pass_at_1_by_call_interval, 1)
    partly = "" if results.complete else f" so far, of {results.planned}"
    per_task = f"{results.calls_per_task:.1f} calls each, {results.cost.tokens_out:.0f} tokens written"
    yield (
        f"{results.solved} of {plural(results.finished, 'attempt')}{partly} solved ({results.protocol}); "
        f"{per_task}, {results.cost.seconds:.0f} s, {results.tokens_per_second:.0f} tokens/s"
    )


def troubles(results: Results) -> Iterator[str]:
    """Rows that were left out and attempts that broke, each with its reason."""
    if results.broken:
        yield f"left out: {plural(len(results.broken), 'broken row')}"
        yield from _named([(row.id, row.why) for row in results.broken])
    if results.errors:
        yield f"broke: {plural(results.errors, 'attempt')}, counted as not solved"
        yield from _named([(f"{row.task_id}.{row.seed}", row.error) for row in results.attempts if row.error])


def whereabouts(results: Results, folder: Folder) -> Iterator[str]:
    """The files, the one to open first in front; then the commands that come next."""
    yield f"report   {folder.path / 'report.html'}"
    yield f"         {folder.path / 'report.md'}  results.json  attempts/"
    if results.complete:
        yield f"compare  burnish compare {folder.name} OTHER"
    else:
        yield f"go on    burnish eval resume {folder.name}"


def spread(share: float, interval: tuple[float, float]) -> str:
    """A share with its interval: "50.0% (35.2-64.8)"."""
    return f"{100 * share:.1f}% ({100 * interval[0]:.1f}-{100 * interval[1]:.1f})"


def _rows(
    what: str, shares: Sequence[float], intervals: Sequence[tuple[float, float]], first: int, calls: bool = False
) -> Iterator[str]:
    yield f"  {what:>5}{'  call' if calls else ''}  pass@1  95% interval"
    for place, (share, (low, high)) in enumerate(zip(shares, intervals, strict=True)):
        call = f"{place + 1:>6}" if calls else ""
        yield f"  {place + first:>5}{call}  {100 * share:5.1f}%  {100 * low:.1f}-{100 * high:.1f}%"


def _named(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    for name, why in rows[:MOST_NAMED]:
        yield f"  {one_line(name, 60)}: {one_line(why, 160)}"
    if len(rows) > MOST_NAMED:
        yield f"  … and {len(rows) - MOST_NAMED} more; see report.md"
