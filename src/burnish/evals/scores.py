"""The arithmetic of an evaluation: estimates, intervals and tests. Pure functions on plain numbers.

Resampling uses Python's own generator with a fixed seed, so the same figures give the same interval on every machine.
"""

import math
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate
from random import Random
from statistics import NormalDist, fmean

from burnish.intervals import CONFIDENCE

POWER = 0.8
RESAMPLES = 10_000
_SEED = 20_210_707


def pass_at_k(passes: int, attempts: int, k: int) -> float:
    """The chance that at least one of k fresh attempts passes (unbiased estimator, Chen et al. 2021)."""
    if not 1 <= k <= attempts:
        raise ValueError(f"pass@{k} needs at least {k} attempts, and there are {attempts}")
    return 1 - math.comb(attempts - passes, k) / math.comb(attempts, k)


def mcnemar(only_a: int, only_b: int) -> float:
    """How often chance alone would split the tasks that only one side solves at least this unevenly.

    Exact and two-sided: under no difference each such task falls to either side like a coin (McNemar 1947).
    """
    n = only_a + only_b
    tail = sum(math.comb(n, i) for i in range(min(only_a, only_b) + 1))
    return min(1.0, 2 * tail / (1 << n))


def bootstrap(differences: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The interval for the mean of paired differences: tasks are drawn anew with replacement (Efron 1979, percentile).

    Only the distinct values and how often each occurs matter, so the order of the tasks does not. Where all differences
    are equal there is nothing to vary, and the interval is a point: read p instead.
    """
    if not differences:
        return 0.0, 0.0
    values, counts = zip(*sorted(Counter(differences).items()), strict=True)
    if len(values) == 1:
        return values[0], values[0]
    draw, n = Random(_SEED).random, len(differences)
    means = sorted(_resampled(values, counts, draw) / n for _ in range(RESAMPLES))
    tail = round((1 - confidence) / 2 * RESAMPLES)
    return means[tail], means[-1 - tail]


def _resampled(values: Sequence[float], counts: Sequence[int], draw: Callable[[], float]) -> float:
    """The sum of one resample: how often each value comes up is drawn at once, not task by task."""
    total, left, weight = 0.0, sum(counts), sum(counts)
    for value, count in zip(values[:-1], counts[:-1], strict=True):
        times = bisect(_cumulative(left, count / weight), draw()) if left else 0
        total, left, weight = total + value * times, left - times, weight - count
    return total + values[-1] * left


@lru_cache(maxsize=4096)
def _cumulative(n: int, chance: float) -> list[float]:
    """The chance of at most 0, 1 … n - 1 successes in n trials."""
    yes, no, ways = math.log(chance), math.log1p(-chance), math.lgamma(n + 1)
    terms = (ways - math.lgamma(i + 1) - math.lgamma(n - i + 1) + i * yes + (n - i) * no for i in range(n))
    return list(accumulate(map(math.exp, terms)))


def sign_flips(differences: Sequence[float]) -> float:
    """How often chance alone would give a mean this far from zero, if each task's difference could as well be reversed.

    A paired permutation test, for pooled seeds: a task's difference is then a fraction, and McNemar has no say.
    """
    sizes = sorted(Counter(abs(value) for value in differences if value).items())
    seen = abs(sum(differences)) - 1e-9
    bits = Random(_SEED).getrandbits
    extreme = sum(
        abs(sum(size * (2 * bits(count).bit_count() - count) for size, count in sizes)) >= seen
        for _ in range(RESAMPLES)
    )
    return (1 + extreme) / (1 + RESAMPLES)


def tasks_needed(differences: Sequence[float], confidence: float = CONFIDENCE, power: float = POWER) -> int | None:
    """About how many tasks would show a difference of this size four times out of five; None when there is none.

    The usual normal approximation for a paired mean; a rough guide, because the difference itself is uncertain.
    """
    mean = fmean(differences) if differences else 0.0
    if not mean:
        return None
    spread = fmean((value - mean) ** 2 for value in differences)
    z = NormalDist().inv_cdf((1 + confidence) / 2) + NormalDist().inv_cdf(power)
    return max(1, math.ceil(z * z * spread / mean**2))
