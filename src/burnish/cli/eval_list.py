"""`burnish eval list`: which suites and strategies there are, and which evaluations were made."""

import json
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from burnish.errors import SetupProblem
from burnish.evals.eval_store import Folder, list_evaluations
from burnish.evals.strategies.kinds import STRATEGIES
from burnish.evals.suites import SUITES
from burnish.text import one_line

MOST_KEPT = 20


def show_list(console: Console, as_json: bool = False) -> None:
    """Three tables, or one JSON object with the same."""
    suites = [(info.name, list(info.variants), list(info.splits), info.rows, info.what) for info in SUITES.values()]
    strategies = [(name, one_line((kind.__doc__ or "").split("\n")[0], 200)) for name, kind in STRATEGIES.items()]
    if as_json:
        print(
            json.dumps({"suites": suites, "strategies": strategies, "evaluations": [list(row) for row in _list_rows()]})
        )
        return
    words = [
        (name, ", ".join(variants), ", ".join(splits), str(rows), what) for name, variants, splits, rows, what in suites
    ]
    _table(console, ("suite", "variants", "splits", "tasks", ""), words)
    _table(console, ("strategy", ""), strategies)
    if kept := _list_rows():
        _table(console, ("evaluation", "finished", "suite", "protocol", "strategy", "model"), kept)
    console.print(
        Text("Begin one with: burnish eval SUITE --strategy NAME --model NAME. Your own tasks: a .jsonl file.")
    )


def _list_rows() -> list[tuple[str, ...]]:
    """The newest evaluations; one that cannot be read is left out here."""
    rows: list[tuple[str, ...]] = []
    for path in list_evaluations()[:MOST_KEPT]:
        try:
            folder = Folder.open(path)
        except SetupProblem:
            continue
        plan, done = folder.plan, f"{len(folder.finished_attempts())}/{folder.total}"
        rows.append((path.name, done, one_line(plan.suite, 40), plan.protocol, plan.strategy, one_line(plan.model, 50)))
    return rows


def _table(console: Console, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for head in heads:
        table.add_column(Text(head, style="bold"), overflow="fold", no_wrap=head == heads[0])
    for row in rows:
        table.add_row(*(Text(one_line(cell, 200)) for cell in row))
    console.print(table)
    console.print()
