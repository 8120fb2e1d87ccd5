"""How long packages may take and how much may come for them; a program that takes more is ended."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Self

from burnish.packages.layer import weigh

LOOK_SECONDS = 0.05
"""Between two looks at whether a bound is passed."""

Why = Literal["", "stopped", "late", "large"]


class Passed(Exception):
    """A bound was passed, so the work was broken off."""

    def __init__(self, why: Why) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True)
class Bounds:
    """What making a layer may take; None is no bound."""

    until: float | None = None
    """In the time of `time.monotonic`."""
    cancel: threading.Event | None = None
    """Set by whoever does not want the packages any more."""
    most_bytes: int | None = None
    """Of what is fetched."""

    @classmethod
    def within(cls, seconds: float, cancel: threading.Event | None = None, most_bytes: int | None = None) -> Self:
        """From now on so many seconds."""
        return cls(time.monotonic() + seconds, cancel, most_bytes)

    def at_most(self, seconds: float) -> Self:
        """The same, and from now on no more than so many seconds."""
        until = time.monotonic() + seconds
        return replace(self, until=until if self.until is None else min(until, self.until))

    def passed(self, fetched_bytes: int = 0) -> Why:
        """Which bound is passed; empty where none is."""
        if self.cancel is not None and self.cancel.is_set():
            return "stopped"
        if self.until is not None and time.monotonic() >= self.until:
            return "late"
        return "large" if self.most_bytes is not None and fetched_bytes > self.most_bytes else ""

    def check(self) -> None:
        """Raise Passed where a bound is passed."""
        if why := self.passed():
            raise Passed(why)

    @contextmanager
    def kept_by(self, process: "subprocess.Popen[str]", fetching: "Fetching") -> Iterator[None]:
        """End a program and all that it has started once a bound is passed, and raise Passed.

        It must lead a process group of its own. It is ended too when what is done here fails.
        """
        done = threading.Event()
        found: list[Why] = []

        def look() -> None:
            while not done.wait(LOOK_SECONDS):
                if why := self.passed(fetching.bytes if self.most_bytes is not None else 0):
                    found.append(why)
                    _end(process)
                    return

        looking = threading.Thread(target=look, name="burnish-packages", daemon=True)
        looking.start()
        try:
            yield
        except BaseException:
            _end(process)
            raise
        finally:
            done.set()
            looking.join()
        if found:
            raise Passed(found[0])


class Fetching:
    """What is on its way: the larger of what was announced and what has come into some folders."""

    def __init__(self, folders: Sequence[Path] = ()) -> None:
        self.announced_bytes = 0
        self._folders = folders

    @property
    def bytes(self) -> int:
        """So far."""
        return max(self.announced_bytes, sum(map(_size, self._folders)))


def _end(process: "subprocess.Popen[str]") -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _size(folder: Path) -> int:
    try:
        return weigh(folder)[1]
    except OSError:  # not there yet, or it changed while it was looked at
        return 0
