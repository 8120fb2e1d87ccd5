"""MBPP as tasks: the first assertion is shown, all of them score."""

import json
from pathlib import Path

import pytest

from burnish.tasks.mbpp import find_entry_point, load_mbpp

ROW = {
    "task_id": 511,
    "text": "Add one. ",
    "code": "def helper(x):\r\n\treturn x + 1\r\ndef up(x):\r\n\treturn helper(x)",
    "test_setup_code": "",
    "test_list": ["assert up(1) == 2 ", "assert up(2) == 3", "assert up(3) == 4\n"],
    "challenge_test_list": [],
}


def load(folder: Path, **changes: object):
    (folder / "mbpp.jsonl").write_text(json.dumps(ROW | changes) + "\n" + json.dumps(ROW | {"task_id": 601}) + "\n")
    return load_mbpp("tune", folder)


def test_the_first_assertion_is_shown_and_all_score(tmp_path: Path) -> None:
    (task,) = load(tmp_path)
    assert task.id == "mbpp-511"
    assert task.visible_tests == ("assert up(1) == 2",)
    assert task.hidden_tests.splitlines() == ["assert up(1) == 2", "assert up(2) == 3", "assert up(3) == 4"]
    assert (task.entry_point, task.signature, task.prompt, task.split) == ("up", "", "Add one.", "tune")


def test_windows_line_ends_go(tmp_path: Path) -> None:
    (task,) = load(tmp_path)
    assert "\r" not in task.gold


def test_what_a_test_needs_is_set_up_in_it(tmp_path: Path) -> None:
    code = "class Node:\n    pass\ndef up(x):\n    return 2"
    (task,) = load(tmp_path, code=code, test_setup_code="root = Node()")
    assert task.visible_tests == ("from solution import Node\nroot = Node()\nassert up(1) == 2",)
    assert task.hidden_tests.startswith("root = Node()\nassert")


def test_an_import_that_tests_lean_on_is_made_by_them(tmp_path: Path) -> None:
    code = "import sys\nimport re\ndef up(x):\n    return sys.getsizeof(x)"
    (task,) = load(tmp_path, code=code, test_list=["assert up(1) == sys.getsizeof(1)", "assert up(2) > 0"])
    assert task.visible_tests == ("import sys\nassert up(1) == sys.getsizeof(1)",)
    assert task.hidden_tests == "import sys\nassert up(1) == sys.getsizeof(1)\nassert up(2) > 0\n"


def test_a_function_named_like_a_builtin_is_found() -> None:
    assert find_entry_point("assert sum(10, 15) == 6", "def sum(a, b):\n    return 6") == "sum"
    assert find_entry_point("assert set(f(1)) == set((1,))", "def f(a):\n    return [1]") == "f"


@pytest.mark.slow
def test_the_splits_are_the_published_ones(data: Path) -> None:
    assert [len(load_mbpp(split, data)) for split in ("eval", "tune", "train")] == [500, 90, 374]  # type: ignore[arg-type]
    assert load_mbpp("eval", data)[0].id == "mbpp-11"
