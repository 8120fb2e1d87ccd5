"""Code that is one text to a reader and another to Python's import: not proven, not delivered, and it does not hold."""

import subprocess
import sys
from pathlib import Path

import pytest

import burnish
from burnish import ScriptedModel, SetupProblem, Store
from burnish.agent.answer.code import find_problem
from burnish.commands import write
from burnish.commands.strengthen import render_diff
from burnish.tasks.jsonl import load_jsonl
from tests.evidence.delivered import copy, deliver, edit, replace, sha256
from tests.support import ASKING, DOUBLE, block, script

RUNS = "import pathlib; pathlib.Path('ran').touch()"
CODED = f"# coding: utf-7\n#+AAo-{RUNS}\ndef double(n):\n    return n * 2\n"
"""To a reader the second line is a comment; read as UTF-7 it ends, and the rest of it is code."""


def import_in(folder: Path) -> None:
    subprocess.run([sys.executable, "-c", "import solution"], cwd=folder, check=True)


def test_the_trick_works_where_nobody_looks(tmp_path: Path) -> None:
    (tmp_path / "solution.py").write_text(CODED)
    import_in(tmp_path)
    assert (tmp_path / "ran").exists()


@pytest.mark.slow
def test_a_model_that_answers_with_it_is_not_taken_at_its_word(tmp_path: Path) -> None:
    assert "names the encoding 'utf-7'" in find_problem(CODED, "double(n)")
    answers = script(**dict.fromkeys(ASKING, block(CODED)))
    store = Store(tmp_path / "home")
    burnish.write(DOUBLE, ScriptedModel(answers), out=tmp_path / "out", store=store, fast=True)
    assert RUNS not in (tmp_path / "out" / "solution.py").read_text()
    import_in(tmp_path / "out")
    assert not (tmp_path / "out" / "ran").exists()


@pytest.mark.slow
def test_a_folder_with_it_does_not_hold_however_well_it_was_made(tmp_path: Path) -> None:
    deliver(tmp_path / "honest")
    folder = copy(tmp_path / "honest", tmp_path)
    (folder / "solution.py").write_text(CODED)
    edit(folder, lambda data: data["code"]["steps"][0].update(sha256=sha256(folder / "solution.py")))
    verified = burnish.verify(folder)
    assert verified.ending == "refused"
    assert "'utf-7'" in verified.changed[0]


@pytest.mark.slow
def test_a_record_with_it_is_not_delivered(tmp_path: Path) -> None:
    store = Store(tmp_path / "home")
    run = deliver(tmp_path / "out")
    record = store.runs / run.id / "events.jsonl"
    replace(record, run.code.encode("unicode_escape").decode(), CODED.encode("unicode_escape").decode())
    with pytest.raises(SetupProblem, match="is not delivered: line 1 names the encoding 'utf-7'"):
        write.deliver(store.open(run.id), tmp_path / "again", store)
    assert not (tmp_path / "again").exists()


@pytest.mark.slow
def test_half_a_character_in_an_answer_or_a_task_is_no_accident(tmp_path: Path) -> None:
    half = "\ud800"
    code = f"def double(n):\n    return n * 2  # {half}"
    tests = f"assert double(0) == 0  # {half}\nassert double(1) == len('{half}x') + 1"
    answers = script(**dict.fromkeys(ASKING, block(code)), tests=block(tests), assume=half, specify=half)
    store = Store(tmp_path / "home")
    run = burnish.write(f"{DOUBLE} {half}", ScriptedModel(answers), out=tmp_path / "out", store=store, fast=True)
    assert run.verdict == "plausible"
    import_in(tmp_path / "out")


def test_a_page_break_in_a_test_is_one_line_of_the_diff() -> None:
    lines = render_diff({Path("test_a.py"): "x = '\f\x1c\u2028'\ny = 1\n"}).split("\n")
    assert [line[0] for line in lines if line] == ["-", "+", "@", "+", "+"]


def test_half_a_character_in_a_row_of_a_suite_is_named(tmp_path: Path) -> None:
    row = '{"prompt": "\\ud800", "entry_point": "f", "hidden_tests": ["assert f() == 1"]}'
    (tmp_path / "suite.jsonl").write_text(row)
    with pytest.raises(SetupProblem, match="Row 1 .* holds half a character"):
        load_jsonl(tmp_path / "suite.jsonl")
