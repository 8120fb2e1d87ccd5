"""The one way to ask: limits first, the prompt on record, then the answer as it comes."""

import threading
from collections.abc import Generator, Iterator
from typing import Any, cast

from burnish.agent.ask import Tools, ask
from burnish.agent.limits import Limits, Meter
from burnish.events import Event, Message, ModelReplied
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


def test_after_ctrl_c_nothing_is_asked() -> None:
    model = ScriptedModel(["x"])
    events, _ = asked(model, cancelled=True)
    assert [event.reason for event in events] == ["interrupted"]  # type: ignore[union-attr]
    assert model.asked == []
