"""An evaluation that is killed or interrupted: nothing finished is lost, nothing is done twice, and it can go on."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from burnish.evals.eval_store import list_evaluations
from tests.evals.toys import jsonl, toy
from tests.support import burnish

SLOW = ("--strategy", "retry", "--rounds", "1", "--at-once", "2")


def started(*arguments: str, cwd: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "burnish", "eval", *arguments]
    return subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def attempts(folder: Path) -> dict[str, tuple[str, int]]:
    """Each finished attempt with its hash and the time it was written."""
    files = (folder / "attempts").glob("*.jsonl")
    return {file.name: (hashlib.sha256(file.read_bytes()).hexdigest(), file.stat().st_mtime_ns) for file in files}


def wait_for_attempts(folder: Path, least: int, process: "subprocess.Popen[str]") -> None:
    """Until so many attempts are on disk."""
    deadline = time.monotonic() + 60
    while len(attempts(folder)) < least:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def numbers(folder: Path) -> dict[str, object]:
    """What the table says: everything but times."""
    results = json.loads((folder / "results.json").read_text())
    keys = (
        "tasks_hash",
        "tasks",
        "finished",
        "solved",
        "pass_at_1",
        "pass_at_1_interval",
        "pass_at_1_by_call",
        "errors",
    )
    by_task = [(row["task_id"], row["seed"], row["solved_by_call"], row["calls"]) for row in results["attempts"]]
    return {key: results[key] for key in keys} | {"attempts": by_task}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is learnt about toy tasks does not end up in the user's cache."""
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def mixed(work_folder: Path) -> tuple[str, ...]:
    """Tasks of which the script solves some, at the second call; the scoring tests of each take a moment."""
    jsonl(work_folder / "mine.jsonl", [toy(n, sleep=0.2) for n in range(1, 15)])
    replies = ["no code at all", "```python\ndef add_1(x):\n    return x + 1\ndef add_4(x):\n    return 4 + x\n```"]
    (work_folder / "script.json").write_text(json.dumps(replies))
    return ("mine.jsonl", "--model", "scripted:script.json", *SLOW)


@pytest.mark.slow
def test_kill_9_then_resume_gives_the_table_of_an_uninterrupted_run(mixed: tuple[str, ...], work_folder: Path) -> None:
    whole = burnish("eval", *mixed, "--out", "whole", cwd=work_folder)
    assert whole.returncode == 0, whole.stderr
    killed = work_folder / "killed"
    with started(*mixed, "--out", "killed", cwd=work_folder) as process:
        wait_for_attempts(killed, 3, process)
        process.kill()
    before = attempts(killed)
    assert 3 <= len(before) < 14

    told = burnish("eval", "resume", "killed", cwd=work_folder)
    assert told.returncode == 0, told.stderr
    after = attempts(killed)
    assert len(after) == 14
    assert {name: after[name] for name in before} == before
    assert numbers(killed) == numbers(work_folder / "whole")
    assert f"going on: {len(before)} of 14 attempts" in told.stdout


@pytest.mark.slow
def test_ctrl_c_shows_the_partial_table_and_how_to_go_on(mixed: tuple[str, ...], work_folder: Path) -> None:
    with started(*mixed, cwd=work_folder) as process:
        while not list_evaluations():
            assert process.poll() is None
            time.sleep(0.02)
        [folder] = list_evaluations()
        wait_for_attempts(folder, 2, process)
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert "so far, of 14 solved (visible)" in out
    assert f"burnish eval resume {folder.name}" in out
    assert err == "burnish: Stopped. Finished attempts are kept; those under way are forgotten.\n"
    before = attempts(folder)
    assert 2 <= len(before) < 14
    assert (folder / "report.html").is_file()

    told = burnish("eval", "resume", folder.name, cwd=work_folder)
    assert told.returncode == 0, told.stderr
    assert {name: attempts(folder)[name] for name in before} == before
    assert len(attempts(folder)) == 14


@pytest.mark.slow
def test_a_second_ctrl_c_leaves_at_once(mixed: tuple[str, ...], work_folder: Path) -> None:
    with started(*mixed, "--out", "here", cwd=work_folder) as process:
        wait_for_attempts(work_folder / "here", 1, process)
        os.kill(process.pid, signal.SIGINT)
        time.sleep(0.05)
        os.kill(process.pid, signal.SIGINT)
        asked = time.monotonic()
        process.communicate(timeout=30)
    assert time.monotonic() - asked < 3
    assert process.returncode in (130, -signal.SIGINT)  # a shell calls both 130


@pytest.mark.slow
def test_gold_solves_humanevalfix_after_kill_9_too(data: Path, work_folder: Path) -> None:
    command = ("humanevalfix", "--model", "scripted:gold", "--strategy", "single", "--limit", "60", "--out", "here")
    with started(*command, cwd=work_folder) as process:
        wait_for_attempts(work_folder / "here", 20, process)
        process.kill()
    before = attempts(work_folder / "here")
    told = burnish("eval", "resume", "here", cwd=work_folder)
    assert "60 of 60 attempts solved (visible)" in told.stdout
    assert {name: attempts(work_folder / "here")[name] for name in before} == before
