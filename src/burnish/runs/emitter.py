"""What a run says: on record first, then to whoever watches."""

import threading
from collections.abc import Callable, Sequence

from burnish.events import BaseEvent, Event, Notice, Stopped
from burnish.events.replay import unless_known
from burnish.runs.record import Record

Watch = Callable[[BaseEvent], None]


class Emitter:
    """The two readers of a run: its record, which forgets nothing, and whoever watches, if anybody does.

    `known` is what earlier parts of the run have on record; it is not written down again. Once the user has stopped
    the run, whoever still talks is not heard: that end is the last word on record.
    """

    def __init__(self, record: Record, watch: Watch | None = None, known: Sequence[Event] = ()) -> None:
        self.folder = record.path.parent
        """The run's own, for what is too large for its record."""
        self._append = unless_known(known, record.append)
        self._watch = watch
        self._lock = threading.Lock()
        self._end: BaseEvent | None = None

    def record(self, event: BaseEvent) -> None:
        """Put the event on disk, unless the user has ended the run."""
        with self._lock:
            if self._end is None:
                if isinstance(event, Stopped) and event.reason == "interrupted":
                    self._end = event
                self._append(event)

    def show(self, event: BaseEvent) -> None:
        """Give whoever watches an event that is on record."""
        if self._watch and (self._end is None or event == self._end):
            self._watch(event)

    def tell(self, event: BaseEvent) -> None:
        """Record it, then show it."""
        self.record(event)
        self.show(event)


def notices_to(watch: Watch | None) -> Callable[[str], None] | None:
    """`watch` for plain words, which nobody puts on record."""
    return (lambda text: watch(Notice(text=text))) if watch else None
