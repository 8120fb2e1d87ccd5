"""From the events of one attempt to its numbers, and from attempts to the numbers of an evaluation."""

import json
from pathlib import Path

import pytest

from burnish.evals.metrics import compute_results, count_attempt, pad, read_results
from burnish.evals.schema import LeftOut
from burnish.events import Answered, Asked, CodeProposed, Event, Message, ModelReplied, Scored
from burnish.intervals import wilson
from tests.evals.fake_evaluations import Made, attempt, plan, plausible, solving
from tests.support import refused

YES, NO = True, False


def test_the_curve_is_over_all_tasks_also_where_attempts_ended_early() -> None:
    found = compute_results(solving([YES], [NO, YES], [NO, NO, NO], [NO, YES, NO]))
    assert found.pass_at_1 == found.pass_at_1_by_call == (0.25, 0.75, 0.5)
    assert found.solved == 2
    assert found.pass_at_1_interval[0] == wilson(1, 4)


def test_the_last_value_of_every_curve_is_the_share_solved() -> None:
    found = compute_results(plausible())
    assert found.pass_at_1[-1] == found.pass_at_1_by_call[-1] == found.pass_at_k[0] == found.solved / 164


def test_seeds_are_pooled_by_task_and_never_narrow_the_interval() -> None:
    tried = [("a", 0, attempt([YES])), ("a", 1, attempt([NO])), ("b", 0, attempt([YES])), ("b", 1, attempt([YES]))]
    found = compute_results(Made(tried, plan(seeds=[0, 1])))
    assert found.pass_at_1 == (0.75,)
    assert found.pass_at_1_interval == (wilson(1.5, 2),)
    assert found.pass_at_k == (0.75, 1.0)
    assert (found.tasks, found.planned, found.finished, found.solved) == (2, 4, 4, 3)


def test_an_unfinished_evaluation_says_so_and_counts_what_is_there() -> None:
    made = Made([("a", 0, attempt([YES]))], plan(seeds=[0, 1]), task_ids=("a", "b", "c"))
    found = compute_results(made)
    assert (found.planned, found.finished, found.tasks, found.tasks_finished) == (6, 1, 3, 1)
    assert not found.complete
    assert found.pass_at_k == (1.0, None)


def test_nothing_finished_is_no_figure_and_no_crash() -> None:
    found = compute_results(Made([], task_ids=("a",)))
    assert (found.pass_at_1, found.cost_per_task, found.cost_per_solved, found.solved) == ((), None, None, 0)


def test_nothing_solved_has_no_price() -> None:
    found = compute_results(solving([NO], [NO]))
    assert found.cost_per_solved is None
    assert found.cost_per_task
    assert found.cost_per_task.tokens_in == 100


def test_time_in_which_nothing_ran_is_not_counted() -> None:
    """Two overlap (0 to 2, 1 to 3); the third came a day later, after a resume."""
    made = Made([(str(at), 0, attempt([YES], at=at)) for at in (0.0, 1.0, 86400.0)])
    found = compute_results(made)
    assert found.cost.seconds == 5.0
    assert found.tokens_per_second == 30.0


@pytest.mark.parametrize(
    ("model", "dollars"), [("local:m", 0.0), ("scripted:gold", 0.0), ("huggingface:m", 0.0), ("openai:m", None)]
)
def test_dollars_are_zero_here_and_unknown_elsewhere(model: str, dollars: float | None) -> None:
    found = compute_results(solving([YES], model=model))
    assert found.cost.dollars == dollars
    assert found.cost_per_solved
    assert found.cost_per_solved.dollars == dollars


def test_bugs_and_broken_rows_are_named() -> None:
    made = solving([YES], [NO], [NO])
    made.bugs, made.broken = {"t/0": "a", "t/1": "a"}, (LeftOut(id="t/9", why="its gold fails"),)
    found = compute_results(made)
    assert [(row.bug, row.n, row.solved) for row in found.by_bug] == [("a", 2, 1)]
    assert found.broken[0].why == "its gold fails"


def test_the_same_folder_gives_the_same_bytes_and_reads_back(tmp_path: Path) -> None:
    found = compute_results(plausible(20))
    assert found.text() == compute_results(plausible(20)).text()
    (tmp_path / "results.json").write_text(found.text())
    assert read_results(tmp_path) == read_results(tmp_path / "results.json") == found
    assert isinstance(json.loads(found.text())["pass_at_1"], list)


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"version": 99}'])
def test_a_file_that_holds_no_results_is_a_problem_the_user_can_fix(tmp_path: Path, text: str) -> None:
    (tmp_path / "results.json").write_text(text)
    with refused(name="evals/no results in a file", tmp=tmp_path):
        read_results(tmp_path)
    with refused(name="evals/no file of results", tmp=tmp_path):
        read_results(tmp_path / "elsewhere.json")


