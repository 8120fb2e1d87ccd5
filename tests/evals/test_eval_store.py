"""An evaluation on disk: written whole or not at all, found again by name, and never worked on by two at once."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from burnish.evals import eval_store
from burnish.evals.eval_store import Folder, attempt_stem
from burnish.evals.schema import LeftOut, Plan
from burnish.events import Answered, ModelChunk, Scored, Stopped
from tests.evals.toys import toys
from tests.support import refused

PLAN = Plan(suite="toys", model="scripted:gold", seeds=(0, 1))
EVENTS = [Answered(call=1, round=0, version=1), Scored(version=1, passed=True)]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder.create(tmp_path / "eval", PLAN, toys(3), [LeftOut(id="toy-9", why="gold fails")])


def test_what_was_created_can_be_opened_again(folder: Folder) -> None:
    again = Folder.open(folder.path)
    assert again.plan == PLAN
    assert again.task_ids == ("toy-1", "toy-2", "toy-3")
    assert again.bugs["toy-2"] == "operator misuse"
    assert [(row.id, row.why) for row in again.broken] == [("toy-9", "gold fails")]
    assert (again.total, again.finished_attempts()) == (6, set())


def test_gold_and_scoring_tests_are_not_in_the_plan(folder: Folder) -> None:
    assert "x + 2" not in (folder.path / "eval.json").read_text()


def test_attempts_come_back_in_the_order_of_tasks_then_seeds(folder: Folder) -> None:
    for task_id, seed in [("toy-3", 0), ("toy-1", 1), ("toy-1", 0)]:
        folder.write(task_id, seed, EVENTS)
    assert folder.finished_attempts() == {("toy-3", 0), ("toy-1", 1), ("toy-1", 0)}
    attempts = list(folder.attempts())
    assert [(task_id, seed) for task_id, seed, _ in attempts] == [("toy-1", 0), ("toy-1", 1), ("toy-3", 0)]
    assert attempts[0][2] == EVENTS


def test_only_what_lasts_is_written(folder: Folder) -> None:
    folder.write("toy-1", 0, [ModelChunk(ask_id="a", text="x"), Stopped(reason="done")])
    [(_, _, events)] = folder.attempts()
    assert [event.kind for event in events] == ["stopped"]


def test_half_a_file_and_strange_files_are_no_attempts(folder: Folder) -> None:
    (folder.path / "attempts" / "toy-1.0.jsonl.tmp").write_text('{"kind":')
    (folder.path / "attempts" / "other.7.jsonl").write_text("x")
    assert folder.finished_attempts() == set()
    assert list(folder.attempts()) == []


def test_tasks_with_names_that_are_no_file_names_keep_apart() -> None:
    names = ["Python/0", "Python-0", "Python\\0", "../../etc/passwd", ".", "é" * 300, "a" * 200, "a" * 201, ""]
    files = [attempt_stem(name) for name in names]
    assert len(set(files)) == len(names)
    assert all("/" not in file and len(file.encode()) < 100 for file in files)
    assert attempt_stem("HumanEval-7_b.c") == "HumanEval-7_b.c"


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("none", None),
        ("no JSON", "no json"),
        ("no plan", "[]"),
        ("a newer version", '{"plan": {"version": 99}}'),
        ("an unknown field", '{"plan": {"version": 1, "suite": "x", "model": "m", "colour": 1}, "tasks": []}'),
    ],
)
def test_a_folder_that_holds_no_evaluation_is_the_user_s_to_fix(tmp_path: Path, kind: str, content: str | None) -> None:
    if content is not None:
        (tmp_path / "eval.json").write_text(content)
    with refused(name=f"evals/eval.json with {kind}", tmp=tmp_path):
        Folder.open(tmp_path)


def test_an_altered_attempt_is_named_with_what_to_do(folder: Folder) -> None:
    folder.write("toy-1", 0, EVENTS)
    folder.file("toy-1", 0).write_text("{}\n")
    with refused(name="evals/an altered attempt", folder=folder.path):
        list(folder.attempts())


def test_a_folder_with_other_things_in_it_is_refused_and_an_empty_one_is_not(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    Folder.create(tmp_path / "empty", PLAN, toys(1), [])
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("mine")
    for taken in (tmp_path / "full", tmp_path / "full" / "thesis.tex"):
        with refused(name="evals/a folder that is taken", taken=taken):
            Folder.create(taken, PLAN, toys(1), [])
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["thesis.tex"]


def test_the_same_evaluation_is_gone_on_with_and_another_is_refused(folder: Folder) -> None:
    folder.write("toy-1", 0, EVENTS)
    same = PLAN.model_copy(update={"at_once": 3, "burnish": "9.9"})
    assert Folder.create(folder.path, same, toys(3), []).finished_attempts() == {("toy-1", 0)}
    with refused(name="evals/a folder of another evaluation", folder=folder.path):
        Folder.create(folder.path, PLAN.model_copy(update={"rounds": 2}), toys(3), [])


@pytest.mark.slow
def test_two_processes_never_work_on_the_same_one(folder: Folder) -> None:
    program = (
        "import sys; from pathlib import Path; from burnish.evals.eval_store import Folder\n"
        "with Folder.open(Path(sys.argv[1])).lock(): print('mine')"
    )
    with folder.lock():
        other = subprocess.run([sys.executable, "-c", program, str(folder.path)], capture_output=True, text=True)
        assert (other.returncode, other.stdout) == (1, "")
        assert f"burnish eval resume {folder.name}" in other.stderr
    other = subprocess.run([sys.executable, "-c", program, str(folder.path)], capture_output=True, text=True)
    assert other.stdout == "mine\n"


def test_one_is_found_by_id_by_its_beginning_as_the_last_and_by_path(tmp_path: Path) -> None:
    for name in ("humaneval-single-aaaa", "humaneval-single-abbb", "mbpp-retry-cccc"):
        Folder.create(eval_store.evals_home() / name, PLAN, toys(1), [])
    elsewhere = Folder.create(tmp_path / "elsewhere", PLAN, toys(1), [])
    assert eval_store.find_evaluation("humaneval-single-aaaa").name == "humaneval-single-aaaa"
    assert eval_store.find_evaluation("mbpp").name == "mbpp-retry-cccc"
    assert eval_store.find_evaluation("last").name == "mbpp-retry-cccc"
    assert eval_store.find_evaluation(str(tmp_path / "elsewhere")) == elsewhere.path
    assert elsewhere.name == str(tmp_path / "elsewhere")
    assert Folder.open(eval_store.find_evaluation("mbpp")).name == "mbpp-retry-cccc"
    for name in ("humaneval", "mbpq-retry", ""):
        with refused(name=f"evals/no evaluation of the name {name!r}"):
            eval_store.find_evaluation(name)


def test_a_new_one_gets_a_readable_name_of_its_own() -> None:
    one, two = (eval_store.new_path("mine.jsonl retry qwen2.5-coder-0.5b") for _ in range(2))
    assert one != two
    assert one.name.startswith("mine-jsonl-retry-qwen2-5-coder-0-5b-")


def test_a_full_disk_is_said_and_nothing_half_written_counts(tiny_disk: Path) -> None:
    folder = Folder.create(tiny_disk / "eval", PLAN, toys(1), [])
    with refused(name="evals/a full disk", folder=folder.path):
        folder.write("toy-1", 0, [Stopped(reason="done", why="x" * 100_000)])
    assert folder.finished_attempts() == set()


def test_the_plan_is_json_that_people_can_read(folder: Folder) -> None:
    told = json.loads((folder.path / "eval.json").read_text())
    assert told["tasks"][0] == {
        "id": "toy-1",
        "entry_point": "add_1",
        "bug": "operator misuse",
        "prompt": "Add 1 to x.",
    }
