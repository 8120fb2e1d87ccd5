"""The fit of the confidence: it finds what decides, gives each task one vote, and refuses what it may not see."""

from pathlib import Path
from random import Random

import pytest
from experiments.fit_confidence import Point, Tried, describe, fit, read_attempts, solve

from burnish.evals.eval_store import Folder
from burnish.evals.schema import Plan


def tried(task: str, *points: tuple[bool, float], may_prove: bool = True, **more: float) -> Tried:
    """An attempt that had these right and wrong versions, by how many voted for each."""
    made = [Point({"votes": votes, **more}, right, is_thin=False, may_prove=may_prove) for right, votes in points]
    return Tried("mbppplus", "burnish", task, 0, "local:m-1b", "calibrate", made)


def sample(count: int) -> list[Tried]:
    """Right with a chance that one signal decides, and another does not."""
    random = Random(1)
    made = []
    for number in range(count):
        votes = random.random()
        made.append(tried(f"-{number}", (random.random() < votes, votes), noise=random.random()))
    return made


def test_a_signal_that_decides_gets_the_weight_and_both_engines_the_name() -> None:
    weights = fit(sample(600))
    assert weights.signals["votes"] > 2
    assert abs(weights.signals["noise"]) < weights.signals["votes"] / 4
    assert weights.models == ("huggingface:m-1b", "local:m-1b")


def test_a_task_has_one_vote_however_many_points_it_has() -> None:
    weights = fit([tried("-1", *[(True, 1.0)] * 50), *(tried(f"-{n}", (False, 1.0)) for n in range(2, 12))])
    assert weights.estimate({"votes": 1.0}) < 0.3


def test_an_attempt_ends_where_it_is_sure_and_what_never_passes_is_wrong() -> None:
    sure = fit([tried(f"-{n}", (n % 2 == 0, -3.0), (True, 3.0)) for n in range(99)])
    ended = tried("-1", (False, -3.0), (True, 3.0), (False, 3.0)).hand_over(sure)
    assert (ended.solved, ended.verdict) == (True, "proven")
    assert tried("-1", (True, 3.0), may_prove=False).hand_over(sure).verdict == "plausible"
    nothing = tried("-1").hand_over(sure)
    assert (nothing.solved, nothing.verdict, nothing.confidence) == (False, "failed", 0.0)
    rows = [tried("-1", (True, 3.0)), tried("-2", (False, -3.0)), tried("-3")]
    assert describe(rows, lambda one: sure, "title").startswith("| title | 33.3 of 3 | 1 | 100 (")


def test_equations_are_solved_with_pivots() -> None:
    assert solve([[0.0, 2.0], [4.0, 1.0]], [6.0, 7.0]) == pytest.approx([1.0, 3.0])


def test_what_is_reported_on_may_not_be_fitted_on(tmp_path: Path) -> None:
    Folder.create(tmp_path / "eval", Plan(suite="mbppplus", split="eval", model="scripted:gold"), ())
    with pytest.raises(SystemExit, match="calibrate"):
        next(read_attempts(tmp_path / "eval"))
