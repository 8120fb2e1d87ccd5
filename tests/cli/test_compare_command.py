"""`burnish compare`, as a user sees it."""

import json
from pathlib import Path

import pytest

from burnish.evals.metrics import compute_results
from tests.cli.conftest import Call
from tests.evals.fake_evaluations import Made, solving
from tests.support import assert_words

GOOD = solving(*[[True]] * 20, *[[False]] * 4)
BAD = solving(*[[False]] * 24, strategy="single")


@pytest.fixture
def two(work_folder: Path) -> tuple[str, str]:
    """Two results.json: one lies in a folder, one is a bare file, as kept in a repository."""
    (work_folder / "bad").mkdir()
    (work_folder / "bad" / "results.json").write_text(compute_results(BAD).text())
    (work_folder / "good.json").write_text(compute_results(GOOD).text())
    return "bad", "good.json"


def test_a_table_and_one_sentence(call: Call, two: tuple[str, str]) -> None:
    told = call("compare", *two)
    assert told.code == 0
    assert_words(told.out)


def test_json_for_machines(call: Call, two: tuple[str, str]) -> None:
    found = json.loads(call("compare", *two, "--json").out)
    assert found["final"]["share_b"] == pytest.approx(20 / 24)
    assert len(found["final"]["more_by_b"]) == 20


def test_other_peoples_words_are_shown_and_not_obeyed(call: Call, work_folder: Path) -> None:
    nasty = "\x1b[31m[bold]m[/bold]"
    (work_folder / "a.json").write_text(compute_results(solving([True], model=nasty)).text())
    (work_folder / "b.json").write_text(compute_results(solving([False], model="x")).text())
    told = call("compare", "a.json", "b.json")
    assert "[bold]m[/bold]" in told.out.replace("\n", "")
    assert "\x1b[31m" not in told.out


def test_a_folder_of_attempts_is_counted_anew(call: Call, work_folder: Path, two: tuple[str, str]) -> None:
    _kept(work_folder / "kept", GOOD)
    told = call("compare", "bad", "kept", "--json")
    assert len(json.loads(told.out)["final"]["more_by_b"]) == 20, told.err


def test_protocols_that_differ_are_said_in_words(call: Call, work_folder: Path) -> None:
    (work_folder / "a.json").write_text(compute_results(solving([True])).text())
    (work_folder / "b.json").write_text(compute_results(solving([True], protocol="oracle")).text())
    assert_words(call("compare", "a.json", "b.json").out)


@pytest.mark.parametrize("name", ["nowhere", ""])
def test_an_unknown_run_is_a_problem_the_user_can_fix(call: Call, two: tuple[str, str], name: str) -> None:
    told = call("compare", two[0], name)
    assert told.code == 2
    assert "Traceback" not in told.err
    assert told.err.startswith("burnish: ")


def test_both_sides_are_drawn_into_a_file(call: Call, two: tuple[str, str], work_folder: Path) -> None:
    told = call("compare", *two, "--plot", "both.svg", "--json")
    assert told.code == 0, told.err
    assert json.loads(told.out)["final"]["tasks"] == 24
    svg = (work_folder / "both.svg").read_text("utf-8")
    assert "A: local:m · single · visible · llama.cpp" in svg
    assert "83.3" in svg
    assert call("compare", *two, "--plot", "both.svg").out.endswith(" both.svg\n")


@pytest.mark.parametrize("file", ["both.png", "nowhere/both.svg"])
def test_a_plot_that_cannot_be_written_is_a_problem_the_user_can_fix(
    call: Call, two: tuple[str, str], file: str
) -> None:
    told = call("compare", *two, "--plot", file)
    assert told.code == 2
    assert "Traceback" not in told.err
    assert "--plot" in told.err


def _kept(path: Path, made: Made) -> None:
    from burnish.evals.eval_store import Folder
    from burnish.tasks.task import Task

    folder = Folder.create(path, made.plan, [Task(id=task, prompt="p") for task in made.task_ids])
    for task, seed, events in made.attempts():
        folder.write(task, seed, events)
