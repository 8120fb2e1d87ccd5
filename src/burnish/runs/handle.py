"""A handle on work that goes on in a thread of this process: it is followed, waited for and stopped.

What runs and evaluations have in common. Nobody who reads slows the work, and to stop it never waits for it.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from concurrent.futures import Future, wait
from typing import Generic, Protocol, TypeVar, cast

from burnish.events import BaseEvent
from burnish.runs.live import LiveLog

LAST_WORDS_SECONDS = 0.5
"""For what is under way when work is stopped, to say so itself; then it is not heard any more."""

E = TypeVar("E", bound=BaseEvent)
R = TypeVar("R")


class Closable(Protocol):
    """What is closed under work that is stopped, so that it ends."""

    def close(self) -> None:
        """From any thread, and as often as one likes."""


class Handle(ABC, Generic[E, R]):
    """Work that goes on in a thread of this process, and ends with it at the latest."""

    def __init__(self, live: LiveLog) -> None:
        self.live = live
        self._cancel = threading.Event()  # of this work alone, whoever shares what it works with
        self._to_close: list[Closable] = []
        self._lock = threading.RLock()
        self._done: Future[None] = Future()

    def events(self, from_now: bool = False) -> Iterator[E]:
        """All that happens, until it is over: from its beginning, or `from_now` on.

        Any number of readers, each at its own pace; none slows the work. One who joins while an answer is being written
        gets what there is of it first. Pieces of answers that are long finished are left out.
        """
        return cast(Iterator[E], self.live.read(from_now))

    def wait(self) -> R:
        """What came of it, once it is over. Ctrl-C meanwhile stops it, and is raised again.

        What kept it from beginning is raised, and then nothing is on record; so is our own bug, which is.
        """
        try:
            self._done.result()
        except KeyboardInterrupt:
            self.stop()
            raise
        return self._read_result()

    def stop(self) -> None:
        """End it within two seconds, whatever it waits for, a person too; what was done is on record.

        From any thread, and as often as you like: what is over stays as it is.
        """
        if self._done.done():
            return
        self._cancel.set()
        with self._lock:
            for working in self._to_close:
                working.close()
        wait([self._done], LAST_WORDS_SECONDS)
        self._end()

    def _begin(self, name: str) -> None:
        """Start the thread."""
        threading.Thread(target=self._go, name=name, daemon=True).start()

    def _go(self) -> None:
        """All of the work, in its thread."""
        try:
            self._make()
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):  # from whoever watches: the user wants no more
                self._cancel.set()
            self._end(error)
        else:
            self._end()

    def _end(self, error: BaseException | None = None) -> None:
        """Let go of those who wait and read. Only the first call counts."""
        with self._lock:
            if self._done.done():
                return
            error = self._close_record(error)
            self.live.end()
            if error:
                self._done.set_exception(error)
            else:
                self._done.set_result(None)

    @abstractmethod
    def _make(self) -> None:
        """The work itself, from its first step to its last."""

    @abstractmethod
    def _close_record(self, error: BaseException | None) -> BaseException | None:
        """Put on record how it ended; what of `error`, or of what went wrong here, is to be raised by `wait`."""

    @abstractmethod
    def _read_result(self) -> R:
        """What is on record, now that it is over."""
