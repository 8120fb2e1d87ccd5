"""Is one better than the other, or is it noise? Two evaluations compared task by task, and the arithmetic of it.

Only tasks that both sides finished count. Seeds are pooled: a task counts with the mean over its seeds. With one
attempt at each task on both sides the test is McNemar's, exact; with more it is a sign-flip test on the differences.
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

from burnish.errors import SetupProblem
from burnish.evals.metrics import group_by_task, pad
from burnish.evals.schema import Attempt, Interval, Results, Verdicts
from burnish.evals.verdicts import measure_verdicts
from burnish.events import Frozen
from burnish.intervals import CONFIDENCE
from burnish.text import plural

POWER = 0.8
RESAMPLES = 10_000
MOST_SUMS = 500_000
"""That are counted for an exact permutation test: about a second."""
_SEED = 20_210_707

NOISE = 0.05
"""A difference that chance alone would give at least this often is called noise."""
MUST_AGREE = ("suite", "variant", "split")
SHOULD_AGREE = {
    "protocol": "one side saw the scoring tests and the other did not",
    "model": "part of the difference may be the model's",
    "engine": "the same weights can answer differently on another engine",
    "ask": "the model was asked for different things",
    "timeout_seconds": "an answer had more time to pass the tests on one side",
    "answers": "one side had more questions answered by the reference",
    "replayed": "replayed answers were recorded once, so seconds say nothing, and draws may be shared",
}
LABELS = {
    "timeout_seconds": "time for the tests",
    "answers": "number of answered questions",
    "replayed": "recording that answers came from",
}
"""Fields that are not called what people call them."""

Tries = dict[str, list[Attempt]]


class Difference(Frozen):
    """How far B is ahead of A on the same tasks. Negative: A is ahead."""

    tasks: int
    share_a: float
    share_b: float
    difference: float
    interval: Interval
    """95 %, by bootstrap over tasks."""
    p: float
    test: str
    more_by_a: tuple[str, ...]
    """Tasks that A solves more often than B; with one seed each, the ones that only A solves."""
    more_by_b: tuple[str, ...]
    tasks_needed: int | None
    """About how many tasks would show a difference of this size; None when there is no difference."""

    @property
    def is_noise(self) -> bool:
        """Would chance alone give such a difference easily?"""
        return self.p >= NOISE


class Side(Frozen):
    """One side of a comparison."""

    name: str
    runs: int
    attempts: int
    left_out: int
    """Finished tasks that the other side has not finished."""
    most_calls: int
    tokens_per_task: float
    seconds_per_task: float
    verdicts: Verdicts | None = None
    """Over the tasks that both sides finished; None where no attempt says how sure it is."""


class Comparison(Frozen):
    """Two evaluations, or two groups of them, side by side."""

    suite: str
    a: Side
    b: Side
    warnings: tuple[str, ...]
    final: Difference
    equal_calls: int
    """The most calls that both sides made on some task."""
    at_equal_calls: Difference
    sentence: str


def compare(a: Sequence[Results], b: Sequence[Results]) -> Comparison:
    """B against A. Several results of one side are pooled; different suites are refused."""
    fields = (*MUST_AGREE, *SHOULD_AGREE, "tasks_hash", "limit")
    values = {field: sorted({str(getattr(run, field) or "none") for run in (*a, *b)}) for field in fields}
    differ = {field: found for field, found in values.items() if len(found) > 1}
    for field in MUST_AGREE:
        if field in differ:
            raise SetupProblem(
                f"These evaluations differ in their {field} ({' and '.join(map(repr, differ[field]))}), so their tasks "
                f"cannot be paired. Compare two of the same: burnish compare RUN1 RUN2"
            )
    tries_a, tries_b = _pool(a), _pool(b)
    shared = [task for task in tries_a if task in tries_b]
    if not shared:
        raise SetupProblem(
            "The two have no finished task in common, so there is nothing to compare. "
            "Finish them first: burnish eval resume RUN"
        )
    warnings = [
        f"The {LABELS.get(field, field)} differs ({' and '.join(differ[field])}): {why}."
        for field, why in SHOULD_AGREE.items()
        if field in differ
    ]
    if "tasks_hash" in differ and "limit" not in differ:
        warnings.append("The tasks were not loaded alike: a task of the same name may not be the same task.")
    for letter, side in (("A", a), ("B", b)):
        if unknown := sum(run.not_recorded for run in side):
            warnings.append(
                f"{plural(unknown, 'attempt')} of {letter} asked something that is not on record, and count as not "
                "solved, though nobody knows."
            )
    calls = min(_most_calls(tries_a), _most_calls(tries_b))
    final = _measure(tries_a, tries_b, shared)
    return Comparison(
        suite=" ".join(filter(None, (a[0].suite, a[0].variant))),
        a=_describe_side(a, tries_a, shared),
        b=_describe_side(b, tries_b, shared),
        warnings=tuple(warnings),
        final=final,
        equal_calls=calls,
        at_equal_calls=_measure(tries_a, tries_b, shared, calls),
        sentence=describe_difference(final),
    )


def solved_by_call(a: Sequence[Results], b: Sequence[Results]) -> tuple[int, list[float], list[float]]:
    """How many tasks both sides finished, and the share of them that each has solved after 1, 2 … calls."""
    tries_a, tries_b = _pool(a), _pool(b)
    shared = [task for task in tries_a if task in tries_b]
    curve_a, curve_b = (
        [fmean(_share(tries[task], calls) for task in shared) for calls in range(1, _most_calls(tries) + 1)]
        for tries in (tries_a, tries_b)
    )
    return len(shared), curve_a, curve_b


def describe_difference(found: Difference) -> str:
    """What the difference means, for someone who wants one line."""
    if not found.difference:
        split = f"each solves {len(found.more_by_a)} that the other does not" if found.more_by_a else "the same ones"
        return f"A and B solve equally many of {plural(found.tasks, 'task')}: {split}."
    ahead, much = ("B", found.difference) if found.difference > 0 else ("A", -found.difference)
    low, high = sorted(edge if ahead == "B" else -edge for edge in found.interval)
    more = f"{much * found.tasks:.1f}".removesuffix(".0")
    p = f"= {found.p:.2f}" if found.p >= 0.1 else f"= {found.p:.3f}" if found.p >= 0.001 else "< 0.001"
    lead = (
        f"{ahead} solves {more} more of {plural(found.tasks, 'task')} (+{100 * much:.1f} points, "
        f"95 % interval {100 * low:.1f} to {100 * high:.1f}, p {p})"
    )
    if not found.is_noise:
        return f"{lead}: more than noise."
    return f"{lead}: within noise. About {found.tasks_needed} tasks would be needed to see a difference of this size."


def _measure(a: Tries, b: Tries, shared: Sequence[str], calls: int | None = None) -> Difference:
    shares_a, shares_b = ([_share(tries[task], calls) for task in shared] for tries in (a, b))
    gaps = [right - left for left, right in zip(shares_a, shares_b, strict=True)]
    more_by_a = tuple(task for task, gap in zip(shared, gaps, strict=True) if gap < 0)
    more_by_b = tuple(task for task, gap in zip(shared, gaps, strict=True) if gap > 0)
    single = all(len(tries[task]) == 1 for tries in (a, b) for task in shared)
    return Difference(
        tasks=len(shared),
        share_a=fmean(shares_a),
        share_b=fmean(shares_b),
        difference=sum(gaps) / len(gaps),
        interval=bootstrap(gaps),
        p=mcnemar(len(more_by_a), len(more_by_b)) if single else sign_flips(gaps),
        test="McNemar, exact" if single else "sign flips over tasks, seeds pooled",
        more_by_a=more_by_a,
        more_by_b=more_by_b,
        tasks_needed=tasks_needed(gaps),
    )


def _share(tries: Sequence[Attempt], calls: int | None) -> float:
    """How often a task is solved, in the end or when stopped after so many calls."""
    if calls is None:
        return fmean(attempt.solved for attempt in tries)
    return fmean(pad(attempt.solved_by_call, calls)[calls - 1] for attempt in tries)


def _pool(side: Sequence[Results]) -> Tries:
    """The attempts of each task. The same attempt named twice would be counted twice, so it is refused."""
    runs = [run.attempts for run in side]
    if len(set(runs)) < len(runs):
        raise SetupProblem("The same evaluation is named twice on one side. Name each once: burnish compare A,B C")
    return group_by_task(attempt for attempts in runs for attempt in attempts)


def _most_calls(tries: Tries) -> int:
    return max(len(attempt.solved_by_call) for attempts in tries.values() for attempt in attempts) if tries else 0


def _describe_side(side: Sequence[Results], tries: Tries, shared: Sequence[str]) -> Side:
    attempts = sum(run.finished for run in side)
    return Side(
        name=" + ".join(
            dict.fromkeys(
                ", ".join((run.strategy, run.model, run.protocol, *(["replayed"] if run.replayed else [])))
                for run in side
            )
        ),
        runs=len(side),
        attempts=attempts,
        left_out=len(tries) - len(shared),
        most_calls=_most_calls(tries),
        tokens_per_task=sum(run.cost.tokens_in + run.cost.tokens_out for run in side) / max(1, attempts),
        seconds_per_task=sum(run.cost.seconds for run in side) / max(1, attempts),
        verdicts=measure_verdicts(tries[task] for task in shared),
    )


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
    means = sorted(_draw_sum(values, counts, draw) / n for _ in range(RESAMPLES))
    tail = round((1 - confidence) / 2 * RESAMPLES)
    return means[tail], means[-1 - tail]


def _draw_sum(values: Sequence[float], counts: Sequence[int], draw: Callable[[], float]) -> float:
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


Stratum = tuple[Sequence[int], Sequence[int], int]
"""The points of A's runs at one case, those of B's, and how many there are to get."""


def differ_by_case(strata: Sequence[Stratum]) -> float:
    """How far B is ahead, as a share of the points: the mean over cases of the difference of the means over runs."""
    return fmean((fmean(b) - fmean(a)) / of for a, b, of in strata)


def permute_by_case(strata: Sequence[Stratum]) -> tuple[float, bool]:
    """How often chance alone would give a difference at least this large, and whether that is exact.

    A permutation test, two-sided: under no difference the runs of a case could as well have been dealt to the two
    sides the other way. All deals are counted where there are few sums; else 10,000 are drawn, with a fixed seed.
    """
    # In whole numbers, so that equal differences are equal: the difference of a case, times `scale`.
    scale = math.lcm(*(of * len(a) * len(b) for a, b, of in strata))
    parts = [(a, b, scale // (of * len(a) * len(b))) for a, b, of in strata]
    seen = abs(sum(unit * _gap(a, b, sum(b)) for a, b, unit in parts))
    if deals := _count_deals(parts):
        return sum(count for gap, count in deals.items() if abs(gap) >= seen) / deals.total(), True
    random, extreme = Random(_SEED), 0
    for _ in range(RESAMPLES):
        gap = sum(unit * _gap(a, b, sum(random.sample((*a, *b), len(b)))) for a, b, unit in parts)
        extreme += abs(gap) >= seen
    return (1 + extreme) / (1 + RESAMPLES), False


def _gap(a: Sequence[int], b: Sequence[int], got: int) -> int:
    """How far B would be ahead if it had been dealt runs with so many points, times the runs of both sides."""
    return got * len(a) - (sum(a) + sum(b) - got) * len(b)


def _count_deals(parts: Sequence[Stratum]) -> Counter[int]:
    """In how many deals each difference comes up; empty where counting them would take too long."""
    deals = Counter({0: 1})
    for a, b, unit in parts:
        if len((*a, *b)) * len(b) * (1 + sum(a) + sum(b)) > MOST_SUMS:
            return Counter()
        ways = Counter({(0, 0): 1})  # how many runs B was dealt, and their points
        for points in (*a, *b):
            ways.update({(dealt + 1, got + points): ways[dealt, got] for dealt, got in ways if dealt < len(b)})
        here = [(unit * _gap(a, b, got), count) for (dealt, got), count in ways.items() if dealt == len(b)]
        if len(deals) * len(here) > MOST_SUMS:
            return Counter()
        joint: Counter[int] = Counter()
        for before, times in deals.items():
            for gap, count in here:
                joint[before + gap] += times * count
        deals = joint
    return deals


def bootstrap_by_case(strata: Sequence[Stratum], confidence: float = CONFIDENCE) -> Interval:
    """The interval of `differ_by_case`: the runs of each case and side are drawn anew with replacement (percentile)."""
    random = Random(_SEED)
    gaps = sorted(
        differ_by_case([(random.choices(a, k=len(a)), random.choices(b, k=len(b)), of) for a, b, of in strata])
        for _ in range(RESAMPLES)
    )
    tail = round((1 - confidence) / 2 * RESAMPLES)
    return gaps[tail], gaps[-1 - tail]
