"""How fast a model was: from what is on record, and the newest counts."""

import json
from pathlib import Path

import pytest

from burnish.events import ModelReplied, Resumed, RunStarted
from burnish.model_choice import TRIALS, last_speeds
from burnish.runs import Store


def answer(at: float, tokens: int, seconds: float, ask_id: str = "a", **more: object) -> ModelReplied:
    told = {"ask_id": ask_id, "purpose": "draft", "text": "x", "tokens_in": 9, "tokens_out": tokens}
    return ModelReplied.model_validate({**told, "seconds": seconds, "at": at, **more})


def keep(store: Store, model: str, *replies: ModelReplied | Resumed, name: str = "run") -> Path:
    run_id, record = store.begin(name)
    with record:
        record.append(RunStarted(run_id=run_id, verb="write", prompt="p", model=model, burnish="0", at=replies[0].at))
        for reply in replies:
            record.append(reply)
    return record.path


def test_the_newest_run_of_a_model_says_how_fast_it_is(store: Store) -> None:
    keep(store, "local:a", answer(100, tokens=100, seconds=10))
    keep(store, "local:a", answer(200, tokens=100, seconds=4))
    keep(store, "ollama:b", answer(150, tokens=60, seconds=2))
    found = last_speeds()
    assert {name: (speed.tokens_per_second, speed.at) for name, speed in found.items()} == {
        "local:a": (25.0, 200.0),
        "ollama:b": (30.0, 150.0),
    }


def test_answers_that_were_written_side_by_side_each_have_their_own_time(store: Store) -> None:
    keep(store, "m:x", answer(20, 100, 10, "a"), answer(20, 100, 10, "b"), answer(40, 100, 5, "c"))
    assert last_speeds()["m:x"].tokens_per_second == 12.0


def test_a_short_answer_and_one_that_was_broken_off_say_nothing(store: Store) -> None:
    keep(store, "m:x", answer(20, 5, 10), answer(30, 50, 10, "b", ended="cut"))
    assert last_speeds() == {}


def test_an_answer_that_a_resumed_run_repeats_changes_nothing(store: Store) -> None:
    keep(store, "m:x", answer(20, 100, 10), Resumed(answers=1, burnish="0"), answer(500, 100, 10))
    assert last_speeds()["m:x"].tokens_per_second == 10.0


def test_each_of_several_models_has_its_own_speed_and_an_unnamed_answer_is_nobodys(store: Store) -> None:
    keep(store, "m:small,m:large", answer(20, 100, 10), answer(30, 100, 5, "b", model="m:large"))
    assert {name: speed.tokens_per_second for name, speed in last_speeds().items()} == {"m:large": 20.0}


def test_evaluations_and_trials_count_too(home: Path) -> None:
    keep(Store(home / TRIALS), "m:tried", answer(20, 100, 10))
    for name, seconds in (("one", 5.0), ("odd", 0.0), ("none", None)):
        (home / "evals" / name).mkdir(parents=True)
        results = {"model": "m:measured", "cost": {"tokens_out": 100.0}, "model_seconds": seconds}
        (home / "evals" / name / "results.json").write_text(json.dumps(results))
    assert {name: speed.tokens_per_second for name, speed in last_speeds().items()} == {
        "m:tried": 10.0,
        "m:measured": 20.0,
    }


def test_a_run_that_is_gone_or_has_changed_is_noticed(store: Store) -> None:
    file = keep(store, "m:x", answer(20, 100, 10))
    assert last_speeds()["m:x"].tokens_per_second == 10
    with file.open("a") as more:
        more.write(answer(50, 100, 5, "later").model_dump_json() + "\n")
    assert last_speeds()["m:x"].at == 50
    store.remove("last")
    assert last_speeds() == {}


@pytest.mark.parametrize("damage", [b"not a database" * 100, b""])
def test_an_index_that_is_damaged_is_made_anew(store: Store, damage: bytes) -> None:
    keep(store, "m:x", answer(20, 100, 10))
    before = last_speeds()
    (store.folder / "index.json").write_bytes(damage)
    assert last_speeds() == before


def test_what_is_no_record_is_passed_over(store: Store) -> None:
    keep(store, "m:x", answer(20, 100, 10))
    for number, text in enumerate(('{"kind": "model_replied"}', "garbage", '{"kind": "model_replied", "at": "x"}', "")):
        (store.runs / f"bad-{number}").mkdir()
        (store.runs / f"bad-{number}" / "events.jsonl").write_text(
            f'{{"kind": "run_started", "model": "m:y"}}\n{text}\n'
        )
    assert list(last_speeds()) == ["m:x"]
