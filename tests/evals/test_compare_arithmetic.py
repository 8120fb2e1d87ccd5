"""The arithmetic, against published values and against formulas done another way."""

import itertools
import math
import time
from random import Random
from statistics import fmean

import pytest

from burnish.evals import compare
from burnish.evals.compare import bootstrap, mcnemar, sign_flips, tasks_needed
from burnish.evals.metrics import pass_at_k
from burnish.intervals import wilson


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_agrees_with_newcombe_1998_table_1(successes: int, n: int, low: float, high: float) -> None:
    assert wilson(successes, n) == pytest.approx((low, high), abs=5e-5)


def test_wilson_is_symmetric_and_never_leaves_0_and_1() -> None:
    for n in (1, 7, 164):
        for successes in range(n + 1):
            low, high = wilson(successes, n)
            mirrored = wilson(n - successes, n)
            assert 0 <= low <= successes / n <= high <= 1
            assert (1 - mirrored[1], 1 - mirrored[0]) == pytest.approx((low, high))


def test_nothing_measured_is_nothing_known() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


def test_pass_at_k_is_the_share_of_k_subsets_with_a_pass() -> None:
    for attempts, passes in [(5, 0), (5, 1), (5, 3), (5, 5)]:
        outcomes = [True] * passes + [False] * (attempts - passes)
        for k in range(1, attempts + 1):
            subsets = [any(chosen) for chosen in itertools.combinations(outcomes, k)]
            assert pass_at_k(passes, attempts, k) == pytest.approx(fmean(subsets))


def test_pass_at_k_needs_k_attempts() -> None:
    with pytest.raises(ValueError, match="at least 3"):
        pass_at_k(1, 2, 3)


@pytest.mark.parametrize(
    ("only_a", "only_b", "p"),
    [(0, 0, 1.0), (1, 1, 1.0), (0, 6, 2 / 64), (1, 9, 2 * 11 / 1024), (5, 15, 2 * 21700 / 2**20)],
)
def test_mcnemar_is_twice_the_tail_of_a_fair_coin(only_a: int, only_b: int, p: float) -> None:
    assert mcnemar(only_a, only_b) == pytest.approx(p)
    assert mcnemar(only_b, only_a) == mcnemar(only_a, only_b)


@pytest.mark.slow
def test_mcnemar_stands_thousands_of_tasks() -> None:
    assert 0 < mcnemar(2400, 2600) < 0.01


def test_the_bootstrap_agrees_with_drawing_task_by_task() -> None:
    differences = [1.0] * 20 + [-1.0] * 8 + [0.5] * 10 + [0.0] * 126
    draw = Random(3).choices
    means = sorted(fmean(draw(differences, k=len(differences))) for _ in range(4000))
    assert bootstrap(differences) == pytest.approx((means[100], means[-101]), abs=0.008)


def test_the_bootstrap_is_the_same_each_time_and_in_any_order() -> None:
    differences = [1.0, 0.0, -1.0, 0.5] * 20
    assert bootstrap(differences) == bootstrap(differences) == bootstrap(sorted(differences))


def test_the_bootstrap_knows_the_trivial_cases() -> None:
    assert bootstrap([]) == (0.0, 0.0)
    assert bootstrap([0.0] * 9) == (0.0, 0.0)
    low, high = bootstrap([1.0] * 60 + [0.0] * 40)
    assert low > 0.45
    assert high < 0.75


def test_five_hundred_tasks_take_less_than_a_second() -> None:
    differences = [place % 7 / 3 - 1 for place in range(500)]
    began = time.process_time()
    bootstrap(differences)
    sign_flips(differences)
    assert time.process_time() - began < 1


def test_sign_flips_agree_with_mcnemar_where_both_apply() -> None:
    for only_a, only_b in [(3, 3), (2, 9), (4, 20), (30, 45)]:
        differences = [-1.0] * only_a + [1.0] * only_b + [0.0] * 50
        assert sign_flips(differences) == pytest.approx(mcnemar(only_a, only_b), abs=0.02)


def test_sign_flips_agree_with_every_flip_done_by_hand() -> None:
    differences = [1 / 3, 2 / 3, -1 / 3, 1.0, 2 / 3, 1 / 3]
    flips = [
        sum(map(math.prod, zip(differences, signs, strict=True))) for signs in itertools.product((1, -1), repeat=6)
    ]
    exact = fmean(abs(total) >= abs(sum(differences)) - 1e-9 for total in flips)
    assert sign_flips(differences) == pytest.approx(exact, abs=0.02)


def test_no_difference_is_never_significant() -> None:
    assert sign_flips([0.0] * 10) == 1.0
    assert tasks_needed([1.0, -1.0]) is None


def test_tasks_needed_is_about_what_simulation_says() -> None:
    differences = [1.0] * 18 + [-1.0] * 10 + [0.0] * 72  # +8 points, 28 % discordant
    needed = tasks_needed(differences)
    assert needed == pytest.approx(336, abs=4)
    draw = Random(5).choices
    found = []
    for _ in range(400):
        sample = draw(differences, k=needed)
        found.append(mcnemar(sample.count(-1.0), sample.count(1.0)) < 0.05)
    assert 0.72 < fmean(found) < 0.88
    assert compare.POWER == 0.8
