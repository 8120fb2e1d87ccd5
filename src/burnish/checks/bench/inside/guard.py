"""The first process of a job: starts the tests in a process of their own, ends them in time, says how they ended.

The tests cannot reach the job's output but through the descriptor that their reporter was given; what they print goes
to a file, of which the end is passed on.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

LAST_BYTES = 6000
PACKAGE = "burnish_suite_in_cell"


def main() -> None:
    """Read the job, remove it from where the tests could read it, and see it through."""
    file = Path("job.json")
    job = json.loads(file.read_text(encoding="utf-8"))
    file.unlink()  # before the first line of the project runs: it holds the number that our facts begin with
    started = time.monotonic()
    ended = see_through(job)
    ended["seconds"] = round(time.monotonic() - started, 3)
    say(1, job["nonce"], {"ended": ended})


def see_through(job: dict[str, Any]) -> dict[str, Any]:
    """How the tests ended: exit code, whether their time was up, and the last of what they printed."""
    report = os.dup(1)
    with Path("printed").open("w+b") as printed:
        try:
            process = start(job, report, printed)
        except OSError as error:
            return {"exit": 127, "over": False, "printed": str(error)}
        os.close(report)
        over = False
        try:
            process.wait(job["seconds"])
        except subprocess.TimeoutExpired:
            over = True
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        size = printed.seek(0, os.SEEK_END)
        printed.seek(max(0, size - LAST_BYTES))
        last = printed.read(LAST_BYTES).decode("utf-8", "replace")
    return {"exit": process.returncode, "over": over, "printed": last}


def start(job: dict[str, Any], report: int, printed: Any) -> subprocess.Popen[bytes]:
    """The tests, with their job on standard input, or a command of the user's in the project's folder."""
    command = job.get("command")
    words = command or [sys.executable, "-B", "-c", f"from {PACKAGE}.suite import main; main({report})"]
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
    if process.stdin:
        with contextlib.suppress(OSError):  # a process that is gone reads nothing
            process.stdin.write(json.dumps(job).encode())
            process.stdin.close()
    return process


def say(descriptor: int, nonce: str, fact: dict[str, Any]) -> None:
    """One fact as one line that only we could have begun."""
    data = f"\n{nonce}{json.dumps(fact)}\n".encode()
    while data:
        data = data[os.write(descriptor, data) :]
