"""The first process of a job: starts the tests in a process of their own, ends them in time, says how they ended.

The tests cannot reach the job's output but through the descriptor that their reporter was given; what they print goes
to a file, of which the end is passed on.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from .facts import PACKAGE, read_job, say

LAST_BYTES = 6000


def main() -> None:
    """Read the job, before the first line of the project runs, and see it through."""
    job = read_job()
    started = time.monotonic()
    ended = see_through(job)
    ended["seconds"] = round(time.monotonic() - started, 3)
    say(1, job["nonce"], {"ended": ended})


def see_through(job: dict[str, Any]) -> dict[str, Any]:
    """Run the tests, with their job on standard input, or a command of the user's in the project's folder.

    How they ended: exit code, whether their time was up, and the last of what they printed.
    """
    report, command, over = os.dup(1), job.get("command"), False
    words = command or [sys.executable, "-B", "-c", f"from {PACKAGE}.suite import main; main({report})"]
    with Path("printed").open("w+b") as printed:
        try:
            process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL if command else subprocess.PIPE,
                stdout=printed,
                stderr=subprocess.STDOUT,
                pass_fds=() if command else (report,),
                cwd=job["root"] if command else None,
                env={**os.environ, **job["environment"]},
                start_new_session=True,  # so that all it started can be ended together
            )
        except OSError as error:
            return {"exit": 127, "over": False, "printed": str(error)}
        os.close(report)
        try:
            process.communicate(None if command else json.dumps(job).encode(), job["seconds"])
        except subprocess.TimeoutExpired:
            over = True
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        size = printed.seek(0, os.SEEK_END)
        printed.seek(max(0, size - LAST_BYTES))
        last = printed.read(LAST_BYTES).decode("utf-8", "replace")
    return {"exit": process.returncode, "over": over, "printed": last}
