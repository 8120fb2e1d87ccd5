"""Which versions behave alike: groups, and a call that tells two of them apart."""

import pytest

from burnish.checks.bench.run_calls import run_calls
from burnish.sandbox import Sandbox
from burnish.search.behaviour_groups import (
    answer_kind,
    describe_difference,
    find_unasked_changes,
    group_versions,
    has_values,
)
from tests.snapshots import assert_snapshot

CALLS = ("f([3, 1])", "f([])", "f(0)")


def test_the_behaviour_that_most_versions_share_comes_first() -> None:
    groups = group_versions({1: ("1", "2"), 2: ("1", "3"), 3: ("1", "3")})
    assert groups == ((2, 3), (1,))


def test_of_equal_groups_the_one_with_the_earliest_version_comes_first() -> None:
    assert group_versions({4: ("1",), 2: ("2",), 3: ("1",), 7: ("2",)}) == ((2, 7), (3, 4))


def test_errors_do_not_tell_versions_apart_but_a_value_does() -> None:
    said = {1: ("1", "raises ValueError"), 2: ("1", "raises TypeError"), 3: ("1", "too slow"), 4: ("1", "0")}
    assert group_versions(said) == ((1, 2, 3), (4,))


def test_a_text_that_reads_like_an_error_is_a_value() -> None:
    assert len(group_versions({1: ("'raises ValueError'",), 2: ("raises ValueError",)})) == 2


def test_truth_is_a_number_as_in_python_but_not_within_a_text() -> None:
    assert len(group_versions({1: ("True", "[False, 2]"), 2: ("1", "[0, 2]")})) == 1
    assert len(group_versions({1: ("'True'",), 2: ("'1'",)})) == 2


def test_what_happens_to_arguments_counts_only_where_nothing_is_returned() -> None:
    changed = "\nargument 1 becomes [1, 3]"
    assert len(group_versions({1: (f"[1, 3]{changed}",), 2: ("[1, 3]",)})) == 1
    assert len(group_versions({1: (f"None{changed}",), 2: ("None",)})) == 2


@pytest.mark.parametrize("said", [{}, {1: ("1",)}, {1: ()}, {1: ("1",), 2: ("1",)}])
def test_where_there_is_nothing_to_compare_all_agree(said: dict[int, tuple[str, ...]]) -> None:
    assert len(group_versions(said)) <= 1


def test_the_shortest_call_that_differs_is_shown() -> None:
    assert describe_difference(("[1, 3]", "[]", "1"), ("[3, 1]", "None", "1"), CALLS).startswith("f([]) ")
    assert describe_difference(("[1, 3]", "[]", "1"), ("[3, 1]", "[]", "1"), CALLS).startswith("f([3, 1]) ")


def test_a_call_on_which_both_give_a_value_is_shown_before_a_shorter_one() -> None:
    assert describe_difference(("1", "0", "raises A"), ("2", "0", "1"), CALLS).startswith("f([3, 1]) ")


def test_each_kind_of_answer_is_shown_as_what_it_is() -> None:
    answers = ("1", "raises KeyError", "too slow", "no answer")
    assert [answer_kind(answer).name for answer in answers] == ["VALUE", "ERROR", "TOO_SLOW", "NO_ANSWER"]
    pairs = [("1", "2"), *((one, other) for one in answers for other in answers if (one == "1") != (other == "1"))]
    shown = [describe_difference((one,), (other,), ["f(0)"]) for one, other in pairs]
    assert_snapshot("\n".join(shown), "search/differences")


def test_equal_behaviours_have_nothing_to_show() -> None:
    assert describe_difference(("1",), ("1",), ["f(0)"]) == ""
    assert describe_difference((), (), []) == ""


def test_long_and_wild_values_are_cut_and_plain() -> None:
    shown = describe_difference(("'" + "a" * 999 + "'",), ("'\x1b[31mred'\nargument 1 becomes [9]",), ["f(0)"])
    assert len(shown) < 200
    assert "\x1b" not in shown
    assert "\n" not in shown


def test_versions_that_pass_the_same_test_are_told_apart(box: Sandbox) -> None:
    modules = {
        1: "def f(x):\n    return sorted(x)\n",
        2: "def f(x):\n    x.sort()\n    return x\n",
        3: "def f(x):\n    return sorted(set(x))\n",
    }
    calls = ("f([3, 1])", "f([2, 2])")
    said = run_calls(modules, calls, box)
    assert group_versions(said) == ((1, 2), (3,))
    assert describe_difference(said[1], said[3], calls).startswith("f([2, 2]) ")


def test_errors_and_silence_are_no_values() -> None:
    assert not has_values(())
    assert not has_values(("raises TypeError", "too slow", "no answer"))
    assert has_values(("raises TypeError", "'raises TypeError'"))


def test_a_change_of_what_the_old_code_did_is_unasked_where_most_answers_make_none() -> None:
    old = ("1", "2", "raises ValueError")
    repairs = {1: ("1", "2", "3"), 2: ("1", "9", "3"), 3: ("1", "2", "4")}
    calls = ("f(1)", "f(2)", "f(3)")
    assert find_unasked_changes(repairs, old, [1, 2, 3], calls) == {2: "f(2) gives 2 or 9"}
    assert find_unasked_changes(repairs, old, [1, 2], calls) == {2: "f(2) gives 2 or 9"}, "the old code settles a tie"
    assert find_unasked_changes(repairs | {4: repairs[2]}, old, [1, 2, 4], calls) == {}, "answers are a reason"
    assert find_unasked_changes(repairs, old, [], calls) == {}, "nobody is there to say what was meant"
