"""A test that the version fails: two voices expose it, one does not, and nothing is ever worse for it."""

from dataclasses import replace

import pytest

from burnish.agent.ask import Tools
from burnish.agent.graph import after_strengthening
from burnish.agent.limits import Limits
from burnish.agent.nodes.judge import judge
from burnish.agent.nodes.strengthen import independent_samples, plan_samples, read_calls, strengthen
from burnish.agent.policy import decide, may_repair
from burnish.agent.state import AgentState
from burnish.checks.mutation.mutate_module import Mutations
from burnish.errors import SandboxError
from burnish.events import (
    Decided,
    Event,
    Move,
    Mutated,
    NewTest,
    RunFinished,
    Strengthened,
    Survivor,
    TestsFrozen,
    TestsProposed,
    TestsRan,
)
from burnish.sandbox import Sandbox
from burnish.tasks import Task
from tests.agent.history import proposed, ran, work
from tests.agent.nodes.at_work import Gone, tools
from tests.snapshots import assert_snapshot
from tests.support import block

TASK = Task(
    id="f",
    prompt="f(n) is 0 under 6, else 10.",
    entry_point="f",
    signature="f(n)",
    visible_tests=("assert f(2) == 0", "assert f(30) == 10"),
)
ALONE = "def f(n):\n    if n <= 6:\n        return 0\n    return 10\n"
"""Wrong at 6."""
RIGHT = "def f(n):\n    return 0 if n < 6 else 10\n"
ALSO = "def f(n):\n    if n >= 6:\n        return 10\n    return 0\n"
SURVIVOR = Survivor(key="solution.x_f__mutmut_1", line=2, said="`<= 6` becomes `< 6`")
MUTATED = Mutated(version=1, mutants=4, noticed=3, survivors=(SURVIVOR,))
AGAINST = "assert f(6) == 10"


def at_work(box: Sandbox, limits: Limits | None = None) -> Tools:
    return replace(tools(box, "none", limits=limits), mutations=Mutations())


def state(*codes: str, own: tuple[str, ...] = (), outcomes: str = "") -> AgentState:
    """Versions that pass what was given, of which the first is the best; a letter says what each makes of the model's
    test.
    """
    events: list[Event] = [TestsProposed(tests=own), TestsFrozen(sha256="0", given=2)]
    for number, code in enumerate(codes, 1):
        events += [proposed(number, code), ran(number, "pp", model=outcomes[number - 1 : number])]
        events += [MUTATED] if number == 1 else []
    return work(*events, task=TASK)


def made(found: list[Event]) -> Strengthened:
    [one] = [event for event in found if isinstance(event, Strengthened)]
    return one


@pytest.mark.slow
def test_two_voices_against_the_code_expose_it_and_the_best_version_changes(box: Sandbox) -> None:
    before = state(ALONE, RIGHT, ALSO)
    assert before.best
    assert before.best.number == 1
    found = list(strengthen(before, at_work(box)))
    assert AGAINST in made(found).exposing
    assert not [new for new in made(found).tests if new.origin == "pinned"]
    assert {event.version for event in found if isinstance(event, TestsRan)} == {1, 2, 3}
    after = before.after(found)
    assert after.best
    assert (after.best.number, after.best_passes, after.disputed) == (2, True, ())
    assert after_strengthening(after) == "survivors", "its mutants are looked at next"


@pytest.mark.slow
def test_one_voice_against_the_code_does_not(box: Sandbox) -> None:
    before = state(ALONE, RIGHT)
    found = list(strengthen(before, at_work(box)))
    assert made(found).exposing == ()
    assert {new.origin for new in made(found).tests} <= {"pinned"}
    after = before.after(found)
    assert after.best
    assert (after.best.number, after.best_passes) == (1, True)


@pytest.mark.slow
def test_a_test_that_no_version_passes_with_all_others_is_set_aside_and_the_verdict_stays(box: Sandbox) -> None:
    own = "assert f(7) == 10"
    limits = Limits(rounds=0)
    wrong_at_7 = [RIGHT.replace("0 if n < 6 else 10", "0 if n < 6 else 10 + (n == 7)")]
    wrong_at_7 += [RIGHT.replace("0 if n < 6 else 10", "10 + (n == 7) if n >= 6 else 0")]
    before = state(ALONE, *wrong_at_7, own=(own,), outcomes="pff")
    found = list(strengthen(before, at_work(box, limits)))
    assert (made(found).exposing, made(found).aside) == ((AGAINST,), True)
    after = before.after(found)
    assert after.best
    assert (after.best.number, after.best_passes, after.disputed) == (1, True, (AGAINST,))
    ending = list(judge(after, at_work(box, limits)))[-1]
    assert isinstance(ending, RunFinished)
    assert (ending.verdict, ending.disputed) == ("plausible", (AGAINST,))
    assert_snapshot(ending.why, "agent/verdict: an added test is set aside")


