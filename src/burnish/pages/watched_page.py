"""A live page as the loop sees it: what it calls comes into the loop's own thread, and pictures of it are kept.

The page's calls arrive on threads of the server. They wait in one queue until the loop, which waits for the version to
be observed, takes them from there: so all that happens in a run happens in one order, and in one thread.
"""

import queue
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from burnish.errors import AttemptError
from burnish.events import PageObserved
from burnish.pages.page import LivePage, OpenPage, PageGone, PageLimits, PageTools
from burnish.paths import PRIVATE_MODE, make_private_folder, write_atomically
from burnish.system import read_own_memory

POLL_SECONDS = 0.1
"""Between two looks at whether a run that waits for its page was stopped."""
RECORDING_SECONDS = 5.0
MOST_CALLS = 100
"""Of one version that are heard; a page that logs in each frame would fill the record."""
NO_ANSWER = "There is no answer: nobody is watching this version now."
PICTURES = "pages"
"""The folder of pictures in a run's own."""


@dataclass(frozen=True)
class PageCall:
    """What the page said or asked while its version was watched; `reply` waits for the answer to a question."""

    tool: Literal["log", "done", "give_up", "ask"]
    text: str
    reply: Future[str] = field(default_factory=Future)


class WatchedPage:
    """One page for one run. `close` may be called from any thread, as often as one likes, and ends all waiting."""

    def __init__(self, open_page: OpenPage, records: bool, limits: PageLimits | None = None) -> None:
        self.running: int | None = None
        """The cycle whose version is in the page now; None where there is none, or it was killed."""
        self.folder: Path | None = None
        """Of the run, for pictures; none are kept without it."""
        self._open_page, self._records, self._limits = open_page, records, limits or PageLimits()
        self._live: LivePage | None = None
        self._targets: tuple[str, ...] = ()
        self._cancel = threading.Event()
        self._lock = threading.Lock()
        self._watched: int | None = None
        """The cycle that the loop waits for now: only its calls are heard."""
        self._heard = 0
        self._queue: queue.SimpleQueue[PageCall | PageObserved | BaseException] = queue.SimpleQueue()
        self._recording: threading.Thread | None = None

    def open(self, targets: tuple[str, ...] = ()) -> None:
        """Open the page itself. Raises SetupProblem where there is no browser."""

        def hear(tool: Literal["log", "done", "give_up"]) -> Callable[[str], None]:
            def take(text: str) -> None:
                self._hear(PageCall(tool, text))

            return take

        self._targets = targets
        tools = PageTools(hear("log"), hear("done"), hear("give_up"), self._ask)
        self._live = self._open_page(tools, self._limits, targets, self._cancel)
        if self._cancel.is_set():
            self.close()

    @property
    def live(self) -> LivePage:
        """The page itself, for probes."""
        if self._live is None or self._cancel.is_set():
            raise PageGone("the page is closed")
        return self._live

    def run(self, code: str, cycle: int) -> Generator[PageCall, None, PageObserved]:
        """Run a version: each call of the page as it comes, and then what was observed, with a picture of it.

        The recording of the version before ends here.
        """
        live, self.running, self._recording = self.live, None, None

        def run_in_any() -> PageObserved:
            try:
                return live.run(code, cycle)
            except PageGone:
                if self._cancel.is_set():
                    raise
            live.close()  # the browser itself died: the version gets another one, once
            self.open(self._targets)
            return self.live.run(code, cycle)

        with self._lock:
            self._watched, self._heard = cycle, 0

        def run_and_watch() -> None:
            try:
                self._queue.put(run_in_any())
            except BaseException as error:
                self._queue.put(error)

        threading.Thread(target=run_and_watch, name="burnish-page", daemon=True).start()
        try:
            while not isinstance(came := self._take(), PageObserved):
                if isinstance(came, BaseException):
                    raise came
                yield came
        finally:
            self._stop_watching()
        self.running = None if came.killed else cycle
        began, screenshot = time.monotonic(), ""
        with suppress(AttemptError):  # the page was killed just now
            screenshot = self._keep(self.live.screenshot(), f"{cycle}.png") if self.running else ""
        recording = f"{PICTURES}/{cycle}.webp" if self._records and self.folder and self.running else ""
        return came.model_copy(
            update={
                "cycle": cycle,
                "screenshot": screenshot,
                "recording": recording,
                "overhead_seconds": came.overhead_seconds + time.monotonic() - began,
                "own_memory_bytes": read_own_memory(),
            }
        )

    def start_recording(self) -> None:
        """Record what goes on in the page, in a thread, until it is long enough or the next version begins."""
        if self._records and self.folder and self.running and self._recording is None:
            live, name = self.live, f"{self.running}.webp"

            def record() -> None:
                with suppress(AttemptError, OSError):  # the page was killed meanwhile, or the disk is full
                    self._keep(live.record(RECORDING_SECONDS), name)

            self._recording = threading.Thread(target=record, name="burnish-recording", daemon=True)
            self._recording.start()

    def finish_recording(self) -> None:
        """Wait until the recording that goes on is kept."""
        if recording := self._recording:
            until = time.monotonic() + 2 * RECORDING_SECONDS
            while recording.is_alive() and not self._cancel.is_set() and time.monotonic() < until:
                recording.join(POLL_SECONDS)

    def close(self) -> None:
        """End the page and whatever waits for it."""
        self._cancel.set()
        self._stop_watching()
        if self._live:
            self._live.close()

    def _hear(self, call: PageCall) -> int | None:
        """Take a call of the page for the loop; None where nobody watches, or the page said too much already."""
        with self._lock:
            self._heard += 1
            if self._watched is None or self._heard > MOST_CALLS:
                return None
            self._queue.put(call)
            return self._watched

    def _ask(self, question: str) -> str:
        call = PageCall("ask", question)
        cycle = self._hear(call)
        while cycle is not None and cycle == self._watched:
            with suppress(TimeoutError):
                return call.reply.result(POLL_SECONDS)
        return NO_ANSWER

    def _take(self) -> PageCall | PageObserved | BaseException:
        while not self._cancel.is_set():
            with suppress(queue.Empty):
                return self._queue.get(timeout=POLL_SECONDS)
        raise PageGone("the page is closed")

    def _stop_watching(self) -> None:
        """From here on nobody hears the page, and questions that wait are let go."""
        with self._lock:
            self._watched = None
            with suppress(queue.Empty):
                while True:
                    self._queue.get_nowait()

    def _keep(self, picture: bytes | None, name: str) -> str:
        """Its name below the run's folder, once it is there; empty where there is none."""
        if picture is None or self.folder is None:
            return ""
        make_private_folder(self.folder / PICTURES)
        write_atomically(self.folder / PICTURES / name, picture, PRIVATE_MODE)
        return f"{PICTURES}/{name}"
