"""A request is all that decides a run, and what its record says it began with."""

import ast

import pytest

from burnish.agent.limits import Limits
from burnish.runs.request import EvalSettings, Request
from burnish.tasks.task import Task
from tests.support import ROOT

TASK = Task(id="double", prompt="p", entry_point="double", hidden_tests="assert 1", gold="GOLD")


def test_the_record_holds_what_was_asked_for_and_nothing_that_only_scores() -> None:
    said = Request(task=TASK, limits=Limits(calls=3), checks=("quality",), review=True).settings.to_json()
    assert said["limits"]["calls"] == 3
    assert (said["checks"], said["afterwards"], said["review"]) == (["quality"], [], True)
    assert said["task"]["entry_point"] == "double"
    assert not {"hidden_tests", "gold"} & said["task"].keys()
    assert not {"packages", "chosen", "out", "ask", "fix", "plan"} & said.keys()


def test_the_record_of_an_evaluation_names_what_was_left_out() -> None:
    measured = EvalSettings(plan={"suite": "toys"}, seed=0, engine="script", left_out=("refine",))
    said = Request(task=TASK, verb="eval", evaluation=measured).settings.to_json()
    assert (said["plan"], said["seed"], said["left_out"]) == ({"suite": "toys"}, 0, ["refine"])


def test_a_run_of_another_kind_has_no_task() -> None:
    said = Request(task=Task(id="m", prompt="five tiny tasks"), verb="models doctor").settings.to_json()
    assert said.keys() == {"limits"}


@pytest.mark.slow
def test_runs_are_made_in_one_place() -> None:
    """`Tools` and `RunStarted` are built by runs.attempt; a picture of the graph needs tools that nobody works with."""
    makers: dict[str, set[str]] = {"Tools": set(), "RunStarted": set()}
    source = ROOT / "src" / "burnish"
    for file in source.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in makers:
                makers[node.func.id].add(str(file.relative_to(source)))
    assert makers["Tools"] == {"runs/attempt.py", "agent/graph.py"}
    assert makers["RunStarted"] == {"runs/attempt.py"}
