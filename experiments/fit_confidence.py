"""Fits the weights of `agent/confidence.json` on evaluations of the split `calibrate`, and says what they are worth.

    python experiments/tables.py MODEL OUT calibrate calibrate-all        # or the evaluations one by one, all with
    burnish eval mbppplus --split calibrate --confidence 1 --model MODEL …
    python experiments/fit_confidence.py FOLDER … [--judge FOLDER …] [--out src/burnish/agent/confidence.json]

`--confidence 1` makes all six calls, so each attempt shows what would have been handed over after every round: those
are the points, and a task counts once however many it has. The fit is a logistic regression with a quadratic penalty.
Figures are of what would have been handed over: at the first moment that is enough to call it proven, else at the end.
They are of tasks outside of the fit: five folds of tasks, and each kind of task left out of the fit. Other splits may
only be judged: what is reported on must not have been seen.
"""

import argparse
import json
import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from burnish.agent.confidence import SignalWeights, Support, find_obstacle
from burnish.agent.policy import passes
from burnish.agent.state import AgentState
from burnish.evals.eval_store import Folder
from burnish.evals.schema import Attempt, Estimate
from burnish.evals.strategies.burnish import Burnish, task_for
from burnish.evals.strategies.kinds import find_strategy
from burnish.evals.strategies.strategy import show_task
from burnish.evals.suites import load_suite
from burnish.evals.verdicts import measure_verdicts
from burnish.events import PROVEN, Decided, Scored, Verdict

PENALTY, FLATTERED_TIMES = 0.05, 4
FLATTERED = ("repair", "edits alone", "edit agrees", "changed")
"""Signals of repairs. Planted bugs are one edit away from right code, as people's are not, so what such tasks say of
these is believed less.
"""
FOLDS = 5
SPLIT = "calibrate"
ENGINES = ("huggingface", "local")
"""They answer from the same file."""


@dataclass(frozen=True)
class Point:
    """What would have been handed over at one moment of an attempt, and whether it was right."""

    signals: dict[str, float]
    right: bool
    is_thin: bool
    """Whether the agent would go on whatever the number is."""
    may_prove: bool
    """Whether the kind of evidence allows to call it proven at all."""


@dataclass(frozen=True)
class Tried:
    """One attempt, with every moment at which it had something that passes what was given."""

    suite: str
    strategy: str
    task: str
    """Without the name of the suite: suites share tasks."""
    seed: int
    model: str
    split: str
    points: list[Point] = field(default_factory=list)

    @property
    def fold(self) -> int:
        """A task is in one fold with all its suites and models."""
        return sum(map(ord, self.task)) % FOLDS

    @property
    def kind(self) -> str:
        """What was asked for."""
        return "fix" if self.suite.endswith("fix") else "write"

    def hand_over(self, weights: SignalWeights) -> Attempt:
        """How the attempt would have ended with these weights; what never passes is known to be wrong."""
        sure = [weights.estimate(point.signals) for point in self.points]
        if not self.points:
            return Attempt(task_id=self.task, seed=self.seed, confidence=0.0, verdict="failed")
        enough = (at for at, point in enumerate(self.points) if sure[at] >= PROVEN and not point.is_thin)
        at = next(enough, len(self.points) - 1)
        end = self.points[at]
        verdict: Verdict = "proven" if sure[at] >= PROVEN and end.may_prove else "plausible"
        return Attempt(task_id=self.task, seed=self.seed, solved=end.right, confidence=sure[at], verdict=verdict)


def read_attempts(place: Path, any_split: bool = False) -> Iterator[Tried]:
    """Every attempt, with what it had whenever the agent decided how to go on."""
    folder = Folder.open(place)
    plan = folder.plan
    if plan.split != SPLIT and not any_split:
        raise SystemExit(f"{place} is of the split {plan.split!r}; only {SPLIT!r} may be fitted on.")
    strategy = find_strategy(plan.strategy)
    assert isinstance(strategy, Burnish), f"{place} is of another strategy"
    source = Path(folder.contents.data) if folder.contents.data else None
    data = source if source and source.exists() else None
    tasks = {task.id: task for task in load_suite(plan.suite, variant=plan.variant, split=plan.split, data=data)}
    for task_id, seed, events in folder.attempts():
        task = task_for(show_task(tasks[task_id], plan.protocol), plan.ask, strategy.own_tests)
        scores = {event.version: event.passed for event in events if isinstance(event, Scored)}
        lasting = [event for event in events if not isinstance(event, Scored)]
        ends = [at for at, event in enumerate(lasting) if isinstance(event, Decided)] + [len(lasting)]
        points = []
        for end in ends:
            state = AgentState(task, lasting[:end])
            if state.run.spec and state.answers and state.best and passes(state) and state.best.number in scores:
                support, right = Support(state, state.best), scores[state.best.number]
                points.append(Point(support.signals(), right, support.is_thin, not find_obstacle(support, True)))
        yield Tried(plan.suite, plan.strategy, task_id.removeprefix(plan.suite), seed, plan.model, plan.split, points)


