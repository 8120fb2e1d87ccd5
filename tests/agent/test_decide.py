"""What comes next, and why: the larger model when stuck, the limits, and never an endless loop."""

import itertools
import re
import threading
from collections.abc import Iterator
from typing import Any, cast

import pytest

from burnish import Limits, Run, ScriptedModel
from burnish.agent.ask import Tools
from burnish.agent.decide import REPEATED_ROUNDS, decide, why_stuck
from burnish.agent.limits import Meter
from burnish.attempt import attempt
from burnish.errors import ModelError
from burnish.events import Asked, Compared, Decided, Event, Stopped, Tweaked
from burnish.models.model import Ask, Chunk, Done, Waiting
from burnish.tasks import Task, from_sentence
from tests.agent.history import BROKEN, REPAIR, WRITING, given, proposed, ran, work
from tests.support import ASKING, DOUBLE, GOOD, OWN_TESTS, WRONG, block

WRONG_ONES = [block(f"def double(n):\n    return '{n}'") for n in range(40)]
FAR = Task(
    id="double",
    prompt="Twice n.",
    entry_point="double",
    signature="double(n)",
    visible_tests=("assert double(2) == 4", "assert double(5) == 10"),
    base_code="def double(n):\n    return None\n",
    broken=True,
)


def next_(*events: Event, task: Task = WRITING, limits: Limits | None = None, others: int = 0) -> Event:
    rest = tuple(ScriptedModel([], name=f"scripted:large-{n}") for n in range(others))
    tools = Tools(
        ScriptedModel([], name="local:tiny-0.5b"),
        cast(Any, None),
        Meter(limits or Limits()),
        threading.Event(),
        others=rest,
    )
    [event] = decide(work(*events, task=task), tools)
    return event


def model(name: str, *answers: str) -> ScriptedModel:
    return ScriptedModel({"": list(answers), "tests": [OWN_TESTS]}, name=name)


def sentences(run: Run) -> list[str]:
    return [decision.reason for decision in run.all(Decided)]


ROADS: dict[str, list[Event]] = {
    "beginning": [],
    "nothing usable": [proposed(1, "", problem="the answer holds\nno code")],
    "failing": [proposed(1), ran(1, "pf")],
    "repeating": [proposed(1), ran(1, "pf"), proposed(2, proposed(1).code, round=1), ran(2, "pf")],
    "done": [
        proposed(1),
        ran(1, "pp"),
        proposed(2, round=1),
        ran(2, "pp"),
        Compared(groups=((1, 2),), inputs=("f(1)",)),
    ],
    "stopped": [Stopped(reason="calls", why="the limit of 3 calls is reached")],
}


@pytest.mark.parametrize("road", list(ROADS))
@pytest.mark.parametrize("task", [WRITING, REPAIR])
def test_every_decision_is_one_plain_sentence(road: str, task: Task) -> None:
    before = [given(), ran(0, "ff"), Tweaked(base=0, tried=9, passed=0)] if task.broken else []
    decided = next_(*before, *ROADS[road], task=task, others=1)
    assert isinstance(decided, Decided)
    assert re.fullmatch(r"[A-Z][^\n]{10,300}\.", decided.reason), decided.reason
    assert decided.reason.count(". ") == 0
    assert bool(decided.moves) == (decided.choice != "judge")


def test_own_tests_are_begun_with_the_first_question_and_only_where_they_are_wanted() -> None:
    first = cast(Decided, next_())
    assert (first.choice, "tests of its own" in first.reason) == ("begin", True)
    silent = cast(Decided, next_(task=WRITING.model_copy(update={"own_tests": False})))
    assert (silent.choice, "tests of its own" in silent.reason) == ("ask", False)
    going_on = WRITING.model_copy(update={"earlier_tests": ("assert f(9) == 9",)})
    assert cast(Decided, next_(task=going_on)).choice == "begin", "new words deserve new tests"


def test_a_stuck_run_turns_to_the_next_model_and_stays_with_it() -> None:
    stuck = [proposed(1), ran(1, "pf"), proposed(2, proposed(1).code, round=1), ran(2, "pf")]
    turn = cast(Decided, next_(*stuck, others=2))
    assert turn.choice == "turn"
    assert {move.model for move in turn.moves} == {1}
    assert "scripted:large-0" in turn.reason
    healthy = [*stuck, turn, proposed(3, round=2), ran(3, "pf", "another")]
    assert {move.model for move in cast(Decided, next_(*healthy, others=2)).moves} <= {1, 2}
    alone = cast(Decided, next_(*stuck))
    assert (alone.choice, {move.model for move in alone.moves}) == ("ask", {0}), "there is nobody to turn to"


