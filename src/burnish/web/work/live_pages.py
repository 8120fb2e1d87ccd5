"""Live pages in the tab that looks at them: one server for the frames of all, at another name and port than our pages.

The page of a run that is at work is watched (`own_browser.UserPage`). What is left of a run can be played again: then
nobody watches it, and it speaks to nobody.
"""

import socket
import threading
from typing import TYPE_CHECKING

from burnish.events.history import Run, Version
from burnish.pages.page import PageLimits, PageTools
from burnish.web.guard import LOCAL

if TYPE_CHECKING:
    from burnish.pages.channel import FrameLink
    from burnish.pages.own_browser import UserPage
    from burnish.pages.server import FrameServer

MOST_PLAYED = 8
"""Pages of runs that are over, at once; the one that was begun first makes room."""


def _ignore(text: str) -> None:
    """What a page says that is only shown."""


NOBODY = PageTools(log=_ignore, done=_ignore, give_up=_ignore, ask=lambda question: "")


class LivePages:
    """The frames' server, which begins when it is first wanted, and what is played."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._server: FrameServer | None = None
        self._played: dict[str, FrameLink] = {}

    @property
    def addresses(self) -> str:
        """Where all frames come from, as a policy says it."""
        return self._serve().addresses

    def open(
        self, tools: PageTools, limits: PageLimits, targets: tuple[str, ...], cancel: threading.Event
    ) -> "UserPage":
        """A page for a run that is at work; an `OpenPage`."""
        from burnish.pages.own_browser import UserPage

        return UserPage(self._serve(), tools, limits, targets, cancel)

    def play(self, run: Run, version: Version, targets: tuple[str, ...] = ()) -> None:
        """Have a version run wherever its run is looked at.

        Its record alone grants it nothing: it may be somebody else's, or be of a page that had a small network of its
        own. So `targets` are only those of a run that has just ended here.
        """
        link = self._serve().open(NOBODY, PageLimits(), targets)
        link.begin(version.number, version.code)
        with self._lock:
            over = [self._played.pop(run.id)] if run.id in self._played else []
            if len(self._played) >= MOST_PLAYED:
                over.append(self._played.pop(next(iter(self._played))))
            self._played[run.id] = link
        for one in over:
            one.close()

    def find_frame(self, run_id: str) -> str:
        """The address of what is played of this run; empty where nothing is."""
        played = self._played.get(run_id)
        return self._serve().locate(played) if played else ""

    def close(self) -> None:
        """End all of it."""
        with self._lock:
            server, self._server = self._server, None
        if server:
            server.close()

    def _serve(self) -> "FrameServer":
        from burnish.pages.server import FrameServer

        with self._lock:
            if self._server is None:
                self._server = FrameServer(socket.create_server((LOCAL, 0)))
            return self._server