def exposed() -> AgentState:
    """A version that fails an added test, while nothing passes all."""
    new = NewTest(test=AGAINST, origin="agreed", notices=())
    events: list[Event] = [proposed(1, ALONE), ran(1, "pp"), MUTATED, proposed(2, RIGHT), ran(2, "pf")]
    return work(*events, Strengthened(version=1, tests=(new,), exposing=(AGAINST,)), ran(1, "pp"), task=TASK)


def test_exposed_code_gets_one_more_round_and_then_its_verdict_back() -> None:
    before = exposed()
    assert not before.best_passes
    assert after_strengthening(before) == "decide"
    [decision] = decide(before, tools(ground=Gone()))
    assert isinstance(decision, Decided)
    assert decision.moves
    after = before.after([decision, proposed(3, ALONE, by="rewrite", round=1), ran(3, "pp")])
    assert (after.best_passes, after.disputed) == (True, (AGAINST,))
    [done] = decide(after, tools(ground=Gone()))
    assert isinstance(done, Decided)
    assert (done.choice, done.moves) == ("judge", ())


def test_the_model_may_be_shown_the_test_that_exposes_its_code() -> None:
    assert may_repair(exposed())
    assert not may_repair(state(ALONE))


def test_later_versions_have_no_vote_on_what_was_settled() -> None:
    own = "assert f(6) == 0"
    before = state(ALONE, own=(own,), outcomes="p")
    assert (before.best_passes, before.disputed) == (True, ())
    after = state(ALONE, RIGHT, ALSO, own=(own,), outcomes="pff")
    assert after.best
    assert (after.best.number, after.best_passes, after.disputed) == (1, True, ())


class NoCells:
    """A sandbox in which nothing can be run any more."""

    level = "gone"

    def run(self, *_: object, **__: object) -> None:
        raise SandboxError("the cell did not start")

    grade = run


@pytest.mark.slow
def test_a_sandbox_that_is_gone_leaves_all_as_it_was() -> None:
    before = state(ALONE, RIGHT, ALSO)
    gone = replace(tools(NoCells()), mutations=Mutations())
    [event] = [event for event in strengthen(before, gone) if event.kind == "strengthened"]
    assert isinstance(event, Strengthened)
    assert (event.tests, event.why) == ((), "the cell did not start")
    assert before.after([event]).best_passes


@pytest.mark.parametrize(("name", "asks"), [("local:tiny-0.5b", 3), ("local:tiny-1.5b", 3), ("anthropic:large", 1)])
def test_as_many_voices_are_asked_for_as_are_missing(name: str, asks: int) -> None:
    from burnish.models.scripted import ScriptedModel

    asked = replace(tools(ground=Gone()), model=ScriptedModel([], name=name))
    found = plan_samples(state(ALONE), asked)
    assert [(move.kind, move.round) for move in found] == [("rewrite", 0)] * asks
    assert plan_samples(state(ALONE, RIGHT, ALSO), asked) == ()
    again = Decided(choice="voices", reason="", moves=(Move(kind="rewrite", version=2, round=0),))
    assert plan_samples(state(ALONE).after([again]), asked) == ()


def test_what_was_made_from_a_version_is_no_voice_beside_it() -> None:
    known = state(ALONE)
    edited = known.after([proposed(2, RIGHT, by="reflect", base=1), ran(2, "pp"), proposed(3, ALSO), ran(3, "pp")])
    assert edited.best
    assert [version.number for version in independent_samples(edited, edited.version(1))] == [3]


@pytest.mark.parametrize(
    ("answer", "calls"),
    [
        (block("fee(5)\nfee(6)"), ("fee(5)", "fee(6)")),
        ("1. `fee(5)`\n2. fee(7)", ("fee(5)", "fee(7)")),
        (block("assert fee(5) == 0\nprint(fee(6))"), ("fee(5)", "fee(6)")),
        (block("fee(x)\nfee(open('a'))\nfee(6)\nfee(6)"), ("fee(6)",)),
        ("I do not know.", ()),
        ("", ()),
        (block("other(3)"), ()),
        (block(f"fee({'9' * 200})"), ()),
    ],
)
def test_calls_of_plain_values_are_taken_from_any_answer(answer: str, calls: tuple[str, ...]) -> None:
    assert read_calls(answer, ("fee",)) == calls
