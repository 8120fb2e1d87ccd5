"""The one way to ask: limits first, the prompt on record, then the answer as it comes."""

import threading
import time
from collections.abc import Generator, Iterator
from typing import Any, cast

import pytest

from burnish.agent.ask import Tools, ask
from burnish.agent.limits import Limits, Meter, meter_after
from burnish.errors import ModelError
from burnish.events import BaseEvent, Event, Message, ModelReplied
from burnish.events.replay import Replay, unless_known
from burnish.models.model import Ask, Chunk, Done, Piece, Thought, Waiting
from burnish.models.scripted import ScriptedModel
from tests.support import kinds

QUESTION = Ask(purpose="draft", messages=(Message(role="user", content="Write."),), max_tokens=10)


class Says(ScriptedModel):
    """Says exactly these pieces."""

    def __init__(self, *pieces: Piece) -> None:
        super().__init__([])
        self.pieces = pieces

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Piece]:  # type: ignore[override]
        yield from self.pieces


def asked(model: ScriptedModel, limits: Limits | None = None, cancelled: bool = False) -> tuple[list[Event], Any]:
    cancel = threading.Event()
    if cancelled:
        cancel.set()
    tools = Tools(model, cast(Any, None), Meter(limits or Limits()), cancel)
    events: list[Event] = []

    def collect() -> Generator[None, None, ModelReplied | None]:
        stream = ask(tools, "draft-1", QUESTION)
        while True:
            try:
                events.append(next(stream))
            except StopIteration as end:
                return cast("ModelReplied | None", end.value)
            yield

    steps = collect()
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return events, end.value


def test_the_prompt_is_on_record_before_the_first_word() -> None:
    events, reply = asked(ScriptedModel(["two words"]))
    assert kinds(events) == ["asked", "model_chunk", "model_chunk", "model_replied"]
    assert events[0].messages == QUESTION.messages  # type: ignore[union-attr]
    assert (reply.text, reply.ended, reply.tokens_out) == ("two words", "stop", 2)


def test_waiting_is_told_only_where_it_says_why() -> None:
    pieces = (Waiting(why="reading the weights"), Waiting(), Chunk(text="x"), Done(tokens_in=1, tokens_out=1))
    events, _ = asked(Says(*pieces))
    assert kinds(events) == ["asked", "notice", "model_chunk", "model_replied"]


class Queues(Says):
    """Waits for so many seconds before it says its pieces."""

    def __init__(self, *pieces: Piece, seconds: float, is_idle: bool) -> None:
        super().__init__(*pieces)
        self.until, self.is_idle = time.monotonic() + seconds, is_idle

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Piece]:  # type: ignore[override]
        while time.monotonic() < self.until:
            yield Waiting(is_idle=self.is_idle)
            time.sleep(0.01)
        yield from self.pieces


@pytest.mark.parametrize("is_idle", [True, False], ids=["another process", "its weights"])
def test_waiting_for_another_process_uses_up_no_seconds(is_idle: bool) -> None:
    model = Queues(Chunk(text="x"), Done(tokens_in=1, tokens_out=1), seconds=0.6, is_idle=is_idle)
    events, reply = asked(model, Limits(seconds=0.3))
    assert ("stopped" in kinds(events)) is not is_idle
    assert (reply is not None) is is_idle
    assert reply is None or reply.seconds < 0.3, "an answer is not slower for having waited"


@pytest.mark.parametrize("is_idle", [True, False], ids=["another process", "its weights"])
def test_a_run_that_is_taken_up_again_has_spent_no_seconds_on_another_process(is_idle: bool) -> None:
    model = Queues(Chunk(text="x"), Done(tokens_in=1, tokens_out=1), seconds=0.6, is_idle=is_idle)
    events, _ = asked(model, Limits(seconds=60))
    spent = meter_after(Replay(cast(list[Event], events)), Limits(seconds=60), []).seconds_spent
    assert (spent < 0.3) is is_idle


