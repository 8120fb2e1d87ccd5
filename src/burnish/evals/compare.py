"""Is one better than the other, or is it noise? Two evaluations compared task by task.

Only tasks that both sides finished count. Seeds are pooled: a task counts with the mean over its seeds. With one
attempt at each task on both sides the test is McNemar's, exact; with more it is a sign-flip test on the differences.
"""

from collections.abc import Iterator, Sequence
from statistics import fmean

from burnish.errors import SetupProblem
from burnish.evals.figures import Interval, Results
from burnish.evals.results import grouped
from burnish.evals.scores import bootstrap, mcnemar, sign_flips, tasks_needed
from burnish.evals.tally import Attempt, padded
from burnish.events import Frozen
from burnish.text import plural

NOISE = 0.05
"""A difference that chance alone would give at least this often is called noise."""
MUST_AGREE = ("suite", "variant", "split")
SHOULD_AGREE = {
    "protocol": "one side saw the scoring tests and the other did not",
    "model": "part of the difference may be the model's",
    "engine": "the same weights can answer differently on another engine",
    "ask": "the model was asked for different things",
}

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
    _refuse_unlike([*a, *b])
    tries_a, tries_b = _pooled(a), _pooled(b)
    shared = [task for task in tries_a if task in tries_b]
    if not shared:
        raise SetupProblem(
            "The two have no finished task in common, so there is nothing to compare. "
            "Finish them first: burnish eval resume RUN"
        )
    calls = min(_most_calls(tries_a), _most_calls(tries_b))
    final = _difference(tries_a, tries_b, shared)
    return Comparison(
        suite=" ".join(filter(None, (a[0].suite, a[0].variant))),
        a=_side(a, tries_a, len(shared)),
        b=_side(b, tries_b, len(shared)),
        warnings=tuple(_warnings(a, b)),
        final=final,
        equal_calls=calls,
        at_equal_calls=_difference(tries_a, tries_b, shared, calls),
        sentence=sentence(final),
    )


def solved_by_call(a: Sequence[Results], b: Sequence[Results]) -> tuple[int, list[float], list[float]]:
    """How many tasks both sides finished, and the share of them that each has solved after 1, 2 … calls."""
    tries_a, tries_b = _pooled(a), _pooled(b)
    shared = [task for task in tries_a if task in tries_b]
    curve_a, curve_b = (
        [fmean(_share(tries[task], calls) for task in shared) for calls in range(1, _most_calls(tries) + 1)]
        for tries in (tries_a, tries_b)
    )
    return len(shared), curve_a, curve_b


def sentence(found: Difference) -> str:
    """What the difference means, for someone who wants one line."""
    if not found.difference:
        split = f"each solves {len(found.more_by_a)} that the other does not" if found.more_by_a else "the same ones"
        return f"A and B solve equally many of {plural(found.tasks, 'task')}: {split}."
    ahead, much = ("B", found.difference) if found.difference > 0 else ("A", -found.difference)
    low, high = sorted(edge if ahead == "B" else -edge for edge in found.interval)
    more = f"{much * found.tasks:.1f}".removesuffix(".0")
    lead = (
        f"{ahead} solves {more} more of {plural(found.tasks, 'task')} (+{100 * much:.1f} points, "
        f"95 % interval {_points(low)} to {_points(high)}, p {_p(found.p)})"
    )
    if not found.is_noise:
        return f"{lead}: more than noise."
    return f"{lead}: within noise. About {found.tasks_needed} tasks would be needed to see a difference of this size."


def _difference(a: Tries, b: Tries, shared: Sequence[str], calls: int | None = None) -> Difference:
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
    return fmean(padded(attempt.solved_by_call, calls)[calls - 1] for attempt in tries)


def _pooled(side: Sequence[Results]) -> Tries:
    """The attempts of each task. The same attempt named twice would be counted twice, so it is refused."""
    runs = [run.attempts for run in side]
    if len(set(runs)) < len(runs):
        raise SetupProblem("The same evaluation is named twice on one side. Name each once: burnish compare A,B C")
    return grouped(attempt for attempts in runs for attempt in attempts)


def _most_calls(tries: Tries) -> int:
    return max(len(attempt.solved_by_call) for attempts in tries.values() for attempt in attempts) if tries else 0


def _side(side: Sequence[Results], tries: Tries, shared: int) -> Side:
    attempts = sum(run.finished for run in side)
    return Side(
        name=" + ".join(dict.fromkeys(f"{run.strategy}, {run.model}, {run.protocol}" for run in side)),
        runs=len(side),
        attempts=attempts,
        left_out=len(tries) - shared,
        most_calls=_most_calls(tries),
        tokens_per_task=sum(run.cost.tokens_in + run.cost.tokens_out for run in side) / max(1, attempts),
        seconds_per_task=sum(run.cost.seconds for run in side) / max(1, attempts),
    )


def _refuse_unlike(runs: Sequence[Results]) -> None:
    for field in MUST_AGREE:
        values = sorted({str(getattr(run, field)) for run in runs})
        if len(values) > 1:
            raise SetupProblem(
                f"These evaluations differ in their {field} ({' and '.join(map(repr, values))}), so their tasks cannot "
                f"be paired. Compare two of the same: burnish compare RUN1 RUN2"
            )


def _warnings(a: Sequence[Results], b: Sequence[Results]) -> Iterator[str]:
    for field, why in SHOULD_AGREE.items():
        left, right = ({str(getattr(run, field)) for run in side} for side in (a, b))
        if len(left | right) > 1:
            yield f"The {field} differs ({' and '.join(sorted(left | right))}): {why}."
    if len({(run.tasks_hash, run.limit) for run in (*a, *b)}) > 1 and len({run.limit for run in (*a, *b)}) == 1:
        yield "The tasks were not loaded alike: a task of the same name may not be the same task."


def _points(share: float) -> str:
    return f"{100 * share:.1f}"


def _p(p: float) -> str:
    return f"= {p:.2f}" if p >= 0.1 else f"= {p:.3f}" if p >= 0.001 else "< 0.001"
