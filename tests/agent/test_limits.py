"""Limits: booked before the call at the most it can cost, so that no cap is ever passed."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from pydantic import ValidationError

from burnish.agent.limits import Limits, Meter, check_priced, meter_after
from burnish.errors import SetupProblem
from burnish.events import Asked, Message, ModelReplied
from burnish.events.replay import Replay
from burnish.models.model import Ask
from burnish.models.scripted import ScriptedModel
from tests.snapshots import assert_snapshot


def question(characters: int = 12, max_tokens: int = 100) -> Ask:
    """By default one of at most 84 tokens and an answer of at most 100."""
    return Ask(purpose="draft", messages=(Message(role="user", content="x" * characters),), max_tokens=max_tokens)


def reason(meter: Meter, ask: Ask) -> str:
    stopped = meter.book(ask)
    return stopped.reason if stopped else ""


def test_calls_are_counted_before_they_are_made() -> None:
    meter = Meter(Limits(calls=2))
    assert [reason(meter, question()) for _ in range(3)] == ["", "", "calls"]


def test_tokens_are_booked_at_the_most_a_call_can_cost() -> None:
    meter = Meter(Limits(tokens=2 * 184))
    assert [reason(meter, question()) for _ in range(3)] == ["", "", "tokens"]


def test_settling_gives_back_what_a_call_did_not_use() -> None:
    meter = Meter(Limits(tokens=190))
    assert reason(meter, question()) == ""
    assert reason(meter, question()) == "tokens"
    meter.settle(question(), 5)
    assert reason(meter, question()) == ""


def test_seconds_run_out() -> None:
    meter = Meter(Limits(seconds=0.01))
    threading.Event().wait(0.02)
    assert reason(meter, question()) == "seconds"
    assert meter.seconds_left < 0


@pytest.mark.slow
@pytest.mark.parametrize("cap", ["calls", "tokens", "seconds", "dollars"])
def test_a_limit_of_zero_forbids_the_first_call(cap: str) -> None:
    meter = Meter(Limits(**{cap: 0}))
    stopped = meter.book(question(), DEAR)
    assert stopped
    assert stopped.reason == cap
    assert_snapshot(stopped.why, f"agent/limits: none of the {cap}")


def test_many_at_once_never_pass_a_cap_together() -> None:
    meter = Meter(Limits(calls=50, tokens=30 * 184))
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: meter.book(question()), range(200)))
    assert answers.count(None) == 30


@pytest.mark.parametrize(
    "wrong",
    [{"rounds": -1}, {"calls": 1.5}, {"dollars": -3}, {"dollars": float("nan")}, {"euros": 3}, {"seconds": "long"}],
)
def test_limits_refuse_what_is_no_limit(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Limits.model_validate(wrong)


DEAR = "openai:gpt-4o"
MODELS = [ScriptedModel([], name=name) for name in ("local:tiny-0.5b", DEAR)]


def test_dollars_are_booked_at_the_most_a_call_can_cost_and_settled_at_what_it_did() -> None:
    meter = Meter(Limits(dollars=0.002))
    assert meter.book(question(), DEAR) is None
    assert meter.dollars == pytest.approx(84 * 2.5e-6 + 100 * 10e-6)
    stopped = meter.book(question(), DEAR)
    assert stopped
    assert stopped.reason == "dollars"
    assert "0.002" in stopped.why
    assert meter.settle(question(), 4, 2, DEAR) == pytest.approx(3e-5)
    assert meter.dollars == pytest.approx(3e-5)
    assert meter.book(question(), DEAR) is None


def test_a_model_on_this_machine_costs_nothing() -> None:
    meter = Meter(Limits(dollars=0.000001))
    assert meter.book(question(), "local:qwen2.5-coder-0.5b") is None
    assert meter.settle(question(), 4, 2, "local:qwen2.5-coder-0.5b") == 0


def test_what_costs_nothing_passes_where_no_money_may_be_spent() -> None:
    meter = Meter(Limits(dollars=0))
    assert meter.book(question(), "local:qwen2.5-coder-0.5b") is None
    assert meter.affords(question(), 2, "local:qwen2.5-coder-0.5b")
    assert not meter.affords(question(), 1, DEAR)
    spent = Meter(Limits(dollars=0))
    spent.spend(1, 6, 0.01)
    assert spent.book(question(), "local:qwen2.5-coder-0.5b") is None


def test_under_a_dollar_cap_a_call_of_unknown_price_is_refused() -> None:
    assert Meter(Limits(dollars=5)).book(question(), "openai:no-such-model")
    meter = Meter(Limits())
    assert meter.book(question(), "openai:no-such-model") is None
    assert meter.settle(question(), 4, 2, "openai:no-such-model") is None


def test_a_dollar_cap_on_an_unpriced_model_names_the_token_cap_to_use() -> None:
    with pytest.raises(SetupProblem, match="'x:y'.* --tokens 40000$"):
        check_priced(Limits(dollars=1), DEAR, "x:y")
    check_priced(Limits(dollars=1), DEAR, "scripted:demo")
    check_priced(Limits(), "x:y")


def test_what_is_left_is_never_less_than_nothing() -> None:
    meter = Meter(Limits(calls=3, tokens=400, dollars=1))
    assert (meter.calls_left, meter.affords(question(), 2, DEAR), meter.affords(question(), 3, DEAR)) == (
        3,
        True,
        False,
    )
    meter.book(question(), DEAR)
    meter.spend(3, 510, 0.01)
    assert (meter.calls_left, meter.affords(question(), 1)) == (0, False)
    assert 0 < meter.seconds_left <= 600


@pytest.mark.parametrize("text", ["1,2,3," * 600, "x" * 3600, "\N{SNOWMAN}" * 1200, ")](\n" * 900])
def test_no_text_is_booked_at_fewer_tokens_than_a_tokenizer_can_make_of_it(text: str) -> None:
    """Digits and signs are one token each, and rare characters one for each byte."""
    most = len(text.encode())
    ask = Ask(purpose="draft", messages=(Message(role="user", content=text),), max_tokens=0)
    assert reason(Meter(Limits(tokens=most)), ask) == "tokens"
    assert reason(Meter(Limits(tokens=most + 100)), ask) == ""


ASKED = Asked(
    ask_id="draft-1",
    purpose="draft",
    messages=question().messages,
    temperature=0,
    top_p=1,
    max_tokens=100,
    seed=1,
)


def test_a_call_that_came_to_nothing_counts_as_a_call_with_its_tokens_and_its_money() -> None:
    cut = ModelReplied(ask_id="draft-1", purpose="draft", text="de", tokens_in=7, tokens_out=2, seconds=1, ended="cut")
    for reply, tokens in ((None, 184), (cut, 9)):
        events = [ASKED, reply] if reply else [ASKED]
        meter = meter_after(Replay(events), Limits(calls=3, tokens=200, dollars=1), MODELS)
        assert (meter.calls_left, meter.tokens) == (2, tokens)
        assert meter.dollars == pytest.approx(tokens * 2.5e-6 + (100 if reply is None else 2) * 7.5e-6)
    paid = cut.model_copy(update={"dollars": 0.5})
    assert meter_after(Replay([ASKED, paid]), Limits(dollars=1), MODELS).dollars == 0.5


def test_text_that_takes_many_tokens_is_booked_as_such() -> None:
    words = Ask(purpose="draft", messages=(Message(role="user", content="\N{SNOWMAN}" * 10),), max_tokens=1)
    meter = Meter(Limits(tokens=30))
    assert reason(meter, words) == "tokens"


def test_what_several_wait_for_at_once_is_taken_off_once() -> None:
    meter = Meter(Limits(seconds=10))
    with meter.pause():
        with meter.pause():
            time.sleep(0.1)
        time.sleep(0.1)
        assert meter.seconds_spent < 0.1, "the first still waits"
    assert 0 <= meter.seconds_spent < 0.1
    time.sleep(0.05)
    assert meter.seconds_spent >= 0.05
