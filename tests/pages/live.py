"""Both kinds of live page in a real Chromium: one of our own in its cell, and a frame in a tab as a user has it."""

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any

import httpx

from burnish.events import PageObserved
from burnish.pages.headless import HeadlessPage
from burnish.pages.own_browser import UserPage
from burnish.pages.page import LivePage, PageLimits, PageTools
from burnish.pages.server import FrameServer
from burnish.sandbox.browser import find_chromium
from burnish.web.guard import HEADERS, LOCAL, allow_frames
from burnish.web.server import listen
from tests.playwright_driver import start_playwright

SHORT = PageLimits(settle_seconds=2.0, busy_seconds=2.0, heap_bytes=128 << 20, text_bytes=16 << 10)
FRAME = re.search(r"<iframe.*?</iframe>", (files("burnish.web") / "templates/page/frame.html").read_text("utf-8"))
"""As the page of a run has it."""


@dataclass
class Heard:
    """What page code called."""

    told: list[tuple[str, str]] = field(default_factory=list)

    @property
    def tools(self) -> PageTools:
        """That write it down; every question is answered with its own words turned round."""

        def take(name: str) -> Any:
            return lambda text: self.told.append((name, text))

        def ask(question: str) -> str:
            self.told.append(("ask", question))
            return question[::-1]

        return PageTools(take("log"), take("done"), take("give_up"), ask)


@contextmanager
def open_plain_browser() -> Iterator[Any]:
    """A Chromium as Playwright starts it: nothing of ours is between a page and this machine."""
    arguments = ["--no-sandbox", "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
    launched = start_playwright().chromium.launch(executable_path=str(find_chromium()), args=arguments)
    yield launched
    launched.close()


@dataclass
class Headless:
    """Our own Chromium, with nothing to be done beside it."""

    live: LivePage
    slowest_answer: float = 0.0

    def run(self, code: str, cycle: int) -> PageObserved:
        """What came of this version."""
        return self.live.run(code, cycle)


@contextmanager
def open_own_chromium(heard: Heard, limits: PageLimits = SHORT) -> Iterator[Headless]:
    """A headless page."""
    page = HeadlessPage(heard.tools, limits, (), threading.Event())
    yield Headless(page)
    page.close()


class WatchedTab:
    """A tab, and what its user would have noticed."""

    def __init__(self, tab: Any) -> None:
        self.tab, self.dialogs, self.downloads = tab, 0, 0
        tab.on("dialog", self._dismiss)
        tab.on("download", self._count_download)

    def _dismiss(self, dialog: Any) -> None:
        self.dialogs += 1
        dialog.dismiss()

    def _count_download(self, download: Any) -> None:
        self.downloads += 1


class Tab(WatchedTab):
    """A tab of a user's browser that shows a live page: our frame in a page of ours, with the headers of a run's page.

    `tab` is Playwright's, so all of this is for one thread; versions run in another one.
    """

    def __init__(self, context: Any, server: FrameServer, user_page: UserPage, address: str) -> None:
        super().__init__(context.new_page())
        self.server, self.live, self.address = server, user_page, address
        self.tab.goto(address)
        self._client = httpx.Client(verify=False)  # reading certificates would take longer than the answer
        self.slowest_answer = 0.0
        """Of our server and of our page, while versions ran."""

    def run(self, code: str, cycle: int) -> PageObserved:
        """Show the frame, as our page would, until it is known what came of this version."""
        came: list[PageObserved] = []
        runner = threading.Thread(target=lambda: came.append(self.live.run(code, cycle)), daemon=True)
        runner.start()
        while not (frame := self.live.frame).endswith(f"={cycle}"):
            time.sleep(0.01)
        assert FRAME
        self._show(FRAME[0].replace("{{ page.frame }}", frame))
        while runner.is_alive():
            self.tab.wait_for_timeout(50)
            self._look()
        if not self.live.frame:
            self._show("")
        return came[0]

    def _show(self, markup: str) -> None:
        self.tab.evaluate("markup => { document.body.innerHTML = markup; }", markup)

    def _look(self) -> None:
        began = time.monotonic()
        assert self._client.get(self.address).status_code == 200
        assert self.tab.evaluate("document.title") == "ours"
        self.slowest_answer = max(self.slowest_answer, time.monotonic() - began)


@contextmanager
def open_tab(context: Any, heard: Heard, limits: PageLimits = SHORT) -> Iterator[Tab]:
    """A tab with a live page in it."""
    server = FrameServer(listen(LOCAL, 0))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            headers = {"Content-Type": "text/html", "Content-Security-Policy": allow_frames(server.addresses)}
            for name, value in (HEADERS | headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>ours</title><body>")

        def log_message(self, *words: object) -> None:
            """Nothing."""

    host = ThreadingHTTPServer((LOCAL, 0), Handler)
    threading.Thread(target=host.serve_forever, daemon=True).start()
    page = UserPage(server, heard.tools, limits, (), threading.Event())
    yield Tab(context, server, page, f"http://{LOCAL}:{host.server_port}/")
    page.close()
    server.close()
    host.shutdown()
    host.server_close()
