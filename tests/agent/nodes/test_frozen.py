"""Accepted tests are frozen: the judge runs exactly these, and others prove nothing."""

import pytest

from burnish import Run, ScriptedModel
from burnish.agent.nodes.judge import judge
from burnish.checks.bench.bench import Fingerprint, ModuleBench
from burnish.checks.suite import Suite
from burnish.events import CheckFinished, Event, Refused, RunFinished, TestsFrozen, TestsProposed
from burnish.sandbox import Sandbox
from burnish.tasks import Task, from_sentence
from tests.agent.history import WRITING, proposed, ran, work
from tests.agent.nodes.at_work import tools
from tests.snapshots import assert_snapshot
from tests.support import DOUBLE, attempt, script

RIGHT = "def f(n):\n    return n\n"
OWN = TestsProposed(tests=("assert f(3) == 3",))


def judged(box: Sandbox, *events: Event) -> list[Event]:
    return list(judge(work(*events, proposed(1, RIGHT), ran(1, "pp", model="p")), tools(box)))


def test_tests_that_are_still_the_accepted_ones_are_run_in_full(box: Sandbox) -> None:
    frozen = TestsFrozen(sha256=work(OWN).suite.sha256, given=2, model=1)
    events = judged(box, OWN, frozen)
    assert [event.evidence.verdict for event in events if isinstance(event, CheckFinished)] == ["passed"]
    assert events[-1].verdict == "plausible"  # type: ignore[union-attr]
    assert not [event for event in events if isinstance(event, Refused)]


@pytest.mark.parametrize(
    "later",
    [[], [OWN, TestsProposed(tests=("assert True",))], [TestsProposed(tests=("assert f(3) is not None",))]],
    ids=["one-deleted", "one-added", "one-loosened"],
)
def test_a_suite_that_changed_after_it_was_accepted_is_refused_and_recorded(box: Sandbox, later: list[Event]) -> None:
    frozen = TestsFrozen(sha256=work(OWN).suite.sha256, given=2, model=1)
    events = judged(box, *later, frozen)
    [refused] = [event for event in events if isinstance(event, Refused)]
    assert_snapshot(refused.why, "agent/verdict: the suite has changed")
    assert not [event for event in events if isinstance(event, CheckFinished)], "nothing is proven by other tests"
    [finished] = [event for event in events if isinstance(event, RunFinished)]
    assert finished.verdict == "failed"


class Shop(ModuleBench):
    """A ground with a project's tests on disk: the n-th look at their files finds the n-th of these, then the last."""

    def __init__(self, box: Sandbox, *looks: Fingerprint) -> None:
        super().__init__(box)
        self.looks = list(looks)

    def fingerprint(self, suite: Suite) -> Fingerprint:
        return self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]


WAS: Fingerprint = (("tests/test_f.py", "aa"),)
WEAKENED: Fingerprint = (("tests/test_f.py", "bb"),)
MORE: Fingerprint = (*WAS, ("tests/conftest.py", "cc"))


@pytest.mark.parametrize(
    ("looks", "changed"),
    [
        ([WAS], ""),
        ([WEAKENED], "tests/test_f.py"),
        ([MORE], "tests/conftest.py"),
        ([WAS, WEAKENED], "tests/test_f.py"),
    ],
    ids=["the-same", "weakened", "one-added", "weakened-while-judged"],
)
def test_files_of_a_project_that_are_not_the_accepted_ones_any_more_prove_nothing(
    box: Sandbox, looks: list[Fingerprint], changed: str
) -> None:
    task = WRITING.model_copy(update={"project_files": WAS})
    state = work(proposed(1, RIGHT), ran(1, "pp"), task=task)
    events = list(judge(state, tools(box, ground=Shop(box, *looks))))
    said = [event.why for event in events if isinstance(event, Refused)]
    assert len(said) == bool(changed)
    assert all(f"({changed} changed)" in why for why in said)
    assert events[-1].verdict == ("failed" if changed else "plausible")  # type: ignore[union-attr]


def frozen(run: Run) -> TestsFrozen:
    [found] = run.all(TestsFrozen)
    return found


@pytest.mark.usefixtures("open_box")
def test_a_run_freezes_its_tests_once_before_the_first_version_meets_them() -> None:
    run = attempt(from_sentence(DOUBLE), ScriptedModel(script()))
    assert (frozen(run).given, frozen(run).model) == (2, 3)
    order = [event.kind for event in run.events]
    assert order.index("tests_frozen") < order.index("tests_ran")


@pytest.mark.slow
@pytest.mark.usefixtures("open_box")
def test_given_tests_are_frozen_where_the_model_writes_none() -> None:
    task = Task(
        id="f",
        prompt="p",
        entry_point="double",
        signature="double(n)",
        visible_tests=("assert double(2) == 4",),
        own_tests=False,
    )
    assert (frozen(attempt(task, ScriptedModel(script()))).given, run_model(task)) == (1, 0)


def run_model(task: Task) -> int:
    return frozen(attempt(task, ScriptedModel(script()))).model
