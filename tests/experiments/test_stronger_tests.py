"""The experiment on tests for what goes unnoticed: one row a task, a table from the rows, nothing done twice."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

from burnish import Run, ScriptedModel, Store
from burnish.events import Mutated, NewTest, Strengthened
from burnish.sandbox import Sandbox
from burnish.tasks import Task
from tests.iterated import EVENTS, iterated
from tests.support import ROOT, block

FLOOR = Task(
    id="floor",
    prompt="Write a function that gives n back, and 0 for what is less.",
    entry_point="floor",
    visible_tests=("assert floor(3) == 3",),
    hidden_tests="assert floor(3) == 3\nassert floor(-2) == 0\nassert floor(0) == 0\n",
    gold="def floor(n):\n    return max(n, 0)\n",
    split="tune",
)
RIGHT = block("def floor(n):\n    if n > 0:\n        return n\n    return 0")
WRONG = block("def floor(n):\n    if n > 0:\n        return n\n    return -n")


@pytest.fixture(scope="module")
def experiment() -> ModuleType:
    place = ROOT / "experiments" / "stronger_tests.py"
    spec = importlib.util.spec_from_file_location("stronger_tests", place)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def model(answer: str) -> ScriptedModel:
    said = dict.fromkeys(("draft", "rewrite", "repair"), [answer])
    return ScriptedModel(said | {"tests": [block("assert floor(5) == 5")], "": ["assert floor(1) == 1"]})


def test_scores_come_from_the_first_tests_and_the_last(experiment: ModuleType) -> None:
    found = experiment.scores(iterated())
    assert (found["mutants"], found["before"], found["after"], found["with_pinned"]) == (8, 37.5, 62.5, 75.0)
    assert (found["unnoticed"], found["noticed_now"], found["pinned"], found["alike"]) == (5, 2, 1, 1)


def test_a_repaired_version_has_the_scores_of_its_own_mutants(experiment: ModuleType) -> None:
    new = NewTest(test="assert f(1) == 1", origin="agreed", notices=("a",))
    run = Run(
        (
            EVENTS[0],
            Mutated(version=1, mutants=4, noticed=1),
            Strengthened(version=1, tests=(new,), exposing=(new.test,), noticed=2),
            Mutated(version=2, mutants=10, noticed=7),
            Strengthened(version=2, noticed=9, pinned=1),
        )
    )
    found = experiment.scores(run)
    assert (found["before"], found["after"], found["with_pinned"]) == (25.0, 90.0, 100.0)
    assert experiment.scores(Run(EVENTS[:3]))["mutants"] == 0


@pytest.mark.slow
def test_two_tasks_are_measured_once_and_told_in_a_table(
    experiment: ModuleType, box: Sandbox, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = FLOOR.model_copy(update={"id": "wrong"})
    out = tmp_path / "out.jsonl"
    experiment.work_through([FLOOR], model(RIGHT), out, 1)
    experiment.work_through([wrong], model(WRONG), out, 2)
    right, other = rows = experiment.read(out)
    assert (right["task"], right["right"], right["right_before"]) == ("floor", True, True)
    assert (other["right"], other["right_before"]) == (False, False)
    assert {"test": "assert floor(5) == 5", "origin": "model", "aside": False, "gold": True} in right["tests"]
    assert all(isinstance(test["gold"], bool) for row in rows for test in row["tests"])
    table = "\n".join(experiment.summary(rows))
    assert "2 tasks, 0 broken" in table
    assert "model tests, code right: 1; the reference fails 0 of 1" in table
    monkeypatch.setattr(experiment, "load_mbpp", lambda split: [FLOOR, wrong])
    before = out.read_text()
    experiment.main("scripted:none", out, 60)
    assert out.read_text() == before


def test_a_test_that_the_reference_fails_is_a_false_reject(experiment: ModuleType, box: Sandbox) -> None:
    run = Run(
        tuple(
            event.model_copy(update={"tests": (NewTest(test="assert f(1) == 2", origin="agreed", notices=("a",)),)})
            if isinstance(event, Strengthened)
            else event
            for event in EVENTS
        )
    )
    task = Task(id="f", prompt="f", entry_point="f", gold="def f(n):\n    return max(n, 0)\n")
    found = {row["test"]: row["gold"] for row in experiment.tests_of(run, task, box)}
    assert found == {"assert f(-1) == 0": True, "assert f(1) == 2": False}


@pytest.mark.slow
def test_a_reference_that_hangs_on_one_test_is_still_asked_the_others(
    experiment: ModuleType, box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("burnish.checks.tests.TIMEOUT_SECONDS", 1.5)
    task = Task(id="f", prompt="f", entry_point="f", gold="def f(n):\n    while n == 1: pass\n    return max(n, 0)\n")
    found = {row["test"]: row["gold"] for row in experiment.tests_of(iterated(), task, box)}
    assert found["assert f(1) == 1"] is False
    assert found["assert f(0) == 0"] is True


def test_what_broke_is_tried_again_and_a_torn_line_is_passed_over(experiment: ModuleType, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text(json.dumps({"task": "a", "error": "x"}) + "\n" + json.dumps({"task": "b", "error": "x"}) + '\n{"ta')
    assert [row["task"] for row in experiment.read(out)] == ["a", "b"]
    assert next(experiment.summary(experiment.read(out))).endswith(
        "0 tasks, 2 broken; 0 have a version that passes and has mutants"
    )
