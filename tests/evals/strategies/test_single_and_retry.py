"""One answer, and independent ones: what is asked, in which order, and what is handed over."""

import pytest

from burnish.errors import TaskError
from burnish.events import CodeProposed, Decided, TestsRan
from burnish.sandbox import Sandbox
from tests.evals.strategies.at_work import HALF, NO_TESTS, RIGHT, TALK, TASK, TO_WRITE, WRONG, plan, work
from tests.support import block, refused


def test_single_asks_once_greedily_and_hands_over_what_came(box: Sandbox) -> None:
    worked = work(box, plan("single"), [WRONG, RIGHT])
    assert (worked.answers, worked.stopped) == ([(1, 0, 1)], "done")
    assert worked.kinds == ["asked", "model_replied", "code_proposed", "answered", "stopped"]
    assert [(ask.temperature, ask.purpose) for ask in worked.asked] == [(0.0, "fix")]


def test_an_answer_without_code_is_no_answer(box: Sandbox) -> None:
    worked = work(box, plan("single"), [TALK])
    assert worked.answers == [(1, 0, None)]
    [proposed] = worked.all(CodeProposed)
    assert "no code" in proposed.problem


def test_a_version_is_the_whole_module_with_only_the_function_changed(box: Sandbox) -> None:
    [proposed] = work(box, plan("single"), [RIGHT]).all(CodeProposed)
    assert proposed.code == "import math\n\n\ndef floor_half(n: float) -> int:\n    return int(n // 2)\n"


def test_a_version_to_write_stands_below_what_the_task_gives(box: Sandbox) -> None:
    uses_math = block("def floor_half(n):\n    return math.floor(n / 2)")
    worked = work(box, plan("retry"), [uses_math], TO_WRITE)
    assert (worked.answers, worked.stopped) == ([(1, 0, 1)], "done")


def test_retry_stops_at_the_first_sample_that_passes(box: Sandbox) -> None:
    worked = work(box, plan("retry"), [WRONG, TALK, RIGHT, WRONG])
    assert worked.answers == [(1, 0, 1), (2, 1, 1), (3, 2, 3)]
    assert (len(worked.asked), worked.stopped) == (3, "done")
    assert [ran.version for ran in worked.all(TestsRan)] == [1, 3], "what is no code is not run"


def test_events_of_a_sample_come_in_the_order_in_which_they_happen(box: Sandbox) -> None:
    assert work(box, plan("retry"), [RIGHT]).kinds == [
        "asked",
        "model_replied",
        "code_proposed",
        "tests_ran",
        "answered",
        "stopped",
    ]


def test_where_none_passes_the_one_that_passed_most_is_handed_over_the_earliest_of_equals(box: Sandbox) -> None:
    worked = work(box, plan("retry", rounds=3), [WRONG, HALF, WRONG, HALF])
    assert worked.answers == [(1, 0, 1), (2, 1, 2), (3, 2, 2), (4, 3, 2)]
    assert worked.stopped == "rounds"


def test_retry_asks_at_most_once_more_than_there_are_rounds(box: Sandbox) -> None:
    assert len(work(box, plan("retry", rounds=0), [WRONG]).asked) == 1
    assert len(work(box, plan("retry", rounds=2), [WRONG]).asked) == 3


def test_samples_are_warm_from_the_first_and_the_plan_may_say_how_warm(box: Sandbox) -> None:
    usual = work(box, plan("retry", rounds=1), [WRONG])
    assert [(ask.temperature, ask.top_p) for ask in usual.asked] == [(0.7, 0.95)] * 2
    for name in ("retry", "single"):
        [ask] = work(box, plan(name, rounds=0, temperature=0.3), [WRONG]).asked
        assert ask.temperature == 0.3
    [cold] = work(box, plan("retry", rounds=0, temperature=0.0), [WRONG]).asked
    assert cold.temperature == 0.0


@pytest.mark.slow
def test_each_call_and_each_attempt_has_its_own_seed_and_a_rerun_has_the_same(box: Sandbox) -> None:
    def seeds(seed: int) -> list[int]:
        return [ask.seed for ask in work(box, plan("retry", rounds=3), [WRONG], seed=seed).asked]

    assert seeds(0) == seeds(0)
    assert len({*seeds(0), *seeds(1), *seeds(2)}) == 12


def test_without_a_test_the_first_sample_that_parses_is_taken_and_it_is_said(box: Sandbox) -> None:
    worked = work(box, plan("retry"), [TALK, WRONG, RIGHT], NO_TESTS)
    assert worked.answers == [(1, 0, None), (2, 1, 2)]
    assert worked.stopped == "done"
    assert "no test" in worked.all(Decided)[0].reason
    assert not worked.all(TestsRan)


@pytest.mark.parametrize("name", ["single", "retry"])
def test_what_is_asked_for_follows_the_task_unless_the_plan_says(box: Sandbox, name: str) -> None:
    def purpose(task: object, ask: str) -> str:
        return work(box, plan(name, ask=ask, rounds=0), [RIGHT], task).asked[0].purpose  # type: ignore[arg-type]

    assert [purpose(TASK, "auto"), purpose(TO_WRITE, "auto"), purpose(TASK, "write")] == ["fix", "write", "write"]


@pytest.mark.parametrize("name", ["single", "retry", "burnish"])
def test_what_has_no_code_cannot_be_fixed(box: Sandbox, name: str) -> None:
    with refused(TaskError, "evals/no code to fix"):
        work(box, plan(name, ask="fix"), [RIGHT], TO_WRITE)


@pytest.mark.slow
def test_an_endless_sample_is_not_the_end(box: Sandbox) -> None:
    endless = block("def floor_half(n):\n    while True:\n        pass")
    worked = work(box, plan("retry", rounds=1), [endless, RIGHT])
    assert worked.all(TestsRan)[0].graded.timed_out
    assert worked.answers[-1] == (2, 1, 2)
