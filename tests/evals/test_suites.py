"""Suites by name: found, loaded, limited, and a wrong name is answered with the right ones."""

import json
from pathlib import Path
from typing import get_args

import pytest

from burnish.errors import SetupProblem, TaskError
from burnish.evals.strategies.strategy import show_task
from burnish.evals.suites import SUITES, check_protocol, is_file_suite, load_suite, resolve_variant
from burnish.evals.validate import hash_tasks, validate
from burnish.sandbox import Sandbox
from burnish.tasks.assemble import assemble
from burnish.tasks.jsonl import EXAMPLE
from burnish.tasks.task import EvalSplit
from tests.support import refused


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.parametrize(
    ("name", "near"),
    [("humanevalfx", "'humanevalfix'"), ("HumanEval", "'humaneval'"), ("mbpp+", "'mbpp'"), ("mbpfix", "'mbppfix'")],
)
def test_an_unknown_suite_is_answered_with_the_nearest(name: str, near: str) -> None:
    with pytest.raises(SetupProblem) as caught:
        load_suite(name)
    assert near in str(caught.value)
    assert str(caught.value).endswith("burnish eval list")


def test_a_name_like_nothing_else_gets_no_guess() -> None:
    with refused(name="evals/a suite like no other"):
        load_suite("zzz")


def test_an_unknown_variant_is_answered_with_those_there_are() -> None:
    with refused(name="evals/an unknown variant"):
        load_suite("humanevalfix", variant="test")
    with refused(name="evals/a suite without variants"):
        load_suite("humaneval", variant="docs")


def test_the_first_variant_is_the_usual_one() -> None:
    assert [resolve_variant(name) for name in SUITES] == ["docs", "", "", "one", "docs", "docs"]
    assert resolve_variant("mbppfix", "file") == "file"
    assert resolve_variant("mine.jsonl") == ""


def test_a_split_that_a_suite_lacks_is_refused() -> None:
    with refused(name="evals/an unknown split"):
        load_suite("humaneval", split="tune")


@pytest.mark.slow
def test_tests_that_hold_the_answer_are_never_shown(data: Path) -> None:
    with refused(name="evals/scoring tests that hold the answer"):
        check_protocol("mbppplus", "oracle")
    with pytest.raises(SetupProblem):
        check_protocol("mbppplusfix", "oracle")
    for task in load_suite("mbppplus", data=data)[:20]:
        with pytest.raises(TaskError):
            show_task(task, "oracle")
    for name in ("humanevalfix", "humaneval", "mbpp"):
        check_protocol(name, "oracle")
        for task in load_suite(name, data=data):
            assert show_task(task, "oracle").tests == task.hidden_tests


def test_a_path_is_a_suite(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(f"{EXAMPLE}\n" * 3)
    assert is_file_suite(str(path))
    assert [task.id for task in load_suite(str(path))[:2]] == ["mine-1", "mine-2"]
    with refused(name="evals/a suite that is no file"):
        load_suite("gone.jsonl")


def test_every_suite_describes_itself() -> None:
    assert [suite.name for suite in SUITES.values()] == [
        *("humanevalfix", "humaneval", "mbpp", "mbppplus", "mbppfix", "mbppplusfix")
    ]
    assert all(suite.what and suite.rows and "eval" in suite.splits for suite in SUITES.values())


def test_another_order_or_word_is_another_hash(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(f"{EXAMPLE}\n" * 2)
    one, two = load_suite(str(path))
    assert hash_tasks([one, two]) == hash_tasks([one, two]) != hash_tasks([two, one])
    assert hash_tasks([one]) != hash_tasks([one.model_copy(update={"hidden_tests": "assert 1"})])


@pytest.mark.slow
def test_a_file_of_the_users_own_is_validated_too(tmp_path: Path, box: Sandbox) -> None:
    rows = [json.loads(EXAMPLE) | {"gold": f"def double(n):\n    return {gold}\n"} for gold in ("2 * n", "n")]
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, [*rows, json.loads(EXAMPLE)])))
    found = validate(load_suite(str(tmp_path / "mine.jsonl")), box)
    assert [task.id for task in found.valid] == ["mine-1", "mine-3"], "a row without a reference is taken at its word"
    assert [row.id for row in found.broken] == ["mine-2"]


