"""Versions that the tests cannot tell apart are compared on many inputs; what is known to be wrong comes last."""

from dataclasses import replace

import pytest

from burnish import Limits
from burnish.agent.nodes.run import select
from burnish.events import Compared, Event
from burnish.events.replay import Replay
from burnish.sandbox import Sandbox
from tests.agent.history import REPAIR, WRITING, given, proposed, ran, work
from tests.agent.nodes.at_work import Gone, tools

SAME, ALSO, OTHER = (f"def f(n):\n    return {how}\n" for how in ("n", "n + 0", "n if n < 3 else 0"))
NO_TESTS = WRITING.model_copy(update={"visible_tests": ()})


def passing(*codes: str, by: str = "rewrite") -> list[Event]:
    numbered = enumerate(codes, 1)
    return [event for n, code in numbered for event in (proposed(n, code, by, n - 1), ran(n, "pp"))]


def compared(box: Sandbox, *events: Event, task: object = WRITING) -> Compared:
    [event] = select(work(*events, task=task), tools(box))  # type: ignore[arg-type]
    assert isinstance(event, Compared)
    return event


@pytest.mark.slow
def test_versions_that_behave_alike_are_one_group_and_the_larger_group_is_first(box: Sandbox) -> None:
    found = compared(box, *passing(OTHER, SAME, ALSO))
    assert found.groups == ((2, 3), (1,))
    assert found.inputs
    assert found.apart.startswith("f(")


def test_what_behaves_like_the_broken_code_comes_last(box: Sandbox) -> None:
    task = REPAIR.model_copy(update={"base_code": OTHER})
    events = [given(OTHER), ran(0, "pp"), *passing(OTHER.replace("n <", "n  <"), OTHER + "\n", SAME)]
    found = compared(box, *events, task=task)
    assert found.groups == ((3,), (1, 2))
    best = work(*events, found, task=task).best
    assert best is not None
    assert best.number == 3


def test_the_code_that_was_there_is_in_no_group(box: Sandbox) -> None:
    task = REPAIR.model_copy(update={"base_code": OTHER})
    found = compared(box, given(OTHER), ran(0, "pp"), *passing(SAME), task=task)
    assert found.groups == ((1,),)
    assert found.apart, "how it differs from the broken code"


@pytest.mark.slow
def test_only_versions_that_pass_what_was_given_are_ranked(box: Sandbox) -> None:
    events = [*passing(SAME, ALSO), proposed(3, OTHER), ran(3, "pf")]
    assert {number for group in compared(box, *events).groups for number in group} == {1, 2}


@pytest.mark.slow
def test_without_any_test_all_that_run_are_compared(box: Sandbox) -> None:
    events = [event for n, code in enumerate((SAME, OTHER, ALSO), 1) for event in (proposed(n, code), ran(n, ""))]
    assert compared(box, *events, task=NO_TESTS).groups == ((1, 3), (2,))


@pytest.mark.slow
def test_a_version_that_never_ends_or_leaves_disturbs_no_other(box: Sandbox) -> None:
    endless = "def f(n):\n    while n > 2:\n        pass\n    return n\n"
    leaves = "import os\n\n\ndef f(n):\n    return n if n < 3 else os._exit(0)\n"
    found = compared(box, *passing(SAME, endless, ALSO, leaves))
    assert found.groups[0] == (1, 3)


def test_where_there_is_nothing_to_tell_apart_nothing_is_run() -> None:
    ground = Gone()
    for events in ([], passing(SAME), passing(SAME, SAME), [proposed(1), ran(1, "pf"), proposed(2), ran(2, "pf")]):
        assert list(select(work(*events), tools(ground=ground))) == []
    known = [*passing(SAME, OTHER), Compared(groups=((1,), (2,)), inputs=("f(1)",))]
    assert list(select(work(*known), tools(ground=ground))) == []
    assert ground.asked == 0


@pytest.mark.slow
def test_methods_are_compared_on_objects(box: Sandbox) -> None:
    codes = [f"class Cart:\n    def total(self, n):\n        return {how}\n" for how in ("n", "n + 0", "n % 3")]
    method = NO_TESTS.model_copy(update={"entry_point": "Cart.total", "signature": "", "prompt": "repair it"})
    found = compared(box, *passing(*codes), task=method)
    assert found.groups == ((1, 2), (3,))
    assert found.inputs[0].startswith("Cart().total(")


@pytest.mark.slow
def test_of_a_module_with_several_functions_all_are_compared(box: Sandbox) -> None:
    codes = [f"{SAME}\n\ndef g(n: int):\n    return {how}\n" for how in ("-n", "0 - n", "n % 3")]
    found = compared(box, *passing(*codes), task=WRITING.model_copy(update={"also": ("g",)}))
    assert found.groups == ((1, 2), (3,))
    assert found.apart.startswith("g(")


@pytest.mark.slow
def test_where_no_call_gives_a_value_nothing_is_agreed_on(box: Sandbox) -> None:
    fussy = [f"def f(n):\n    raise ValueError({n})\n" for n in (1, 2)]
    untold = NO_TESTS.model_copy(update={"entry_point": "Cart.f", "signature": "", "prompt": "repair it"})
    for task, codes in ((WRITING, fussy), (untold, [SAME, OTHER])):
        assert list(select(work(*passing(*codes), task=task), tools(box))) == []


def test_a_sandbox_that_breaks_is_no_end() -> None:
    ground = Gone()
    assert list(select(work(*passing(SAME, OTHER)), tools(ground=ground))) == []
    assert ground.asked == 1


def test_a_comparison_on_record_is_not_made_again() -> None:
    recorded = Compared(groups=((2,), (1,)), inputs=("f(7)",), apart="f(7) gives 1 or 2")
    ground = Gone()
    [event] = select(work(*passing(SAME, OTHER)), tools(ground=ground, replay=Replay([recorded])))
    assert event == recorded
    assert ground.asked == 0


def test_after_the_user_stopped_it_nothing_is_compared() -> None:
    stopped = tools(ground=Gone())
    stopped.cancel.set()
    assert list(select(work(*passing(SAME, OTHER)), stopped)) == []


def test_an_evaluation_can_leave_agreement_out() -> None:
    ground = Gone()
    own = replace(tools(ground=ground), without=frozenset({"agreement"}))
    assert list(select(work(*passing(SAME, OTHER)), own)) == []
    assert ground.asked == 0


def test_what_was_compared_in_another_round_is_not_taken_for_this_one(box: Sandbox) -> None:
    later = Compared(groups=((1, 2, 7),), inputs=("f(1)",))
    mine = Compared(groups=((2, 1),), inputs=("f(1)",))
    events = passing(SAME, ALSO)
    assert list(select(work(*events), tools(ground=Gone(), replay=Replay([later])))) == []
    [found] = select(work(*events), tools(ground=Gone(), replay=Replay([later, mine])))
    assert found is mine


def test_nothing_is_compared_once_time_is_over() -> None:
    ground = Gone()
    assert list(select(work(*passing(SAME, ALSO)), tools(ground=ground, limits=Limits(seconds=0)))) == []
    assert ground.asked == 0
