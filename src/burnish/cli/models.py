"""`burnish models`: what can answer, and what is on disk; `pull` fetches it, `doctor` tries whether it is any good."""

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from burnish.cli.models_doctor import doctor
from burnish.errors import SetupProblem
from burnish.models.catalog import DEFAULT_MODEL

if TYPE_CHECKING:
    from burnish.models.providers import Server

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)


@app.callback()
def models(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    """List the models that are there: on this disk, and with the servers that are set up. Or fetch one, or try one."""
    if context.invoked_subcommand is None:
        from burnish.cli.models_table import format_table, list_rows
        from burnish.model_history import last_speeds
        from burnish.models.listing import shelves

        found = shelves()
        rows = list_rows(found, last_speeds())
        print(json.dumps(rows, indent=2) if as_json else "\n".join(format_table(rows, found)))


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
    from burnish.cli.models_table import format_size
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
    print(f"burnish: the weights of {name}: {format_size(weights.bytes)}, {weights.licence}", file=sys.stderr)
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
