"""Where a run stands after each step is one row, made from its events alone, and the same when it is taken up again."""

import threading
from collections.abc import Iterator, Sequence

import pytest

from burnish.agent.ask import Tools
from burnish.agent.limits import Limits, Meter
from burnish.agent.progress_rows import add_rows, measure_version
from burnish.agent.state import AgentState
from burnish.checks.final import FinalChecks
from burnish.events import (
    CheckFinished,
    Decided,
    Event,
    Evidence,
    ModelReplied,
    Move,
    Mutated,
    NewTest,
    Refined,
    RunFinished,
    StepKind,
    StepMeasured,
    Stopped,
    Strengthened,
)
from burnish.events.replay import unless_known
from burnish.models.scripted import ScriptedModel
from burnish.runs import Run
from burnish.sandbox import Sandbox
from burnish.tasks import from_sentence
from tests.agent.history import WRITING, proposed, ran, spec
from tests.support import DOUBLE, SQUARE, attempt, script

GOOD = "def f(n):\n\n    return n\n"
REPLY = ModelReplied(ask_id="draft-1", purpose="draft", text="", tokens_in=30, tokens_out=12, seconds=1.0)
BEGUN = (spec(), REPLY, proposed(1, GOOD), ran(1, "pp"))
DONE = Decided(choice="judge", reason="It passes.")


def tools(*afterwards: str, checks: bool = False) -> Tools:
    sandbox: Sandbox = None  # type: ignore[assignment]
    looks = FinalChecks(("quality",), "auto") if checks else None
    meter = Meter(Limits(), seconds_spent=100.0)
    return Tools(ScriptedModel([]), sandbox, meter, threading.Event(), checks=looks, afterwards=frozenset(afterwards))


def rows(before: Sequence[Event], *said: Event, given: Tools) -> list[StepMeasured]:
    def node(work: AgentState, tools: Tools) -> Iterator[Event]:
        yield from said

    return [event for event in add_rows(node, WRITING, before, given) if isinstance(event, StepMeasured)]


def test_a_row_has_tests_size_quality_and_cost() -> None:
    row = measure_version(AgentState(WRITING, BEGUN), "first version", seconds=2.0)
    assert row
    assert (row.after, row.version, row.passed, row.tests, row.lines) == (StepKind.FIRST, 1, 2, 2, 2)
    assert (row.mutation, row.seconds, row.tokens) == (None, 2.0, 42)
    assert row.quality == 100.0


def test_what_cannot_be_read_has_no_quality_and_what_never_ran_has_no_row() -> None:
    broken = measure_version(AgentState(WRITING, (spec(), proposed(1, "def f(:"), ran(1, "ff"))), "first version")
    assert broken
    assert (broken.quality, broken.passed) == (None, 0)
    assert measure_version(AgentState(WRITING, (spec(), proposed(1))), StepKind.FIRST) is None
    assert measure_version(AgentState(WRITING, BEGUN), "security", version=9) is None


def test_the_first_row_waits_for_what_becomes_of_the_mutants() -> None:
    given = tools("strengthen")
    assert rows(BEGUN, DONE, given=given) == []
    [row] = rows((*BEGUN, DONE), Mutated(version=1, mutants=4, noticed=1), given=given)
    assert (row.after, row.mutation) == (StepKind.FIRST, 25.0)


def test_without_mutants_it_stands_at_the_decision() -> None:
    [row] = rows(BEGUN, DONE, given=tools("refine"))
    assert (row.after, row.mutation) == (StepKind.FIRST, None)


def test_a_round_that_did_not_do_has_its_row_too() -> None:
    again = Decided(choice="ask", reason="Once more.", moves=(Move(kind="rewrite", version=2, round=1),))
    failing = (spec(), proposed(1), ran(1, "pf"))
    given = tools("strengthen")
    [first] = rows(failing, again, given=given)
    assert (first.after, first.passed, first.tests) == (StepKind.FIRST, 1, 2)
    later = (*failing, again, first, proposed(2, GOOD, round=1), ran(2, "pp"))
    [second] = rows((*later, DONE), Mutated(version=2, mutants=2, noticed=2), given=given)
    assert (second.after, second.version, second.mutation) == ("round 1", 2, 100.0)


def test_the_row_after_new_tests_stands_once_the_versions_have_met_them() -> None:
    new = NewTest(test="assert f(3) == 3", origin="agreed", notices=("a", "b"))
    looked = (*BEGUN, Mutated(version=1, mutants=4, noticed=1))
    met = ran(1, "pp")
    [row] = rows(looked, Strengthened(version=1, tests=(new,), noticed=3), met, given=tools("strengthen"))
    assert (row.after, row.mutation, row.tests) == (StepKind.NEW_TESTS, 75.0, 3)
    assert rows(looked, Strengthened(version=1), given=tools("strengthen")) == []


def test_only_rounds_that_are_kept_have_a_row() -> None:
    fresh = (proposed(2, GOOD, by="security"), ran(2, "pp"))
    kept = Refined(check="security", base=1, version=2, kept=True, before="1 finding", after="no finding")
    left = Refined(check="quality", base=2, version=3, kept=False, before="60 of 100", why="a test was lost")
    found = rows(BEGUN, *fresh, kept, left, given=tools("refine"))
    assert [(row.after, row.version) for row in found] == [("security", 2)]


def test_the_last_row_stands_before_the_verdict_with_what_the_final_check_measured() -> None:
    checked = CheckFinished(evidence=Evidence(check="mutation", verdict="passed", why="", details={"score": 87.54}))
    end = RunFinished(verdict="proven", why="", version=1)

    def node(work: AgentState, tools: Tools) -> Iterator[Event]:
        yield from (Stopped(reason="done"), checked, end)

    events = list(add_rows(node, WRITING, BEGUN, tools(checks=True)))
    assert [type(event).__name__ for event in events] == ["Stopped", "CheckFinished", "StepMeasured", "RunFinished"]
    assert isinstance(events[2], StepMeasured)
    assert (events[2].after, events[2].mutation) == (StepKind.END, 87.5)


def test_evaluations_have_no_rows() -> None:
    assert rows(BEGUN, DONE, RunFinished(verdict="proven", why="", version=1), given=tools()) == []


def test_time_goes_on_from_the_earlier_parts_of_a_run() -> None:
    [row] = rows(BEGUN, DONE, given=tools("refine"))
    assert 100.0 <= row.seconds < 110.0


@pytest.mark.slow
@pytest.mark.usefixtures("open_box")
def test_a_run_that_is_taken_up_again_writes_no_row_twice() -> None:
    task, model = from_sentence(DOUBLE), ScriptedModel(script(draft=SQUARE))
    first = attempt(task, model, afterwards=("refine",))
    rounds = sorted({move.round for decision in first.all(Decided) for move in decision.moves} - {0})
    assert rounds, "the first version fails an example"
    told = [row.after for row in first.all(StepMeasured)]
    assert told == [StepKind.FIRST, *(f"round {number}" for number in rounds), StepKind.END]
    again = attempt(task, model.afresh(), afterwards=("refine",), replay=first.events)
    assert len(again.all(StepMeasured)) == len(first.all(StepMeasured))


def test_times_do_not_make_a_row_another_one() -> None:
    row = measure_version(AgentState(WRITING, BEGUN), "first version", seconds=1.0)
    later = measure_version(AgentState(WRITING, BEGUN), "first version", seconds=9.0)
    assert row
    assert later
    written: list[object] = []
    unless_known([row], written.append)(later)
    assert written == []
    assert Run((row, later)).last(StepMeasured) == later
