"""`burnish runs`: what was done, newest first."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from burnish.runs.index import Row


def runs(
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many to list.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    """List runs, newest first."""
    from burnish.runs import Store

    rows = Store().list()[:limit]
    if as_json:
        print(json.dumps([row.model_dump() for row in rows], indent=2))
        return
    if not rows:
        print('No runs yet. Make the first: burnish write "a function double(n), e.g. double(2) == 4"')
        return
    _table(rows)


def _table(rows: "list[Row]") -> None:
    from datetime import datetime

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from burnish.cli.screen import COLOURS
    from burnish.text import one_line

    console = Console(highlight=False)
    table = Table(box=None, pad_edge=False)
    for column in ("run", "when", "result", "seconds", "tokens", "model", "rating", "task"):
        table.add_column(column, no_wrap=True)
    for row in rows:
        table.add_row(
            Text(row.id),
            datetime.fromtimestamp(row.started_at).strftime("%d %b %H:%M"),
            Text(row.state, style=COLOURS.get(row.state, "dim")),
            f"{row.seconds:.1f}",
            str(row.tokens),
            Text(row.model.rsplit("/", 1)[-1].removeprefix("local:")),
            "★" * (row.stars or 0),
            Text(one_line(row.prompt)),
        )
    console.print(table, crop=True)
