"""A live page without a browser: it observes what a script of observations says."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from burnish.errors import BurnishError
from burnish.events import PageError, PageObserved
from burnish.pages.page import PageGone, PageLimits, PageTools

PNG = b"\x89PNG\r\n\x1a\n a picture"
WEBP = b"RIFF....WEBP a moving picture"


def seen(canvas: str = "drawn", error: str = "", line: int | None = None, **more: Any) -> PageObserved:
    """What a version did; without any fault unless one is named."""
    errors = (PageError(kind="exception", message=error, line=line, cycle=1),) if error else ()
    return PageObserved(**({"cycle": 1, "canvas": canvas, "errors": errors, "frames_per_second": 60.0} | more))


@dataclass(frozen=True)
class Turn:
    """What happens when one version runs: what the page calls, in order, and then what is observed, or raised."""

    observed: PageObserved
    calls: tuple[tuple[str, str], ...] = ()
    """Tool and text: `("log", "hello")`, `("ask", "Which colour?")`."""
    raises: BurnishError | None = None
    hangs: bool = False
    """Whether it is only over once the page is closed."""


class FakePage:
    """A `LivePage`, and how it is opened: `start_page(…, open_page=FakePage(turns).open)`.

    `turns` are taken in order, and the last one again and again; or a function says what each code does. `values` says
    what an expression gives; what it raises is raised by `evaluate`.
    """

    def __init__(
        self,
        turns: Sequence[Turn | PageObserved] | Callable[[str], Turn | PageObserved] = (),
        values: Callable[[str], Any] = lambda script: True,
    ) -> None:
        self.turns = turns or (seen(),)
        self.values = values
        self.ran: list[tuple[int, str]] = []
        """Cycle and code of each version that was put in."""
        self.answers: list[str] = []
        """What the page was told when it asked."""
        self.recorded = 0
        self.closed = threading.Event()
        self.targets: tuple[str, ...] = ()
        self._tools: PageTools | None = None
        self._cut = threading.Event()

    def open(
        self, tools: PageTools, limits: PageLimits, targets: tuple[str, ...], cancel: threading.Event
    ) -> "FakePage":
        self._tools, self.targets = tools, targets
        return self

    def run(self, code: str, cycle: int) -> PageObserved:
        self._refuse_closed()
        self._cut.set()
        self.ran.append((cycle, code))
        turn = self.turns(code) if callable(self.turns) else self.turns[min(len(self.ran), len(self.turns)) - 1]
        turn = turn if isinstance(turn, Turn) else Turn(turn)
        for tool, text in turn.calls:
            if tool == "ask":
                assert self._tools
                self.answers.append(self._tools.ask(text))
            else:
                getattr(self._tools, tool)(text)
        if turn.raises:
            raise turn.raises
        if turn.hangs:
            self.closed.wait()
            self._refuse_closed()
        self._cut = threading.Event()
        errors = tuple(error.model_copy(update={"cycle": cycle}) for error in turn.observed.errors)
        return turn.observed.model_copy(update={"cycle": cycle, "errors": errors})

    def evaluate(self, script: str, timeout_seconds: float = 5.0) -> Any:
        self._refuse_closed()
        return self.values(script)

    def screenshot(self) -> bytes | None:
        return PNG

    def record(self, seconds: float = 5.0) -> bytes | None:
        self._cut.wait(min(seconds, 0.05))
        self.recorded += 1
        return WEBP

    def errors(self) -> tuple[PageError, ...]:
        return ()

    def heap_bytes(self) -> int | None:
        return 1_000_000

    def close(self) -> None:
        self.closed.set()
        self._cut.set()

    def _refuse_closed(self) -> None:
        if self.closed.is_set():
            raise PageGone("the page is closed")