def test_rounds_end_with_their_limit_and_the_user_ends_them_at_any_time() -> None:
    said = next_(proposed(1), ran(1, "pf"), limits=Limits(rounds=0))
    assert isinstance(said, Stopped)
    assert said.reason == "rounds"
    tools = Tools(ScriptedModel([]), cast(Any, None), Meter(Limits()), threading.Event())
    tools.cancel.set()
    [stopped] = decide(work(), tools)
    assert isinstance(stopped, Stopped)
    assert stopped.reason == "interrupted"


@pytest.mark.usefixtures("open_box")
@pytest.mark.parametrize("others", [0, 1])
def test_a_run_stops_once_every_model_only_repeats_itself(others: int) -> None:
    limits = Limits(rounds=30, calls=99, tokens=10**7)
    models = [model(name, WRONG) for name in ("local:tiny-0.5b", "scripted:large")[: 1 + others]]
    run = attempt(from_sentence(DOUBLE), models, limits=limits)
    assert all(one.asked for one in models)
    stopped = run.last(Stopped)
    assert stopped
    assert (stopped.reason, run.verdict) == ("stuck", "failed")
    assert max(version.round for version in run.versions) == REPEATED_ROUNDS
    assert [decision.choice for decision in run.all(Decided)].count("turn") == others


@pytest.mark.usefixtures("open_box")
def test_an_answer_that_does_not_parse_is_followed_by_a_fresh_one() -> None:
    broken = model("local:tiny-0.5b", "```python\ndef double(n:\n    return n\n```", GOOD)
    run = attempt(from_sentence(DOUBLE), broken)
    assert (run.verdict, [version.by for version in run.versions][:2]) == ("proven", ["draft", "rewrite"])
    assert run.versions[0].graded is None


class Silent(ScriptedModel):
    """A model that does not answer some of the questions for code, counted from 0."""

    def __init__(self, silent: range, *said: str) -> None:
        super().__init__({"": list(said), "tests": [OWN_TESTS]}, name="local:tiny-0.5b")
        self.silent, self.number = silent, itertools.count()

    def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Chunk | Waiting | Done]:
        if ask.purpose != "tests" and next(self.number) in self.silent:
            raise ModelError("the server hung up")
        return super().stream(ask, cancel)


@pytest.mark.usefixtures("open_box")
def test_a_model_that_goes_away_leaves_the_best_version_and_its_verdict() -> None:
    run = attempt(from_sentence(DOUBLE), Silent(range(2, 99), WRONG, WRONG_ONES[0]), limits=Limits(rounds=9))
    assert (run.verdict, run.state) == ("failed", "failed")
    assert run.code, "the best version is not lost"
    stopped = run.last(Stopped)
    assert stopped
    assert (stopped.reason, stopped.why) == ("stuck", "the model cannot be asked any more: the server hung up")
    assert "the model did not answer: the server hung up" in {version.problem for version in run.versions}


@pytest.mark.usefixtures("open_box")
def test_one_answer_that_does_not_come_is_no_reason_to_end_the_work() -> None:
    run = attempt(from_sentence(DOUBLE), Silent(range(1, 2), WRONG, GOOD), limits=Limits(rounds=9))
    assert run.verdict == "proven"
    assert sum("the server hung up" in version.problem for version in run.versions) == 1


@pytest.mark.usefixtures("open_box")
def test_a_model_that_never_answers_breaks_the_run() -> None:
    run = attempt(from_sentence(DOUBLE), Silent(range(99)))
    assert (run.state, run.why) == ("broken", "the server hung up")


@pytest.mark.usefixtures("open_box")
def test_the_larger_model_is_asked_when_the_small_one_is_stuck() -> None:
    small, large = model("local:tiny-0.5b", WRONG), model("scripted:large", GOOD)
    run = attempt(from_sentence(DOUBLE), [small, large], limits=Limits(rounds=6))
    assert run.verdict == "proven"
    assert small.asked
    assert large.asked
    turn = next(decision for decision in run.all(Decided) if decision.choice == "turn")
    assert "scripted:large" in turn.reason
    assert run.started.model == "local:tiny-0.5b,scripted:large"


@pytest.mark.usefixtures("open_box")
def test_the_larger_model_is_left_alone_where_the_small_one_does_it() -> None:
    large = model("scripted:large", GOOD)
    assert attempt(from_sentence(DOUBLE), [model("local:tiny-0.5b", GOOD), large]).verdict == "proven"
    assert large.asked == []


