"""Fits the weights of `agent/confidence.json` on evaluations of the split `calibrate`, and says what they are worth.

    burnish eval mbppplus --split calibrate --confidence 1 --model MODEL --out write          # and with
    burnish eval mbppplus --split calibrate --confidence 1 --model MODEL --strategy burnish-tests --out tests
    burnish eval mbppplusfix --split calibrate --confidence 1 --model MODEL --out fix
    python experiments/fit_confidence.py write tests fix … [--out src/burnish/agent/confidence.json]

`--confidence 1` makes all six calls, so each attempt shows what would have been handed over after every round: those
are the points, and a task counts once however many it has. The fit is a logistic regression with a quadratic penalty.
The figures are of tasks outside of the fit: five folds of tasks, and each suite with its kind left out. Other splits
are refused: what is reported on must not have been seen.
"""

import argparse
import json
import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from burnish.agent.confidence import SignalWeights, Support
from burnish.agent.policy import passes
from burnish.agent.state import AgentState
from burnish.evals.eval_store import Folder
from burnish.evals.strategies.burnish import Burnish, task_for
from burnish.evals.strategies.kinds import find_strategy
from burnish.evals.strategies.strategy import show_task
from burnish.evals.suites import load_suite
from burnish.evals.verdicts import auroc, calibration_error
from burnish.events import PROVEN, Decided, Event, Scored
from burnish.intervals import wilson

PENALTY = 1.0
FOLDS = 5
SPLIT = "calibrate"


@dataclass(frozen=True)
class Point:
    """What would have been handed over at one moment of an attempt, and whether it was right."""

    suite: str
    task: str
    model: str
    signals: dict[str, float]
    right: bool
    may_prove: bool
    """Whether the kind of evidence allows to call it proven at all."""
    last: bool
    """Whether the attempt ended there."""


def read_points(place: Path) -> Iterator[Point]:
    """Every moment of every attempt at which the agent decided how to go on, and had something that passes."""
    folder = Folder.open(place)
    plan = folder.plan
    if plan.split != SPLIT:
        raise SystemExit(f"{place} is of the split {plan.split!r}; only {SPLIT!r} may be fitted on.")
    strategy = find_strategy(plan.strategy)
    assert isinstance(strategy, Burnish), f"{place} is of another strategy"
    source = Path(folder.contents.data) if folder.contents.data else None
    tasks = {task.id: task for task in load_suite(plan.suite, variant=plan.variant, split=plan.split, data=source)}
    for task_id, _, events in folder.attempts():
        puzzle = show_task(tasks[task_id], plan.protocol)
        task = task_for(puzzle, plan.ask, strategy.own_tests)
        scores = {event.version: event.passed for event in events if isinstance(event, Scored)}
        lasting = [event for event in events if not isinstance(event, Scored)]
        ends = [at for at, event in enumerate(lasting) if isinstance(event, Decided)] + [len(lasting)]
        moments = list(_passing_moments(AgentState(task, ()), lasting, ends))
        for place_, (state, support) in enumerate(moments):
            if support.version.number in scores and state.answers:
                rivals = any(support.rival_votes)
                yield Point(
                    suite=plan.suite,
                    task=task_id.removeprefix(plan.suite),
                    model=plan.model,
                    signals=support.signals(),
                    right=scores[support.version.number],
                    may_prove=not rivals and not support.is_thin,
                    last=place_ == len(moments) - 1,
                )


def _passing_moments(
    empty: AgentState, events: Sequence[Event], ends: Sequence[int]
) -> Iterator[tuple[AgentState, Support]]:
    for end in ends:
        state = empty.after(events[:end])
        if state.run.spec and state.best and passes(state):
            yield state, Support(state, state.best)


