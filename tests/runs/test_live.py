"""Readers of a run in its own process: any number, at any pace, from any moment on."""

import sys
import threading
import time
from collections.abc import Iterator

import pytest

from burnish.events import BaseEvent, Decided, ModelChunk, ModelReplied, ModelThought, Notice
from burnish.runs import live
from burnish.runs.live import LiveLog

REPLY = {"purpose": "draft", "text": "…", "tokens_in": 1, "tokens_out": 1, "seconds": 0.1}


def chunk(text: str, ask_id: str = "draft-1", instead: bool = False) -> ModelChunk:
    return ModelChunk(ask_id=ask_id, text=text, instead=instead)


def replied(ask_id: str = "draft-1") -> ModelReplied:
    return ModelReplied.model_validate({"ask_id": ask_id, **REPLY})


def words(events: Iterator[BaseEvent], count: int) -> list[str]:
    """The words of the next events, as many as there are or so many."""
    return [str(getattr(next(events), "text", "")) for _ in range(count)]


def test_two_readers_get_every_event_in_its_order() -> None:
    log, told = LiveLog(), [Decided(choice="draft", reason=str(number)) for number in range(500)]
    heard: list[list[BaseEvent]] = [[], []]
    readers = [threading.Thread(target=lambda into=into: into.extend(log.read())) for into in heard]  # type: ignore[misc]
    for reader in readers:
        reader.start()
    for event in told:
        log.add(event)
    log.end()
    for reader in readers:
        reader.join(10)
    assert heard == [told, told]


def test_who_joins_in_mid_answer_gets_its_text_so_far_and_then_the_rest_once() -> None:
    log = LiveLog([Decided(choice="draft", reason="earlier")])
    for event in (chunk("old"), replied(), Notice(text="passing"), ModelThought(ask_id="draft-2", text="hm ")):
        log.add(event)
    log.add(chunk("def ", "draft-2"))
    late = log.read(from_now=True)
    assert words(late, 2) == ["hm ", "def "]
    log.add(chunk("double", "draft-2"))
    log.add(replied("draft-2"))
    log.end()
    assert [type(event).__name__ for event in late] == ["ModelChunk", "ModelReplied"]


def test_now_is_when_one_asks_and_not_when_one_begins_to_read() -> None:
    log = LiveLog()
    log.add(Decided(choice="draft", reason="before"))
    late = log.read(from_now=True)
    log.add(Decided(choice="draft", reason="after"))
    log.end()
    assert [getattr(event, "reason", "") for event in late] == ["after"]


def test_words_that_stand_for_all_before_them_take_its_place() -> None:
    log = LiveLog()
    for event in (chunk("I think", "a"), chunk("other", "b"), chunk("def f", "a", instead=True)):
        log.add(event)
    assert words(log.read(from_now=True), 2) == ["other", "def f"]


def test_a_reader_who_was_given_up_costs_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "MOST_PIECES", 100)
    log = LiveLog()
    forsaken = log.read()
    for number in range(300):
        for _ in range(50):
            log.add(chunk("word ", f"draft-{number}"))
        log.add(replied(f"draft-{number}"))
    assert len(log._events) < 300 + 250, "what lasts, and a few pieces"
    assert isinstance(next(forsaken), ModelReplied), "the pieces of long finished answers are left out"
    assert sys.getsizeof(log._events) < 20_000


def test_pieces_that_are_dropped_under_a_reader_make_it_miss_nothing_that_lasts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(live, "MOST_PIECES", 3)
    log = LiveLog()
    behind = log.read()
    log.add(Notice(text="first"))
    assert words(behind, 1) == ["first"]
    for number in range(20):
        log.add(Notice(text=str(number)))
        log.add(Decided(choice="draft", reason=str(number)))
    log.end()
    assert [event.reason for event in behind if isinstance(event, Decided)] == [str(number) for number in range(20)]


def test_who_waits_is_let_go_at_the_end() -> None:
    log = LiveLog()
    reader = threading.Thread(target=lambda: list(log.read()))
    reader.start()
    time.sleep(0.05)
    log.end()
    reader.join(5)
    assert not reader.is_alive()
    log.add(chunk("too late"))
    assert list(log.read()) == []


def test_who_comes_back_after_so_many_lasting_events_gets_each_answer_that_goes_on_from_its_beginning() -> None:
    log = LiveLog()
    for event in (
        Decided(choice="draft", reason="1"),
        chunk("a1 "),
        chunk("b1 ", "b"),
        chunk("c1 ", "c"),
        replied("c"),
    ):
        log.add(event)
    log.add(chunk("a2 "))
    log.add(replied())  # finished by now, and half of it came before the place
    place, before = log.place_after(2)
    assert words(iter(before), 2) == ["a1 ", "b1 "]
    assert words(iter(log.take(place)[0]), 1) == ["a2 "]
    assert log.place_after(3) == (7, [chunk("b1 ", "b").model_copy(update={"at": before[1].at})])
    assert log.place_after(0) == (0, [])
    assert log.place_after(99)[0] == 7
