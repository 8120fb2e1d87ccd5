"""Which of two is better, and when nobody can tell."""

import json

import pytest

from burnish.evals.compare import compare
from burnish.evals.metrics import compute_results
from burnish.evals.schema import Results
from tests.evals.fake_evaluations import Made, attempt, plan, solving
from tests.snapshots import assert_snapshot
from tests.support import refused

YES, NO = [True], [False]


def solves(*which: int, of: int = 40, **changes: object) -> Results:
    return compute_results(solving(*(YES if place in which else NO for place in range(of)), **changes))


def test_a_clear_difference_is_more_than_noise() -> None:
    found = compare([solves(*range(10))], [solves(*range(5, 25))])
    assert found.final.difference == pytest.approx(0.25)
    assert (found.final.share_a, found.final.share_b) == (0.25, 0.5)
    assert (len(found.final.more_by_a), len(found.final.more_by_b)) == (5, 15)
    assert found.final.p == pytest.approx(0.0414, abs=1e-4)
    assert not found.final.is_noise
    assert_snapshot(found.sentence, "evals/a clear difference")


def test_results_from_before_the_commit_was_named_still_open_and_compare() -> None:
    new = solves(1, 2)
    row = json.loads(new.text())
    old = Results.model_validate({name: row[name] for name in row.keys() - {"commit", "machine", "measured_at"}})
    assert (old.commit, old.machine, old.measured_at) == ("", "", "")
    assert compare([old], [new]).final.difference == 0


def test_a_small_difference_is_noise_and_says_what_would_show_it() -> None:
    found = compare([solves(*range(10))], [solves(*range(8, 20))])
    assert found.final.is_noise
    assert_snapshot(found.sentence, "evals/a difference within noise")
    assert found.final.tasks_needed
    assert found.final.tasks_needed > 40


def test_the_winner_is_named_whichever_side_it_is_on() -> None:
    one, other = solves(*range(2)), solves(*range(20))
    straight, turned = compare([one], [other]), compare([other], [one])
    assert straight.final.difference == -turned.final.difference == 0.45
    assert_snapshot(f"{straight.sentence}\n{turned.sentence}", "evals/the winner on either side")
    low, high = turned.final.interval
    assert low < high < 0


def test_equal_numbers_of_different_tasks_are_told_apart_from_the_same_tasks() -> None:
    others, same = compare([solves(1, 2)], [solves(3, 4)]), compare([solves(1)], [solves(1)])
    assert (len(others.final.more_by_a), len(same.final.more_by_a)) == (2, 0)
    assert_snapshot(f"{others.sentence}\n{same.sentence}", "evals/equally many")


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
    assert found.final.difference == 0.75
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
    with refused(name=f"evals/compared with another {next(iter(change))}"):
        compare([solves(1)], [solves(1, **change)])


def test_nothing_in_common_and_the_same_run_twice_are_refused() -> None:
    alone = compute_results(Made([("other", 0, attempt(YES))], plan()))
    with refused(name="evals/compared with nothing in common"):
        compare([solves(1)], [alone])
    with refused(name="evals/compared with itself beside it"):
        compare([solves(1), solves(1)], [solves(1)])


@pytest.mark.parametrize(
    "change",
    [
        {"protocol": "oracle"},
        {"model": "local:other"},
        {"engine": "Transformers"},
        {"ask": "write"},
        {"tasks_hash": "ff"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_makes_a_comparison_doubtful_is_said(change: dict[str, object]) -> None:
    assert compare([solves(1)], [solves(1)]).warnings == ()
    (warning,) = compare([solves(1)], [solves(1, **change)]).warnings
    assert_snapshot(warning, f"evals/warning of another {next(iter(change))}")
