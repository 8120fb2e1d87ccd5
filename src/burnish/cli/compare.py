"""`burnish compare`: is one evaluation better than another, or is it noise?"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from burnish.text import plural, strip_controls

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table

    from burnish.evals.compare import Comparison
    from burnish.evals.figures import Results

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

    a, b = _opened(run1), _opened(run2)
    found = comparing.compare(a, b)
    if plot:
        _draw(plot, a, b)
    if as_json:
        print(json.dumps(found.model_dump(mode="json"), indent=2))
    else:
        _show(found, (run1, run2))
        if plot:
            print(f"Drawn into {strip_controls(str(plot))}")


def _opened(names: str) -> "list[Results]":
    return [_open(name.strip()) for name in names.split(",")]


def _open(name: str) -> "Results":
    """Read from `results.json` where that is what was named, else counted anew from the attempts on disk."""
    from burnish.evals.results import FILE, read_results, results

    path = Path(name).expanduser()
    if path.is_file():
        return read_results(path)
    from burnish.evals import shelf
    from burnish.evals.folder import Folder

    if (path / FILE).is_file() and not (path / shelf.FILE).is_file():
        return read_results(path)
    return results(Folder.open(shelf.find(name)))


def _draw(file: Path, a: "list[Results]", b: "list[Results]") -> None:
    from burnish.errors import SetupProblem
    from burnish.evals.plots import compared
    from burnish.paths import write_atomically

    if file.suffix.lower() != ".svg":
        raise SetupProblem(f"A plot is an SVG file, and {file.name!r} is not named like one. Try: --plot compare.svg")
    try:
        write_atomically(file, compared(a, b).encode())
    except OSError as error:
        raise SetupProblem(
            f"The plot cannot be written to {str(file)!r} ({error.strerror}). Choose another place: --plot FILE.svg"
        ) from error


def _show(found: "Comparison", typed: tuple[str, str]) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    console.print(Text(strip_controls(f"{found.suite}: {found.final.tasks} tasks that both finished"), "bold"))
    for warning in found.warnings:
        console.print(Text(f"NOTE: {strip_controls(warning)}", "bold yellow"), soft_wrap=True)
    console.print(_table(found, typed))
    for name, tasks in (("A", found.final.more_by_a), ("B", found.final.more_by_b)):
        if tasks:
            rest = f" and {len(tasks) - MOST_NAMED} more" if len(tasks) > MOST_NAMED else ""
            named = f"More by {name}: {', '.join(tasks[:MOST_NAMED])}{rest}"
            console.print(Text(strip_controls(named), "dim"), soft_wrap=True)
    console.print(Text(strip_controls(found.sentence), "bold"), soft_wrap=True)
    if found.a.most_calls != found.b.most_calls:
        console.print(Text(_at_equal_calls(found)), soft_wrap=True)


def _table(found: "Comparison", typed: tuple[str, str]) -> "Table":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE, pad_edge=False, show_edge=False)
    table.add_column("")
    for letter, name in zip("AB", typed, strict=True):
        table.add_column(Text(strip_controls(f"{letter}: {name}")), justify="right", overflow="fold")
    for label, cells in _rows(found):
        table.add_row(label, *(Text(strip_controls(cell)) for cell in cells))
    return table


def _rows(found: "Comparison") -> "Iterator[tuple[str, list[str]]]":
    sides, final, early = (found.a, found.b), found.final, found.at_equal_calls
    yield "what", [side.name for side in sides]
    yield "solved", [f"{100 * share:.1f} %" for share in (final.share_a, final.share_b)]
    if found.a.most_calls != found.b.most_calls:
        shares = (early.share_a, early.share_b)
        yield f"stopped after {plural(found.equal_calls, 'call')}", [f"{100 * share:.1f} %" for share in shares]
    yield "most calls", [str(side.most_calls) for side in sides]
    yield "tokens a task", [f"{side.tokens_per_task:,.0f}" for side in sides]
    yield "seconds a task", [f"{side.seconds_per_task:.1f}" for side in sides]
    yield "tasks left out", [str(side.left_out) for side in sides]


def _at_equal_calls(found: "Comparison") -> str:
    from burnish.evals.compare import sentence

    return f"Stopped after {plural(found.equal_calls, 'call')} each: {sentence(found.at_equal_calls)}"
