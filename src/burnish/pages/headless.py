"""A live page in a Chromium of our own, which runs in a cell without network and is killed with all that is in it.

Each version is a tab of its own, and its document's policy makes its origin opaque, as the frame is elsewhere. What
DevTools adds to the frame's channel cannot be touched by page code: probes in an isolated world, pictures, the heap
after a collection of garbage, and a kill.
"""

import base64
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from burnish.events.pages import Kill, PageError, PageObserved
from burnish.pages.chromium import DevToolsError, open_chromium
from burnish.pages.page import PageGone, PageLimits, PageTools, ProbeError
from burnish.pages.recording import join_pictures
from burnish.pages.server import FrameServer

PAGE_ITSELF_BYTES = 192 << 20
"""What the process of a page takes beside the page's heap: a small page has about 80 MB."""
PICTURE_SECONDS = 5.0
HEAP_SECONDS = 2.0
LOOK_SECONDS = 0.2
"""Between two looks at whether the run was stopped."""
DRAWN_SECONDS = 1.0
"""In which a picture of a page that is not hanging is there."""
FRAME_SECONDS = 0.2
"""Between two pictures of a recording."""
NEWS_SECONDS = 0.3
"""In which the cell says that it was it that ended a page."""
FIRST_HEAP = 0.4
"""Where in the watching the heap is measured for the first time: what a version sets up is no growth."""
WIDTH, HEIGHT = 1024, 768
QUALITY = 70
WORLD = "burnish"


@dataclass
class Tab:
    """The version that is open now."""

    target: str
    session: str
    killed: Kill = ""
    documents: int = 0
    """How many were loaded into it: with a second one it has left."""
    world: int | None = None
    """The context in which probes are evaluated, once there is one."""


