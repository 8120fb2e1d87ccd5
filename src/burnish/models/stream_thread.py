"""An answer on its way: read in a thread of its own, so that a cancel need not wait for the next token, and ended
before a text at which its ask wants it to stop.
"""

import queue
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing

from burnish.errors import ModelError
from burnish.models.model import Ask, Chunk, Done, Piece, Thought, Waiting

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


def end_at_stop(pieces: Iterator[Piece], ask: Ask, count: Callable[[Ask, str], Done] | None = None) -> Iterator[Piece]:
    """The pieces of an answer up to the first of the ask's stop strings, wherever that is cut into pieces.

    With `count` the rest is left unread; without, it is read to its end, which says what all of it cost.
    """
    text, given, found = "", 0, False
    for piece in pieces:
        if isinstance(piece, Chunk | Thought) and piece.instead:
            text, given, found = "", 0, False
        if not ask.stop or isinstance(piece, Thought | Waiting):
            yield piece
        elif isinstance(piece, Chunk) and not found:
            text += piece.text
            # Looked for in all of the text: it may have begun pieces ago.
            places = [place for stop in ask.stop if (place := text.find(stop)) >= 0]
            found = bool(places)
            safe = min(places) if found else len(text) - _count_begun(text, ask.stop)
            if safe > given or piece.instead:
                yield Chunk(text=text[given:safe], instead=piece.instead)
            given = max(given, safe)
            if found and count:
                yield count(ask, text[:safe]).model_copy(update={"ended": "stop_string"})
                return
        elif isinstance(piece, Done):
            if not found and given < len(text):
                yield Chunk(text=text[given:])
            yield piece.model_copy(update={"ended": "stop_string"}) if found else piece


def _count_begun(text: str, stops: tuple[str, ...]) -> int:
    """Characters at the end of a text that may be the beginning of a stop string."""
    sizes = (size for stop in stops for size in range(1, len(stop)) if text.endswith(stop[:size]))
    return max(sizes, default=0)
