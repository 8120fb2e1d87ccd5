"""The fit of the confidence: it finds what decides, gives each task one vote, and refuses what it may not see."""

from pathlib import Path
from random import Random

import pytest
from experiments.fit_confidence import Point, describe, fit, read_points, solve

from burnish.evals.eval_store import Folder
from burnish.evals.schema import Plan


def point(task: str, right: bool, **signals: float) -> Point:
    return Point("suite", task, "local:m-1b", signals, right, may_prove=True, last=True)


def sample(count: int) -> list[Point]:
    """Right with a chance that one signal decides, and another does not."""
    random = Random(1)
    made = []
    for number in range(count):
        votes, noise = random.random(), random.random()
        made.append(point(f"-{number}", random.random() < votes, votes=votes, noise=noise))
    return made


def test_a_signal_that_decides_gets_the_weight() -> None:
    weights = fit(sample(600))
    assert weights.signals["votes"] > 2
    assert abs(weights.signals["noise"]) < weights.signals["votes"] / 4
    assert weights.models == ("local:m-1b",)


def test_a_task_has_one_vote_however_many_points_it_has() -> None:
    points = [point("-1", True, votes=1.0)] * 50 + [point(f"-{n}", False, votes=1.0) for n in range(2, 12)]
    weights = fit(points)
    assert weights.estimate({"votes": 1.0}) < 0.3


def test_figures_are_of_what_was_handed_over_and_only_what_may_be_proven_is() -> None:
    sure = fit([point(f"-{n}", True, votes=1.0) for n in range(99)])
    assert sure.estimate({"votes": 1.0}) > 0.95
    ends = [point("-1", True, votes=1.0), Point("suite", "-2", "m", {"votes": 1.0}, True, may_prove=False, last=True)]
    assert "proven    1" in describe(ends, lambda one: sure, "title")


def test_equations_are_solved_with_pivots() -> None:
    assert solve([[0.0, 2.0], [4.0, 1.0]], [6.0, 7.0]) == pytest.approx([1.0, 3.0])


def test_what_is_reported_on_may_not_be_fitted_on(tmp_path: Path) -> None:
    Folder.create(tmp_path / "eval", Plan(suite="mbppplus", split="eval", model="scripted:gold"), ())
    with pytest.raises(SystemExit, match="calibrate"):
        next(read_points(tmp_path / "eval"))