@pytest.mark.usefixtures("open_box")
@pytest.mark.parametrize(
    "answers",
    [[WRONG], [WRONG, WRONG_ONES[0]] * 20, ["no"], ["def double(n:"], [""], WRONG_ONES],
    ids=["one", "two-in-turn", "prose", "broken", "empty", "all-new"],
)
@pytest.mark.parametrize("name", ["local:tiny-0.5b", "scripted:inline"])
def test_no_model_makes_it_go_on_for_ever(answers: list[str], name: str) -> None:
    limits = Limits(rounds=4, calls=30, tokens=10**6)
    run = attempt(from_sentence(DOUBLE), model(name, *answers), limits=limits)
    assert run.verdict == "failed"
    assert run.calls <= limits.calls
    assert max((version.round for version in run.versions), default=0) <= limits.rounds
    assert all(re.fullmatch(r"[A-Z][^\n]+\.", reason) for reason in sentences(run))


@pytest.mark.usefixtures("open_box")
def test_rounds_of_zero_leave_one_draft_and_calls_of_zero_none() -> None:
    answering = model("scripted:inline", WRONG)
    run = attempt(FAR, answering, limits=Limits(rounds=0))
    assert len([ask for ask in run.all(Asked) if ask.purpose in ASKING]) == 1
    silent = model("scripted:inline", GOOD)
    none = attempt(FAR, silent, limits=Limits(calls=0))
    assert (none.verdict, none.why, silent.asked) == ("failed", "the limit of 0 calls is reached", [])


@pytest.mark.usefixtures("open_box")
def test_a_repair_that_needs_no_call_is_made_with_a_limit_of_zero_calls() -> None:
    many = tuple(f"assert double({n}) == {n * 2}" for n in (1, 2, 3, 5, 8, 9))
    slip = FAR.model_copy(update={"base_code": "def double(n):\n    return n * 3\n", "visible_tests": many})
    run = attempt(slip, model("scripted:inline", WRONG), limits=Limits(calls=0))
    assert (run.verdict, run.calls) == ("proven", 0)
    assert BROKEN not in run.code


A, B = "def f(n):\n    return 'a'\n", "def f(n):\n    return 'b'\n"


def versions(*said: tuple[str | None, str, str]) -> list[Event]:
    """A version a round: its code, its results, and what a failure says."""
    events: list[Event] = []
    for place, (code, outcome, message) in enumerate(said):
        events += [proposed(place + 1, code, round=place), ran(place + 1, outcome, message)]
    return events


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        (versions((A, "ff", "1"), (A, "ff", "1")), "the last round only repeated earlier code"),
        (versions((A, "ff", "1"), (A.replace("\n", "\n\n", 1), "ff", "1")), "only repeated earlier code"),
        ([*versions((A, "ff", "1"), (B, "ff", "2")), proposed(3, A, round=2), proposed(4, B, round=2)], "repeated"),
        (versions((None, "ff", "1"), (None, "ff", "1"), (None, "ff", "1")), "fail in the same way"),
        (versions((None, "pf", "1"), (None, "ff", "2"), (None, "ff", "3")), "no progress in 2 rounds"),
    ],
    ids=["repeat", "near-repeat", "both-repeat", "same-error", "no-progress"],
)
def test_each_kind_of_circle_is_named(events: list[Event], reason: str) -> None:
    assert reason in why_stuck(work(*events))


def test_answers_that_go_back_and_forth_are_noticed() -> None:
    """Beside something new in the same round, so that the round as a whole repeats nothing."""
    events = [proposed(1, A), ran(1, "ff", "1"), proposed(2, B, round=1), ran(2, "ff", "2")]
    events += [proposed(3, A, round=1), ran(3, "ff", "1"), proposed(4, B, round=1), ran(4, "ff", "2")]
    assert "back and forth" in why_stuck(work(*events))


@pytest.mark.parametrize(
    "events",
    [
        [],
        versions((None, "ff", "1")),
        versions((None, "ff", "1"), (None, "ff", "1")),
        versions((None, "ff", "1"), (None, "pf", "2"), (None, "pf", "3")),
        versions((None, "ff", "1"), (None, "ff", "2"), (None, "pf", "3")),
        versions((None, "pp", ""), (None, "pp", "")),
        [proposed(1, "", problem="no code"), proposed(2, "x", problem="the code does not parse", round=1)],
    ],
    ids=["nothing", "draft", "twice", "progress", "late-progress", "all-well", "two-problems"],
)
def test_healthy_work_is_left_alone(events: list[Event]) -> None:
    assert why_stuck(work(*events)) == ""


def test_three_answers_that_cannot_be_used_are_the_same_error_too() -> None:
    events = [proposed(n, f"{n}", round=n - 1, problem="the answer holds no code") for n in (1, 2, 3)]
    assert "fail in the same way" in why_stuck(work(*events))
