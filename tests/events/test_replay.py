"""What a record answers: exactly the questions that it holds, each once."""

import pytest
from pydantic import TypeAdapter

from burnish.events import (
    AnswerLost,
    Asked,
    BaseEvent,
    Decided,
    Event,
    Message,
    ModelReplied,
    Resumed,
    RunFinished,
    Stopped,
    Tweaked,
)
from burnish.events.replay import Replay, unless_known

ASK = Asked(
    ask_id="draft-1",
    purpose="draft",
    messages=(Message(role="user", content="write"),),
    temperature=0.2,
    top_p=1.0,
    max_tokens=9,
    seed=1,
)


def reply(text: str = "done", ended: str = "stop") -> ModelReplied:
    return ModelReplied.model_validate(
        {"ask_id": "draft-1", "purpose": "draft", "text": text, "ended": ended}
        | {"tokens_in": 3, "tokens_out": 2, "seconds": 0.5}
    )


def answer(replay: Replay, content: str = "write", temperature: float = 0.2, seed: int = 1) -> ModelReplied | None:
    known = replay.reply("draft-1", (Message(role="user", content=content),), temperature, seed)
    return known[1] if known else None


def test_an_answer_is_given_once_to_the_very_same_question() -> None:
    replay = Replay([ASK, reply()])
    assert replay.answers == 1
    found = answer(replay)
    assert (found.text if found else "", answer(replay)) == ("done", None)


def test_another_question_of_the_same_name_is_not_answered() -> None:
    for other in ({"content": "repair"}, {"temperature": 0.4}, {"seed": 2}):
        replay = Replay([ASK, reply()])
        assert answer(replay, **other) is None
        assert replay.changed("draft-1")


def test_an_ask_with_a_schema_is_answered_from_the_record_of_the_same_schema_only() -> None:
    bound = ASK.model_copy(update={"json_schema": '{"type":"integer"}', "stop": ("x",)})
    known = (ASK.ask_id, ASK.messages, ASK.temperature, ASK.seed)
    events = TypeAdapter(list[Event]).validate_json(TypeAdapter(list[Event]).dump_json([bound, reply("3")]))
    found = Replay(events).reply(*known, bound.json_schema)
    assert found
    assert (found[0], found[1].text) == (bound, "3"), "schema and stop strings come back as they were asked"
    for other in ("", '{"type":"string"}'):
        assert Replay(events).reply(*known, other) is None


def test_what_was_not_answered_to_the_end_is_no_answer() -> None:
    assert answer(Replay([ASK])) is None
    broken_off = reply("do", "cut")
    cut = Replay([ASK, broken_off])
    assert (answer(cut), cut.lost) == (None, [(ASK, broken_off)])
    assert answer(Replay([ASK, reply("do", "cut"), reply("done")])) is not None


def test_other_work_is_taken_from_the_record_until_the_run_goes_on() -> None:
    events: list[Event] = [Tweaked(base=1, tried=3, passed=0), Tweaked(base=2, tried=4, passed=1)]
    replay = Replay(events)
    assert replay.take(Tweaked, base=2) is events[1]
    assert replay.take(Tweaked, base=2) is None
    answer(replay)  # asked for real
    assert replay.take(Tweaked, base=1) is None


def test_an_event_is_not_written_down_twice_and_an_ending_always_is() -> None:
    known: list[Event] = [
        Decided(choice="refine", reason="again", at=1.0),
        Tweaked(base=1, tried=3, passed=0, seconds=0.5, at=2.0),
        Stopped(reason="calls", why="limit", at=3.0),
        RunFinished(verdict="failed", why="no", at=4.0),
    ]
    written: list[BaseEvent] = []
    record = unless_known(known, written.append)
    for event in known:
        record(event.model_copy(update={"at": 9.0}))
    record(Decided(choice="refine", reason="again"))
    assert [getattr(event, "kind", "") for event in written] == ["stopped", "run_finished", "decided"]


def test_a_duration_makes_no_difference() -> None:
    written: list[BaseEvent] = []
    record = unless_known([Tweaked(base=1, tried=3, passed=0, seconds=0.5)], written.append)
    record(Tweaked(base=1, tried=3, passed=0, seconds=0.7))
    assert written == []


def test_questions_that_cost_something_and_brought_nothing_are_told() -> None:
    again, broken_off = Resumed(answers=0), reply("do", "cut")
    assert Replay([ASK, reply()]).lost == []
    assert Replay([ASK]).lost == [(ASK, None)]
    assert Replay([ASK, again, reply()]).lost == [(ASK, None)], "killed, then answered"
    assert Replay([ASK, reply(), again]).lost == []
    assert Replay([ASK, broken_off, again, reply()]).lost == [(ASK, broken_off)]


def test_a_try_that_was_lost_before_its_answer_came_is_told_and_the_answer_stands() -> None:
    again = AnswerLost(ask_id="draft-1", model="m", tokens=20, dollars=0.5)
    replay = Replay([ASK, again, reply()])
    assert (replay.tries, replay.lost) == ([again], [])
    assert answer(replay) is not None


def test_an_event_that_belongs_elsewhere_is_left_where_it_is() -> None:
    events: list[Event] = [Tweaked(base=1, tried=3, passed=0), Tweaked(base=2, tried=4, passed=1)]
    replay = Replay(events)
    assert replay.take(Tweaked, fits=lambda one: one.passed > 0) is events[1]
    assert replay.take(Tweaked, fits=lambda one: one.passed > 0) is None
    assert replay.take(Tweaked) is events[0]


def test_a_question_that_came_to_nothing_is_written_down_each_time_it_is_asked() -> None:
    """It is paid for each time, so a run that is killed and taken up again and again must come to its caps."""
    lost_try = AnswerLost(ask_id=ASK.ask_id, model="m", tokens=10)
    known: list[Event] = [ASK, lost_try, reply("do", "cut"), Resumed(answers=0), ASK]
    written: list[BaseEvent] = []
    record = unless_known(known, written.append)
    for event in (ASK, lost_try, reply("do", "cut")):
        record(event)
    assert [getattr(event, "kind", "") for event in written] == ["asked", "answer_lost", "model_replied"]
    assert len(Replay([*known, Resumed(answers=0), *written]).lost) == 3  # type: ignore[list-item]


@pytest.mark.parametrize(
    "known", [[ASK, reply()], [ASK, Resumed(answers=0), ASK, reply()], [ASK, Resumed(answers=0), reply()]]
)
def test_a_question_that_was_answered_in_the_end_is_not_written_down_again(known: list[Event]) -> None:
    """The last record is of an older kind, which did not write a question down twice."""
    written: list[BaseEvent] = []
    record = unless_known(known, written.append)
    replayed = Replay(known).reply(ASK.ask_id, ASK.messages, ASK.temperature, ASK.seed)
    assert replayed
    for event in replayed:
        record(event)
    assert written == []
