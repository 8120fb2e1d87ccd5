"""`burnish rm`: delete runs for good. The files that a run wrote for the user stay."""

from typing import Annotated

import typer


def rm(
    runs: Annotated[list[str], typer.Argument(help="Ids of runs, or their beginnings.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete runs and their records."""
    from burnish.runs import Store

    store = Store()
    names = [store.find(name).name for name in runs]
    if not yes:
        typer.confirm(f"Delete {', '.join(names)} for good?", abort=True)
    for name in dict.fromkeys(names):
        print(f"deleted {store.remove(name)}")
