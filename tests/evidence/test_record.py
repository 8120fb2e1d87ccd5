"""The user's own record bears out what the evidence says of the cost, of older evidence as far as that goes."""

import json

import pytest

from burnish.commands.verify import read_recorded_dossier
from burnish.events import Event, ModelReplied, RunFinished, RunStarted, SpecAgreed
from burnish.evidence import Dossier, build_dossier
from burnish.evidence.claims import claim_record
from burnish.evidence.folder import parse_dossier
from burnish.evidence.schema import render_dossier
from burnish.report.deliverables import list_open_questions
from burnish.runs import Store
from burnish.tasks.examples import find_assumed_tests


@pytest.fixture
def dossier(store: Store) -> Dossier:
    """What is said of a run of two models that is on record here."""
    run_id, record = store.begin("a")
    told = {"ask_id": "d", "purpose": "draft", "text": "x", "tokens_in": 9, "tokens_out": 2, "seconds": 1.0}
    events: tuple[Event, ...] = (
        RunStarted(run_id=run_id, verb="write", prompt="p", model="local:a,openai:b", burnish="0"),
        SpecAgreed(entry_point="f", signature="f(n)"),
        ModelReplied.model_validate({**told, "model": "local:a", "dollars": 0.0}),
        ModelReplied.model_validate({**told, "model": "openai:b", "dollars": None, "tokens_cached": 4}),
        RunFinished(verdict="failed", why="so"),
    )
    with record:
        for event in events:
            record.append(event)
    return build_dossier(store.open(run_id), {})


def test_what_each_model_took_is_part_of_the_evidence_and_agrees_with_the_record(
    dossier: Dossier, store: Store
) -> None:
    small, large = dossier.cost.by_model
    assert (small.model, small.dollars, large.model, large.dollars) == ("local:a", 0.0, "openai:b", None)
    assert large.tokens_cached == 4
    assert claim_record(dossier, read_recorded_dossier(dossier.run.id, store)).answer == "holds"


def test_older_evidence_that_says_nothing_of_each_model_still_holds(dossier: Dossier, store: Store) -> None:
    older = dossier.model_copy(update={"cost": dossier.cost.model_copy(update={"by_model": ()})})
    assert claim_record(older, read_recorded_dossier(older.run.id, store)).answer == "holds"


def test_a_cost_that_was_made_smaller_does_not_hold(dossier: Dossier, store: Store) -> None:
    cheaper = dossier.cost.by_model[1].model_copy(update={"tokens_in": 1})
    changed = dossier.cost.model_copy(update={"by_model": (dossier.cost.by_model[0], cheaper)})
    claim = claim_record(dossier.model_copy(update={"cost": changed}), read_recorded_dossier(dossier.run.id, store))
    assert (claim.answer, "the cost" in claim.why) == ("does_not_hold", True)


def test_what_was_left_open_is_listed_and_evidence_that_is_older_than_that_still_holds(store: Store) -> None:
    run_id, record = store.begin("b")
    assumed, asked = "f('') == 0", "which time zone is meant"
    with record:
        record.append(RunStarted(run_id=run_id, verb="write", prompt="p", model="local:a", burnish="0"))
        spec = SpecAgreed(entry_point="f", signature="f(n)", assumptions=(assumed,), open_questions=(asked,))
        record.append(spec)
        record.append(RunFinished(verdict="failed", why="so", disputed=tuple(find_assumed_tests((assumed,)))))
    run = store.open(run_id)
    dossier = build_dossier(run, {"report.md": ""})
    assert list(dossier.task.open_questions) == list_open_questions(run)
    assert dossier.task.open_questions[0] == asked
    assert assumed in dossier.task.open_questions[1], "what was assumed and is not so is open again"
    assert parse_dossier(json.loads(render_dossier(dossier))) == dossier
    recorded = read_recorded_dossier(run_id, store)
    assert claim_record(dossier, recorded).answer == "holds"

    data = json.loads(render_dossier(dossier))
    del data["task"]["open_questions"]
    older = parse_dossier({**data, "version": 3})
    assert (older.task.open_questions, claim_record(older, recorded).answer) == ((), "holds")
    hidden = parse_dossier(data)
    assert claim_record(hidden, recorded).answer == "does_not_hold", "an open question cannot be left out"
