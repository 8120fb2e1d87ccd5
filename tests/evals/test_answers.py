"""A simulated user answers with the reference, and the results say what each answer was worth."""

from pathlib import Path

import pytest

import burnish
from burnish import ScriptedModel
from burnish.agent.questions import OpenQuestion
from burnish.errors import SetupProblem
from burnish.evals.eval_store import Folder
from burnish.evals.handle import EvalBegun
from burnish.evals.metrics import count_attempt, count_results
from burnish.evals.reports.report_text import list_tables, list_warnings, render_markdown, repeat_command
from burnish.evals.runner import reference_user, stream_attempt
from burnish.evals.schema import Plan
from burnish.events import (
    Answered,
    Asked,
    Broke,
    Event,
    QuestionAnswered,
    QuestionAsked,
    QuestionOption,
    RunStarted,
    Scored,
)
from burnish.runs.attempt import Resources
from burnish.sandbox import Sandbox
from burnish.tasks import Task
from tests.evals.toys import jsonl
from tests.support import block

UP, DOWN = (f"def rank(xs):\n    return sorted(xs, reverse={way})\n" for way in (False, True))
MARK = "# 424242: only the reference has this"
TASK = Task(
    id="rank-1",
    prompt="Rank the numbers.",
    entry_point="rank",
    signature="rank(xs)",
    visible_tests=("assert rank([7]) == [7]",),
    hidden_tests="assert rank([1, 3, 2]) == [3, 2, 1]",
    gold=DOWN + MARK,
)
REPLIES = {
    "draft": [block("def rank(xs):\n    raise NotImplementedError")],
    "repair": ["no code", block(DOWN)],
    "rewrite": [block(UP)],
}


def plan(answers: int, **more: object) -> Plan:
    settings = {"suite": "toy", "model": "scripted:inline", "rounds": 4, "answers": answers, "without": ("tweak",)}
    return Plan.model_validate({**settings, **more})


def attempted(box: Sandbox, answers: int, task: Task = TASK) -> tuple[list[Event], ScriptedModel]:
    model = ScriptedModel(REPLIES)
    return list(stream_attempt(task, plan(answers), 0, Resources([model], sandbox=box))), model


def test_an_answer_of_the_reference_makes_the_right_version_win(box: Sandbox) -> None:
    events, model = attempted(box, 1)
    [answer] = [event for event in events if isinstance(event, QuestionAnswered)]
    assert answer.by == "simulated"
    attempt = count_attempt("rank-1", 0, events, most_answers=1)
    assert (attempt.solved_by_answers, attempt.solved, attempt.asked) == ((False, True), True, 1)
    shown = "\n".join(message.content for ask in model.asked for message in ask.messages)
    started = next(event for event in events if isinstance(event, RunStarted))
    asked = [event for event in events if isinstance(event, Asked | QuestionAsked | QuestionAnswered)]
    assert MARK not in shown + started.model_dump_json() + "".join(event.model_dump_json() for event in asked)


@pytest.mark.slow
def test_without_answers_nothing_is_asked(box: Sandbox) -> None:
    events, _ = attempted(box, 0)
    assert not [event for event in events if isinstance(event, QuestionAsked)]
    assert count_attempt("rank-1", 0, events).solved_by_answers == ()


@pytest.mark.parametrize(
    ("gold", "said"),
    [
        ("def rank(xs):\n    return xs[::-1]\n", "value"),
        ("def rank(xs):\n    return [2, 1]\n", "option"),
        ("def rank(xs):\n    xs.sort()\n    return xs\n", "value"),
        ("def rank(xs):\n    xs.sort()\n", "any"),
        ("def rank(xs):\n    raise ValueError\n", "any"),
        ("def rank(xs):\n    return object()\n", "any"),
        ("def rank(xs):\n    while True: pass\n", "any"),
        ("", "any"),
    ],
)
def test_a_reference_without_a_plain_value_does_not_care(gold: str, said: str, box: Sandbox) -> None:
    asked = QuestionAsked(id="question-1", call="rank([5, 1])", options=(QuestionOption(value="[2, 1]"),))
    answer = reference_user(TASK.model_copy(update={"gold": gold}), box)(OpenQuestion(asked))
    assert answer is not None
    assert (answer.said, answer.by) == (said, "simulated")


