"""An answer that is read in a thread of its own, so that a cancel need not wait for the next token."""

import queue
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing

from burnish.errors import ModelError
from burnish.models.model import Done, Piece, Waiting

POLL_SECONDS = 0.05

Answer = Generator[Piece, None, None]
"""Reads from a server, as long as that takes; runs in the thread, to its very end."""
Translate = Callable[[BaseException], BaseException]
"""Says in our words what broke an answer off."""


def wait_for_weights(ready: threading.Event, cancel: threading.Event) -> Iterator[Waiting]:
    """Says that the weights are read until they are, or until a cancel."""
    if not ready.is_set():
        yield Waiting(why="reading the weights")
    while not ready.wait(POLL_SECONDS) and not cancel.is_set():
        yield Waiting()


def stream_in_thread(
    answer: Answer, cancel: threading.Event, translate: Translate, hang_up: Callable[[], None] = lambda: None
) -> Iterator[Piece]:
    """The pieces of an answer as they come, and Waiting while none does, up to its Done or a cancel.

    What breaks it off is raised here. When the reader has left, `hang_up` is called, so that the thread need not wait
    for the next token; without one it ends with that.
    """
    pieces: queue.SimpleQueue[Piece | BaseException] = queue.SimpleQueue()
    gone = threading.Event()

    def read() -> None:
        try:
            with closing(answer):  # here and not where it is thrown away: what it has open belongs to this thread
                for piece in answer:
                    if gone.is_set():
                        return
                    pieces.put(piece)
            pieces.put(ModelError("the answer broke off before its end"))  # read only where there was no Done
        except BaseException as error:
            pieces.put(translate(error))

    threading.Thread(target=read, name="burnish-pump", daemon=True).start()
    try:
        while not cancel.is_set():
            try:
                piece = pieces.get(timeout=POLL_SECONDS)
            except queue.Empty:
                yield Waiting()
                continue
            if isinstance(piece, BaseException):
                raise piece
            yield piece
            if isinstance(piece, Done):
                return
    finally:
        gone.set()
        hang_up()
