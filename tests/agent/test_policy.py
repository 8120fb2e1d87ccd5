"""Which questions make up a round: by who is asked, what is at hand, and what has got nowhere."""

import itertools
import re
import threading
from collections.abc import Iterator
from typing import Any, cast

import pytest

from burnish import Limits, Run, ScriptedModel
from burnish.agent import policy
from burnish.agent.ask import Tools
from burnish.agent.limits import Meter
from burnish.agent.policy import REPEATED_ROUNDS, Stuck, decide, find_stuck
from burnish.errors import ModelError
from burnish.events import Asked, Compared, Decided, Event, Move, Stopped, TestsProposed, Tweaked
from burnish.models.model import Ask, Chunk, Done, Waiting
from burnish.tasks import Task, from_sentence
from burnish.tasks.task import NO_WORDS
from tests.agent.history import BROKEN, REPAIR, WRITING, given, proposed, ran, work
from tests.snapshots import assert_snapshot
from tests.support import ASKING, DOUBLE, GOOD, OWN_TESTS, WRONG, attempt, block

STRENGTHS = ("local:qwen2.5-coder-0.5b", "local:qwen2.5-coder-1.5b", "anthropic:some-large-model")


@pytest.mark.parametrize(
    ("name", "strength"),
    [
        ("local:qwen2.5-coder-0.5b", "small"),
        ("huggingface:Qwen/Qwen2.5-Coder-0.5B-Instruct", "small"),
        ("local:qwen2.5-coder-1.5b", "middle"),
        ("ollama:qwen2.5-coder:3b", "middle"),
        ("ollama:llama3.1:70b-instruct", "strong"),
        ("openai:gpt-x", "strong"),
        ("local:/models/mine.gguf", "middle"),
        ("huggingface:org/model-27B", "strong"),
        ("local:/data/70b-runs/qwen-0.5b.gguf", "small"),
    ],
)
def test_how_strong_a_model_is_follows_from_the_size_in_its_name(name: str, strength: str) -> None:
    assert policy.strength(name) == strength


def failing(rounds: int, by: str = "rewrite", code: str | None = None) -> list[Event]:
    """A draft and a version in each round; all fail."""
    events: list[Event] = [proposed(1), ran(1, "ff")]
    for round_ in range(1, rounds + 1):
        events += [proposed(round_ + 1, code, by=by, round=round_), ran(round_ + 1, "ff")]
    return events


@pytest.mark.parametrize("model", STRENGTHS)
@pytest.mark.parametrize("task", [WRITING, REPAIR, REPAIR.model_copy(update={"prompt": NO_WORDS.format(name="f")})])
def test_the_first_question_stands_alone_and_is_greedy(model: str, task: Task) -> None:
    [move] = policy.plan_moves(work(given(), ran(0, "ff"), task=task), model, 9)
    assert (move.round, move.temperature) == (0, 0.0)
    assert move.kind in ("draft", "repair")


@pytest.mark.parametrize("model", STRENGTHS)
def test_rounds_grow_wider_never_beyond_what_is_allowed(model: str) -> None:
    widths = [len(policy.plan_moves(work(*failing(round_)), model, 9)) for round_ in range(6)]
    assert widths == sorted(widths)
    assert widths[0] >= 1
    assert all(len(policy.plan_moves(work(*failing(round_)), model, 2)) <= 2 for round_ in range(6))


def test_a_small_model_is_asked_more_at_once_than_a_strong_one() -> None:
    small, strong = (len(policy.plan_moves(work(*failing(4)), model, 9)) for model in (STRENGTHS[0], STRENGTHS[2]))
    assert small > strong


@pytest.mark.parametrize("model", STRENGTHS)
@pytest.mark.parametrize("task", [WRITING, REPAIR])
def test_kinds_take_turns_and_each_has_a_node_of_its_own(model: str, task: Task) -> None:
    seen = set()
    for rounds in range(1, 7):
        events = [given(), ran(0, "ff"), *failing(rounds)]
        seen |= {move.kind for move in policy.plan_moves(work(*events, task=task), model, 9)}
    assert len(seen) > 1
    assert seen <= {*ASKING}


@pytest.mark.parametrize("model", STRENGTHS)
def test_in_a_project_every_answer_repairs_the_code_that_is_there(model: str) -> None:
    task = REPAIR.model_copy(update={"failing_tests": (("test_f.py::test_f", "def test_f(): ..."),)})
    events: list[Event] = [given(), ran(0, "ff")]
    for rounds in range(4):
        asked = policy.plan_moves(work(*events, *failing(rounds), task=task), model, 9)
        assert {(move.kind, move.base) for move in asked} == {("repair", 0)}


