"""kill -9 in the middle of a run: what was done is there afterwards, and can be looked at."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from burnish.runs import Store
from tests.support import DOUBLE, burnish

KILLED_WHEN_ASKED_AGAIN = """
import os, signal
from burnish.cli.main import main
from burnish.models.scripted import ScriptedModel
stream = ScriptedModel.stream
def deadly(self, ask, cancel):
    if len(self.asked) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    yield from stream(self, ask, cancel)
ScriptedModel.stream = deadly
main()
"""


@pytest.mark.slow
def test_a_killed_run_is_listed_as_unfinished_with_all_it_had_done(work_folder: Path, store: Store) -> None:
    command = [sys.executable, "-c", KILLED_WHEN_ASKED_AGAIN, "write", DOUBLE, "--model", "scripted:demo"]
    assert subprocess.run(command, cwd=work_folder, capture_output=True).returncode == -signal.SIGKILL

    [row] = json.loads(burnish("runs", "--json", cwd=work_folder).stdout)
    assert row["state"] == "unfinished"
    shown = burnish("show", "--all", cwd=work_folder)
    assert shown.returncode == 0
    assert "version 1: 2 passed, 3 failed" in shown.stdout
    assert "unfinished: the run did not come to its end" in shown.stdout
    assert len(store.open("last").versions) >= 1

    told = burnish("write", "--from", "last", "more", "--model", "scripted:demo", cwd=work_folder)
    assert (told.returncode, "has no code to go on from" in told.stderr) == (2, True)
