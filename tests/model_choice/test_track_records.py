"""How models did is counted from what is on disk: each run for the model that it says something of."""

import json
from pathlib import Path
from typing import Any

import pytest

from burnish.evals import eval_store, metrics
from burnish.evals.schema import Results
from burnish.events import (
    BaseEvent,
    Broke,
    ModelReplied,
    RunFinished,
    RunStarted,
    Stopped,
    Verdict,
)
from burnish.model_choice import TrackRecord, count_track_records
from burnish.runs import Store

REPLIED = ModelReplied(ask_id="1", purpose="draft", text="…", tokens_in=5, tokens_out=5, seconds=1)
BY_X, BY_Y = (REPLIED.model_copy(update={"model": name}) for name in ("a:x", "b:y"))


def record(store: Store, model: str, *events: BaseEvent, verb: str = "write") -> Path:
    run_id, record = store.begin("double")
    started = RunStarted(run_id=run_id, verb=verb, prompt="…", model=model, burnish="0")
    with record:
        for event in (started, *events):
            record.append(event)
    return record.path.parent


def ended(verdict: Verdict) -> RunFinished:
    return RunFinished(verdict=verdict, why="…")


def test_nothing_was_ever_asked() -> None:
    assert count_track_records() == {}


def test_proven_runs_count_for_their_model_and_failed_and_broken_ones_against_it(store: Store) -> None:
    for verdict in ("proven", "proven", "failed"):
        record(store, "a:x", REPLIED, ended(verdict))
    record(store, "a:x", REPLIED, Broke(error="ModelError", message="gone"))
    record(store, "a:y", REPLIED, ended("failed"), verb="fix")
    assert count_track_records(store) == {"a:x": TrackRecord(runs=4, proven=2), "a:y": TrackRecord(runs=1)}


def test_runs_that_say_nothing_of_a_model_do_not_count(store: Store) -> None:
    record(store, "a:x", REPLIED, ended("plausible"))
    record(store, "a:x", REPLIED, Stopped(reason="interrupted"))
    record(store, "a:x", REPLIED)
    record(store, "a:x", ended("proven"), verb="fix")
    record(store, "a:x", ended("failed"))
    record(store, "a:x", Broke(error="ModelError", message="nothing answers"))
    record(store, "a:x", REPLIED, ended("failed"), verb="strengthen")
    assert count_track_records(store) == {}


def test_of_a_pair_the_last_that_was_asked_has_the_result_and_the_first_was_stuck(store: Store) -> None:
    record(store, "a:x,b:y", BY_X, ended("proven"))
    record(store, "a:x,b:y", BY_X, BY_Y, ended("proven"))
    record(store, "a:x,b:y", BY_X, BY_Y, ended("failed"))
    assert count_track_records(store) == {"a:x": TrackRecord(runs=3, proven=1), "b:y": TrackRecord(runs=2, proven=1)}


def test_an_old_record_of_a_pair_does_not_say_who_answered_and_is_nobodys(store: Store) -> None:
    record(store, "a:x,b:y", REPLIED, ended("proven"))
    assert count_track_records(store) == {}


def evaluation(name: str, **changes: Any) -> None:
    told: dict[str, Any] = {"model": "a:x", "strategy": "burnish", "protocol": "visible", "without": []}
    told |= {"tasks_finished": 40, "pass_at_1": [0.5, 0.75]} | changes
    (eval_store.evals_home() / name).mkdir(parents=True)
    (eval_store.evals_home() / name / metrics.RESULTS_FILE).write_text(json.dumps(told))


def test_evaluations_count_with_the_share_of_their_last_round() -> None:
    evaluation("one")
    evaluation("two", model="a:y", tasks_finished=0, pass_at_1=[])
    assert count_track_records() == {"a:x": TrackRecord(tasks=40, solved=30.0), "a:y": TrackRecord()}


@pytest.mark.parametrize("other", [{"strategy": "zero-shot"}, {"protocol": "oracle"}, {"without": ["tweak"]}])
def test_evaluations_of_something_else_than_what_a_user_gets_do_not_count(other: dict[str, Any]) -> None:
    evaluation("other", **other)
    assert count_track_records() == {}


@pytest.mark.parametrize("text", ["", "[]", "null", '{"model": 3}', "{"])
def test_a_file_of_results_that_makes_no_sense_is_passed_over(text: str) -> None:
    evaluation("fine")
    evaluation("odd")
    (eval_store.evals_home() / "odd" / metrics.RESULTS_FILE).write_text(text)
    assert count_track_records()["a:x"].tasks == 40


def test_the_fields_that_are_read_are_those_that_evaluations_write() -> None:
    fields = Results.model_fields
    assert {"model", "strategy", "protocol", "without", "tasks_finished", "pass_at_1"} <= fields.keys()
