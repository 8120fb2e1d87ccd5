"""Whole stories with the real 0.5B, through the command line. Slow, and therefore few."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from burnish.runs import Store
from tests.support import burnish

pytestmark = [pytest.mark.model, pytest.mark.timeout(400), pytest.mark.usefixtures("model_weights")]

MODEL = ("--model", "local:qwen2.5-coder-0.5b")
ROMAN = (
    "a function roman(n) that turns 1..3999 into a Roman numeral, e.g. roman(1994) == 'MCMXCIV'; "
    "ValueError for anything else"
)


def test_a_simple_function_is_proven(work_folder: Path) -> None:
    sentence = (
        "a function is_even(n) that says whether a whole number is even, e.g. is_even(4) == True, is_even(7) == False"
    )
    done = burnish("write", sentence, *MODEL, cwd=work_folder, seconds=350)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PLAUSIBLE (" in done.stdout or "PROVEN (" in done.stdout
    assert "rests on" in done.stdout
    assert "def is_even(" in (work_folder / "is-even" / "solution.py").read_text()


def test_the_first_page_sentence_ends_with_files_that_agree_with_its_verdict(work_folder: Path, store: Store) -> None:
    done = burnish("write", ROMAN, *MODEL, "--seconds", "60", cwd=work_folder, seconds=350)
    run = store.open("last")
    assert run.verdict is not None, done.stdout + done.stderr
    assert done.returncode == (1 if run.verdict == "failed" else 0)
    assert run.verdict.upper() in done.stdout
    folder = work_folder / "roman"
    assert f"**{run.verdict.capitalize()}" in (folder / "report.md").read_text()
    if run.code:
        assert (folder / "solution.py").read_text() == run.code
        tested = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--timeout", "20"], cwd=folder
        )
        assert (tested.returncode == 0) == (run.verdict != "failed")
    assert "assert roman(1994) == 'MCMXCIV'" in json.dumps(run.started.settings)


def test_ctrl_c_in_the_middle_of_an_answer_ends_within_two_seconds(work_folder: Path, store: Store) -> None:
    command = [sys.executable, "-m", "burnish", "write", ROMAN, *MODEL, "--events"]
    with subprocess.Popen(command, cwd=work_folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        while b'"model_chunk"' not in (line := process.stdout.readline()):
            assert line, "it ended before it said a word"
        os.kill(process.pid, signal.SIGINT)
        asked = time.monotonic()
        _, errors = process.communicate(timeout=60)
    assert time.monotonic() - asked < 2
    assert process.returncode == 130
    assert f"burnish resume {store.open('last').id}" in errors.decode()
    assert store.open("last").state == "interrupted"