def test_versions_of_a_round_have_numbers_of_their_own_and_say_whom_is_asked() -> None:
    moves = policy.plan_moves(work(*failing(3)), STRENGTHS[0], 9, level=1)
    assert [move.version for move in moves] == list(range(5, 5 + len(moves)))
    assert {(move.round, move.model) for move in moves} == {(4, 1)}


def test_every_answer_after_the_first_is_asked_for_at_the_same_temperature() -> None:
    asked = [policy.plan_moves(work(*failing(rounds)), model, 9) for rounds in range(8) for model in STRENGTHS]
    assert {move.temperature for moves in asked for move in moves} == {policy.TEMPERATURE}


def test_repairs_that_only_repeat_what_was_there_are_dropped() -> None:
    same = proposed(1).code
    events = [proposed(1), ran(1, "ff"), proposed(2, same, "repair", 1), proposed(3, same, "repair", 2)]
    other = proposed(3, None, "repair", 2)
    for once in (events[:3], [*events[:3], other]):
        kinds = {move.kind for move in policy.plan_moves(work(*once), STRENGTHS[0], 9)}
        assert "repair" in kinds, "once is no proof"
    for model in STRENGTHS:
        asked = policy.plan_moves(work(*events, ran(3, "ff"), proposed(4, round=3), ran(4, "ff")), model, 9)
        assert {move.kind for move in asked} == {"rewrite"}


def test_writing_afresh_is_never_dropped() -> None:
    same = proposed(1).code
    events = [proposed(1), ran(1, "ff"), proposed(2, same, "rewrite", 1), proposed(3, same, "rewrite", 2)]
    assert "rewrite" in {move.kind for move in policy.plan_moves(work(*events), STRENGTHS[0], 9)}


@pytest.mark.parametrize("model", STRENGTHS)
@pytest.mark.parametrize("without", [frozenset[str](), frozenset({"rewrite"})])
def test_where_nothing_can_be_run_there_is_nothing_to_repair(model: str, without: frozenset[str]) -> None:
    broken = proposed(1, "def f(n:\n  return", problem="the code does not parse: line 1")
    moves = policy.plan_moves(work(broken), model, 9, without=without)
    assert {(move.kind, move.base) for move in moves} == {("draft" if without else "rewrite", None)}


def test_each_kind_shows_the_version_it_is_about() -> None:
    events = [given(), ran(0, "ff"), proposed(1), ran(1, "ff"), proposed(2, round=1), ran(2, "pf")]
    repairing, writing = work(*events, task=REPAIR), work(*events[2:])
    shown = {(move.kind, move.base) for move in policy.plan_moves(repairing, STRENGTHS[0], 9)}
    assert shown == {("repair", 0), ("rewrite", None)}
    shown = {(move.kind, move.base) for move in policy.plan_moves(writing, STRENGTHS[0], 9)}
    assert shown == {("repair", 2), ("rewrite", None)}, "where nothing was broken before, the best version"


@pytest.mark.parametrize("model", STRENGTHS)
def test_an_answer_that_passes_the_given_tests_is_not_called_wrong(model: str) -> None:
    own = TestsProposed(tests=("assert f(3) == 7",))
    good = work(own, proposed(1), ran(1, "pp", model="f"))
    assert {move.kind for move in policy.plan_moves(good, model, 9)} == {"rewrite"}
    bad = work(own, proposed(1), ran(1, "pf", model="f"))
    assert policy.may_repair(bad)
    found = work(own, proposed(1), ran(1, "pf", model="f"), proposed(2, by="tweak", base=1), ran(2, "pp", model="f"))
    assert policy.may_repair(found), "a small edit may have been found by chance"


def road(model: str, without: str, task: Task) -> list[Move]:
    """Every question of a run in which each answer is new and fails."""
    asked: list[Move] = []
    events: list[Event] = [given(), ran(0, "ff")]
    for _ in range(6):
        moves = policy.plan_moves(work(*events, task=task), model, 9, without=frozenset({without}))
        asked += moves
        for move in moves:
            events += [proposed(move.version, by=move.kind, round=move.round), ran(move.version, "ff")]
    return asked


@pytest.mark.parametrize("model", STRENGTHS)
@pytest.mark.parametrize("task", [WRITING, REPAIR])
def test_a_part_that_is_left_out_is_not_in_any_round(model: str, task: Task) -> None:
    for kind in ("rewrite", "repair"):
        assert kind not in {move.kind for move in road(model, kind, task)}
    alone = road(model, "portfolio", task)
    assert [move.round for move in alone] == list(range(6))


