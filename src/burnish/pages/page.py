"""A live page: where JavaScript that a model wrote runs, and all that can be done with it from outside.

There are two kinds. `headless.HeadlessPage` is a Chromium of our own in a sandbox without network;
`own_browser.UserPage` is a frame in a tab of the user's browser. In both the code runs in a frame of an opaque origin,
and the same shim speaks the same protocol (`channel`) with us.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from burnish.errors import CheckError, SandboxError
from burnish.events.pages import PageError, PageObserved


class PageGone(SandboxError):
    """The page was killed, or its tab closed, and no version was put into a new one since."""


class ProbeError(CheckError):
    """A probe broke in the page, or took too long: its criterion is not judged."""


@dataclass(frozen=True)
class PageLimits:
    """What one version may take."""

    settle_seconds: float = 2.0
    """For which a version is watched after it began, unless it says `done` earlier."""
    busy_seconds: float = 3.0
    """After which a page that answers nothing is killed."""
    heap_bytes: int = 512 << 20
    text_bytes: int = 64 << 10
    """Of console, values and messages of one version together; the rest is dropped, and that is said."""


@dataclass(frozen=True)
class PageTools:
    """What the page may call while it runs; each is told on our side in words, and answers with words."""

    log: Callable[[str], None]
    done: Callable[[str], None]
    give_up: Callable[[str], None]
    ask: Callable[[str], str]
    """A question to the model. May take long; the page waits without being busy."""


class LivePage(Protocol):
    """One page, for one run. All methods but `close` raise PageGone where the page was killed and not run again.

    Promises: what the code does reaches neither our pages, nor the network beyond `targets`, nor files; every method
    returns within its time, whatever the code does; a page that hangs, or takes too much memory, is killed alone.
    """

    def run(self, code: str, cycle: int) -> PageObserved:
        """Run a version in a fresh frame, watch it, and say what came of it. It goes on running afterwards."""
        ...

    def evaluate(self, script: str, timeout_seconds: float = 5.0) -> Any:
        """The JSON value of an expression of ours (a probe), evaluated in the frame. `await` is allowed in it.

        Raises ProbeError with the page's words where it throws or takes too long.
        """
        ...

    def screenshot(self) -> bytes | None:
        """A PNG of the frame; None where this kind of page cannot make one."""
        ...

    def record(self, seconds: float = 5.0) -> bytes | None:
        """A short moving picture (animated WebP); None where this kind cannot.

        Is called from a thread of its own: `run` and `close`, called meanwhile, cut it short, and what there is of it
        is returned.
        """
        ...

    def errors(self) -> tuple[PageError, ...]:
        """What went wrong in the version that runs, up to now."""
        ...

    def heap_bytes(self) -> int | None:
        """Memory of the page's JavaScript now, after a garbage collection where that can be had."""
        ...

    def close(self) -> None:
        """End the page and all that belongs to it."""
        ...


class OpenPage(Protocol):
    """Opens a page for a run."""

    def __call__(
        self, tools: PageTools, limits: PageLimits, targets: tuple[str, ...], cancel: threading.Event
    ) -> LivePage:
        """`targets` are loopback addresses (`127.0.0.2:*`) that the page may reach; none unless a case grants any."""
        ...
