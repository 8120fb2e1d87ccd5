"""From the events of one attempt to its numbers."""

from burnish.evals.tally import padded, tally
from burnish.events import Answered, Asked, CodeProposed, Event, Message, ModelReplied, Scored
from tests.evals.made import attempt


def asked(ask_id: str, at: float = 0.0) -> list[Event]:
    message = (Message(role="user", content="?"),)
    return [
        Asked(at=at, ask_id=ask_id, purpose="p", messages=message, temperature=0, top_p=1, max_tokens=9, seed=0),
        ModelReplied(at=at + 1, ask_id=ask_id, purpose="p", text="!", tokens_in=10, tokens_out=5, seconds=0.5),
    ]


def test_an_attempt_is_solved_when_its_last_answer_is() -> None:
    counted = tally("t/1", 3, attempt([False, False, True]), bug="value misuse")
    assert counted.solved
    assert (counted.task_id, counted.seed, counted.bug) == ("t/1", 3, "value misuse")
    assert counted.solved_by_round == counted.solved_by_call == (False, False, True)
    assert (counted.calls, counted.versions, counted.tokens_in, counted.tokens_out) == (3, 3, 300, 150)
    assert counted.tokens_by_call == (150, 300, 450)
    assert (counted.model_seconds, counted.seconds) == (3.0, 6.0)


def test_an_answer_that_was_right_and_is_given_up_counts_only_while_it_stood() -> None:
    counted = tally("t", 0, attempt([True, False]))
    assert not counted.solved
    assert counted.solved_by_round == (True, False)


def test_what_took_no_call_counts_from_the_first_on() -> None:
    found = [CodeProposed(version=1, code="x", by="tweak"), Answered(call=0, round=0, version=1)]
    counted = tally("t", 0, [*found, Scored(version=1, passed=True)])
    assert (counted.solved, counted.solved_by_call, counted.calls) == (True, (True,), 0)
    later = [*asked("a"), *asked("b"), Answered(call=2, round=1, version=None), Scored(version=1, passed=True)]
    assert tally("t", 0, [*found, *later]).solved_by_call == (True, False)


def test_calls_and_rounds_are_two_axes() -> None:
    """Three calls in round 0 (the second changes nothing), then one in round 1 that answers with an older version."""
    events: list[Event] = [*asked("a")]
    events += [
        CodeProposed(version=1, code="x", by="d"),
        Answered(call=1, round=0, version=1),
        *asked("b"),
        *asked("c"),
    ]
    events += [CodeProposed(version=2, code="y", by="d"), Answered(call=3, round=0, version=2), *asked("d")]
    events += [Answered(call=4, round=1, version=1), Scored(version=1, passed=False), Scored(version=2, passed=True)]
    counted = tally("t", 0, events)
    assert counted.solved_by_call == (False, False, True, False)
    assert counted.solved_by_round == (True, False)


def test_nothing_answered_is_unsolved() -> None:
    counted = tally("t", 0, [*asked("a"), Answered(call=1, round=0, version=None)])
    assert (counted.solved, counted.solved_by_call, counted.calls) == (False, (False,), 1)
    assert tally("t", 0, []).solved_by_call == (False,)


def test_an_answer_without_a_score_is_unsolved() -> None:
    assert not tally("t", 0, [*asked("a"), Answered(call=1, round=0, version=1)]).solved


def test_an_attempt_that_broke_is_solved_nowhere_and_says_why() -> None:
    events = [*attempt([True]), *attempt([], error="the server hung up")]
    counted = tally("t", 0, events)
    assert counted.error == "ModelError: the server hung up"
    assert counted.solved_by_call == (False,)


def test_what_cannot_be_run_and_what_repeats_is_counted() -> None:
    codes = [("a = 1", ""), ("a = 1 \n", ""), ("", "no code"), ("", "no code"), ("b = 2", "the signature changed")]
    events: list[Event] = [
        CodeProposed(version=place, code=code, by="d", problem=problem)
        for place, (code, problem) in enumerate(codes, 1)
    ]
    counted = tally("t", 0, events)
    assert (counted.versions, counted.unparsed, counted.repeats) == (5, 3, 1)


def test_only_the_final_answer_counts_as_timed_out() -> None:
    first = [Answered(call=1, round=0, version=1), Answered(call=2, round=1, version=2)]
    slow = [Scored(version=1, passed=False, timed_out=True), Scored(version=2, passed=False)]
    assert not tally("t", 0, [*first, *slow]).timed_out
    assert tally("t", 0, [*first[:1], *slow]).timed_out


def test_an_attempt_that_ended_early_keeps_its_answer() -> None:
    assert padded((False, True), 4) == (False, True, True, True)
    assert padded((False,), 1) == (False,)
