"""Resume is replay: what a run's record already answers is answered from there, and not asked or run again."""

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from burnish.events import (
    AnswerLost,
    Asked,
    BaseEvent,
    Broke,
    CheckFinished,
    CodeProposed,
    Decided,
    Event,
    Graded,
    Message,
    ModelReplied,
    PackagesAdded,
    Resumed,
    Reviewed,
    RunFinished,
    Stopped,
    TestsRan,
)
from burnish.events.history import Run

E = TypeVar("E", bound=BaseEvent)
Lost = tuple[Asked, ModelReplied | None]
"""A question that cost something and brought nothing."""
ENDINGS = (Stopped, CheckFinished, RunFinished, Broke)
"""What a run that goes on says anew: it is judged again from its final files."""


class Replay:
    """The answers of an earlier part of the run. Each is given once; several nodes may look at the same time."""

    def __init__(self, events: Sequence[Event] = ()) -> None:
        self._lock = threading.Lock()
        self._events = list(events)
        self._replies, self.lost = _pair_answers(self._events)
        """`lost` are questions whose answer was broken off, with what there is of it: they are asked again."""
        self.tries = [event for event in self._events if isinstance(event, AnswerLost)]
        """Tries whose answer was lost on its way, and asked for again at once."""
        self._went_on = False
        self.answers = len(self._replies)
        """Answers of the model on record."""
        self.seconds = Run(events).seconds
        """What the parts so far took."""

    def reply(
        self, ask_id: str, messages: Sequence[Message], temperature: float, seed: int, json_schema: str = ""
    ) -> tuple[Asked, ModelReplied] | None:
        """This very question as it was asked, and its answer; None is the sign to ask: from then on the run is live.

        How long the answer might have been, and where it was to stop, is no part of the question: an answer on record
        has the length it has.
        """
        wanted = (ask_id, tuple(messages), temperature, seed, json_schema)
        with self._lock:
            for place, (asked, reply) in enumerate(self._replies):
                same = (asked.ask_id, asked.messages, asked.temperature, asked.seed, asked.json_schema) == wanted
                if same:
                    del self._replies[place]
                    return asked, reply
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

    def packages(self, version: int) -> list[PackagesAdded]:
        """The packages that came for a version before the tests said anything about it; each is told once."""
        found: list[PackagesAdded] = []
        with self._lock:
            while event := self._find(PackagesAdded, {"for_version": version}):
                found.append(event)
        return found

    def reviewed(self, basis: str) -> Reviewed | None:
        """What a person said when this very thing was shown. Who stopped there is asked anew when the run goes on."""
        with self._lock:
            return self._find(Reviewed, {"basis": basis}, lambda event: event.said != "stop")

    def take(self, kind: type[E], fits: Callable[[E], bool] | None = None, **fields: object) -> E | None:
        """The first recorded event of a type with these values, once; None as soon as the run has gone on.

        `fits` may turn down one that belongs to another place. What rests on a fresh answer is done anew, so an event
        is only ever taken for work with the same beginning.
        """
        with self._lock:
            return None if self._went_on else self._find(kind, fields, fits)

    def was_done(self, next_version: int) -> bool:
        """Whether the record ends the work before a version of that number, or a later one, was written."""
        with self._lock:
            for event in self._events if not self._went_on else ():
                if isinstance(event, Stopped) or (isinstance(event, CodeProposed) and event.version >= next_version):
                    return False
                if isinstance(event, Decided) and event.choice == "judge":
                    return True
        return False

    def _find(self, kind: type[E], fields: dict[str, Any], fits: Callable[[E], bool] | None = None) -> E | None:
        for place, event in enumerate(self._events):
            same = isinstance(event, kind) and all(getattr(event, name) == value for name, value in fields.items())
            if isinstance(event, kind) and same and (fits is None or fits(event)):
                del self._events[place]
                return event
        return None


def unless_known(known: Sequence[Event], record: Callable[[BaseEvent], None]) -> Callable[[BaseEvent], None]:
    """`record`, but what the earlier parts of a run already say, apart from times, is not written down again.

    A question that came to nothing is asked and paid for once more, so it is written down once more.
    """
    said = [
        event for event in known if not isinstance(event, (*ENDINGS, Resumed, Asked, AnswerLost)) and not _is_cut(event)
    ]
    left = [_drop_times(event.model_dump()) for event in (*said, *(asked for asked, _ in _pair_answers(known)[0]))]
    lock = threading.Lock()

    def append(event: BaseEvent) -> None:
        told = _drop_times(event.model_dump()) if event.lasting else None
        with lock:
            if told in left:
                left.remove(told)
                return
        record(event)

    return append


def _pair_answers(events: Iterable[Event]) -> tuple[list[tuple[Asked, ModelReplied]], list[Lost]]:
    """Questions with their answers, and those whose answer was broken off, or of which nothing more is known."""
    waiting: dict[str, Asked] = {}
    asked: dict[str, Asked] = {}
    pairs: list[tuple[Asked, ModelReplied]] = []
    lost: list[Lost] = []
    for event in events:
        if isinstance(event, Asked):
            waiting[event.ask_id] = asked[event.ask_id] = event
        elif isinstance(event, Resumed):  # whoever waited then was never answered, and is asked again
            lost += [(question, None) for question in waiting.values()]
            waiting.clear()
        elif isinstance(event, ModelReplied) and event.ask_id in asked:
            question = waiting.pop(event.ask_id, asked[event.ask_id])
            if _is_cut(event):
                lost.append((question, event))
            else:
                pairs.append((question, event))
    return pairs, [*lost, *((question, None) for question in waiting.values())]


def _is_cut(event: Event) -> bool:
    return isinstance(event, ModelReplied) and event.ended == "cut"


def _drop_times(data: Any) -> Any:
    """Plain data without the moments and durations in it."""
    if isinstance(data, dict):
        return {key: _drop_times(value) for key, value in data.items() if key not in ("at", "seconds")}
    return [_drop_times(value) for value in data] if isinstance(data, list | tuple) else data
