"""`burnish models`: what can answer, and what is on disk; `pull` fetches it, `doctor` tries whether it is any good."""

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from burnish.cli.models_doctor import doctor
from burnish.errors import SetupProblem
from burnish.models.catalog import CATALOG, DEFAULT_MODEL

if TYPE_CHECKING:
    from burnish.models.listing import Shelf
    from burnish.models.providers import Server

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)


@app.callback()
def models(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    """List the models that are there: on this disk, and with the servers that are set up. Or fetch one, or try one."""
    if context.invoked_subcommand is None:
        from burnish.cli.models_table import own_names, speed_of, table
        from burnish.models.listing import shelves
        from burnish.runs.speeds import last_speeds

        rows, found, speeds = on_this_machine(), shelves(), last_speeds()
        if as_json:
            of_files: list[dict[str, object]] = [{"name": name} for name in own_names(rows, speeds)]
            every = [*rows, *(row for shelf in found for row in of_servers(shelf)), *of_files]
            print(json.dumps([row | speed_of(str(row["name"]), speeds) for row in every], indent=2))
        else:
            print("\n".join(table(rows, found, speeds)))


app.command()(doctor)


@app.command()
def pull(
    name: Annotated[
        str,
        typer.Argument(help="A name from `burnish models`, or ollama:NAME.", show_default="who answers by default"),
    ] = "",
) -> None:
    """Fetch a model's weights and check them. Prints where they are."""
    from burnish.models.names import AUTO, default_names, split_names

    for one in split_names(name or default_names()):
        _pull(DEFAULT_MODEL if one == AUTO else one)


def _pull(name: str) -> None:
    from burnish.cli.fetching import fetching
    from burnish.cli.models_table import megabytes
    from burnish.models.providers import server_of
    from burnish.models.weights import ensure, is_checked, known, place

    server = server_of(name) if name.partition(":")[2] else None
    if server:
        _pull_there(server, name)
        return
    weights = known(name)
    if is_checked(place(weights), weights):
        print(place(weights))
        return
    print(f"burnish: the weights of {name}: {megabytes(weights.bytes)}, {weights.licence}", file=sys.stderr)
    with fetching() as progress:
        path = ensure(name, progress)
    print(path)


def _pull_there(server: "Server", name: str) -> None:
    from burnish.cli.fetching import fetching
    from burnish.models.ollama_server import pull as pull_there

    if server.kind != "ollama":
        raise SetupProblem(
            f"A model of the server at {server.address} needs no pull: {name!r} answers where it is, if it is there."
            f" See what is there: burnish models"
        )
    with fetching() as progress:
        pull_there(server.address, name, progress)
    print(name)


def on_this_machine() -> list[dict[str, object]]:
    """Each known model, with what is on disk."""
    from burnish.models.local import CONTEXT_TOKENS_PER_SLOT
    from burnish.models.names import default_names, split_names
    from burnish.models.weights import is_checked, place

    chosen = split_names(default_names())
    return [
        {
            "name": weights.name,
            "bytes": weights.bytes,
            "context": CONTEXT_TOKENS_PER_SLOT,
            "licence": weights.licence,
            "on_disk": is_checked(place(weights), weights),
            "default": weights.name in chosen,
            "path": str(place(weights)),
        }
        for weights in CATALOG.values()
    ]


def of_servers(shelf: "Shelf") -> list[dict[str, object]]:
    """Each model of a server, as a program is told of it."""
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
