"""A job that breaks in the sandbox says nothing about the code: the work goes on, as long as jobs can be run at all."""

import threading
from typing import Any, cast

import pytest

from burnish.agent.ask import Tools
from burnish.agent.limits import Limits, Meter
from burnish.agent.nodes.run import run
from burnish.agent.state import AgentState, not_run
from burnish.checks.bench.bench import Bench
from burnish.checks.suite import Suite
from burnish.errors import SandboxError
from burnish.events import Case, CodeProposed, Event, Graded, Mutated, SpecAgreed, Stopped, TestsRan
from burnish.events.replay import Replay
from burnish.models.scripted import ScriptedModel
from burnish.sandbox import Sandbox
from burnish.tasks import Task

SPEC = SpecAgreed(entry_point="f", signature="f(n)", given_tests=("assert f(1) == 1",))
PASSED = Graded(cases=(Case(name="test_given_1", outcome="passed"),))


class Brittle(Bench):
    """A ground on which some versions break their cell."""

    level = "brittle"

    def __init__(self, *breaking: str) -> None:
        self.breaking = breaking
        self.tried: list[str] = []

    def grade(self, module: str, suite: Suite, disputed: tuple[str, ...] = ()) -> Graded:
        self.tried.append(module)
        if module in self.breaking:
            raise SandboxError("the cell ended during a job")
        return PASSED


class Gone:
    """A sandbox that runs nothing any more."""

    level = "gone"

    def run(self, argv: object) -> None:
        raise SandboxError("the cell did not start")


def tried(*args: Any, **more: Any) -> list[TestsRan]:
    return [event for event in said(*args, **more) if isinstance(event, TestsRan)]


def said(
    ground: Brittle,
    sandbox: object,
    versions: list[Event],
    replay: Replay | None = None,
    cancelled: bool = False,
    limits: Limits | None = None,
) -> list[Event]:
    tools = Tools(
        ScriptedModel([]),
        cast(Any, sandbox),
        Meter(limits or Limits()),
        threading.Event(),
        place=cast(Any, ground),
        replay=replay or Replay(),
    )
    if cancelled:
        tools.cancel.set()
    work = AgentState(Task(id="f", prompt="f"), [SPEC, *versions])
    return list(run(work, tools))


def version(number: int, code: str) -> Event:
    return CodeProposed(version=number, code=code, by="draft")


def test_a_version_whose_job_broke_counts_as_not_run_and_the_next_one_is_tried(box: Sandbox) -> None:
    first, second = tried(Brittle("a"), box, [version(1, "a"), version(2, "b")])
    assert first.graded.not_run
    assert "the cell ended during a job" in first.graded.problem, "as the sandbox said it"
    assert (first.graded.cases, first.graded.all_passed, second.graded) == ((), False, PASSED)


def test_two_in_a_row_are_no_end_while_the_sandbox_works(box: Sandbox) -> None:
    ran = tried(Brittle("a", "b"), box, [version(1, "a"), version(2, "b"), version(3, "c")])
    assert [event.graded.all_passed for event in ran] == [False, False, True]


def test_two_in_a_row_with_a_sandbox_that_cannot_be_used_any_more_end_the_attempt() -> None:
    with pytest.raises(SandboxError, match="the cell did not start"):
        tried(Brittle("a", "b"), Gone(), [version(1, "a"), version(2, "b")])


def test_the_one_before_may_have_been_in_an_earlier_round() -> None:
    broke = TestsRan(version=1, graded=not_run(SandboxError("gone")))
    with pytest.raises(SandboxError):
        tried(Brittle("b"), Gone(), [version(1, "a"), broke, version(2, "b")])


def test_a_result_on_record_is_used_if_the_same_code_met_the_same_tests(box: Sandbox) -> None:
    known = tried(Brittle(), box, [version(1, "a"), version(2, "b")])
    ground = Brittle()
    again = tried(ground, box, [version(1, "a"), version(2, "other")], Replay(known))
    assert [event.graded for event in again] == [PASSED, PASSED]
    assert ground.tried == ["other"]


def test_a_broken_job_is_tried_again_when_the_run_goes_on(box: Sandbox) -> None:
    [known] = tried(Brittle("a"), box, [version(1, "a")])
    [again] = tried(Brittle(), box, [version(1, "a")], Replay([known]))
    assert again.graded == PASSED


def test_ctrl_c_during_a_job_leaves_no_result(box: Sandbox) -> None:
    assert tried(Brittle("a"), box, [version(1, "a")], cancelled=True) == []


def test_once_time_is_over_one_version_is_run_so_that_there_is_something_to_judge_and_no_more(box: Sandbox) -> None:
    late = Limits(seconds=0)
    waiting = [version(0, "given"), version(1, "a"), version(2, "b"), version(3, "c")]
    events = said(Brittle(), box, waiting, limits=late)
    assert [event.version for event in events if isinstance(event, TestsRan)] == [0, 1]
    stopped = [event for event in events if isinstance(event, Stopped)]
    assert [event.reason for event in stopped] == ["seconds"]
    again = said(Brittle(), box, [*waiting, *stopped], limits=late)
    assert not any(isinstance(event, Stopped) for event in again), "it is said once"


def test_time_that_ends_while_further_voices_wait_ends_no_run_that_is_done(box: Sandbox) -> None:
    done: list[Event] = [version(1, "a"), TestsRan(version=1, graded=PASSED), Mutated(version=1, mutants=2, noticed=1)]
    assert said(Brittle(), box, [*done, version(2, "b")], limits=Limits(seconds=0)) == []
    failed = TestsRan(version=1, graded=Graded(cases=(Case(name="test_given_1", outcome="failed"),)))
    events = said(Brittle(), box, [*done, failed, version(2, "b")], limits=Limits(seconds=0))
    assert [event.reason for event in events if isinstance(event, Stopped)] == ["seconds"], "not done any more"


def test_what_is_on_record_is_taken_from_there_though_time_is_over(box: Sandbox) -> None:
    waiting = [version(1, "a"), version(2, "b")]
    record = tried(Brittle(), box, waiting)
    assert len(tried(Brittle("a", "b"), box, waiting, Replay(record), limits=Limits(seconds=0))) == 2