@pytest.mark.parametrize("model", STRENGTHS)
@pytest.mark.parametrize("task", [WRITING, REPAIR])
@pytest.mark.parametrize("part", ["reflect", "mending", "warmth"])
def test_a_part_of_earlier_versions_can_still_be_named_and_changes_nothing(part: str, model: str, task: Task) -> None:
    assert part not in policy.PARTS
    assert road(model, part, task) == road(model, "", task)


@pytest.mark.parametrize("left_out", [{"rewrite"}, {"rewrite", "repair"}])
@pytest.mark.parametrize("model", STRENGTHS)
@pytest.mark.parametrize("task", [WRITING, REPAIR])
def test_what_is_left_out_does_not_come_back_where_nothing_else_is_left(
    left_out: set[str], model: str, task: Task
) -> None:
    own = TestsProposed(tests=("assert f(3) == 7",))
    good = work(own, given(), ran(0, "ff", model="f"), proposed(1), ran(1, "pp", model="f"), task=task)
    moves = policy.plan_moves(good, model, 9, without=frozenset(left_out))
    assert moves
    assert not left_out & {move.kind for move in moves}
    assert all(move.temperature > 0 for move in moves)


def edited(answers: int, groups: tuple[tuple[int, ...], ...]) -> list[Event]:
    """Broken code, two edits of it that pass, and answers that do not."""
    edits = [event for number in (1, 2) for event in (proposed(number, by="tweak", base=0), ran(number, "pp"))]
    failed = [event for number in range(3, 3 + answers) for event in (proposed(number), ran(number, "ff"))]
    return [given(), ran(0, "ff"), *edits, *failed, Compared(groups=groups, inputs=("f(1)",))]


@pytest.mark.parametrize("groups", [((1, 2),), ((1,), (2,))])
def test_edits_that_pass_are_taken_once_the_model_was_asked_often_enough(groups: tuple[tuple[int, ...], ...]) -> None:
    few, enough = (work(*edited(n, groups), task=REPAIR) for n in (policy.MOST_ANSWERS - 1, policy.MOST_ANSWERS))
    assert not policy.is_settled(few, 0.01), "small edits alone are never enough before"
    assert policy.is_settled(enough, 1.0)


def agreeing(answers: int) -> list[Event]:
    """Answers that all pass and all behave alike."""
    made = [event for n in range(1, 1 + answers) for event in (proposed(n, round=min(1, n - 1)), ran(n, "pp"))]
    return [*made, Compared(groups=(tuple(range(1, 1 + answers)),), inputs=("f(1)",), likeness=(1.0,))]


def test_the_work_goes_on_until_the_confidence_is_reached() -> None:
    settled = [[policy.is_settled(work(*agreeing(n)), sure) for n in range(1, 7)] for sure in (0.5, 0.9, 1.0)]
    assert settled[0] == [True] * 6
    assert settled[1] == sorted(settled[1])
    assert settled[2] == [False] * 5 + [True]
    assert sum(settled[0]) > sum(settled[1]) > sum(settled[2])


def test_a_round_repeats_only_if_all_of_it_does() -> None:
    same = proposed(1).code
    assert policy.only_repeats(work(proposed(1), proposed(2, same, round=1)), 1)
    assert not policy.only_repeats(work(proposed(1), proposed(2, same, round=1), proposed(3, round=1)), 1)
    assert not policy.only_repeats(work(proposed(1)), 0), "a first draft repeats nothing"


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
    assert first.choice == "begin"
    silent = cast(Decided, next_(task=WRITING.model_copy(update={"own_tests": False})))
    assert silent.choice == "ask"
    assert_snapshot(f"{first.reason}\n{silent.reason}", "agent/policy: how a run begins")
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


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.usefixtures("open_box")
def test_an_answer_that_does_not_parse_is_followed_by_a_fresh_one() -> None:
    broken = model("local:tiny-0.5b", "```python\ndef double(n:\n    return n\n```", GOOD)
    run = attempt(from_sentence(DOUBLE), broken)
    assert (run.verdict, [version.by for version in run.versions][:2]) == ("plausible", ["draft", "rewrite"])
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


@pytest.mark.slow
@pytest.mark.usefixtures("open_box")
def test_a_model_that_goes_away_leaves_the_best_version_and_its_verdict() -> None:
    run = attempt(from_sentence(DOUBLE), Silent(range(2, 99), WRONG, WRONG_ONES[0]), limits=Limits(rounds=9))
    assert (run.verdict, run.state) == ("failed", "failed")
    assert run.code, "the best version is not lost"
    stopped = run.last(Stopped)
    assert stopped
    assert stopped.reason == "stuck"
    assert_snapshot(stopped.why, "agent/policy: the model is gone")
    assert any(version.no_answer for version in run.versions)


