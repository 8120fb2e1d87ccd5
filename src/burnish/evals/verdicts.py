"""How far the verdicts of an evaluation can be trusted: does *proven* hold, and does a confidence of 80 % mean 80 %?

A task is the unit: where it was tried with several seeds, they are drawn together, so more seeds never narrow an
interval. Draws have a fixed seed: the same attempts give the same figures on every machine.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from random import Random
from statistics import fmean

from burnish.evals.schema import Attempt, Estimate, ReliabilityBin, RiskPoint, Verdicts
from burnish.intervals import CONFIDENCE, wilson

BINS = 10
"""Of equal width, so that figures of two evaluations have the same bins."""
DRAWS = 500
MOST_POINTS = 20
"""Of a risk-coverage curve."""
_SEED = 20_261_116

Said = tuple[float, bool]
"""How sure an attempt was, and whether it was right."""


def measure_verdicts(tasks: Iterable[Sequence[Attempt]]) -> Verdicts | None:
    """The figures over the attempts of each task; None where no attempt says how sure it is."""
    tries = list(tasks)
    attempts = [attempt for one in tries for attempt in one]
    by_task = [[(one.confidence, one.solved) for one in task if one.confidence is not None] for task in tries]
    said_by_task = list(filter(None, by_task))
    if not said_by_task:
        return None
    said = _pool(said_by_task)
    random = Random(_SEED)
    draws = [_pool(random.choices(said_by_task, k=len(said_by_task))) for _ in range(DRAWS)]
    honest = [[(sure, random.random() < sure) for sure, _ in said] for _ in range(DRAWS)]
    proven = [one for one in attempts if one.verdict == "proven"]
    return Verdicts(
        attempts=len(attempts),
        with_confidence=len(said),
        proven=len(proven),
        right=sum(one.solved for one in proven),
        proven_share=len(proven) / len(attempts),
        precision=_estimate_share(proven, lambda one: one.solved),
        coverage=_estimate_share([one for one in attempts if one.solved], lambda one: one.verdict == "proven"),
        ece=_bootstrap(calibration_error, said, draws),
        ece_by_chance=fmean(map(calibration_error, honest)),
        brier=_bootstrap(brier_score, said, draws),
        auroc=_bootstrap(auroc, said, list(filter(_has_both, draws))) if _has_both(said) else None,
        bins=tuple(list_bins(attempts)),
        risk_coverage=tuple(risk_coverage(said)),
    )


def calibration_error(said: Sequence[Said]) -> float:
    """Expected calibration error: how far mean confidence and share solved are apart in a bin, weighted by its size."""
    gaps = [0.0] * BINS
    for confidence, solved in said:
        gaps[_bin_number(confidence)] += confidence - solved
    return sum(map(abs, gaps)) / len(said)


def brier_score(said: Sequence[Said]) -> float:
    """The mean squared distance of a confidence from what came of it; 0.25 is what always saying 50 % gets."""
    return fmean((confidence - solved) ** 2 for confidence, solved in said)


def auroc(said: Sequence[Said]) -> float:
    """The chance that a right answer had a higher confidence than a wrong one, equals counted half; needs both."""
    won, wrong_below = 0.0, 0
    for _, group in groupby(sorted(said), key=lambda one: one[0]):
        outcomes = [solved for _, solved in group]
        right = sum(outcomes)
        won += right * (wrong_below + (len(outcomes) - right) / 2)
        wrong_below += len(outcomes) - right
    return won / (wrong_below * (len(said) - wrong_below))


def risk_coverage(said: Sequence[Said]) -> list[RiskPoint]:
    """What share is wrong if only the surest answers are taken, for some shares of answers taken, up to all."""
    points, taken, wrong = [], 0, 0
    for least, group in groupby(sorted(said, reverse=True), key=lambda one: one[0]):
        outcomes = [solved for _, solved in group]
        taken, wrong = taken + len(outcomes), wrong + outcomes.count(False)
        points.append(RiskPoint(confidence=least, coverage=taken / len(said), risk=wrong / taken))
    steps = min(MOST_POINTS, len(points))
    return [points[(len(points) - 1) * place // max(1, steps - 1)] for place in range(steps)]


def _pool(by_task: Iterable[Sequence[Said]]) -> list[Said]:
    return [one for task in by_task for one in task]


def _has_both(said: Sequence[Said]) -> bool:
    """Whether there are right and wrong answers to tell apart."""
    return len({solved for _, solved in said}) == 2


def _bin_number(confidence: float) -> int:
    return min(BINS - 1, int(confidence * BINS))


def _bootstrap(
    figure: Callable[[Sequence[Said]], float], said: Sequence[Said], draws: Sequence[Sequence[Said]]
) -> Estimate:
    """A figure, and the percentile interval of what it is when tasks are drawn anew (Efron 1979)."""
    found = sorted(map(figure, draws)) or [figure(said)]
    tail = round((1 - CONFIDENCE) / 2 * len(found))
    return Estimate(value=figure(said), interval=(found[tail], found[-1 - tail]))


def _estimate_share(attempts: Sequence[Attempt], holds: Callable[[Attempt], bool]) -> Estimate | None:
    """The share of attempts for which something holds, with Wilson's interval, n = tasks; None where there are none."""
    if not attempts:
        return None
    share, tasks = fmean(map(holds, attempts)), len({one.task_id for one in attempts})
    return Estimate(value=share, interval=wilson(share * tasks, tasks))


def list_bins(attempts: Iterable[Attempt]) -> Iterator[ReliabilityBin]:
    """The bins that hold an attempt, from unsure to sure."""
    bins: dict[int, list[tuple[float, Attempt]]] = {}
    for one in attempts:
        if one.confidence is not None:
            bins.setdefault(_bin_number(one.confidence), []).append((one.confidence, one))
    for number, inside in sorted(bins.items()):
        solved = _estimate_share([one for _, one in inside], lambda one: one.solved)
        assert solved
        yield ReliabilityBin(
            low=number / BINS,
            high=(number + 1) / BINS,
            n=len(inside),
            confidence=fmean(confidence for confidence, _ in inside),
            solved=solved,
        )
