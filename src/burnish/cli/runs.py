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
    """A line a run; the task takes what is left of the terminal's width."""
    from datetime import datetime

    from rich.console import Console
    from rich.text import Text

    from burnish.cli.screen import COLOURS
    from burnish.text import one_line

    console = Console(highlight=False)
    wide = max(len(row.id) for row in rows)
    for row in rows:
        when = datetime.fromtimestamp(row.started_at).strftime("%d %b %H:%M")
        facts = f"{row.seconds:7.1f} s {row.tokens:6} tokens  {'★' * (row.stars or 0):<5}  " if not row.why else " "
        line = Text.assemble(f"{row.id:<{wide}}  {when}  ", (f"{row.state:<11}", COLOURS.get(row.state, "dim")), facts)
        line.append(one_line(row.why or row.prompt, max(20, console.width - len(line))))
        console.print(line, soft_wrap=True)
