"""kill -9, Ctrl-C and a reader that leaves: the run is gone on with, and ends with its files."""

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from burnish.events import Asked, FilesWritten, ModelReplied, Resumed
from burnish.events.replay import Replay
from burnish.runs import Run, Store
from tests.support import DOUBLE, burnish

COMMAND = ("write", DOUBLE, "--model", "scripted:demo", "--fast")
DEADLY = """
import os, signal, sys
from burnish.cli.main import main
from burnish.models.scripted import ScriptedModel
from burnish.runs import Record
moment = sys.argv.pop(1)
stream, append = ScriptedModel.stream, Record.append
def die():
    os.kill(os.getpid(), signal.SIGKILL)
def deadly_stream(self, ask, cancel):
    for piece in stream(self, ask, cancel):
        yield piece
        if moment == "in the middle of an answer" and len(self.asked) == 2:
            die()
def deadly_append(self, event):
    append(self, event)
    if moment == "in the final checks" and event.kind == "check_finished":
        die()
    if moment == "interrupted in the final checks" and event.kind == "check_finished":
        os.kill(os.getpid(), signal.SIGINT)
    if moment == "before the files are written" and event.kind == "run_finished":
        die()
ScriptedModel.stream, Record.append = deadly_stream, deadly_append
main()
"""


def answered_twice(run: Run) -> list[str]:
    """Questions with more than one whole answer."""
    answers = Counter(reply.ask_id for reply in run.all(ModelReplied) if reply.ended != "cut")
    return [ask_id for ask_id, count in answers.items() if count > 1]


@pytest.mark.parametrize(
    "moment",
    [
        "in the middle of an answer",
        pytest.param("in the final checks", marks=pytest.mark.slow),
        pytest.param("before the files are written", marks=pytest.mark.slow),
    ],
)
@pytest.mark.slow
def test_kill_9_then_resume(moment: str, work_folder: Path, store: Store) -> None:
    killed = subprocess.run([sys.executable, "-c", DEADLY, moment, *COMMAND], cwd=work_folder, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    before = store.open("last")

    told = burnish("resume", cwd=work_folder)
    assert told.returncode == 0, told.stderr
    run = store.open("last")
    assert (run.state, answered_twice(run)) == ("plausible", [])
    lost = Counter(asked.ask_id for asked, _ in Replay(before.events).lost)
    asked = Counter(event.ask_id for event in run.all(Asked))
    assert asked == Counter(dict.fromkeys(asked, 1)) + lost, "again only what the crash left without an answer"
    assert run.events[: len(before.events)] == before.events
    assert Path(run.folder or "").joinpath("solution.py").read_text() == run.code
    again = burnish("resume", run.id, cwd=work_folder)
    assert (again.returncode, "nothing is left to do" in again.stdout) == (0, True)
    assert store.open("last").events == run.events


@pytest.mark.slow
def test_ctrl_c_in_the_final_checks_then_resume(work_folder: Path, store: Store) -> None:
    command = [sys.executable, "-c", DEADLY, "interrupted in the final checks", *COMMAND]
    stopped = subprocess.run(command, cwd=work_folder, capture_output=True, text=True, timeout=60)
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
