"""Which of two is better, and when nobody can tell."""

import pytest

from burnish.errors import SetupProblem
from burnish.evals.compare import compare
from burnish.evals.metrics import compute_results
from burnish.evals.schema import Results
from tests.evals.fake_evaluations import Made, attempt, plan, solving

YES, NO = [True], [False]


def solves(*which: int, of: int = 40, **changes: object) -> Results:
    return compute_results(solving(*(YES if place in which else NO for place in range(of)), **changes))


def test_a_clear_difference_is_more_than_noise() -> None:
    found = compare([solves(*range(10))], [solves(*range(5, 25))])
    assert found.final.difference == pytest.approx(0.25)
    assert (found.final.share_a, found.final.share_b) == (0.25, 0.5)
    assert (len(found.final.more_by_a), len(found.final.more_by_b)) == (5, 15)
    assert found.final.p == pytest.approx(0.0414, abs=1e-4)
    assert found.sentence.startswith("B solves 10 more of 40 tasks (+25.0 points, 95 % interval ")
    assert found.sentence.endswith("p = 0.041): more than noise.")


def test_a_small_difference_is_noise_and_says_what_would_show_it() -> None:
    found = compare([solves(*range(10))], [solves(*range(8, 20))])
    assert found.final.is_noise
    assert "B solves 2 more of 40 tasks (+5.0 points" in found.sentence
    assert "within noise. About" in found.sentence
    assert found.final.tasks_needed
    assert found.final.tasks_needed > 40


def test_the_winner_is_named_whichever_side_it_is_on() -> None:
    one, other = solves(*range(2)), solves(*range(20))
    assert compare([one], [other]).sentence.startswith("B solves 18 more of 40 tasks (+45.0")
    turned = compare([other], [one])
    assert turned.sentence.startswith("A solves 18 more of 40 tasks (+45.0")
    low, high = turned.final.interval
    assert low < high < 0


def test_equal_numbers_of_different_tasks_are_told_apart_from_the_same_tasks() -> None:
    assert compare([solves(1, 2)], [solves(3, 4)]).sentence == (
        "A and B solve equally many of 40 tasks: each solves 2 that the other does not."
    )
    assert compare([solves(1)], [solves(1)]).sentence == "A and B solve equally many of 40 tasks: the same ones."


def test_only_tasks_that_both_finished_are_paired() -> None:
    found = compare([solves(0, of=30)], [solves(0, 29, 35, of=40)])
    assert (found.final.tasks, found.a.left_out, found.b.left_out) == (30, 0, 10)
    assert found.final.more_by_b == ("t/29",)


def test_seeds_are_pooled_within_a_run_and_across_runs() -> None:
    tried = [("t/0", 0, attempt(YES)), ("t/0", 1, attempt(NO)), ("t/1", 0, attempt(YES)), ("t/1", 1, attempt(YES))]
    both = compute_results(Made(tried, plan(seeds=[0, 1])))
    apart = [compute_results(Made([one for one in tried if one[1] == seed], plan(seeds=[seed]))) for seed in (0, 1)]
    against = [solves(of=2)]
    found, pooled = compare(against, [both]), compare(against, apart)
    assert found.final == pooled.final
    assert found.final.share_b == 0.75
    assert found.final.test.startswith("sign flips")
    assert "B solves 1.5 more of 2 tasks" in found.sentence
    assert pooled.b.runs == 2


def test_the_number_of_calls_is_made_equal_too() -> None:
    """B is better in the end, because it may ask three times; after one call each, A is."""
    one_call = compute_results(solving(*[YES] * 6, *[NO] * 6, strategy="single"))
    three_calls = compute_results(solving(*[[False, False, True]] * 12))
    found = compare([one_call], [three_calls])
    assert (found.a.most_calls, found.b.most_calls, found.equal_calls) == (1, 3, 1)
    assert found.final.difference == 0.5
    assert found.at_equal_calls.difference == -0.5


@pytest.mark.parametrize("change", [{"suite": "mbpp"}, {"variant": "tests"}, {"split": "tune"}])
def test_different_tasks_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(SetupProblem, match="cannot be paired"):
        compare([solves(1)], [solves(1, **change)])


def test_nothing_in_common_and_the_same_run_twice_are_refused() -> None:
    alone = compute_results(Made([("other", 0, attempt(YES))], plan()))
    with pytest.raises(SetupProblem, match="no finished task in common"):
        compare([solves(1)], [alone])
    with pytest.raises(SetupProblem, match="named twice"):
        compare([solves(1), solves(1)], [solves(1)])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"protocol": "oracle"}, "The protocol differs (oracle and visible)"),
        ({"model": "local:other"}, "The model differs"),
        ({"engine": "Transformers"}, "The engine differs"),
        ({"ask": "write"}, "The ask differs"),
        ({"tasks_hash": "ff"}, "not loaded alike"),
    ],
)
def test_what_makes_a_comparison_doubtful_is_said(change: dict[str, object], said: str) -> None:
    assert compare([solves(1)], [solves(1)]).warnings == ()
    (warning,) = compare([solves(1)], [solves(1, **change)]).warnings
    assert said in warning