def test_what_was_handed_over_after_each_answer_is_told_apart() -> None:
    passed = {1: False, 2: True, 3: False}
    events: list[Event] = [
        Answered(call=1, round=0, version=1),
        Answered(call=2, round=1, version=3, answers=0, confidence=0.97, verdict="proven"),
        Answered(call=2, round=1, version=2, answers=1, confidence=0.8, verdict="plausible"),
        *(Scored(version=version, passed=good) for version, good in passed.items()),
    ]
    attempt = count_attempt("t", 0, events, most_answers=3)
    assert attempt.solved_by_answers == (False, True, True, True)
    unasked = attempt.after_answers(0)
    assert (unasked.solved, unasked.confidence, unasked.verdict) == (False, 0.97, "proven")
    assert attempt.after_answers(2).verdict == attempt.verdict == "plausible"
    broken = count_attempt("t", 0, [*events, Broke(error="ModelError", message="gone")], most_answers=1)
    assert broken.confidence_by_answers == broken.verdict_by_answers == (None, None), "nobody is told anything of it"
    assert count_attempt("t", 0, [], most_answers=2).solved_by_answers == (False, False, False)


def test_the_results_and_every_report_say_what_answers_were_worth() -> None:
    rows = [count_attempt(str(n), 0, [*_answered(n)], most_answers=1) for n in range(4)]
    results = count_results(plan(1), 4, (), rows)
    assert results.pass_at_1_by_answers == (0.25, 0.75)
    assert len(results.pass_at_1_by_answers_interval) == 2
    tables = dict(list_tables(results))
    assert [row[:2] for row in tables["By answered questions"][1]] == [["0", "25.0 %"], ["1", "75.0 %"]]
    assert any("reference answered" in warning for warning in list_warnings(results))
    assert "--answers 1" in repeat_command(results)
    assert "By answered questions" in render_markdown(results)
    assert "By answered questions" not in render_markdown(count_results(plan(0), 0, (), []))


def _answered(number: int) -> list[Event]:
    """The first is right at once, two more after an answer."""
    first, second = number == 0, number < 3
    return [
        Answered(call=1, round=0, version=1),
        Answered(call=1, round=0, version=2, answers=1),
        Scored(version=1, passed=first),
        Scored(version=2, passed=second),
    ]


@pytest.mark.parametrize(("strategy", "answers"), [("retry", 1), ("burnish", 4)])
def test_strategies_that_ask_nothing_and_too_many_answers_are_refused(
    strategy: str, answers: int, tmp_path: Path
) -> None:
    suite = str(jsonl(tmp_path / "toy.jsonl", [TASK]))
    with pytest.raises(SetupProblem, match="--answers"):
        burnish.evaluate(suite, ScriptedModel(REPLIES), strategy=strategy, answers=answers)


@pytest.mark.slow
def test_an_evaluation_with_answers_is_labelled_in_plan_and_results(tmp_path: Path, box: Sandbox) -> None:
    suite = str(jsonl(tmp_path / "toy.jsonl", [TASK]))
    results = burnish.evaluate(suite, ScriptedModel(REPLIES), answers=2, without=["tweak"], out=tmp_path / "e")
    assert (results.answers, results.pass_at_1_by_answers) == (2, (0.0, 1.0, 1.0))
    assert '"answers": 2' in (tmp_path / "e" / "eval.json").read_text()
    plain, asked, _ = results.verdicts_by_answers
    assert plain
    assert asked
    assert (plain.attempts, asked) == (1, results.verdicts), "what a user would have been told unasked is kept apart"
    assert plain.auroc is None
    assert plain.ece != asked.ece
    [there] = EvalBegun.tell(Folder.open(tmp_path / "e")).attempts
    assert there.solved_by_answers == (False, True, True), "whoever follows one that is resumed sees the same"