def fit(points: Sequence[Point], penalty: float = PENALTY) -> SignalWeights:
    """The weights that make what happened likeliest (Newton's method); points of one task share one vote."""
    names = sorted(points[0].signals)
    count = Counter((point.suite, point.task, point.model) for point in points)
    rows = [[1.0, *(point.signals[name] for name in names)] for point in points]
    votes = [1 / count[point.suite, point.task, point.model] for point in points]
    weights = [0.0] * len(rows[0])
    for _ in range(30):
        gradient = [0.0] + [penalty * value for value in weights[1:]]
        curve = [[penalty * (i == j > 0) + 1e-9 * (i == j) for j in range(len(weights))] for i in range(len(weights))]
        for row, vote, point in zip(rows, votes, points, strict=True):
            chance = 1 / (1 + math.exp(-sum(w * x for w, x in zip(weights, row, strict=True))))
            for i, x in enumerate(row):
                gradient[i] += vote * (chance - point.right) * x
                for j in range(i + 1):
                    curve[i][j] += vote * chance * (1 - chance) * x * row[j]
        for i in range(len(weights)):
            for j in range(i):
                curve[j][i] = curve[i][j]
        step = solve(curve, gradient)
        weights = [w - s for w, s in zip(weights, step, strict=True)]
        if max(map(abs, step)) < 1e-8:
            break
    signals = {name: round(value, 4) for name, value in zip(names, weights[1:], strict=True)}
    return SignalWeights(
        bias=round(weights[0], 4), signals=signals, models=tuple(sorted({point.model for point in points}))
    )


def solve(matrix: list[list[float]], right: list[float]) -> list[float]:
    """The solution of a system of linear equations (Gauss, with pivots)."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for column in range(size):
        pivot = max(range(column, size), key=lambda at: abs(rows[at][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for at in range(size):
            if at != column:
                factor = rows[at][column] / rows[column][column]
                rows[at] = [a - factor * b for a, b in zip(rows[at], rows[column], strict=True)]
    return [row[-1] / row[at] for at, row in enumerate(rows)]


def describe(points: Sequence[Point], weights: Callable[[Point], SignalWeights], title: str) -> str:
    """One line of figures for what was handed over in the end; each point is judged by weights that never saw it."""
    ends = [point for point in points if point.last]
    said = [(weights(point).estimate(point.signals), point.right) for point in ends]
    solved = sum(point.right for point in ends)
    proven = [right for (sure, right), point in zip(said, ends, strict=True) if sure >= PROVEN and point.may_prove]
    low, high = wilson(sum(proven), len(proven))
    both = len({right for _, right in said}) == 2
    return (
        f"{title:34} n {len(ends):4}  right {100 * solved / max(1, len(ends)):5.1f} %  proven {len(proven):4}, "
        f"right of them {100 * sum(proven) / max(1, len(proven)):5.1f} % ({100 * low:.0f} to {100 * high:.0f}), "
        f"coverage {100 * sum(proven) / max(1, solved):4.1f} %  ECE {calibration_error(said):.3f}  "
        f"AUROC {f'{auroc(said):.3f}' if both else '-'}"
    )


def report(points: Sequence[Point]) -> None:
    """Figures of tasks outside of the fit: by folds, by suite and model, and with each suite left out."""

    def fold(point: Point) -> int:
        return sum(map(ord, point.task)) % FOLDS

    by_fold = {n: fit([point for point in points if fold(point) != n]) for n in range(FOLDS)}
    print(describe(points, lambda point: by_fold[fold(point)], "all, five folds of tasks"))
    parts: dict[tuple[str, str], list[Point]] = defaultdict(list)
    for point in points:
        parts[point.suite, point.model].append(point)
    for (suite, model), some in sorted(parts.items()):
        print(describe(some, lambda point: by_fold[fold(point)], f"{suite}, {model.rpartition('-')[2]}"))
    suites = {point.suite for point in points}
    for suite in sorted(suites) if len(suites) > 1 else ():
        others = fit([point for point in points if point.suite != suite])
        own = [point for point in points if point.suite == suite]
        print(describe(own, lambda point, others=others: others, f"{suite}, not in the fit"))  # type: ignore[misc]


def main() -> None:
    """Fit, report, and write the weights where that is asked for."""
    parser = argparse.ArgumentParser(description="Fit the weights of the confidence.")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--out", type=Path)
    told = parser.parse_args()
    points = [point for folder in told.folders for point in read_points(folder)]
    if not points:
        raise SystemExit("No attempt has anything that passes its visible tests: nothing can be fitted.")
    report(points)
    fitted = {
        "by": "experiments/fit_confidence.py",
        "date": time.strftime("%Y-%m-%d"),
        "suites": sorted({f"{point.suite}:{SPLIT}" for point in points}),
        "tasks": len({(point.suite, point.task) for point in points}),
        "points": len(points),
        "penalty": PENALTY,
    }
    weights = fit(points).model_copy(update={"fitted": fitted})
    print(json.dumps(weights.model_dump(mode="json"), indent=2))
    if told.out:
        told.out.write_text(json.dumps(weights.model_dump(mode="json"), indent=2) + "\n")


if __name__ == "__main__":
    main()
