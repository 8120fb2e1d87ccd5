"""What a run took is summed for each model, and a price that nobody knows is never nothing."""

import pytest

from burnish.events import AnswerLost, Event, ModelReplied, RunStarted
from burnish.runs import Run

STARTED = RunStarted(run_id="x", verb="write", prompt="p", model="local:small,openai:large", burnish="0")


def reply(model: str, dollars: float | None = 0.0, cached: int = 0, thought: int = 0) -> ModelReplied:
    return ModelReplied(
        ask_id="draft-1",
        purpose="draft",
        text="x",
        tokens_in=100,
        tokens_out=20,
        seconds=2.0,
        dollars=dollars,
        tokens_cached=cached,
        tokens_thought=thought,
        model=model,
    )


def run_of(*events: Event) -> Run:
    return Run([STARTED, *events])


def test_each_model_has_an_account_of_its_own() -> None:
    run = run_of(reply("local:small"), reply("openai:large", 0.5, 60, 5), reply("local:small"))
    small, large = run.accounts
    assert (small.model, small.asks, small.tokens_in, small.tokens_out, small.seconds) == ("local:small", 2, 200, 40, 4)
    assert (large.model, large.asks, large.tokens_cached, large.tokens_thought) == ("openai:large", 1, 60, 5)
    assert (small.dollars, large.dollars) == (0.0, 0.5)


def test_the_accounts_add_up_to_the_run() -> None:
    run = run_of(reply("local:small"), reply("openai:large", 0.25), reply("openai:large", 0.5))
    for name in ("tokens_in", "tokens_out", "dollars"):
        assert sum(getattr(account, name) for account in run.accounts) == pytest.approx(getattr(run, name))


def test_answers_that_were_lost_on_their_way_are_paid_for_and_are_no_answers() -> None:
    lost = AnswerLost(ask_id="draft-1", model="openai:large", tokens=200, dollars=0.25)
    run = run_of(lost, lost, reply("openai:large", 0.5))
    (large,) = run.accounts
    assert (run.dollars, large.dollars, large.asks, run.tokens_in) == (1.0, 1.0, 1, 100)


def test_one_answer_of_unknown_price_makes_the_sum_unknown_for_that_model_only() -> None:
    run = run_of(reply("local:small"), reply("openai:large", 0.5), reply("openai:large", None))
    assert [account.dollars for account in run.accounts] == [0.0, None]
    assert run.dollars is None


def test_an_older_record_names_no_model_and_its_answers_are_those_of_all_that_were_named() -> None:
    old = reply("").model_dump(exclude={"model"})
    [account] = run_of(ModelReplied.model_validate(old)).accounts
    assert account.model == "local:small,openai:large"


def test_who_never_answered_has_no_account() -> None:
    assert run_of().accounts == ()
