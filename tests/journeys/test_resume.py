"""kill -9, Ctrl-C and a reader that leaves: the run is gone on with, and ends with its files."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from burnish.events import FilesWritten, Resumed
from burnish.runs import Store
from tests.killed import answered_twice, assert_goes_on, run_until
from tests.support import DOUBLE, burnish

COMMAND = ("write", DOUBLE, "--model", "scripted:demo", "--fast")


@pytest.mark.parametrize(
    "moment",
    [
        pytest.param("answer 2", id="in the middle of an answer"),
        pytest.param("check_finished", id="in the final checks"),
        pytest.param("run_finished", id="before the files are written"),
    ],
)
@pytest.mark.slow
def test_kill_9_then_resume(moment: str, work_folder: Path, store: Store) -> None:
    killed = run_until(moment, *COMMAND, cwd=work_folder)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    before = store.open("last")

    told = burnish("resume", cwd=work_folder)
    assert told.returncode == 0, told.stderr
    run = store.open("last")
    assert run.state == "plausible"
    assert_goes_on(run, before)
    assert Path(run.folder or "").joinpath("solution.py").read_text() == run.code
    again = burnish("resume", run.id, cwd=work_folder)
    assert (again.returncode, "nothing is left to do" in again.stdout) == (0, True)
    assert store.open("last").events == run.events


@pytest.mark.slow
def test_ctrl_c_in_the_final_checks_then_resume(work_folder: Path, store: Store) -> None:
    stopped = run_until("check_finished", *COMMAND, cwd=work_folder, by=signal.SIGINT)
    assert stopped.returncode == 130
    assert f"burnish resume {store.open('last').id}" in stopped.stderr
    assert (store.open("last").state, store.open("last").all(FilesWritten)) == ("interrupted", [])

    assert burnish("resume", "last", "--quiet", cwd=work_folder).returncode == 0
    run = store.open("last")
    assert (run.state, answered_twice(run), len(run.all(Resumed))) == ("plausible", [], 1)
    assert sum(item.check == "tests" for item in run.evidence) == 1


@pytest.mark.parametrize("how", [pytest.param((), marks=pytest.mark.slow), ("--events",)])
@pytest.mark.slow
def test_a_reader_that_leaves_does_not_end_the_work(how: tuple[str, ...], work_folder: Path, store: Store) -> None:
    read, written = os.pipe()
    command = [sys.executable, "-m", "burnish", *COMMAND, *how]
    with subprocess.Popen(command, cwd=work_folder, stdout=written, stderr=subprocess.PIPE) as process:
        os.close(written)
        assert os.read(read, 1)
        os.close(read)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, b"")
    assert (work_folder / "double" / "solution.py").is_file()
    assert store.open("last").state == "plausible"


@pytest.mark.slow
def test_an_evaluation_has_a_command_of_its_own(work_folder: Path, home: Path) -> None:
    (home / "evals" / "mine-1a2b").mkdir(parents=True)
    (home / "evals" / "mine-1a2b" / "eval.json").write_text("{}")
    told = burnish("resume", "mine", cwd=work_folder)
    assert (told.returncode, "burnish eval resume mine-1a2b" in told.stderr) == (2, True)
