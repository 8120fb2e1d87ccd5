"""Answers that were recorded once are judged again by another policy, without a model."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from burnish.evals.compare import compare
from burnish.evals.eval_store import Folder, list_evaluations
from burnish.evals.evaluate import evaluate, replay, resume
from burnish.evals.metrics import read_results
from burnish.evals.replay import NotRecorded, RecordedModel
from burnish.evals.reports.report_text import render_markdown
from burnish.evals.schema import Plan, Results
from burnish.events import Asked, Event, Message, ModelReplied
from burnish.models.model import Ask, Chunk
from burnish.models.scripted import ScriptedModel
from tests.evals.toys import jsonl, toys
from tests.support import block, refused

WRONG, RIGHT = block("def add_2(x):\n    return 0"), block("def add_1(x):\n    return x + 1")
QUESTION = (Message(role="user", content="add"),)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is learnt about toy tasks does not end up in the user's cache."""
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))


def recorded(tmp_path: Path, **settings: Any) -> tuple[Results, Folder]:
    """An evaluation of three tasks, the first of which is solved with the second answer."""
    suite = str(jsonl(tmp_path / "mine.jsonl", toys(3)))
    usual = {"strategy": "retry", "rounds": 1, "out": tmp_path / "recorded"}
    results = evaluate(suite, ScriptedModel([WRONG, RIGHT], "scripted:two"), **usual | settings)
    return results, Folder.open(tmp_path / "recorded")


def figures(results: Results) -> list[object]:
    """What a replay must find again."""
    return [(one.task_id, one.seed, one.solved_by_call, one.tokens_by_call, one.calls) for one in results.attempts]


def sample(seed: int, text: str, temperature: float = 0.7, **changes: Any) -> list[Event]:
    """One answer on record."""
    usual = {"ask_id": text, "purpose": "draft", "messages": QUESTION, "top_p": 1.0, "max_tokens": 9}
    asked = Asked(**{**usual, "temperature": temperature, "seed": seed, **changes})
    return [asked, ModelReplied(ask_id=text, purpose="draft", text=text, tokens_in=1, tokens_out=1, seconds=0.1)]


def answer(model: RecordedModel, seed: int, temperature: float = 0.7, **changes: Any) -> str:
    """What the record says to a question."""
    usual = {"purpose": "draft", "messages": QUESTION, "temperature": temperature, "max_tokens": 9, "seed": seed}
    pieces = list(model.stream(Ask(**{**usual, **changes}), threading.Event()))
    assert isinstance(pieces[0], Chunk)
    return pieces[0].text


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder.create(tmp_path / "e", Plan(suite="s", model="scripted:two"), toys(1))


def test_a_question_gets_the_answer_of_its_own_seed_and_gets_it_again(folder: Folder) -> None:
    model = RecordedModel(folder, [*sample(1, "a"), *sample(2, "b"), *sample(3, "c")])
    assert [answer(model, seed) for seed in (2, 1, 2)] == ["b", "a", "b"]


def test_a_draw_that_nobody_was_given_may_stand_in_and_none_is_given_for_two_seeds(folder: Folder) -> None:
    model = RecordedModel(folder, [*sample(1, "a"), *sample(2, "b")])
    assert [answer(model, seed) for seed in (7, 1, 7)] == ["a", "b", "a"]
    with pytest.raises(NotRecorded):
        answer(model, 2)


def test_without_sampling_the_seed_decides_nothing(folder: Folder) -> None:
    model = RecordedModel(folder, sample(1, "a", temperature=0.0))
    assert [answer(model, seed, temperature=0.0) for seed in (1, 2)] == ["a", "a"]


@pytest.mark.parametrize(
    "other",
    [
        {"messages": (Message(role="user", content="add "),)},
        {"temperature": 0.8},
        {"max_tokens": 10},
        {"thinking": 1},
        {"top_p": 0.9},
    ],
)
def test_no_answer_is_given_to_another_question(folder: Folder, other: dict[str, Any]) -> None:
    with pytest.raises(NotRecorded):
        answer(RecordedModel(folder, sample(1, "a")), **{"seed": 1, **other})


def test_a_replay_finds_the_same_figures_without_a_model_and_says_what_it_is(tmp_path: Path) -> None:
    first, folder = recorded(tmp_path, seeds=(0, 1))
    assert first.pass_at_1 == (0.0, 1 / 3)
    again = replay(str(folder.path), out=tmp_path / "again")
    assert figures(again) == figures(first)
    assert (again.replayed, again.not_recorded, again.errors, again.model) == ("recorded", 0, 0, "scripted:two")
    assert json.loads((tmp_path / "again" / "results.json").read_text())["replayed"] == "recorded"
    assert "Replayed: " in render_markdown(again)
    assert "--replay recorded" in render_markdown(again)
    found = compare([first], [again])
    assert found.b.name.endswith(", replayed")
    assert "recording" in found.warnings[0]


@pytest.mark.slow
def test_what_the_other_policy_asks_besides_is_counted_and_not_guessed(tmp_path: Path) -> None:
    _, folder = recorded(tmp_path)
    more = replay(str(folder.path), rounds=3, out=tmp_path / "more")
    assert [(one.solved, one.not_recorded) for one in more.attempts] == [(True, False), (False, True), (False, True)]
    assert (more.not_recorded, more.errors, more.finished, more.solved) == (2, 0, 3, 1)
    assert compare([more], [more.model_copy(update={"attempts": more.attempts[:2]})]).warnings
    fewer = replay(str(folder.path), strategy="single", temperature=0.7, limit=2, out=tmp_path / "fewer")
    assert (fewer.tasks, fewer.not_recorded, fewer.limit) == (2, 0, 2), "it asks what retry asks first"
    assert replay(str(folder.path), strategy="single", out=tmp_path / "greedy").not_recorded == 3


@pytest.mark.slow
def test_an_unfinished_replay_goes_on_from_its_source(tmp_path: Path) -> None:
    first, folder = recorded(tmp_path)
    replay(str(folder.path), out=tmp_path / "again")
    next((tmp_path / "again" / "attempts").iterdir()).unlink()
    assert figures(resume(str(tmp_path / "again"))) == figures(first)


@pytest.mark.slow
def test_what_cannot_be_replayed_is_refused(tmp_path: Path) -> None:
    _, folder = recorded(tmp_path)
    with refused(name="evals/replay of no evaluation", tmp=tmp_path):
        replay(str(tmp_path / "cache"))
    with refused(name="evals/replay of another suite", tmp=tmp_path):
        replay(str(folder.path), suite="humaneval")
    with refused(name="evals/replay of a seed that is not there", tmp=tmp_path):
        replay(str(folder.path), seeds=(0, 1))
    file = next((folder.path / "attempts").iterdir())
    file.write_text('{"kind": "asked"')
    with refused(name="evals/replay of a damaged attempt", tmp=tmp_path, file=file.name):
        replay(str(folder.path), out=tmp_path / "again")
    assert list_evaluations() == []


@pytest.mark.slow
def test_an_attempt_that_is_missing_in_the_source_is_not_on_record(tmp_path: Path) -> None:
    _, folder = recorded(tmp_path)
    folder.file("toy-1", 0).unlink()
    assert replay(str(folder.path), out=tmp_path / "again").not_recorded == 1
    assert read_results(tmp_path / "again").attempts[0].not_recorded
