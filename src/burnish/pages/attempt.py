"""The run of a page, start to finish: the only place where one is made."""

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import NoReturn, Self

from burnish.agent.ask import Tools
from burnish.errors import SandboxError, SetupProblem
from burnish.events import Event, PageFacts
from burnish.pages.page import OpenPage
from burnish.pages.prompts import read_context
from burnish.pages.rubric import load_case
from burnish.pages.watched_page import WatchedPage
from burnish.runs.attempt import Keep, Prepare, Resources, RunHandle, start
from burnish.runs.record import Emitter
from burnish.runs.request import Request
from burnish.sandbox.inside.browser import serve

VERB = "page"
LEVELS = {
    True: "browser: Chromium in a sandbox without network; each version in a frame of an opaque origin",
    False: "browser: a tab of the user's; each version in a sandboxed frame of an opaque origin",
}
"""How far a page is isolated, by whether it is headless."""


class BrowserOnly:
    """In place of the sandbox of a run that executes no Python: the code of a page runs in a browser alone."""

    kind = "browser"

    def __init__(self, level: str) -> None:
        self.level = level

    def run(self, *job: object, **more: object) -> NoReturn:
        """No command is run for a page."""
        raise SandboxError("code of a page runs in a browser alone")

    grade = run

    def close(self) -> None:
        """Nothing is open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is open."""


class FakeNetwork:
    """Plain HTTP servers on loopback addresses of this machine, as a headless browser has them in its own cell.

    Only for a page in the user's browser, whose user allowed it to reach them.
    """

    def __init__(self, servers: Sequence[str]) -> None:
        """Raises SetupProblem where an address is taken."""
        self._listeners: list[socket.socket] = []
        for address in servers:
            host, _, port = address.rpartition(":")
            try:
                self._listeners.append(socket.create_server((host, int(port))))
            except OSError as error:
                self.close()
                raise SetupProblem(
                    f"The case needs a server of its own at {address}, which cannot be opened ({error.strerror}). "
                    "Run it in a browser without network: add",
                    "--headless",
                ) from error
        for listener in self._listeners:
            threading.Thread(target=self._serve, args=[listener], name="fake-network", daemon=True).start()

    def _serve(self, listener: socket.socket) -> None:
        with suppress(OSError):  # it was closed
            serve(listener)

    def close(self) -> None:
        """No server answers any more."""
        for listener in self._listeners:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits in it
            listener.close()


def start_page(
    request: Request,
    resources: Resources | None = None,
    open_page: OpenPage | None = None,
    prepare: Prepare | None = None,
) -> RunHandle:
    """Begin to make the page that `request.task.prompt` asks for, in a thread of its own; `request.page` says more.

    `open_page` opens the browser: a headless one unless another is given. That there is none, or that the case is
    wrong, is raised by `RunHandle.wait`, before the first call. A stop closes the page. A run that is taken up again
    (`resources.replay`) asks and runs nothing again that its record has; only the version that it goes on with.
    `prepare` comes first, as in `runs.attempt.start`: it may wait, and names the models.
    """
    facts = request.page or PageFacts()
    resources = replace(resources or Resources(), sandbox=BrowserOnly(LEVELS[facts.headless]))
    page: WatchedPage

    def open_all(keep: Keep) -> tuple[Request, Resources]:
        nonlocal page
        given = replace(prepare(keep)[1], sandbox=resources.sandbox) if prepare else resources
        case = load_case(facts.case) if facts.case else None
        if open_page is None:
            from burnish.pages.headless import open_headless

            opener: OpenPage = partial(open_headless, servers=case.servers if case else ())
        elif case and not facts.headless:
            keep(FakeNetwork(case.servers))
        page = WatchedPage(open_page or opener, records=facts.headless)
        keep(page)
        page.open(facts.targets)
        return request, given

    def work(tools: Tools, emitter: Emitter) -> Iterator[Event]:
        from burnish.pages.graph import PageBrief, make_page

        page.folder = emitter.folder
        brief = PageBrief(
            sentence=request.task.prompt,
            context=facts.context or read_context(),
            case=load_case(facts.case) if facts.case else None,
            before=facts.before,
            follow_ups=facts.follow_ups,
        )
        yield from make_page(brief, tools, page, emitter.record)

    return start(request, resources, work, open_all)
