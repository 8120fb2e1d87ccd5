"""A whole evaluation has limits: they are kept, what is finished stays, and it can be gone on with."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from burnish.evals.eval_store import Folder
from burnish.evals.evaluate import evaluate, resume
from burnish.evals.reports.report_text import render_markdown
from burnish.evals.schema import EvalLimits, Results
from burnish.models.model import Done
from burnish.models.scripted import ScriptedModel
from tests.evals.test_runner import Picky
from tests.evals.toys import jsonl, toy, toys
from tests.support import block, refused

RIGHT = block("def add_1(x):\n    return x + 1")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is learnt about toy tasks does not end up in the user's cache."""
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))


class Wordy(Picky):
    """A model that takes 400 tokens each time."""

    def stream(self, ask: Any, cancel: Any) -> Any:
        for piece in super().stream(ask, cancel):
            yield Done(tokens_in=390, tokens_out=10) if isinstance(piece, Done) else piece


class Priced(Wordy):
    """A model with a price."""

    name = "openai:gpt-4o-mini"


def measure(tmp_path: Path, limits: EvalLimits | None, model: Any = None, **settings: Any) -> Results:
    """An evaluation of six tasks, one after the other."""
    suite = str(jsonl(tmp_path / "mine.jsonl", toys(6)))
    usual = {"strategy": "single", "at_once": 1, "out": tmp_path / "e"}
    return evaluate(suite, model or ScriptedModel([RIGHT], "scripted:one"), limits=limits, **usual | settings)


def test_a_limit_of_tokens_ends_it_with_what_is_finished_and_can_be_raised(tmp_path: Path) -> None:
    cut = measure(tmp_path, EvalLimits(tokens=2000), Wordy())
    assert (cut.stopped_by, 0 < cut.finished < 6) == ("tokens", True)
    assert cut.cost.tokens_in + cut.cost.tokens_out <= Folder.open(tmp_path / "e").contents.spent.tokens <= 2000
    assert "Stopped: the limit of 2,000 tokens" in render_markdown(cut)
    same = resume(str(tmp_path / "e"), model=Wordy())
    assert (same.finished, same.stopped_by) == (cut.finished, "tokens"), "the limit stands until it is raised"
    rest = resume(str(tmp_path / "e"), limits=EvalLimits(tokens=10**6), model=Wordy())
    assert (rest.complete, rest.stopped_by, rest.limits.tokens) == (True, "", 10**6)


@pytest.mark.slow
def test_what_calls_under_way_do_not_need_pays_for_others(tmp_path: Path) -> None:
    whole = measure(tmp_path, EvalLimits(tokens=6000), Wordy(seconds=0.2), at_once=6)
    assert (whole.complete, whole.spent.tokens) == (True, 2400), "six at once are booked at more than the limit"


@pytest.mark.slow
def test_out_of_time_what_is_under_way_is_forgotten(tmp_path: Path) -> None:
    cut = measure(tmp_path, EvalLimits(seconds=1.0), Picky(seconds=0.7))
    assert (cut.stopped_by, cut.complete) == ("seconds", False)
    assert cut.finished < 3
    with refused(name="evals/the time is spent", tmp=tmp_path, spent=f"{cut.spent.seconds:g}"):
        resume(str(tmp_path / "e"), model=Picky())
    assert resume(str(tmp_path / "e"), limits=EvalLimits(seconds=100), model=Picky()).complete


@pytest.mark.slow
def test_dollars_are_summed_where_prices_are_known_and_capped(tmp_path: Path) -> None:
    free = measure(tmp_path, EvalLimits(dollars=0.0))
    assert (free.complete, free.cost.dollars) == (True, 0.0)
    dear = measure(tmp_path, None, Priced(), out=tmp_path / "dear")
    assert dear.cost.dollars
    assert dear.cost.dollars == pytest.approx(sum(one.dollars or 0 for one in dear.attempts))
    assert dear.cost_per_task
    assert dear.cost_per_task.dollars == pytest.approx(dear.cost.dollars / 6)
    cut = measure(tmp_path, EvalLimits(dollars=dear.cost.dollars / 2), Priced(), out=tmp_path / "cut")
    assert cut.stopped_by == "dollars"
    assert cut.spent.dollars <= dear.cost.dollars / 2


@pytest.mark.slow
def test_dollars_that_nobody_knows_are_null_with_the_reason_and_cannot_be_capped(tmp_path: Path) -> None:
    results = measure(tmp_path, None, Picky())
    assert (results.cost.dollars, "picky:one" in results.dollars_unknown) == (None, True)
    assert results.dollars_unknown in render_markdown(results).replace("\\", "")
    with refused(name="evals/dollars of an unknown price", tmp=tmp_path):
        measure(tmp_path, EvalLimits(dollars=1.0), Picky(), out=tmp_path / "never")
    assert not (tmp_path / "never").exists()
    with refused(name="evals/dollars of an unknown price", tmp=tmp_path):
        resume(str(tmp_path / "e"), limits=EvalLimits(dollars=1.0))


@pytest.mark.parametrize(
    "wrong", [{"tokens": 0}, {"tokens": -1}, {"seconds": 0}, {"seconds": float("nan")}, {"dollars": -0.1}]
)
def test_limits_that_mean_nothing_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        EvalLimits(**wrong)


@pytest.mark.slow
def test_seeds_are_added_to_a_finished_evaluation_and_its_attempts_stay(tmp_path: Path) -> None:
    measure(tmp_path, None)
    before = {file: file.read_bytes() for file in (tmp_path / "e" / "attempts").iterdir()}
    more = resume(str(tmp_path / "e"), seeds=range(3), model=ScriptedModel([RIGHT], "scripted:one"))
    assert (more.seeds, more.finished, len(more.pass_at_k)) == ((0, 1, 2), 18, 3)
    assert before == {file: file.read_bytes() for file in before}
    again = measure(tmp_path, None, seeds=range(4))
    assert (again.seeds, again.finished) == ((0, 1, 2, 3), 24), "the same folder may be named as well"
    with refused(name="evals/fewer seeds", tmp=tmp_path):
        measure(tmp_path, None, seeds=(0,))


@pytest.mark.slow
def test_the_time_of_a_task_s_tests_is_part_of_the_plan(tmp_path: Path) -> None:
    busy = "import time\nstart = time.process_time()\nwhile time.process_time() < start + 1: pass\n"
    slow = toy(1).model_copy(update={"hidden_tests": busy + toy(1).hidden_tests})
    suite = str(jsonl(tmp_path / "slow.jsonl", [slow]))
    model = ScriptedModel([RIGHT], "scripted:one")
    with refused(name="evals/a reference that is too slow", tmp=tmp_path):
        evaluate(suite, model, strategy="single", timeout_seconds=1)
    results = evaluate(suite, model, strategy="single", timeout_seconds=9)
    assert (results.solved, results.timeout_seconds) == (1, 9.0)
