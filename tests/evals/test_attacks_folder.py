"""Evaluations and suites that a stranger sends: nothing outside is written, and nothing ends in a traceback."""

import json
import os
from pathlib import Path

import pytest

from burnish.errors import SetupProblem
from burnish.evals.eval_store import Folder, attempt_stem
from burnish.evals.evaluate import resume
from burnish.evals.reports.report import write_reports
from burnish.evals.schema import Plan
from burnish.events import Answered, Scored
from burnish.tasks.jsonl import load_jsonl
from tests.evals.toys import toy, toys
from tests.support import MINE

PLAN = Plan(suite="toys", model="scripted:gold", seeds=(0,))
EVENTS = [Answered(call=1, round=0, version=1), Scored(version=1, passed=True)]
ROW = {"prompt": "Double.", "entry_point": "double", "hidden_tests": "assert double(1) == 2"}


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder.create(tmp_path / "eval", PLAN, toys(2))
    made.write("toy-1", 0, EVENTS)
    return made


@pytest.mark.parametrize(
    "name", ["results.json", "results.json.tmp", "report.md", "report.html.tmp", ".lock", "attempts/toy-2.0.jsonl.tmp"]
)
@pytest.mark.parametrize("there", [True, False])
def test_no_link_in_a_strangers_evaluation_is_written_through(
    folder: Folder, mine: Path, name: str, there: bool
) -> None:
    target = mine if there else mine.with_name("new")
    (folder.path / name).symlink_to(target)
    try:
        again = Folder.open(folder.path)
        with again.lock():
            again.write("toy-2", 0, EVENTS)
            write_reports(again)
    except SetupProblem:
        pass
    assert mine.read_text() == MINE
    assert [file.name for file in mine.parent.iterdir()] == [mine.name]


@pytest.mark.parametrize("name", ["attempts", "plots"])
def test_no_folder_of_an_evaluation_may_be_a_link(folder: Folder, mine: Path, name: str) -> None:
    place = folder.path / name
    if place.exists():
        place.rename(folder.path / "elsewhere")
    place.symlink_to(mine.parent)
    with pytest.raises(SetupProblem):
        Folder.open(folder.path)
    assert [file.name for file in mine.parent.iterdir()] == [mine.name]


def test_a_pipe_in_place_of_a_lock_or_of_an_attempt_keeps_nobody_waiting(folder: Folder) -> None:
    os.mkfifo(folder.path / ".lock")
    os.mkfifo(folder.file("toy-2", 0))
    again = Folder.open(folder.path)
    with pytest.raises(SetupProblem), again.lock():
        pass
    assert again.finished_attempts() == {("toy-1", 0)}


def test_an_evaluation_without_isolation_is_resumed_only_where_the_user_says_so_again(tmp_path: Path) -> None:
    plan = PLAN.model_copy(update={"sandbox": "process"})
    made = Folder.create(tmp_path / "eval", plan, toys(1))
    with pytest.raises(SetupProblem, match="--sandbox process"):
        resume(str(made.path))


@pytest.mark.slow
def test_two_tasks_whose_files_would_have_one_name_are_refused(tmp_path: Path) -> None:
    seen: dict[str, str] = {}
    number = 0
    while (name := attempt_stem(f"{'x' * 80}{number}")) not in seen:
        seen[name] = f"{'x' * 80}{number}"
        number += 1
    tasks = [toy(1, seen[name]), toy(2, f"{'x' * 80}{number}")]
    with pytest.raises(SetupProblem):
        Folder.create(tmp_path / "eval", PLAN, tasks)


@pytest.mark.parametrize(
    "task_id", ["..", ".", "../../x", "/etc/passwd", "a\0b", "a\nb", "-rf", "~", "x" * 5000, "\u202e", "CON"]
)
def test_no_id_of_a_task_leads_out_of_its_folder(tmp_path: Path, task_id: str) -> None:
    made = Folder.create(tmp_path / "eval", PLAN, [toy(1, task_id)])
    made.write(task_id, 0, EVENTS)
    [file] = (made.path / "attempts").iterdir()
    assert made.finished_attempts() == {(task_id, 0)}
    assert file.is_file()


@pytest.mark.parametrize(
    "line",
    [
        "[" * 100_000,
        '{"a":' * 100_000,
        json.dumps(ROW | {"id": "\ud800"}),
        json.dumps(ROW | {"prompt": "\udfff"}),
        json.dumps(ROW | {"hidden_tests": "\ud800"}),
        json.dumps(ROW | {"visible_tests": ["\ud800"]}),
        json.dumps(ROW | {"hidden_tests": "assert " + "-" * 100_000 + "1"}),
        json.dumps(ROW | {"hidden_tests": "x = " + "(" * 5000 + ")" * 5000}),
        json.dumps(ROW | {"hidden_tests": "a\0b"}),
        json.dumps(ROW | {"id": None}),
        json.dumps(ROW | {"id": float("nan")}),
        json.dumps(ROW).replace('"Double."', "9" * 5000),
        json.dumps(ROW | {"entry_point": "class"}),
        json.dumps(ROW | {"entry_point": "x\ny"}),
    ],
    ids=lambda line: line[:8],
)
def test_a_row_that_cannot_be_right_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text(line + "\n")
    with pytest.raises(SetupProblem) as caught:
        load_jsonl(file)
    assert f"1 of {str(file)!r}" in str(caught.value)


def test_ids_that_only_look_alike_stay_apart(tmp_path: Path) -> None:
    names = ["caf\u00e9", "cafe\u0301", "\u0430", "a", "A"]
    made = Folder.create(tmp_path / "eval", PLAN, [toy(1, name) for name in names])
    for name in names:
        made.write(name, 0, EVENTS)
    assert made.finished_attempts() == {(name, 0) for name in names}
    assert len({file.name.lower() for file in (made.path / "attempts").iterdir()}) >= 4
