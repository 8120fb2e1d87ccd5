"""A user's own suite: what is right is taken, what is wrong is named by row and field."""

import json
from pathlib import Path

import pytest

from burnish.errors import SetupProblem
from burnish.tasks.jsonl import EXAMPLE, load_jsonl
from tests.support import ROOT, refused

ROW = json.loads(EXAMPLE)


def suite(folder: Path, *rows: object) -> Path:
    path = folder / "mine.jsonl"
    path.write_text("".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows))
    return path


def test_the_example_in_every_message_is_itself_a_right_row(tmp_path: Path) -> None:
    (task,) = load_jsonl(suite(tmp_path, EXAMPLE))
    assert (task.id, task.entry_point, task.split) == ("mine-1", "double", "eval")
    assert task.hidden_tests == "assert double(0) == 0\nassert double(-3) == -6\n"


def test_every_field_finds_its_place(tmp_path: Path) -> None:
    more = {"id": "x", "signature": "double(n)", "buggy": "b", "gold": "g", "prelude": "p", "bug": "value misuse"}
    (task,) = load_jsonl(suite(tmp_path, ROW | more))
    kept = (task.id, task.signature, task.base_code, task.gold, task.prelude, task.bug)
    assert kept == ("x", "double(n)", "b", "g", "p", "value misuse")


def test_tests_may_be_a_list_or_a_text(tmp_path: Path) -> None:
    text = "assert double(1) == 2\nassert double(\n  2) == 4\n"
    (task,) = load_jsonl(suite(tmp_path, ROW | {"visible_tests": text, "hidden_tests": text}))
    assert task.visible_tests == ("assert double(1) == 2", "assert double(\n  2) == 4")
    assert task.hidden_tests == text
    (task,) = load_jsonl(suite(tmp_path, ROW | {"visible_tests": "x = 1\nassert double(x) == 2"}))
    assert task.visible_tests == ("x = 1\nassert double(x) == 2",)


def test_blank_lines_are_fine_and_rows_keep_their_line_numbers(tmp_path: Path) -> None:
    tasks = load_jsonl(suite(tmp_path, "\n", ROW, "  \n", ROW))
    assert [task.id for task in tasks] == ["mine-2", "mine-4"]


@pytest.mark.parametrize(
    ("kind", "row"),
    [
        ("that is not JSON", "{not json}\n"),
        ("that is a list", [1]),
        ("without tests", {"prompt": "p", "entry_point": "f"}),
        ("with a number for a text", ROW | {"prompt": 3}),
        ("with an empty text", ROW | {"prompt": " "}),
        ("with a number for a test", ROW | {"visible_tests": [1]}),
        ("with tests that do not parse", ROW | {"hidden_tests": ["assert ("]}),
        ("with an empty list of tests", ROW | {"hidden_tests": []}),
        ("with no Python name", ROW | {"entry_point": "a b"}),
        ("with an unknown field", ROW | {"hidden_test": "x"}),
    ],
)
def test_a_wrong_row_is_named_with_what_is_expected(tmp_path: Path, kind: str, row: object) -> None:
    with pytest.raises(json.JSONDecodeError) as caught:  # in other words by each version of Python
        json.loads("{not json}")
    with refused(name=f"tasks/a row {kind}", tmp=tmp_path, example=EXAMPLE, flaw=caught.value):
        load_jsonl(suite(tmp_path, ROW, row))


def test_two_tasks_with_one_id_are_refused(tmp_path: Path) -> None:
    with refused(name="tasks/two rows with one id", tmp=tmp_path):
        load_jsonl(suite(tmp_path, ROW | {"id": "x"}, ROW | {"id": "x"}))


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xff\xfe\x00"])
def test_an_empty_or_unreadable_file_says_what_a_row_looks_like(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "mine.jsonl").write_bytes(content)
    with pytest.raises(SetupProblem, match="mine.jsonl") as caught:
        load_jsonl(tmp_path / "mine.jsonl")
    assert EXAMPLE in str(caught.value)


def test_the_documented_rows_load(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "suites.md").read_text("utf-8")
    block = page.split("```json\n")[1].split("```")[0]
    assert len(load_jsonl(suite(tmp_path, block))) == 2
