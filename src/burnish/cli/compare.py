"""`burnish compare`: is one evaluation better than another, or is it noise?"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from burnish.text import plural, strip_controls

if TYPE_CHECKING:
    from collections.abc import Iterator

    from burnish.evals.compare import Comparison
    from burnish.evals.schema import Results

HELP = "An evaluation's id, its folder or results.json, or last; several joined by commas are pooled."
MOST_NAMED = 20
"""Tasks that are named; --json has them all."""
PLOT = "Draw both sides, pass@1 by model call, into this file."


def compare(
    run1: Annotated[str, typer.Argument(metavar="RUN1", help=HELP)],
    run2: Annotated[str, typer.Argument(metavar="RUN2", help="The one to hold against it, named the same way.")],
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE.svg", help=PLOT)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")] = False,
) -> None:
    """Compare two evaluations task by task."""
    from burnish.evals import compare as comparing

    a, b = ([_read_results(name.strip()) for name in names.split(",")] for names in (run1, run2))
    found = comparing.compare(a, b)
    if plot:
        _write_plot(plot, a, b)
    if as_json:
        print(json.dumps(found.model_dump(mode="json"), indent=2))
        return
    _show(found, (run1, run2))
    if plot:
        print(f"Drawn into {strip_controls(str(plot))}")


def _read_results(name: str) -> "Results":
    """Read from `results.json` where that is what was named, else counted anew from the attempts on disk."""
    from burnish.evals.eval_store import PLAN_FILE, Folder, find_evaluation
    from burnish.evals.metrics import RESULTS_FILE, compute_results, read_results

    path = Path(name).expanduser()
    if path.is_file() or ((path / RESULTS_FILE).is_file() and not (path / PLAN_FILE).is_file()):
        return read_results(path)
    return compute_results(Folder.open(find_evaluation(name)))


def _write_plot(file: Path, a: "list[Results]", b: "list[Results]") -> None:
    from burnish.errors import SetupProblem
    from burnish.evals.plots import draw_comparison
    from burnish.paths import write_atomically

    if file.suffix.lower() != ".svg":
        raise SetupProblem(f"A plot is an SVG file, and {file.name!r} is not named like one. Try: --plot compare.svg")
    try:
        write_atomically(file, draw_comparison(a, b).encode())
    except OSError as error:
        raise SetupProblem(
            f"The plot cannot be written to {str(file)!r} ({error.strerror}). Choose another place: --plot FILE.svg"
        ) from error


def _show(found: "Comparison", typed: tuple[str, str]) -> None:
    """A table with a column for each side, which tasks only one side solves, and what the difference means."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from burnish.evals.compare import describe_difference

    console = Console(highlight=False)
    console.print(Text(strip_controls(f"{found.suite}: {found.final.tasks} tasks that both finished"), "bold"))
    for warning in found.warnings:
        console.print(Text(f"NOTE: {strip_controls(warning)}", "bold yellow"), soft_wrap=True)
    table = Table(box=box.SIMPLE, pad_edge=False, show_edge=False)
    table.add_column("")
    for letter, name in zip("AB", typed, strict=True):
        table.add_column(Text(strip_controls(f"{letter}: {name}")), justify="right", overflow="fold")
    for label, *cells in _table_rows(found):
        table.add_row(label, *(Text(strip_controls(cell)) for cell in cells))
    console.print(table)
    for name, tasks in (("A", found.final.more_by_a), ("B", found.final.more_by_b)):
        if tasks:
            rest = f" and {len(tasks) - MOST_NAMED} more" if len(tasks) > MOST_NAMED else ""
            line = f"More by {name}: {', '.join(tasks[:MOST_NAMED])}{rest}"
            console.print(Text(strip_controls(line), "dim"), soft_wrap=True)
    console.print(Text(strip_controls(found.sentence), "bold"), soft_wrap=True)
    if found.a.most_calls != found.b.most_calls:
        early = describe_difference(found.at_equal_calls)
        console.print(Text(f"Stopped after {plural(found.equal_calls, 'call')} each: {early}"), soft_wrap=True)


def _table_rows(found: "Comparison") -> "Iterator[tuple[str, ...]]":
    a, b, final, early = found.a, found.b, found.final, found.at_equal_calls
    yield "what", a.name, b.name
    yield "solved", f"{100 * final.share_a:.1f} %", f"{100 * final.share_b:.1f} %"
    if a.most_calls != b.most_calls:
        label = f"stopped after {plural(found.equal_calls, 'call')}"
        yield label, f"{100 * early.share_a:.1f} %", f"{100 * early.share_b:.1f} %"
    yield "most calls", str(a.most_calls), str(b.most_calls)
    yield "tokens a task", f"{a.tokens_per_task:,.0f}", f"{b.tokens_per_task:,.0f}"
    yield "seconds a task", f"{a.seconds_per_task:.1f}", f"{b.seconds_per_task:.1f}"
    yield "tasks left out", str(a.left_out), str(b.left_out)
