"""`burnish models`: what can answer, and what is on disk; `burnish models pull` fetches it."""

import json
import sys
from typing import Annotated

import typer

from burnish.models.catalog import CATALOG, DEFAULT_MODEL

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)


@app.callback()
def models(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    """List the models that Burnish knows, or fetch one."""
    if context.invoked_subcommand is None:
        rows = on_this_machine()
        print(json.dumps(rows, indent=2)) if as_json else _print(rows)


@app.command()
def pull(
    name: Annotated[str, typer.Argument(help="A name from `burnish models`.")] = DEFAULT_MODEL,
) -> None:
    """Fetch a model's weights and check them. Prints where they are."""
    from burnish.cli.fetching import fetching
    from burnish.models.weights import ensure, is_checked, known, place

    weights = known(name)
    if is_checked(place(weights), weights):
        print(place(weights))
        return
    print(f"burnish: the weights of {name}: {megabytes(weights.bytes)}, {weights.licence}", file=sys.stderr)
    with fetching() as progress:
        path = ensure(name, progress)
    print(path)


def on_this_machine() -> list[dict[str, object]]:
    """Each known model, with what is on disk."""
    from burnish.models.weights import is_checked, place

    return [
        {
            "name": weights.name,
            "bytes": weights.bytes,
            "licence": weights.licence,
            "on_disk": is_checked(place(weights), weights),
            "default": weights.name == DEFAULT_MODEL,
            "path": str(place(weights)),
        }
        for weights in CATALOG.values()
    ]


def megabytes(count: int) -> str:
    """A size for people."""
    return f"{count / 1e6:,.0f} MB"


def _print(rows: list[dict[str, object]]) -> None:
    width = max(len(name) for name in CATALOG)
    for row in rows:
        weights = CATALOG[str(row["name"])]
        default = "  default" if row["default"] else ""
        print(f"{weights.name:{width}}  {megabytes(weights.bytes):>8}  {weights.licence}{default}")
        print(f"    {row['path'] if row['on_disk'] else f'not on disk; type: ./burnish models pull {weights.name}'}")
    print("A GGUF file of your own: --model local:/path/to.gguf. Exact answers for tests: --model scripted:demo")
