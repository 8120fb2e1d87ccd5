"""The judge hands over nothing that is worse than what was there, and says whose tests pass."""

import pytest

from burnish.agent.nodes.judge import judge
from burnish.events import Event, RunFinished, TestsProposed
from burnish.sandbox import Sandbox
from tests.agent.history import REPAIR, WRITING, given, proposed, ran, work
from tests.agent.nodes.at_work import Gone, tools
from tests.snapshots import assert_snapshot


def ending(events: list[Event]) -> RunFinished:
    last = events[-1]
    assert isinstance(last, RunFinished)
    return last


@pytest.mark.parametrize(
    ("before", "made", "worse"), [("pf", "ff", True), ("pf", "fp", False), ("pf", "pp", False), ("ff", "ff", False)]
)
def test_nothing_is_handed_over_where_the_code_as_it_was_passes_more(before: str, made: str, worse: bool) -> None:
    state = work(given(), ran(0, before), proposed(1), ran(1, made), task=REPAIR)
    finished = ending(list(judge(state, tools(ground=Gone()))))
    assert (finished.verdict, finished.version) == ("failed", None if worse else 1)
    if worse:
        assert_snapshot(finished.why, "agent/verdict: the code as it was passes more")


@pytest.mark.usefixtures("open_box")
@pytest.mark.parametrize("tests", [1, 2], ids=["one", "several"])
def test_one_example_passes_and_several_pass(box: Sandbox, tests: int) -> None:
    task = WRITING.model_copy(update={"visible_tests": WRITING.visible_tests[:tests]})
    state = work(proposed(1, "def f(n):\n    return n\n"), ran(1, "p" * tests), task=task)
    finished = ending(list(judge(state, tools(box))))
    assert finished.verdict == "plausible", "one version is too little, whatever it passes"
    assert finished.confidence is not None
    assert finished.basis
    assert_snapshot(finished.why, f"agent/verdict: examples that pass, {tests}")


@pytest.mark.usefixtures("open_box")
def test_where_only_the_models_tests_pass_that_is_said(box: Sandbox) -> None:
    own = TestsProposed(tests=("assert f(3) == 3",))
    task = REPAIR.model_copy(update={"visible_tests": ()})
    right = proposed(1, "def f(n):\n    return n\n")
    state = work(own, given(), ran(0, "", model="f"), right, ran(1, "", model="p"), task=task)
    finished = ending(list(judge(state, tools(box))))
    assert finished.verdict == "plausible"
    assert_snapshot(finished.why, "agent/verdict: a repair that only the model's tests vouch for")