def test_tokens_for_thoughts_are_booked_with_those_for_the_answer() -> None:
    thinker = ScriptedModel(["x"])
    thinker.thinking = 5000  # type: ignore[attr-defined]
    events, _ = asked(thinker)
    assert events[0].thinking == 5000  # type: ignore[union-attr]
    events, reply = asked(thinker, Limits(tokens=5000))
    assert kinds(events) == ["stopped"]
    assert reply is None


def test_thoughts_are_told_and_are_no_part_of_the_answer() -> None:
    done = Done(tokens_in=9, tokens_out=5, tokens_cached=4, tokens_thought=3)
    events, reply = asked(Says(Thought(text="hm"), Chunk(text="x"), done))
    assert kinds(events) == ["asked", "model_thought", "model_chunk", "model_replied"]
    assert (reply.text, reply.tokens_cached, reply.tokens_thought) == ("x", 4, 3)


def test_an_answer_that_breaks_off_is_recorded_as_cut_and_ends_the_work() -> None:
    events, reply = asked(Says(Chunk(text="half an")))
    assert kinds(events)[-2:] == ["model_replied", "stopped"]
    assert reply is None


def test_a_refused_call_is_not_made() -> None:
    model = ScriptedModel(["x"])
    events, reply = asked(model, Limits(calls=0))
    assert (kinds(events), reply, model.asked) == (["stopped"], None, [])


LOST = Waiting(why="hung up; asked again in 0.2 s", seconds=0.2, lost=True)


def test_one_call_is_enough_for_a_question_whose_first_answer_was_lost() -> None:
    pieces = (LOST, Waiting(), Chunk(text="x"), Done(tokens_in=1, tokens_out=1))
    events, reply = asked(Says(*pieces), Limits(calls=1))
    assert kinds(events) == ["asked", "notice", "answer_lost", "model_chunk", "model_replied"]
    assert reply.text == "x"
    assert asked(Says(*pieces), Limits(calls=1, tokens=40))[0][-1].reason == "tokens"  # type: ignore[union-attr]


@pytest.mark.slow
def test_a_pause_before_another_try_is_no_part_of_how_long_the_answer_took() -> None:
    class Pauses(Says):
        def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Piece]:  # type: ignore[override]
            yield LOST
            time.sleep(LOST.seconds)
            yield Chunk(text="x")
            yield Done(tokens_in=1, tokens_out=1)

    _, reply = asked(Pauses())
    assert 0 <= reply.seconds < LOST.seconds


def test_an_answer_that_broke_off_and_may_cost_is_on_record_before_its_error_is_raised() -> None:
    class Breaks(Says):
        def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Piece]:  # type: ignore[override]
            yield Chunk(text="half an")
            error = ModelError("broke off")
            error.may_cost = True
            raise error

    tools = Tools(Breaks(), cast(Any, None), Meter(Limits()), threading.Event())
    events: list[Event] = []
    with pytest.raises(ModelError):
        events.extend(ask(tools, "draft-1", QUESTION))
    assert kinds(events) == ["asked", "model_chunk", "model_replied"]
    assert (events[-1].text, events[-1].ended) == ("half an", "cut")  # type: ignore[union-attr]


def test_what_is_answered_from_the_record_reads_as_it_was_asked_whatever_length_is_allowed_now() -> None:
    first, _ = asked(ScriptedModel(["two words"]))
    replay = Replay([event for event in first if event.lasting])
    limits = Limits(max_tokens=7, thinking=3)
    tools = Tools(ScriptedModel([]), cast(Any, None), Meter(limits), threading.Event(), replay=replay)
    written: list[BaseEvent] = []
    record = unless_known(first, written.append)
    for event in ask(tools, "draft-1", QUESTION):
        record(event)
    assert written == []


def test_after_ctrl_c_nothing_is_asked() -> None:
    model = ScriptedModel(["x"])
    events, _ = asked(model, cancelled=True)
    assert [event.reason for event in events] == ["interrupted"]  # type: ignore[union-attr]
    assert model.asked == []