class HeadlessPage:
    """One page for one run, see `LivePage`."""

    def __init__(
        self,
        tools: PageTools,
        limits: PageLimits,
        targets: tuple[str, ...],
        cancel: threading.Event,
        servers: Sequence[str] = (),
    ) -> None:
        """Plain HTTP servers listen for the page at `servers` (`127.0.0.2:8080`), in its own cell.

        Raises SetupProblem where there is no browser, or no cell.
        """
        self._limits, self._cancel = limits, cancel
        self._tab: Tab | None = None
        self._closing, self._drawing = threading.Lock(), threading.Lock()
        self._is_closed = False
        self._cell, self._devtools = open_chromium(limits.heap_bytes + PAGE_ITSELF_BYTES, servers)
        self._server = FrameServer(self._cell.listener, own_tab=True)
        self._link = self._server.open(tools, limits, targets)
        self._devtools.listen("", self._hear_browser)
        self._devtools.send("Target.setDiscoverTargets", discover=True)
        self._devtools.send("Browser.setDownloadBehavior", behavior="deny")
        threading.Thread(target=self._look_after, name="burnish-headless", daemon=True).start()

    def run(self, code: str, cycle: int) -> PageObserved:
        """Open a tab for this version in place of the one before, watch it, and measure what only DevTools can."""
        began = time.monotonic()
        if self._tab:
            # Chromium dies now and then where a tab ends while a picture of it is made.
            has_drawn = self._drawing.acquire(timeout=DRAWN_SECONDS)
            self._end(self._tab, "closed")
            if has_drawn:
                self._drawing.release()
        self._link.begin(cycle, code)
        try:
            tab = self._open_tab()
        except DevToolsError as error:
            raise self._explain(error) from error
        early: list[int | None] = []
        timer = threading.Timer(FIRST_HEAP * self._limits.settle_seconds, lambda: early.append(self._read_heap(tab)))
        timer.daemon = True
        timer.start()
        observed = self._link.watch(cycle)
        timer.cancel()
        if tab.killed == "crashed":
            time.sleep(NEWS_SECONDS)  # for its memory, perhaps: the cell says so elsewhere, and a moment later
        if observed.killed:
            self._end(tab, observed.killed)
        heap = None if tab.killed else self._read_heap(tab)
        if self._is_closed:
            raise PageGone("the page is closed")
        update: dict[str, Any] = {"killed": tab.killed}
        if heap is not None:
            update |= {"heap_bytes": heap, "heap_growth_bytes": heap - early[0] if early and early[0] else None}
        watched = observed.seconds - observed.overhead_seconds
        update["overhead_seconds"] = round(time.monotonic() - began - watched, 3)
        return observed.model_copy(update=update)

    def evaluate(self, script: str, timeout_seconds: float = 5.0) -> Any:
        """See `LivePage`. Evaluated in a world of its own: it sees the document, and nothing that page code made."""
        tab, until = self._require_tab(), time.monotonic() + timeout_seconds
        try:
            if tab.world is None:
                made = self._devtools.call(
                    "Page.createIsolatedWorld", tab.session, timeout_seconds, frameId=tab.target, worldName=WORLD
                )
                tab.world = int(made["executionContextId"])
            answer = self._devtools.call(
                "Runtime.evaluate",
                tab.session,
                max(0.1, until - time.monotonic()),
                expression=f"(async () => ({script}\n))()",
                contextId=tab.world,
                awaitPromise=True,
                returnByValue=True,
                timeout=1000 * timeout_seconds,
            )
        except DevToolsError as error:
            raise self._explain(error, tab, ProbeError) from error
        if "exceptionDetails" in answer:
            thrown = answer["exceptionDetails"].get("exception", {})
            raise ProbeError(str(thrown.get("description") or thrown.get("value") or "it threw").partition("\n")[0])
        return answer["result"].get("value")

    def screenshot(self) -> bytes | None:
        """A PNG of the tab; None where it is too busy to be drawn."""
        tab = self._require_tab()
        with suppress(DevToolsError):
            return self._capture(tab, format="png")
        return None

    def record(self, seconds: float = 5.0) -> bytes | None:
        """A moving picture, cut short where the version ends; None where it showed nothing."""
        tab, pictures = self._require_tab(), list[bytes]()
        began = now = time.monotonic()
        with suppress(DevToolsError):
            while now < began + seconds and not tab.killed:
                pictures.append(self._capture(tab, format="webp", quality=QUALITY))
                time.sleep(max(0.0, now + FRAME_SECONDS - time.monotonic()))
                now = time.monotonic()
        return join_pictures(pictures, max(now - began, FRAME_SECONDS))

    def errors(self) -> tuple[PageError, ...]:
        """See `LivePage`."""
        return self._link.errors

    def heap_bytes(self) -> int | None:
        """After a collection of garbage; None where the page is too busy to answer."""
        return self._read_heap(self._require_tab())

    def close(self) -> None:
        """End the browser, its cell and the server; safe to call twice, and from another thread."""
        with self._closing:
            if not self._is_closed:
                self._is_closed = True
                self._link.close()
                self._server.close()  # before the cell, which takes its listener away
                self._cell.close()
                self._devtools.close()

    def _require_tab(self) -> Tab:
        if self._tab is None or self._tab.killed or self._is_closed:
            raise PageGone("the page was killed, or is closed")
        return self._tab

    def _explain(self, error: DevToolsError, tab: Tab | None = None, kind: type[Exception] = PageGone) -> Exception:
        """What a failed command means: that the page is gone, or what `kind` stands for."""
        is_gone = self._is_closed or self._devtools.is_gone or (tab and tab.killed)
        return PageGone("the page was killed, or is closed") if is_gone else kind(str(error))

    def _open_tab(self) -> Tab:
        """A new tab, with a session in it before anything of the version is loaded."""
        call = self._devtools.call
        target = call("Target.createTarget", url="about:blank", newWindow=True, width=WIDTH, height=HEIGHT)["targetId"]
        session = call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._tab = tab = Tab(target, session)
        self._devtools.listen(session, lambda method, parameters: self._hear_tab(tab, method, parameters))
        call("Page.enable", session)
        call("Page.navigate", session, url=self._server.locate(self._link))
        return tab

    def _end(self, tab: Tab, why: Kill) -> None:
        """Kill a tab, however busy it is, and tell whoever watches it. From any thread; the first reason counts.

        That it crashed is no reason once it is known why.
        """
        if not tab.killed or (tab.killed == "crashed" and why == "memory"):
            tab.killed = why
            self._devtools.send("Page.crash", tab.session)
            self._devtools.send("Target.closeTarget", targetId=tab.target)
            if tab is self._tab:
                self._link.kill(why)

    def _hear_tab(self, tab: Tab, method: str, parameters: dict[str, Any]) -> None:
        """What a tab's session says by itself."""
        if method == "Page.frameNavigated" and "parentId" not in parameters["frame"]:
            tab.documents += 1
            if tab.documents > 1:
                self._end(tab, "left")
        elif method == "Page.javascriptDialogOpening":
            self._devtools.send("Page.handleJavaScriptDialog", tab.session, accept=False)
        elif method == "Inspector.targetCrashed":
            self._end(tab, "crashed")

    def _hear_browser(self, method: str, parameters: dict[str, Any]) -> None:
        """What the browser says of its tabs: one that a page opens is closed, one that closes itself is over."""
        tab = self._tab
        if method == "Target.targetCreated" and parameters["targetInfo"].get("openerId"):
            self._devtools.send("Target.closeTarget", targetId=parameters["targetInfo"]["targetId"])
        elif method == "Target.detachedFromTarget" and tab and tab.session == parameters["sessionId"]:
            self._devtools.listen(tab.session, None)
            self._end(tab, "closed")

    def _look_after(self) -> None:
        """The thread that hears which page took too much memory, and whether the run was stopped."""
        while (has_ended := self._cell.wait_for_kill(LOOK_SECONDS)) is not None and not self._cancel.is_set():
            if has_ended and self._tab:
                self._end(self._tab, "memory")
        self.close()

    def _read_heap(self, tab: Tab) -> int | None:
        with suppress(DevToolsError):
            self._devtools.call("HeapProfiler.collectGarbage", tab.session, HEAP_SECONDS)
            said = self._devtools.call("Runtime.getHeapUsage", tab.session, HEAP_SECONDS)
            return int(sum(said.get(name, 0) for name in ("usedSize", "embedderHeapUsedSize", "backingStorageSize")))
        return None

    def _capture(self, tab: Tab, **options: Any) -> bytes:
        with self._drawing:
            if tab.killed:
                raise DevToolsError("the tab is gone")
            said = self._devtools.call("Page.captureScreenshot", tab.session, PICTURE_SECONDS, **options)
        return base64.b64decode(said["data"])


open_headless = HeadlessPage
"""Opens a page; see `OpenPage`."""
