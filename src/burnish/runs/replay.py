"""Resume is replay: what a run's record already answers is answered from there, and not asked or run again."""

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from burnish.events import (
    Asked,
    BaseEvent,
    Broke,
    CheckFinished,
    Event,
    Graded,
    Message,
    ModelReplied,
    Resumed,
    RunFinished,
    Stopped,
    TestsRan,
)
from burnish.runs.run import Run

E = TypeVar("E", bound=BaseEvent)
ENDINGS = (Stopped, CheckFinished, RunFinished, Broke)
"""What a run that goes on says anew: it is judged again from its final files."""


class Replay:
    """The answers of an earlier part of the run. Each is given once; several nodes may look at the same time."""

    def __init__(self, events: Sequence[Event] = ()) -> None:
        self._lock = threading.Lock()
        self._events = list(events)
        self._replies = _answered(self._events)
        self._went_on = False
        self.answers = len(self._replies)
        """Answers of the model on record."""
        self.seconds = Run(events).seconds
        """What the parts so far took."""
        self.tokens_lost = sum(
            event.tokens_in + event.tokens_out
            for event in self._events
            if isinstance(event, ModelReplied) and event.ended == "cut"
        )
        """Spent on answers that were broken off; they are asked for again."""

    def reply(self, ask_id: str, messages: Sequence[Message], temperature: float, seed: int) -> ModelReplied | None:
        """The recorded answer to this very question; None is the sign to ask, and from then on the run is live."""
        wanted = (ask_id, tuple(messages), temperature, seed)
        with self._lock:
            for place, (asked, reply) in enumerate(self._replies):
                if (asked.ask_id, asked.messages, asked.temperature, asked.seed) == wanted:
                    del self._replies[place]
                    return reply
            self._went_on = True
        return None

    def changed(self, ask_id: str) -> bool:
        """Whether the record answers a question of this name that reads differently."""
        with self._lock:
            return any(asked.ask_id == ask_id for asked, _ in self._replies)

    def graded(self, version: int, basis: str) -> Graded | None:
        """What the tests said about a version, if the same code met the same tests: `basis` is the hash of both."""
        with self._lock:
            found = self._find(TestsRan, {"version": version, "basis": basis}) if basis else None
        return found.graded if found else None

    def take(self, kind: type[E], **fields: object) -> E | None:
        """The first recorded event of a type with these values, once; None as soon as the run has gone on.

        What rests on a fresh answer is done anew, so an event is only ever taken for work with the same beginning.
        """
        with self._lock:
            return None if self._went_on else self._find(kind, fields)

    def _find(self, kind: type[E], fields: dict[str, Any]) -> E | None:
        for place, event in enumerate(self._events):
            if isinstance(event, kind) and all(getattr(event, name) == value for name, value in fields.items()):
                del self._events[place]
                return event
        return None


def unless_known(known: Iterable[Event], record: Callable[[BaseEvent], None]) -> Callable[[BaseEvent], None]:
    """`record`, but what the earlier parts of a run already say, apart from times, is not written down again."""
    left = [_timeless(event.model_dump()) for event in known if not isinstance(event, (*ENDINGS, Resumed))]
    lock = threading.Lock()

    def append(event: BaseEvent) -> None:
        told = _timeless(event.model_dump()) if event.lasting else None
        with lock:
            if told in left:
                left.remove(told)
                return
        record(event)

    return append


def _answered(events: Iterable[Event]) -> list[tuple[Asked, ModelReplied]]:
    waiting: dict[str, Asked] = {}
    pairs = []
    for event in events:
        if isinstance(event, Asked):
            waiting[event.ask_id] = event
        elif isinstance(event, ModelReplied) and event.ended != "cut" and event.ask_id in waiting:
            pairs.append((waiting[event.ask_id], event))
    return pairs


def _timeless(data: Any) -> Any:
    """Plain data without the moments and durations in it."""
    if isinstance(data, dict):
        return {key: _timeless(value) for key, value in data.items() if key not in ("at", "seconds")}
    return [_timeless(value) for value in data] if isinstance(data, list | tuple) else data