def asked(ask_id: str, at: float = 0.0) -> list[Event]:
    message = (Message(role="user", content="?"),)
    return [
        Asked(at=at, ask_id=ask_id, purpose="p", messages=message, temperature=0, top_p=1, max_tokens=9, seed=0),
        ModelReplied(at=at + 1, ask_id=ask_id, purpose="p", text="!", tokens_in=10, tokens_out=5, seconds=0.5),
    ]


def test_an_attempt_is_solved_when_its_last_answer_is() -> None:
    counted = count_attempt("t/1", 3, attempt([False, False, True]), bug="value misuse")
    assert counted.solved
    assert (counted.task_id, counted.seed, counted.bug) == ("t/1", 3, "value misuse")
    assert counted.solved_by_round == counted.solved_by_call == (False, False, True)
    assert (counted.calls, counted.versions, counted.tokens_in, counted.tokens_out) == (3, 3, 300, 150)
    assert counted.tokens_by_call == (150, 300, 450)
    assert (counted.model_seconds, counted.seconds) == (3.0, 6.0)


def test_an_answer_that_was_right_and_is_given_up_counts_only_while_it_stood() -> None:
    counted = count_attempt("t", 0, attempt([True, False]))
    assert not counted.solved
    assert counted.solved_by_round == (True, False)


def test_what_took_no_call_counts_from_the_first_on() -> None:
    found = [CodeProposed(version=1, code="x", by="tweak"), Answered(call=0, round=0, version=1)]
    counted = count_attempt("t", 0, [*found, Scored(version=1, passed=True)])
    assert (counted.solved, counted.solved_by_call, counted.calls) == (True, (True,), 0)
    later = [*asked("a"), *asked("b"), Answered(call=2, round=1, version=None), Scored(version=1, passed=True)]
    assert count_attempt("t", 0, [*found, *later]).solved_by_call == (True, False)


def test_calls_and_rounds_are_two_axes() -> None:
    """Three calls in round 0 (the second changes nothing), then one in round 1 that answers with an older version."""
    events: list[Event] = [*asked("a")]
    events += [
        CodeProposed(version=1, code="x", by="d"),
        Answered(call=1, round=0, version=1),
        *asked("b"),
        *asked("c"),
    ]
    events += [CodeProposed(version=2, code="y", by="d"), Answered(call=3, round=0, version=2), *asked("d")]
    events += [Answered(call=4, round=1, version=1), Scored(version=1, passed=False), Scored(version=2, passed=True)]
    counted = count_attempt("t", 0, events)
    assert counted.solved_by_call == (False, False, True, False)
    assert counted.solved_by_round == (True, False)


def test_nothing_answered_is_unsolved() -> None:
    counted = count_attempt("t", 0, [*asked("a"), Answered(call=1, round=0, version=None)])
    assert (counted.solved, counted.solved_by_call, counted.calls) == (False, (False,), 1)
    assert count_attempt("t", 0, []).solved_by_call == (False,)


def test_an_answer_without_a_score_is_unsolved() -> None:
    assert not count_attempt("t", 0, [*asked("a"), Answered(call=1, round=0, version=1)]).solved


def test_an_attempt_that_broke_is_solved_nowhere_and_says_why() -> None:
    events = [*attempt([True]), *attempt([], error="the server hung up")]
    counted = count_attempt("t", 0, events)
    assert counted.error == "ModelError: the server hung up"
    assert counted.solved_by_call == (False,)


def test_what_cannot_be_run_and_what_repeats_is_counted() -> None:
    codes = [("a = 1", ""), ("a = 1 \n", ""), ("", "no code"), ("", "no code"), ("b = 2", "the signature changed")]
    events: list[Event] = [
        CodeProposed(version=place, code=code, by="d", problem=problem)
        for place, (code, problem) in enumerate(codes, 1)
    ]
    counted = count_attempt("t", 0, events)
    assert (counted.versions, counted.unparsed, counted.repeats) == (5, 3, 1)


def test_only_the_final_answer_counts_as_timed_out() -> None:
    first = [Answered(call=1, round=0, version=1), Answered(call=2, round=1, version=2)]
    slow = [Scored(version=1, passed=False, timed_out=True), Scored(version=2, passed=False)]
    assert not count_attempt("t", 0, [*first, *slow]).timed_out
    assert count_attempt("t", 0, [*first[:1], *slow]).timed_out


def test_an_attempt_that_ended_early_keeps_its_answer() -> None:
    assert pad((False, True), 4) == (False, True, True, True)
    assert pad((False,), 1) == (False,)
