"""From attempts to the numbers of an evaluation."""

import json
from pathlib import Path

import pytest

from burnish.errors import SetupProblem
from burnish.evals.figures import LeftOut
from burnish.evals.results import read_results, results
from burnish.intervals import wilson
from tests.evals.made import Made, attempt, plan, plausible, solving

YES, NO = True, False


def test_the_curve_is_over_all_tasks_also_where_attempts_ended_early() -> None:
    found = results(solving([YES], [NO, YES], [NO, NO, NO], [NO, YES, NO]))
    assert found.pass_at_1 == found.pass_at_1_by_call == (0.25, 0.75, 0.5)
    assert found.solved == 2
    assert found.pass_at_1_interval[0] == wilson(1, 4)


def test_the_last_value_of_every_curve_is_the_share_solved() -> None:
    found = results(plausible())
    assert found.pass_at_1[-1] == found.pass_at_1_by_call[-1] == found.pass_at_k[0] == found.solved / 164


def test_seeds_are_pooled_by_task_and_never_narrow_the_interval() -> None:
    tried = [("a", 0, attempt([YES])), ("a", 1, attempt([NO])), ("b", 0, attempt([YES])), ("b", 1, attempt([YES]))]
    found = results(Made(tried, plan(seeds=[0, 1])))
    assert found.pass_at_1 == (0.75,)
    assert found.pass_at_1_interval == (wilson(1.5, 2),)
    assert found.pass_at_k == (0.75, 1.0)
    assert (found.tasks, found.planned, found.finished, found.solved) == (2, 4, 4, 3)


def test_an_unfinished_evaluation_says_so_and_counts_what_is_there() -> None:
    made = Made([("a", 0, attempt([YES]))], plan(seeds=[0, 1]), task_ids=("a", "b", "c"))
    found = results(made)
    assert (found.planned, found.finished, found.tasks, found.tasks_finished) == (6, 1, 3, 1)
    assert not found.complete
    assert found.pass_at_k == (1.0, None)


def test_nothing_finished_is_no_figure_and_no_crash() -> None:
    found = results(Made([], task_ids=("a",)))
    assert (found.pass_at_1, found.cost_per_task, found.cost_per_solved, found.solved) == ((), None, None, 0)


def test_nothing_solved_has_no_price() -> None:
    found = results(solving([NO], [NO]))
    assert found.cost_per_solved is None
    assert found.cost_per_task
    assert found.cost_per_task.tokens_in == 100


def test_time_in_which_nothing_ran_is_not_counted() -> None:
    """Two overlap (0 to 2, 1 to 3); the third came a day later, after a resume."""
    made = Made([(str(at), 0, attempt([YES], at=at)) for at in (0.0, 1.0, 86400.0)])
    found = results(made)
    assert found.cost.seconds == 5.0
    assert found.tokens_per_second == 30.0


@pytest.mark.parametrize(
    ("model", "dollars"), [("local:m", 0.0), ("scripted:gold", 0.0), ("huggingface:m", 0.0), ("openai:m", None)]
)
def test_dollars_are_zero_here_and_unknown_elsewhere(model: str, dollars: float | None) -> None:
    found = results(solving([YES], model=model))
    assert found.cost.dollars == dollars
    assert found.cost_per_solved
    assert found.cost_per_solved.dollars == dollars


def test_bugs_and_broken_rows_are_named() -> None:
    made = solving([YES], [NO], [NO])
    made.bugs, made.broken = {"t/0": "a", "t/1": "a"}, (LeftOut(id="t/9", why="its gold fails"),)
    found = results(made)
    assert [(row.bug, row.n, row.solved) for row in found.by_bug] == [("a", 2, 1)]
    assert found.broken[0].why == "its gold fails"


def test_the_same_folder_gives_the_same_bytes_and_reads_back(tmp_path: Path) -> None:
    found = results(plausible(20))
    assert found.text() == results(plausible(20)).text()
    (tmp_path / "results.json").write_text(found.text())
    assert read_results(tmp_path) == read_results(tmp_path / "results.json") == found
    assert isinstance(json.loads(found.text())["pass_at_1"], list)


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"version": 99}'])
def test_a_file_that_holds_no_results_is_a_problem_the_user_can_fix(tmp_path: Path, text: str) -> None:
    (tmp_path / "results.json").write_text(text)
    with pytest.raises(SetupProblem, match="does not hold"):
        read_results(tmp_path)
    with pytest.raises(SetupProblem, match="No such file"):
        read_results(tmp_path / "elsewhere.json")
