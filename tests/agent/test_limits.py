"""Limits: booked before the call at the most it can cost, so that no cap is ever passed."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from pydantic import ValidationError

from burnish.agent.limits import Limits, Meter
from burnish.events import Message
from burnish.models.model import Ask


def question(characters: int = 20, max_tokens: int = 100) -> Ask:
    return Ask(purpose="draft", messages=(Message(role="user", content="x" * characters),), max_tokens=max_tokens)


def reason(meter: Meter, ask: Ask) -> str:
    stopped = meter.book(ask)
    return stopped.reason if stopped else ""


def test_calls_are_counted_before_they_are_made() -> None:
    meter = Meter(Limits(calls=2))
    assert [reason(meter, question()) for _ in range(3)] == ["", "", "calls"]


def test_tokens_are_booked_at_the_most_a_call_can_cost() -> None:
    meter = Meter(Limits(tokens=220))
    assert [reason(meter, question()) for _ in range(3)] == ["", "", "tokens"]


def test_settling_gives_back_what_a_call_did_not_use() -> None:
    meter = Meter(Limits(tokens=120))
    assert reason(meter, question()) == ""
    assert reason(meter, question()) == "tokens"
    meter.settle(question(), 5)
    assert reason(meter, question()) == ""


def test_seconds_run_out() -> None:
    meter = Meter(Limits(seconds=0.01))
    threading.Event().wait(0.02)
    assert reason(meter, question()) == "seconds"
    assert meter.seconds_left < 0


@pytest.mark.parametrize("cap", ["calls", "tokens", "seconds"])
def test_a_limit_of_zero_forbids_the_first_call(cap: str) -> None:
    meter = Meter(Limits(**{cap: 0}))
    stopped = meter.book(question())
    assert stopped
    assert (stopped.reason, stopped.why) == (cap, f"the limit of 0 {cap} is reached")


def test_many_at_once_never_pass_a_cap_together() -> None:
    meter = Meter(Limits(calls=50, tokens=30 * 110))
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: meter.book(question()), range(200)))
    assert answers.count(None) == 30


@pytest.mark.parametrize("wrong", [{"rounds": -1}, {"calls": 1.5}, {"dollars": 3}, {"seconds": "long"}])
def test_limits_refuse_what_is_no_limit(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Limits.model_validate(wrong)
