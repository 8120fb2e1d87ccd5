"""Datasets: verified answers of the model's own, the nearest one to a bug, and what people said, told apart."""

from collections.abc import Sequence
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

import pytest

import burnish
from burnish.commands import train
from burnish.commands.train import Sampling, make_dataset
from burnish.errors import SetupProblem
from burnish.evals.evaluate import evaluate
from burnish.events import CheckFinished, Event, Evidence, Message, RunFinished, RunStarted
from burnish.events.history import Run
from burnish.learn import dataset as datasets
from burnish.learn.dataset import Dataset, load_dataset
from burnish.learn.recipe import Recipe, TrainingWatch
from burnish.learn.tasks import load_guard
from burnish.models.scripted import ScriptedModel
from burnish.runs import Store
from tests.learn.conftest import HUMANEVAL, Learner
from tests.support import DOUBLE, GOOD, script

pytestmark = pytest.mark.slow


@pytest.fixture
def sampled(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, dict[str, object]]:
    monkeypatch.setattr("burnish.evals.evaluate.open_task_model", lambda name, progress=None: Learner())
    sampling = Sampling("scripted:learner", writing=4, repairs=1, bugs=2)
    summary = make_dataset(tmp_path / "ds", sampling=sampling, feedback=False, data=data)
    return tmp_path / "ds", summary


def test_sampled_answers_that_pass_become_examples_and_the_nearest_one_mends_a_bug(
    sampled: tuple[Path, dict[str, object]],
) -> None:
    folder, summary = sampled
    found = load_dataset(folder)
    written = [row for row in found.examples if row.purpose == "write"]
    mended = [row for row in found.examples if row.purpose == "fix"]
    assert {row.task for row in written} == {row.task for row in mended} == {"mbpp-601", "mbpp-602"}
    assert all(row.completion.startswith("```python\n") and row.completion.endswith("\n```") for row in found.examples)
    assert "Hope it helps" not in "".join(row.completion for row in written), "words around the code are no target"
    assert "return n * 2 + 2" not in "".join(row.completion for row in found.examples)
    assert all("has a bug" in row.messages[-1].content for row in mended)
    assert (summary["answers"], summary["answers that passed"]) == (14, 4), "4 of 8 to tasks, none of 6 to bugs"
    assert {row.task for row in found.pairs} == {"mbpp-601", "mbpp-602"}
    assert all(row.chosen != row.rejected and row.by == "tests" for row in found.pairs)