def fit(tries: Sequence[Tried]) -> SignalWeights:
    """The weights that make what happened likeliest (Newton's method); points of one task share one vote."""
    points = [(one, point) for one in tries for point in one.points]
    names = sorted(points[0][1].signals)
    count = Counter((one.suite, one.strategy, one.task, one.model) for one, _ in points)
    rows = [[1.0, *(point.signals[name] for name in names)] for _, point in points]
    votes = [1 / count[one.suite, one.strategy, one.task, one.model] for one, _ in points]
    penalties = [0.0, *(PENALTY * (FLATTERED_TIMES if name in FLATTERED else 1) for name in names)]
    weights = [0.0] * len(rows[0])
    for _ in range(30):
        gradient = [weight * held for weight, held in zip(weights, penalties, strict=True)]
        curve = [[(held + 1e-9) * (i == j) for j in range(len(weights))] for i, held in enumerate(penalties)]
        for row, vote, (_, point) in zip(rows, votes, points, strict=True):
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
    models = tuple(sorted({name for one in tries for name in name_engines(one.model)}))
    return SignalWeights(bias=round(weights[0], 4), signals=signals, models=models)


def name_engines(model: str) -> Iterator[str]:
    """The name of a model by each engine that runs the same file of weights."""
    engine, _, name = model.partition(":")
    yield from (f"{one}:{name}" for one in ENGINES) if engine in ENGINES else (model,)


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


def describe(tries: Sequence[Tried], weights: Callable[[Tried], SignalWeights], title: str) -> str:
    """A row of a table; each attempt is judged by weights that never saw its task."""
    by_task: dict[str, list[Attempt]] = defaultdict(list)
    for one in tries:
        by_task[one.task].append(one.hand_over(weights(one)))
    found = measure_verdicts(by_task.values())
    assert found is not None
    solved = sum(attempt.solved for attempts in by_task.values() for attempt in attempts)

    def show(estimate: Estimate | None, scale: int, digits: int) -> str:
        if estimate is None:
            return "-"
        value, low, high = (f"{scale * number:.{digits}f}" for number in (estimate.value, *estimate.interval))
        return f"{value} ({low} to {high})"

    cells = [
        title,
        f"{100 * solved / len(tries):.1f} of {len(tries)}",
        str(found.proven),
        show(found.precision, 100, 0),
        show(found.coverage, 100, 0),
        show(found.ece, 1, 3),
        show(found.auroc, 1, 2),
    ]
    return f"| {' | '.join(cells)} |"


def report(fitted: Sequence[Tried], judged: Sequence[Tried]) -> None:
    """Figures of tasks outside of the fit: by folds, on other splits, and with each kind of task left out."""
    by_fold = {number: fit([one for one in fitted if one.fold != number]) for number in range(FOLDS)}
    whole = fit(fitted)
    kinds = {one.kind for one in fitted}
    others = {kind: fit([one for one in fitted if one.kind != kind]) for kind in kinds} if len(kinds) > 1 else {}
    print("| tasks | solved, % | proven | of proven right, % | of solved proven, % | ECE | AUROC |")
    print("|---|---|---|---|---|---|---|")
    for words, tries, weights in (
        ("five folds", fitted, lambda one: by_fold[one.fold]),
        ("not fitted on", judged, lambda one: whole),
        ("kind left out", [*fitted, *judged], lambda one: others.get(one.kind, whole)),
    ):
        parts: dict[str, list[Tried]] = defaultdict(list)
        for one in tries:
            parts[f"{one.suite}, {one.strategy}, {one.model.rpartition('-')[2]}, {one.split}, {words}"].append(one)
        for title, some in sorted(parts.items()):
            print(describe(some, weights, title))


def main() -> None:
    """Fit, report, and write the weights where that is asked for."""
    parser = argparse.ArgumentParser(description="Fit the weights of the confidence.")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--judge", nargs="*", type=Path, default=[], help="evaluations of other splits, for figures")
    parser.add_argument("--out", type=Path)
    told = parser.parse_args()
    fitted = [one for folder in told.folders for one in read_attempts(folder)]
    if not any(one.points for one in fitted):
        raise SystemExit("No attempt has anything that passes its visible tests: nothing can be fitted.")
    report(fitted, [one for folder in told.judge for one in read_attempts(folder, any_split=True)])
    facts = {
        "by": "experiments/fit_confidence.py",
        "date": time.strftime("%Y-%m-%d"),
        "suites": sorted({f"{one.suite}:{SPLIT}" for one in fitted}),
        "attempts": len(fitted),
        "points": sum(len(one.points) for one in fitted),
        "penalty": PENALTY,
    }
    weights = fit(fitted).model_copy(update={"fitted": facts})
    print(json.dumps(weights.model_dump(mode="json"), indent=2))
    if told.out:
        told.out.write_text(json.dumps(weights.model_dump(mode="json"), indent=2) + "\n")


if __name__ == "__main__":
    main()
