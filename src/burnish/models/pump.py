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
Named = Callable[[BaseException], BaseException]
"""Says in our words what broke an answer off."""
_Pieces = queue.SimpleQueue[Piece | BaseException]


def pumped(
    answer: Answer, cancel: threading.Event, named: Named, hang_up: Callable[[], None] = lambda: None
) -> Iterator[Piece]:
    """The pieces of an answer as they come, and Waiting while none does, up to its Done or a cancel.

    What breaks it off is raised here. When nobody reads any more `hang_up` is called, so that the thread need not wait
    for the next token; without one it ends with that.
    """
    pieces: _Pieces = queue.SimpleQueue()
    gone = threading.Event()
    threading.Thread(target=_pump, args=(answer, named, gone, pieces), name="burnish-pump", daemon=True).start()
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


def _pump(answer: Answer, named: Named, gone: threading.Event, pieces: _Pieces) -> None:
    try:
        with closing(answer):  # here and not where it is thrown away: what it has open belongs to this thread
            for piece in answer:
                if gone.is_set():
                    return
                pieces.put(piece)
        pieces.put(ModelError("the answer broke off before its end"))  # read only where there was no Done
    except BaseException as error:
        pieces.put(named(error))