def test_wrong_answers_are_gone_on_from_and_more_kinds_of_tasks_are_asked_and_ordered(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("burnish.evals.evaluate.open_task_model", lambda name, progress=None: Learner())
    sampling = Sampling("scripted:learner", writing=4, repairs=1, bugs=1, more=True)
    make_dataset(tmp_path / "ds", sampling=sampling, feedback=False, data=data)
    examples = load_dataset(tmp_path / "ds").examples
    begun = [row for row in examples if row.purpose == datasets.GO_ON]
    assert {row.task for row in begun} == {"mbpp-601", "mbpp-602"}
    for row in begun:
        assert [message.role for message in row.messages] == ["system", "user", "assistant", "user"]
        assert "assert o" in row.messages[-1].content
        assert row.completion not in row.messages[-2].content, "the target is another answer, which passed"
    tasks = train.load_tasks(tmp_path / "ds", load_guard(data))
    assert {"mbpp-601", "mbpp-601+mbpp-602", "mbpp-602-tests", "mbppfix-602-file"} <= {task.id for task in tasks}
    recipe = Recipe(kind="grpo", base="local:x", data=str(tmp_path / "ds"))
    curriculum = train.make_curriculum(tasks, recipe, tmp_path / "none")
    assert curriculum
    assert {*curriculum.choose(2)} <= {"mbpp-601", "mbpp-602"}, "half of their answers were right"


def test_own_mistakes_become_repairs_besides_the_planted_ones(sampled: tuple[Path, dict[str, object]]) -> None:
    folder, _ = sampled
    repairs = (folder / "repairs.jsonl").read_text()
    assert repairs.count('"bug": "own mistake"') == 2
    assert repairs.count("\n") > 4


def test_what_is_sampled_is_not_asked_for_again(
    sampled: tuple[Path, dict[str, object]], data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, first = sampled
    monkeypatch.setattr(Learner, "stream", lambda *_: pytest.fail("asked again"))
    again = make_dataset(
        folder, sampling=Sampling("scripted:learner", writing=4, repairs=1, bugs=2), feedback=False, data=data
    )
    assert {**again, "made": None} == {**first, "made": None}


def test_sampling_that_was_stopped_goes_on_where_it_was(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stopping(TrainingWatch):
        def on_finish(self, task_id: str, seed: int, events: Sequence[Event]) -> None:
            self.stop()

    monkeypatch.setattr("burnish.evals.evaluate.open_task_model", lambda name, progress=None: Learner())
    told: dict[str, Any] = {
        "sampling": Sampling("scripted:learner", 4, 1, 1, at_once=1),
        "feedback": False,
        "data": data,
    }
    with pytest.raises(CancelledError):
        make_dataset(tmp_path / "ds", **told, watch=Stopping())
    assert len(list((tmp_path / "ds" / "samples" / "writing" / "attempts").iterdir())) < 8
    assert make_dataset(tmp_path / "ds", **told)["answers"] > 8


def test_an_evaluation_of_what_is_evaluated_on_is_refused(data: Path, tmp_path: Path) -> None:
    evaluate("humaneval", "scripted:gold", strategy="single", data=data, out=tmp_path / "eval")
    with pytest.raises(SetupProblem, match="cannot be learnt from"):
        make_dataset(tmp_path / "ds", evaluations=[str(tmp_path / "eval")], feedback=False, data=data)
    assert not (tmp_path / "ds").exists()


def test_nothing_to_learn_from_is_said_with_what_to_type(data: Path, tmp_path: Path, store: Store) -> None:
    with pytest.raises(SetupProblem, match="--sample"):
        make_dataset(tmp_path / "ds", data=data)


def test_what_was_said_about_runs_of_evaluation_tasks_is_left_out_by_name(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = [
        datasets.Example(task=name, purpose="write", messages=(Message(role="user", content=words),), completion="x")
        for name, words in (("run-1", HUMANEVAL["docstring"]), ("run-2", "Double a number."))
    ]
    monkeypatch.setattr("burnish.commands.train.read_feedback", lambda *_, **__: Dataset(examples=tuple(said)))
    summary = make_dataset(tmp_path / "ds", data=data)
    assert [row.task for row in load_dataset(tmp_path / "ds").examples] == ["run-2"]
    assert "run-1" in str(summary["tasks that may not be learnt from"])
    assert train.load_data(tmp_path / "ds", load_guard(data), "sft").examples, "what is made can be trained on"


def test_what_people_say_is_learnt_and_what_programs_say_only_if_asked_for(
    data: Path, tmp_path: Path, store: Store
) -> None:
    def run(answer: str = GOOD) -> str:
        return burnish.write(DOUBLE, model=ScriptedModel(script(draft=answer)), fast=True).id

    better, worse = run(), run(GOOD.replace("n * 2", "n + n"))
    burnish.rate(better, better_than=worse)
    burnish.rate(worse, stars=2, simulated=True)
    burnish.rate(better, code="def double(n):\n    return 2 * n", comment="I read it as twice n.")
    found = datasets.read_feedback(store)
    assert [(row.by, row.completion) for row in found.examples] == [
        ("person", "```python\ndef double(n):\n    return 2 * n\n```")
    ]
    assert {(row.by, "n * 2" in row.chosen, "n + n" in row.rejected) for row in found.pairs} >= {("person", True, True)}
    burnish.rate(better, stars=5)
    summary = make_dataset(tmp_path / "ds", data=data)
    assert summary["simulated opinions left out"] == 1, "five stars of a person over two of a program"
    assert set(summary["pairs by who judged"]) == {"person"}
    summary = make_dataset(tmp_path / "ds", simulated=True, data=data)
    assert set(summary["pairs by who judged"]) == {"person", "simulated"}


def test_a_simulated_reviewer_speaks_only_where_nobody_has(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for answer in (GOOD, GOOD.replace("n * 2", "n + n")):
        burnish.write(DOUBLE, model=ScriptedModel(script(draft=answer)), fast=True)
    assert datasets.read_feedback(store) == Dataset()
    assert {row.by for row in datasets.read_feedback(store, reviewer=True).examples} == {"simulated"}
    monkeypatch.setattr(datasets, "review", lambda run: 5 if "n * 2" in run.code else 2)
    (pair,) = datasets.read_feedback(store, reviewer=True).pairs
    assert (pair.by, "n * 2" in pair.chosen, "n + n" in pair.rejected) == ("simulated", True, True)
    for row in store.list():
        burnish.rate(row.id, thumbs="up")
    assert {row.by for row in datasets.read_feedback(store, reviewer=True).examples} == {"person"}


def test_the_reviewer_gives_less_for_a_failed_check() -> None:
    said = [datasets.review(one) for one in (rated("proven"), rated("proven", "security"), rated("failed"))]
    assert said == [5, 4, 1]


def rated(verdict: str, *failed: str) -> Run:
    """A run that ended so, with checks that failed."""
    checks = [CheckFinished(evidence=Evidence(check=name, verdict="failed", why="")) for name in failed]
    started = RunStarted(run_id="r", verb="write", prompt="p", model="scripted:x", sandbox="none", burnish="0")
    return Run((started, *checks, RunFinished(verdict=verdict, why="", version=1)))
