"""A model that thinks, from start to finish: its thoughts are shown and counted, and are nowhere else."""

from pathlib import Path
from typing import Any

import pytest

from burnish.agent.limits import Limits
from burnish.commands.resume import resume
from burnish.commands.write import write
from burnish.errors import SetupProblem
from burnish.events import Asked, BaseEvent, ModelReplied, ModelThought, Resumed, Stopped
from burnish.models.scripted import ScriptedModel
from burnish.runs import Store
from burnish.sandbox import Sandbox
from tests.support import ASKING, DOUBLE, GOOD, WRONG, script

MUSING = "zebra zebra quagga zebra"


def thinker(name: str = "scripted:thinker", **replies: str) -> ScriptedModel:
    """Wrong at first; thinks before each answer that holds code."""
    said = {"draft": WRONG, "rewrite": GOOD, "repair": GOOD, **replies}
    thinking = {purpose: f"<think>{MUSING}</think>{text}" for purpose, text in said.items()}
    return ScriptedModel(script(**thinking), name=name)


@pytest.mark.slow
def test_thoughts_are_watched_and_counted_and_in_no_prompt_answer_or_file(
    open_box: Sandbox, store: Store, work_folder: Path
) -> None:
    seen: list[BaseEvent] = []
    model = thinker()
    limits = Limits(thinking=3, max_tokens=700)
    run = write(DOUBLE, model, out="here", limits=limits, fast=True, store=store, watch=seen.append)
    assert run.verdict == "plausible"
    assert {"zebra ", "quagga "} == {event.text for event in seen if isinstance(event, ModelThought)}
    told = "".join(path.read_text() for path in (work_folder / "here").rglob("*") if path.is_file())
    record = (store.runs / run.id / "events.jsonl").read_text()
    prompts = "".join(message.content for ask in model.asked for message in ask.messages)
    for text in (told, record, prompts):
        assert text
        assert "zebra" not in text
    [account] = run.accounts
    assert account.tokens_thought == 3 * sum(reply.tokens_thought > 0 for reply in run.all(ModelReplied))
    assert account.tokens_thought >= 6
    assert f"({account.tokens_thought} of " in told


@pytest.mark.slow
def test_the_lengths_are_on_record_and_hold_when_the_run_goes_on(open_box: Sandbox, store: Store) -> None:
    limits = Limits(thinking=3, max_tokens=700, calls=1)
    run = write(DOUBLE, thinker(), limits=limits, fast=True, store=store)
    kept: Any = run.started.settings["limits"]
    assert (kept["thinking"], kept["max_tokens"]) == (3, 700)
    assert run.last(Stopped).reason == "calls"  # type: ignore[union-attr]
    further = resume(run.id, thinker(), raised={"calls": 16}, store=store)
    assert further.verdict == "plausible"
    drafts = [ask for ask in further.all(Asked) if ask.purpose in ("draft", "rewrite", "repair")]
    assert len(drafts) > 1
    assert {(ask.max_tokens, ask.thinking) for ask in drafts} == {(700, 3)}
    assert {ask.max_tokens for ask in further.all(Asked) if ask.purpose == "tests"} == {240}


@pytest.mark.slow
def test_a_run_that_goes_on_may_have_other_lengths(open_box: Sandbox, store: Store) -> None:
    run = write(DOUBLE, thinker(), limits=Limits(thinking=3, calls=1), fast=True, store=store)
    further = resume(run.id, thinker(), raised={"calls": 16, "thinking": 0, "max_tokens": 99}, store=store)
    assert further.verdict == "plausible"
    last = [ask for ask in further.parts[-1] if isinstance(ask, Asked) and ask.purpose != "tests"]
    assert {(ask.max_tokens, ask.thinking) for ask in last} == {(99, 0)}
    assert further.last(Resumed).settings["limits"]["thinking"] == 0  # type: ignore[union-attr,index]


@pytest.mark.slow
def test_a_record_from_before_there_were_lengths_says_nothing_new_when_it_goes_on(
    open_box: Sandbox, store: Store
) -> None:
    run = write(DOUBLE, thinker(), limits=Limits(calls=1), fast=True, store=store)
    assert {"max_tokens", "thinking"}.isdisjoint(run.started.settings["limits"])  # type: ignore[arg-type]
    further = resume(run.id, thinker(), raised={"calls": 16}, store=store)
    assert {"max_tokens", "thinking"}.isdisjoint(further.last(Resumed).settings["limits"])  # type: ignore[union-attr,arg-type]


@pytest.mark.slow
def test_two_models_have_an_account_each(open_box: Sandbox, store: Store, work_folder: Path) -> None:
    small = ScriptedModel(script(**dict.fromkeys(ASKING, WRONG)), name="scripted:small")
    run = write(DOUBLE, (small, thinker("scripted:large")), out="here", fast=True, store=store)
    assert run.verdict == "plausible"
    assert [account.model for account in run.accounts] == ["scripted:small", "scripted:large"]
    replies = run.all(ModelReplied)
    assert sum(account.asks for account in run.accounts) == len(replies)
    assert all(reply.model for reply in replies)
    report = (work_folder / "here" / "report.md").read_text()
    for account in run.accounts:
        assert f"| `{account.model}` | {account.asks} | {account.tokens_in} |" in report


def test_a_length_that_does_not_fit_is_refused_before_there_is_a_run(open_box: Sandbox, store: Store) -> None:
    narrow = thinker()
    narrow.context = 4096  # type: ignore[attr-defined]
    with pytest.raises(SetupProblem, match=r"--max-tokens 3072$"):
        write(DOUBLE, narrow, limits=Limits(max_tokens=5000), store=store)
    assert store.list() == []
