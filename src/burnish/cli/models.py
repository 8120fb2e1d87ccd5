"""`burnish models`: what can answer, and what is on disk; `burnish models pull` fetches it."""

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from burnish.models.catalog import CATALOG, DEFAULT_MODEL
from burnish.text import plain

if TYPE_CHECKING:
    from burnish.models.listing import Listed, Shelf

MOST_SHOWN = 12
"""Models of one server on the screen; a cloud has more than anybody wants to read."""

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)


@app.callback()
def models(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    """List the models that are there: on this disk, and with the servers that are set up. Or fetch one."""
    if context.invoked_subcommand is None:
        from burnish.models.listing import shelves

        rows, found = on_this_machine(), shelves()
        if as_json:
            print(json.dumps([*rows, *(row for shelf in found for row in _rows(shelf))], indent=2))
        else:
            _print(rows)
            _print_shelves(found)


@app.command()
def pull(
    name: Annotated[str, typer.Argument(help="A name from `burnish models`, or ollama:NAME.")] = DEFAULT_MODEL,
) -> None:
    """Fetch a model's weights and check them. Prints where they are."""
    from burnish.cli.fetching import fetching
    from burnish.models.providers import servers
    from burnish.models.weights import ensure, is_checked, known, place

    provider, _, model = name.partition(":")
    server = servers().get(provider) if model else None
    if server and server.kind == "ollama":
        from burnish.models.ollama_server import pull as pull_there

        with fetching() as progress:
            pull_there(server.address, model, progress)
        print(name)
        return
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
    from burnish.config import load
    from burnish.models.weights import is_checked, place

    chosen = load().model or DEFAULT_MODEL
    return [
        {
            "name": weights.name,
            "bytes": weights.bytes,
            "licence": weights.licence,
            "on_disk": is_checked(place(weights), weights),
            "default": weights.name == chosen,
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


def _rows(shelf: "Shelf") -> list[dict[str, object]]:
    return [
        {
            "name": model.name,
            "address": shelf.address,
            "context": model.context or None,
            "bytes": model.bytes or None,
            "dollars_per_million_read": model.price.read if model.price else None,
            "dollars_per_million_written": model.price.written if model.price else None,
        }
        for model in shelf.models
    ]


def _print_shelves(found: "list[Shelf]") -> None:
    for shelf in found:
        key = f", key in {shelf.key_env}" if shelf.key_env else ""
        print(f"\n{shelf.provider}:  {shelf.address}{key}{'' if shelf.answers else '; it does not answer now'}")
        shown = sorted(shelf.models, key=lambda model: (not model.price, not model.context))[:MOST_SHOWN]
        width = max((len(plain(model.name)) for model in shown), default=0)
        for model in shown:
            print(f"{plain(model.name):{width}}  {_about(model)}".rstrip())
        if left := len(shelf.models) - len(shown):
            print(f"… and {left} more; see all with: burnish models --json")


def _about(model: "Listed") -> str:
    facts = [f"{model.context:,} tokens" if model.context else "", megabytes(model.bytes) if model.bytes else ""]
    if model.price and model.price.written:
        facts.append(f"{model.price.read:g} and {model.price.written:g} dollars a million tokens read and written")
    return ", ".join(fact for fact in facts if fact)