@pytest.mark.slow
@pytest.mark.usefixtures("open_box")
def test_one_answer_that_does_not_come_is_no_reason_to_end_the_work() -> None:
    run = attempt(from_sentence(DOUBLE), Silent(range(1, 2), WRONG, GOOD), limits=Limits(rounds=9))
    assert run.verdict == "plausible"
    assert sum(version.no_answer for version in run.versions) == 1


@pytest.mark.usefixtures("open_box")
def test_a_model_that_never_answers_breaks_the_run() -> None:
    run = attempt(from_sentence(DOUBLE), Silent(range(99)))
    assert (run.state, run.why) == ("broken", "the server hung up")


@pytest.mark.slow
@pytest.mark.usefixtures("open_box")
def test_the_larger_model_is_asked_when_the_small_one_is_stuck() -> None:
    small, large = model("local:tiny-0.5b", WRONG), model("scripted:large", GOOD)
    run = attempt(from_sentence(DOUBLE), [small, large], limits=Limits(rounds=6))
    assert run.verdict == "plausible"
    assert small.asked
    assert large.asked
    turn = next(decision for decision in run.all(Decided) if decision.choice == "turn")
    assert "scripted:large" in turn.reason
    assert run.started.model == "local:tiny-0.5b,scripted:large"


@pytest.mark.usefixtures("open_box")
def test_the_larger_model_is_left_alone_where_the_small_one_does_it() -> None:
    large = model("scripted:large", GOOD)
    assert attempt(from_sentence(DOUBLE), [model("local:tiny-0.5b", GOOD), large]).verdict == "plausible"
    assert large.asked == []


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.usefixtures("open_box")
def test_rounds_of_zero_leave_one_draft_and_calls_of_zero_none() -> None:
    answering = model("scripted:inline", WRONG)
    run = attempt(FAR, answering, limits=Limits(rounds=0))
    assert len([ask for ask in run.all(Asked) if ask.purpose in ASKING]) == 1
    silent = model("scripted:inline", GOOD)
    none = attempt(FAR, silent, limits=Limits(calls=0))
    assert (none.verdict, none.all(Stopped)[0].reason, silent.asked) == ("failed", "calls", [])


@pytest.mark.slow
@pytest.mark.usefixtures("open_box")
def test_a_repair_that_needs_no_call_is_made_with_a_limit_of_zero_calls() -> None:
    many = tuple(f"assert double({n}) == {n * 2}" for n in (1, 2, 3, 5, 8, 9))
    slip = FAR.model_copy(update={"base_code": "def double(n):\n    return n * 3\n", "visible_tests": many})
    run = attempt(slip, model("scripted:inline", WRONG), limits=Limits(calls=0))
    assert (run.verdict, run.calls) == ("plausible", 0)
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
        (versions((A, "ff", "1"), (A, "ff", "1")), Stuck.REPEATS),
        (versions((A, "ff", "1"), (A.replace("\n", "\n\n", 1), "ff", "1")), Stuck.REPEATS),
        ([*versions((A, "ff", "1"), (B, "ff", "2")), proposed(3, A, round=2), proposed(4, B, round=2)], Stuck.REPEATS),
        (versions((None, "ff", "1"), (None, "ff", "1"), (None, "ff", "1")), Stuck.SAME_FAILURE),
        (versions((None, "pf", "1"), (None, "ff", "2"), (None, "ff", "3")), Stuck.NO_PROGRESS),
    ],
    ids=["repeat", "near-repeat", "both-repeat", "same-error", "no-progress"],
)
def test_each_kind_of_circle_is_named(events: list[Event], reason: Stuck) -> None:
    assert find_stuck(work(*events)) is reason


def test_answers_that_go_back_and_forth_are_noticed() -> None:
    """Beside something new in the same round, so that the round as a whole repeats nothing."""
    events = [proposed(1, A), ran(1, "ff", "1"), proposed(2, B, round=1), ran(2, "ff", "2")]
    events += [proposed(3, A, round=1), ran(3, "ff", "1"), proposed(4, B, round=1), ran(4, "ff", "2")]
    assert find_stuck(work(*events)) is Stuck.ALTERNATES


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
    assert find_stuck(work(*events)) is None


def test_three_answers_that_cannot_be_used_are_the_same_error_too() -> None:
    events = [proposed(n, f"{n}", round=n - 1, problem="the answer holds no code") for n in (1, 2, 3)]
    assert find_stuck(work(*events)) is Stuck.SAME_FAILURE
