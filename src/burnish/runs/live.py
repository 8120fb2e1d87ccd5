"""What a run says, for any number of readers of its own process, while it goes on.

Nobody waits for a reader: each has only a place in one shared list, so a slow one, or one that was given up, costs
nothing. What lasts stays in the list. Pieces of answers stay as long as their answer is being written, and then until
there are many: whoever joins late in mid-answer gets its text so far, and goes on where that ends.
"""

import threading
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from burnish.events import BaseEvent, ModelChunk, ModelReplied, ModelThought

MOST_PIECES = 10_000
"""Of finished answers, kept for readers who are a little behind; the text of the answer itself is on record."""
MOST_AT_ONCE = 1000
"""Events that a reader takes in one go."""


class LiveLog:
    """The events of one run in their order. Each has a number, so that pieces can be dropped under its readers."""

    def __init__(self, earlier: Sequence[BaseEvent] = ()) -> None:
        self._changed = threading.Condition()
        self._events: list[tuple[int, BaseEvent]] = list(enumerate(earlier))
        self._next = len(self._events)
        self._answering: set[str] = set()
        """The asks whose answers are being written."""
        self._pieces, self._most = 0, MOST_PIECES
        self._is_over = False

    def add(self, event: BaseEvent) -> None:
        """Take one more event, unless the run is over."""
        with self._changed:
            if self._is_over:
                return
            if isinstance(event, ModelChunk | ModelThought):
                self._answering.add(event.ask_id)
                if event.instead:
                    self._drop_pieces(of=event.ask_id)
            elif isinstance(event, ModelReplied):
                self._answering.discard(event.ask_id)
            self._events.append((self._next, event))
            self._next += 1
            self._pieces += not event.lasting
            if self._pieces > self._most:
                self._drop_pieces()
                self._most = 2 * self._pieces + MOST_PIECES  # so that a long answer is not gone through at each piece
            self._changed.notify_all()

    def end(self) -> None:
        """Nothing more comes: readers who have read all of it are let go."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def read(self, from_now: bool = False) -> Iterator[BaseEvent]:
        """Every event from the first, or from now on, until the run is over; first what there is of open answers."""
        with self._changed:
            known = [piece for _, piece in self._list_pieces() if piece.ask_id in self._answering]
            place, so_far = (self._next, list[BaseEvent](known)) if from_now else (0, [])
        return self._read_on(place, so_far)

    def _read_on(self, place: int, taken: list[BaseEvent]) -> Iterator[BaseEvent]:
        is_over = False
        while True:
            yield from taken
            if is_over and not taken:
                return
            with self._changed:
                while not self._is_over and place == self._next:
                    self._changed.wait()
            taken, place, is_over = self.take(place)

    def take(self, place: int) -> tuple[list[BaseEvent], int, bool]:
        """What there is from this place on, without waiting for it; the next place; whether nothing more will come."""
        with self._changed:
            start = bisect_left(self._events, place, key=lambda numbered: numbered[0])
            batch = self._events[start : start + MOST_AT_ONCE]
            return [event for _, event in batch], batch[-1][0] + 1 if batch else self._next, self._is_over

    def place_after(self, count: int) -> tuple[int, list[BaseEvent]]:
        """Where a reader goes on who has the first `count` lasting events, and what answers that go on had before."""
        with self._changed:
            lasting = [number for number, event in self._events if event.lasting]
            place = lasting[count - 1] + 1 if 0 < count <= len(lasting) else 0 if count <= 0 else self._next
            pieces = self._list_pieces()
            going_on = self._answering | {piece.ask_id for number, piece in pieces if number >= place}
            return place, [piece for number, piece in pieces if number < place and piece.ask_id in going_on]

    @property
    def lasting(self) -> list[BaseEvent]:
        """All that is on record so far."""
        with self._changed:
            return [event for _, event in self._events if event.lasting]

    def _list_pieces(self) -> list[tuple[int, ModelChunk | ModelThought]]:
        return [(number, event) for number, event in self._events if isinstance(event, ModelChunk | ModelThought)]

    def _drop_pieces(self, of: str = "") -> None:
        """Forget what came of one answer, or all that no reader who comes now would need."""

        def is_needed(event: BaseEvent) -> bool:
            ask_id = event.ask_id if isinstance(event, ModelChunk | ModelThought) else ""
            return event.lasting or (ask_id != of if of else ask_id in self._answering)

        self._events = [(number, event) for number, event in self._events if is_needed(event)]
        self._pieces = sum(not event.lasting for _, event in self._events)
