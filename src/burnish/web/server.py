"""Serves the pages on this machine, and opens the browser."""

import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from typing import TYPE_CHECKING

from burnish.errors import SetupProblem
from burnish.web.guard import LOCAL, Access

if TYPE_CHECKING:
    import uvicorn
    from starlette.applications import Starlette

PORT = 7878
"""Tried first, so that a bookmark of a run goes on working."""
LAST_REQUESTS_SECONDS = 1
"""For requests that are under way when the server ends; streams of events would wait for ever."""


def serve(
    port: int | None = None,
    host: str = LOCAL,
    password: str = "",
    browser: bool = True,
    tell: Callable[[str], None] = print,
) -> None:
    """Serve until Ctrl-C. `tell` is given the link, with the key that opens it, alone on one line.

    Raises SetupProblem where the port is taken, and where other machines could come in without a password.
    """
    if host != LOCAL and not password:
        raise SetupProblem(
            f"With --host {host} other machines can reach this page, so it needs a password. Type: "
            f"burnish ui --host {host} --password WORD"
        )
    listener = listen(host, port)
    access = Access(listener.getsockname()[1], host, password)
    from burnish.web.app import build_app

    server = make_server(build_app(access, places=max(1, len(os.sched_getaffinity(0)) // 2)))
    tell(access.link)
    if browser and has_screen():
        threading.Thread(target=webbrowser.open, args=[access.link], daemon=True).start()
    server.run([listener])


def make_server(app: "Starlette") -> "uvicorn.Server":
    """What speaks HTTP. It believes nothing that a request says of a proxy before it."""
    import uvicorn

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=LAST_REQUESTS_SECONDS,
    )
    return uvicorn.Server(config)


def has_screen() -> bool:
    """Whether there is a window for a browser: without one Python would open a browser in the terminal."""
    return sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def listen(host: str, port: int | None) -> socket.socket:
    """A socket that listens: at this port, or where none is named at the usual one, else at any that is free."""
    for wanted in (PORT, 0) if port is None else (port,):
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, wanted))
        except (OSError, OverflowError) as error:
            listener.close()
            why = getattr(error, "strerror", None) or str(error)
        else:
            listener.listen(128)
            return listener
    raise SetupProblem(f"Port {port} of {host} cannot be had ({why}). Choose another one: burnish ui --port 8123")
