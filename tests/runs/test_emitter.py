"""The end that the user made is the last word on record."""

import threading
from pathlib import Path
from typing import Any, cast

from burnish.events import BaseEvent, Decided, Stopped
from burnish.runs.record import Emitter

END = Stopped(reason="interrupted", why="stopped by the user")
LIMIT = Stopped(reason="calls", why="the limit of 4 calls is reached")
LATE = Decided(choice="draft", reason="late")


class Kept:
    """A record in memory."""

    path = Path("run/events.jsonl")

    def __init__(self) -> None:
        self.events: list[BaseEvent] = []

    def append(self, event: BaseEvent) -> None:
        self.events.append(event)


def emitter(kept: Kept, shown: list[BaseEvent] | None = None) -> Emitter:
    return Emitter(cast(Any, kept), None if shown is None else shown.append)


def test_nothing_is_recorded_after_the_end_not_even_the_end_itself() -> None:
    kept = Kept()
    to = emitter(kept)
    for event in (Decided(choice="draft", reason="first"), LIMIT, END, LATE, END):
        to.record(event)
    assert [getattr(event, "kind", "") for event in kept.events] == ["decided", "stopped", "stopped"]
    assert kept.events[-1] is END


def test_of_many_who_talk_at_once_whoever_ends_it_has_the_last_word() -> None:
    kept = Kept()
    to, ready = emitter(kept), threading.Barrier(8)

    def talks(number: int) -> None:
        ready.wait()
        for place in range(50):
            last = number == 3 and place == 25
            to.record(END if last else Decided(choice="draft", reason=f"{number}"))

    talkers = [threading.Thread(target=talks, args=(number,)) for number in range(8)]
    for talker in talkers:
        talker.start()
    for talker in talkers:
        talker.join()
    assert kept.events[-1] is END
    assert kept.events.count(END) == 1


def test_whoever_watches_sees_the_end_and_nothing_later() -> None:
    shown: list[BaseEvent] = []
    to = emitter(Kept(), shown)
    to.tell(LIMIT)
    to.tell(END)
    to.tell(LATE)
    assert shown == [LIMIT, END]


def test_what_is_on_record_is_not_written_down_again() -> None:
    kept = Kept()
    to = Emitter(cast(Any, kept), known=[LATE])
    to.record(LATE.model_copy(update={"at": 0.0}))
    to.record(LATE)
    assert kept.events == [LATE]