@pytest.mark.slow
def test_the_rows_are_as_many_as_the_list_says(data: Path) -> None:
    planted = ("mbppfix", "mbppplusfix")
    counted = {name: len(load_suite(name, data=data)) for name in SUITES if name not in planted}
    assert counted == {name: SUITES[name].rows for name in counted}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "variant"), [("humanevalfix", "docs"), ("humanevalfix", "tests"), ("humaneval", ""), ("mbpp", "")]
)
def test_a_sample_of_each_suite_is_valid(name: str, variant: str, data: Path, box: Sandbox) -> None:
    sample = load_suite(name, variant=variant, data=data)[3::16]
    assert validate(sample, box).broken == ()


@pytest.mark.slow
def test_a_reference_that_is_too_slow_is_left_out_by_name(
    data: Path, box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("burnish.evals.validate.TIMEOUT_SECONDS", 1.0)
    slow = [task for task in load_suite("mbpp", data=data) if task.id in ("mbpp-122", "mbpp-123")]
    found = validate(slow, box)
    assert [task.id for task in found.valid] == ["mbpp-122"]
    assert found.broken[0].why == "its reference takes too long for the scoring tests"


@pytest.mark.slow
def test_all_of_humanevalfix_is_valid(data: Path, box: Sandbox) -> None:
    tasks = load_suite("humanevalfix", data=data)
    assert len(validate(tasks, box).valid) == 164


@pytest.mark.slow
def test_the_split_for_calibration_holds_the_one_for_tuning_and_nothing_that_is_reported(data: Path) -> None:
    ids = {split: {task.id for task in load_suite("mbppplus", split=split, data=data)} for split in get_args(EvalSplit)}
    assert {split: len(found) for split, found in ids.items()} == {"eval": 224, "tune": 39, "calibrate": 147}
    assert ids["tune"] < ids["calibrate"]
    assert not ids["eval"] & ids["calibrate"]


@pytest.mark.slow
def test_bugs_in_mbppplus_tasks_are_shown_by_one_assertion_and_scored_by_its_inputs(data: Path, box: Sandbox) -> None:
    plain = {task.id: task for task in load_suite("mbppplus", split="tune", data=data)}
    for variant in ("docs", "tests"):
        tasks = load_suite("mbppplusfix", variant=variant, split="tune", data=data, sandbox=box)
        assert len(tasks) >= 34, "four references are too slow or not restored; 583 and 589 need a quick machine"
        assert {row.id for row in validate(tasks, box).broken} <= {"mbppplusfix-583", "mbppplusfix-589"}
        for task in tasks:
            assert task.hidden_tests == plain[task.id.replace("fix", "")].hidden_tests
            (shown,) = task.visible_tests
            assert shown.count("assert ") == 1
            assert not box.grade(task.base_code, shown).all_passed, task.id
            assert task.described == (variant == "docs")
            assert "plus_expected" not in show_task(task, "visible").model_dump_json()
            with pytest.raises(TaskError):
                show_task(task, "oracle")
            assert task.split == "tune"


@pytest.mark.slow
def test_every_tuning_task_gets_a_bug_in_every_variant(data: Path, box: Sandbox) -> None:
    for variant in ("docs", "tests", "file"):
        tasks = load_suite("mbppfix", variant=variant, split="tune", data=data, sandbox=box)
        found = validate(tasks, box)
        assert (len(found.valid), found.broken) == (90, ())
        for task in tasks:
            assert assemble(task, task.gold) == task.gold, "a repaired file differs from the reference in nothing"
