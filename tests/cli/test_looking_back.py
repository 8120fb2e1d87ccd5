"""`runs`, `show`, `rate`, `rm`: what happened, for someone who was not there."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from burnish.agent import prompts
from burnish.events import read_event
from burnish.runs import Store
from burnish.version import __version__
from tests.cli.conftest import Call
from tests.support import DOUBLE, assert_words, burnish

DEMO = ("--model", "scripted:demo", "--fast", "--quiet")
SENTENCE = "a function double(n), e.g. double(3) == 6"


@pytest.fixture
def run_id(call: Call, store: Store) -> str:
    """The id of a finished run."""
    call("write", SENTENCE, *DEMO)
    return store.open("last").id


def test_no_runs_yet_says_how_to_make_the_first(call: Call) -> None:
    told = call("runs")
    assert told.code == 0
    assert "burnish write" in told.out


@pytest.mark.slow
def test_runs_are_listed_with_verdict_cost_and_task(call: Call, run_id: str) -> None:
    told = call("runs")
    assert told.code == 0
    for part in (run_id, "plausible", SENTENCE[:17]):
        assert part in told.out


@pytest.mark.slow
def test_runs_can_be_read_by_a_machine(call: Call, run_id: str) -> None:
    [row] = json.loads(call("runs", "--json").out)
    assert (row["id"], row["state"], row["model"]) == (run_id, "plausible", "scripted:demo")
    assert json.loads(call("runs", "--json", "-n", "1").out) == [row]


@pytest.mark.slow
def test_show_tells_prompts_answers_versions_diffs_results_and_times(call: Call, run_id: str, store: Store) -> None:
    told = call("show", run_id, "--all")
    assert told.code == 0
    for part in (
        SENTENCE,
        "asked draft-1",
        f"[system] {prompts.SYSTEM}".split(".")[0],
        "answer: draft-1",
        "Doubling is multiplying:",
        "+    return n + n",
        "1 passed, 3 failed",
        "check: tests: passed",
        store.open(run_id).why,
    ):
        assert part in told.out


@pytest.mark.slow
def test_the_last_run_is_shown_unless_another_is_named(call: Call, run_id: str) -> None:
    assert call("show").out == call("show", run_id).out == call("show", run_id[:8]).out


@pytest.mark.slow
def test_show_prints_code_or_tests_alone_as_they_were_written(call: Call, run_id: str, work_folder: Path) -> None:
    assert call("show", "--code").out == (work_folder / "double" / "solution.py").read_text()
    assert call("show", "--tests").out == (work_folder / "double" / "test_solution.py").read_text()


@pytest.mark.slow
def test_show_prints_every_event_for_a_machine(call: Call, run_id: str, store: Store) -> None:
    events = [read_event(line) for line in call("show", "--json").out.splitlines()]
    assert events == list(store.open("last").events)


@pytest.mark.slow
def test_a_rating_is_kept_and_shown(call: Call, run_id: str, store: Store) -> None:
    assert call("rate", run_id, "4", "fails on 0").code == 0
    given = store.open(run_id).feedback[0].id
    told = call("rate", run_id, "--change", given, "--stars", "2")
    assert (told.code, told.out) == (0, f"{run_id} {given}: The user gave it 2 stars of 5: fails on 0.\n")
    assert told.out.removeprefix(run_id).strip() in call("show").out
    assert "★★ " in call("runs").out
    [listed] = json.loads(call("rate", run_id, "--list", "--json").out)
    assert (listed["id"], listed["opinion"]) == (given, {"form": "stars", "stars": 2})
    assert json.loads(call("show", "--evidence").out)["feedback"] == [listed]
    assert call("rate", run_id, "--take-back", given).out == f"{run_id} {given} was taken back.\n"
    assert json.loads(call("rate", run_id, "--list", "--json").out) == []


@pytest.mark.slow
@pytest.mark.parametrize("stars", ["0", "6", "good"])
def test_stars_go_from_one_to_five(call: Call, run_id: str, stars: str) -> None:
    assert call("rate", run_id, stars).code == 2


@pytest.mark.slow
def test_rm_deletes_the_run_and_leaves_the_files(call: Call, run_id: str, work_folder: Path) -> None:
    assert call("rm", run_id, "--yes").out == f"deleted {run_id}\n"
    assert json.loads(call("runs", "--json").out) == []
    assert (work_folder / "double" / "solution.py").exists()


@pytest.mark.slow
def test_rm_asks_first_and_takes_no_for_an_answer(call: Call, run_id: str) -> None:
    assert call("rm", run_id, stdin=b"n\n").code == 1
    assert json.loads(call("runs", "--json").out)
    assert call("rm", run_id, stdin=b"y\n").code == 0
    assert not json.loads(call("runs", "--json").out)


@pytest.mark.slow
def test_rm_deletes_nothing_when_one_of_the_names_is_wrong(call: Call, run_id: str) -> None:
    assert call("rm", run_id, "nope", "--yes").code == 2
    assert json.loads(call("runs", "--json").out)


@pytest.mark.parametrize("command", [("show", "nope"), ("rate", "nope", "3"), ("rm", "nope", "-y"), ("show", "last")])
def test_a_run_that_does_not_exist_is_exit_code_2(call: Call, command: tuple[str, ...]) -> None:
    told = call(*command)
    assert (told.code, told.out) == (2, "")
    assert repr(command[1]) in told.err
    assert told.err.endswith(": burnish runs\n")


def test_a_broken_run_can_be_shown(call: Call, tmp_path: Path) -> None:
    (tmp_path / "empty.json").write_text("[]")
    call("write", DOUBLE, "--model", f"scripted:{tmp_path / 'empty.json'}")
    told = call("show")
    assert told.code == 0
    assert "(ModelError)" in told.out
    assert call("show", "--code").out == ""


def test_the_version_is_told(call: Call) -> None:
    assert call("--version") == (0, f"burnish {__version__}\n", "")


@pytest.mark.slow
def test_burnish_alone_explains_itself(work_folder: Path) -> None:
    done = burnish(cwd=work_folder)
    assert "Usage: " in done.stdout + done.stderr
    assert "write" in done.stdout + done.stderr


def test_a_command_that_does_not_exist_is_exit_code_2(call: Call) -> None:
    told = call("wriet")
    assert (told.code, "'wriet'" in told.err) == (2, True)


@pytest.mark.slow
def test_a_reader_who_leaves_early_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    held_back = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    command = [sys.executable, "-m", "burnish", "runs", "--json"]
    with os.fdopen(writing, "wb") as gone:
        done = subprocess.run(command, stdout=gone, stderr=subprocess.PIPE, env=held_back)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.slow
def test_follow_shows_a_run_as_it_went_and_ends_with_it(call: Call, run_id: str, store: Store) -> None:
    told = call("show", run_id, "--follow")
    assert (told.code, f"burnish show {run_id}" in told.out, "PLAUSIBLE" in told.out) == (0, True, True)
    lines = call("show", run_id[:6], "--follow", "--json").out.splitlines()
    assert [read_event(line) for line in lines] == list(store.open(run_id).events)
    assert call("show", "nothing-like-it", "--follow").code == 2


@pytest.mark.slow
def test_thoughts_are_shown_and_never_obeyed_or_it_is_said_how_to_keep_them(
    call: Call, store: Store, tmp_path: Path
) -> None:
    script = tmp_path / "thinker.json"
    script.write_text(json.dumps({"": ["<think>hm \x1b[31mzebra</think>```python\ndef one():\n    return 1\n```"]}))
    words = ("write", "a function one(), e.g. one() == 1", "--model", f"scripted:{script}", "--fast", "--quiet")
    told = call(*words, "--thinking", "5", "--keep-thoughts")
    assert told.code == 0
    shown = call("show", "last", "--thoughts")
    assert (shown.code, "zebra" in shown.out, "\x1b" in shown.out) == (0, True, False)
    assert call(*words, "--thinking", "5").code == 0
    told = call("show", "last", "--thoughts")
    assert (told.code, told.out) == (2, "")
    assert_words(told.err)
