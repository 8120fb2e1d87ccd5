"""A live page in a tab of the user's own browser: a frame in the page of its run, which shows `frame` where it lies.

The frame of each version is a site of its own, so a browser gives it a process of its own. We cannot end that process:
a page that hangs is taken out of our page, and the browser ends what nothing shows any more.
"""

import threading
from typing import Any

from pydantic import ValidationError

from burnish.events.pages import PageError, PageObserved
from burnish.pages.channel import FrameSample
from burnish.pages.page import PageGone, PageLimits, PageTools, ProbeError
from burnish.pages.server import FrameServer

OPEN_SECONDS = 600.0
"""For which a version waits for somebody to look at it: without a tab there is nothing that it could run in."""


class UserPage:
    """One page for one run, see `LivePage`. What a probe finds here, page code could have made up."""

    def __init__(
        self,
        server: FrameServer,
        tools: PageTools,
        limits: PageLimits,
        targets: tuple[str, ...],
        cancel: threading.Event,
    ) -> None:
        self._server, self._limits, self._cancel = server, limits, cancel
        self._link = server.open(tools, limits, targets)
        self._is_open = False

    @property
    def frame(self) -> str:
        """The address of the version that runs now, to be shown; empty: none does."""
        if not self._is_open or self._link.killed:
            return ""
        return self._server.locate(self._link)

    def run(self, code: str, cycle: int) -> PageObserved:
        """Show this version in place of the one before, wherever the run is looked at, and watch it there."""
        self._link.begin(cycle, code)
        self._is_open = True
        if not self._link.wait(lambda: self._link.is_connected, OPEN_SECONDS, self._cancel):
            raise PageGone("no tab of a browser shows this page, so nothing can run in it")
        observed = self._link.watch(cycle)
        if observed.killed:
            self._link.kill(observed.killed)
        return observed

    def evaluate(self, script: str, timeout_seconds: float = 5.0) -> Any:
        """See `LivePage`. Evaluated beside the page's own code."""
        return self._link.call("evaluate", {"script": script}, timeout_seconds)

    def screenshot(self) -> bytes | None:
        """What is on its largest canvas; None where it has none, or does not answer."""
        try:
            picture = self._link.call("picture", {}, self._limits.busy_seconds)
        except ProbeError:
            return None
        return picture if isinstance(picture, bytes) else None

    def record(self, seconds: float = 5.0) -> None:
        """Nothing: a browser shows its screen to nobody without asking its user."""

    def errors(self) -> tuple[PageError, ...]:
        """See `LivePage`."""
        return self._link.errors

    def heap_bytes(self) -> int | None:
        """As the page's own browser says it; None where it does not, or does not answer."""
        try:
            return FrameSample.model_validate(self._link.call("sample", {}, self._limits.busy_seconds)).heap
        except (ProbeError, ValidationError):
            return None

    def close(self) -> None:
        """Take it out of the tab."""
        self._is_open = False
        self._link.close()
