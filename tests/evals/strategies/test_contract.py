"""What every strategy promises: hidden tests stay hidden, every answer is a version, and it stops when told to."""

import threading
import time

import pytest

from burnish.agent.ask import Tools
from burnish.agent.limits import Limits, Meter
from burnish.errors import ModelError
from burnish.evals.strategies.kinds import STRATEGIES, check_parts, find_strategy
from burnish.evals.strategies.strategy import show_task
from burnish.events import Asked, CodeProposed, ModelChunk, Stopped
from burnish.models.scripted import ScriptedModel
from burnish.sandbox import Sandbox
from tests.evals.strategies.at_work import FAR, HALF, MARK, TALK, TO_WRITE, WRONG, plan, work
from tests.support import block, refused

SAYS = [WRONG, TALK, HALF, block("def floor_half(n): return None"), WRONG, block("def floor_half(n): raise KeyError")]
EVERY = pytest.mark.parametrize("name", list(STRATEGIES))


@pytest.mark.slow
@EVERY
@pytest.mark.parametrize("task", [FAR, TO_WRITE])
def test_hidden_tests_and_gold_never_reach_a_prompt_under_visible(box: Sandbox, name: str, task: object) -> None:
    worked = work(box, plan(name), SAYS, task)  # type: ignore[arg-type]
    assert worked.asked
    assert MARK not in worked.prompts
    assert not [event for event in worked.events if MARK in event.model_dump_json()], "nor anything it says"


@pytest.mark.slow
@EVERY
def test_under_oracle_the_scoring_tests_are_in_the_prompt(box: Sandbox, name: str) -> None:
    worked = work(box, plan(name, protocol="oracle"), SAYS, FAR)
    assert MARK in worked.prompts
    assert f"# {MARK}" not in worked.prompts, "gold never is"


@pytest.mark.slow
@EVERY
def test_every_answer_is_a_version_that_was_proposed_and_calls_only_grow(box: Sandbox, name: str) -> None:
    worked = work(box, plan(name, rounds=3), SAYS, FAR)
    fit = {event.version for event in worked.all(CodeProposed) if not event.problem}
    calls = [call for call, _, _ in worked.answers]
    rounds = [round for _, round, _ in worked.answers]
    assert {version for _, _, version in worked.answers} <= {None, *fit}
    assert (calls, rounds) == (sorted(calls), sorted(rounds))
    assert calls[-1] == len(worked.asked) <= find_strategy(name).calls(plan(name, rounds=3))


@pytest.mark.slow
@EVERY
def test_every_prompt_is_on_record_with_its_version(box: Sandbox, name: str) -> None:
    worked = work(box, plan(name, rounds=1), SAYS, FAR)
    assert sorted(str(ask.messages) for ask in worked.asked) == sorted(str(ask.messages) for ask in worked.all(Asked))
    assert all(ask.prompt_version for ask in worked.all(Asked))
    own = {"single": "plain", "retry": "plain", "reflect": "reflect"}.get(name, "")
    assert all(ask.prompt_version.startswith(own) for ask in worked.all(Asked))


@EVERY
def test_an_attempt_that_is_cancelled_before_it_begins_asks_nothing(box: Sandbox, name: str) -> None:
    cancel = threading.Event()
    cancel.set()
    worked = work(box, plan(name), SAYS, FAR, cancel=cancel)
    assert worked.asked == []
    assert "interrupted" in worked.stopped


@pytest.mark.slow
@EVERY
def test_an_attempt_that_is_cancelled_in_the_middle_of_an_answer_ends_at_once(box: Sandbox, name: str) -> None:
    cancel, began = threading.Event(), 0.0
    tools = Tools(ScriptedModel([WRONG]), box, Meter(Limits(calls=100, tokens=10**6)), cancel)
    said = []
    for event in find_strategy(name).solve(show_task(FAR, "visible"), plan(name, rounds=50), 0, tools):
        said.append(event)
        if isinstance(event, ModelChunk) and not cancel.is_set():
            cancel.set()
            began = time.monotonic()
    assert time.monotonic() - began < 2
    assert any(isinstance(event, Stopped) and event.reason == "interrupted" for event in said)


@pytest.mark.slow
@EVERY
def test_a_model_that_fails_is_an_error_of_this_attempt(box: Sandbox, name: str) -> None:
    with pytest.raises(ModelError):
        work(box, plan(name), [], FAR)


def test_each_strategy_is_found_by_its_name() -> None:
    assert [find_strategy(name).name for name in STRATEGIES] == [
        "single",
        "retry",
        "reflect",
        "burnish",
        "burnish-tests",
    ]
    assert {name: kind.timeout_seconds for name, kind in STRATEGIES.items() if name != "reflect"} == dict.fromkeys(
        ["single", "retry", "burnish", "burnish-tests"], 5.0
    )
    assert find_strategy("reflect").timeout_seconds == 6.0
    assert [kind.calls(plan(rounds=5)) for kind in STRATEGIES.values()] == [1, 6, 6, 6, 7]


def test_an_unknown_name_is_answered_with_the_nearest_ones() -> None:
    for name in ("reflct", "quantum"):
        with refused(name=f"evals/no strategy {name}"):
            find_strategy(name)


def test_only_parts_that_our_agent_has_can_be_left_out() -> None:
    assert check_parts(["tweak", "tweak", "repair"], "burnish") == ("tweak", "repair")
    assert check_parts([], "retry") == ()
    with refused(name="evals/no such part"):
        check_parts(["luck"], "burnish")
    with refused(name="evals/parts of another strategy"):
        check_parts(["tweak"], "retry")
