"""Everyday sentences: what was committed can be graded, and a refusal is right only where it says what it must."""

import json
from pathlib import Path

import pytest
from experiments.everyday import SENTENCES, Everyday, attempt, read_rows, render_row

from burnish.agent.limits import Limits
from burnish.checks import grade_script
from burnish.errors import TaskError
from burnish.models.names import open_model
from burnish.sandbox import Sandbox

SECOND = SENTENCES.with_name("second.jsonl")
DOUBLE = Everyday("double", "…", "double", ["assert double(2) == 4", "x = 3\nassert double(x) == 6"])


@pytest.mark.slow
@pytest.mark.parametrize("file", [SENTENCES, SECOND], ids=["first", "second"])
def test_every_sentence_has_ten_asserts_that_its_reference_passes_or_a_refusal(file: Path, open_box: Sandbox) -> None:
    rows = read_rows(file, open_box)
    assert [row.id for row in rows if len(row.asserts) != 10 and len(row.refusal) != 2] == []
    assert len(rows) == 20


def test_code_is_graded_under_whatever_name_it_has(open_box: Sandbox) -> None:
    good = "def twice(n):\n    return 2 * n\n"
    assert grade_script(good, DOUBLE.script("twice"), open_box).passed == 2
    assert grade_script(good.replace("2 * n", "4"), DOUBLE.script("twice"), open_box).passed == 1
    assert grade_script(good, DOUBLE.script("double"), open_box).passed == 0


def test_a_reference_that_fails_its_own_assert_is_an_error(tmp_path: Path, open_box: Sandbox) -> None:
    row = {**DOUBLE._asdict(), "reference": "def double(n):\n    return n\n"}
    (tmp_path / "bad.jsonl").write_text(json.dumps(row))
    with pytest.raises(TaskError):
        read_rows(tmp_path / "bad.jsonl", open_box)


@pytest.mark.parametrize(
    ("sentence", "said", "grade"),
    [
        ("a JavaScript function that doubles a number", "JavaScript", "right"),
        ("a JavaScript function that doubles a number", "Rust", "wrong"),
        ("a function double(n), e.g. double(2) == 4", "JavaScript", "wrong"),
    ],
)
@pytest.mark.usefixtures("work_folder")
def test_a_refusal_is_right_where_it_says_what_it_must(sentence: str, said: str, grade: str, open_box: Sandbox) -> None:
    outcome = attempt(Everyday("x", sentence, refusal=[said]), open_model("scripted:demo"), Limits(calls=1), open_box)
    assert outcome.grade == grade
    assert f"| {grade} |" in render_row(outcome)
