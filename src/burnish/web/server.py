"""Serves the pages on this machine, and opens the browser."""

import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from typing import TYPE_CHECKING

from burnish.errors import SetupProblem
from burnish.events.history import Run
from burnish.model_choice import Opener
from burnish.runs import Store
from burnish.runs.record import Watch
from burnish.runs.request import Request
from burnish.system import count_cores
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

    server = make_server(build_app(access, places=max(1, count_cores() // 2)))
    tell(access.link)
    if browser and has_screen():
        _open_browser(access.link)
    server.run([listener])


def serve_page(
    request: Request,
    store: Store | None = None,
    opener: Opener | None = None,
    *,
    watch: Watch | None = None,
    done: Callable[[Run], None] | None = None,
    tell: Callable[[str], None] = print,
) -> Run:
    """Work on a live page in front of the user: in a tab of their browser, which is opened. Returns the run.

    `tell` is given the link to it, with the key, alone on one line; `watch` every event, and `done` the run once it is
    over. Where there is a screen the page stays there to be looked at, and to be gone on with, until Ctrl-C.
    """
    listener = listen(LOCAL, None)
    access = Access(listener.getsockname()[1])
    from burnish.web.app import build_app

    app = build_app(access, store, opener)
    server = make_server(app)
    serving = threading.Thread(target=server.run, args=[[listener]], name="burnish-web", daemon=True)
    serving.start()
    try:
        active = app.state.runs.page(request, owner="")
        link = access.link_to(f"/runs/{active.id}")
        tell(link)
        if has_screen():
            _open_browser(link)
        for event in active.handle.events():
            if watch:
                watch(event)
        run: Run = active.handle.wait()
        if done:
            done(run)
        try:
            while has_screen() and serving.is_alive():
                serving.join(1.0)
        except KeyboardInterrupt:
            pass
        return run
    finally:
        for left in app.state.runs.at_work:
            left.stop()
        server.should_exit = True
        serving.join(2 * LAST_REQUESTS_SECONDS)


def _open_browser(link: str) -> None:
    """Without waiting for it."""
    threading.Thread(target=webbrowser.open, args=[link], daemon=True).start()


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
