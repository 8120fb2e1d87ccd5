"""`ui`: all of it in a web page."""

from typing import Annotated

import typer


def ui(
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Where to listen. [default: 7878, or any free]")
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the link.")] = False,
    host: Annotated[
        str, typer.Option(help="Another address to listen at; other machines can come in then, over plain HTTP.")
    ] = "127.0.0.1",
    password: Annotated[
        str,
        typer.Option(
            envvar="BURNISH_PASSWORD",
            help="What other machines have to know; goes with --host. Other users of this machine cannot read it where "
            "it is in the variable.",
        ),
    ] = "",
) -> None:
    """Open Burnish in the browser."""
    from burnish.web.server import serve

    said = "Burnish runs as long as this command does; end it with Ctrl-C. Open:"
    serve(port, host, password, not no_browser, lambda link: print(f"{said}\n{link}", flush=True))
