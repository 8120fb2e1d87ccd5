"""Starts a worker for each module, listens to it, ends it in time, and prints everything it said, once.

Code of the project never runs in this process, and what it is told (`order.json`) is gone before the first worker
starts: the number that makes its one line of output believable cannot be found by the code that is measured.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

MOST_BYTES = 4_000_000
PACKAGE = "burnish_measuring_in_cell"
"""What this folder is called in a cell, beside a project that may be Burnish itself."""


def main() -> None:
    """Do what `order.json` asks for."""
    place = Path("order.json")
    order = json.loads(place.read_text())
    place.unlink()
    nonce = order.pop("nonce")
    until = time.monotonic() + order["seconds"]
    said: list[dict[str, Any]] = []
    for module in order["modules"]:
        left = until - time.monotonic()
        if left < 0.3:
            said.append({"skipped": module["module"]})
            continue
        said += run_worker({**module, "seconds": left, "each_seconds": order["each_seconds"]})
    print("\n" + nonce + json.dumps(said), flush=True)


def run_worker(module: dict[str, Any]) -> list[dict[str, Any]]:
    """Everything that one worker says, until it ends or its time is over."""
    word = secrets.token_hex(8)
    ours, theirs = os.pipe()
    worker = subprocess.Popen(
        [sys.executable, "-m", f"{PACKAGE}.worker", str(theirs)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=[theirs],
        start_new_session=True,
    )
    os.close(theirs)
    assert worker.stdin
    with contextlib.suppress(OSError):  # a worker that is gone says nothing
        worker.stdin.write(json.dumps({**module, "word": word}).encode())
        worker.stdin.close()
    heard = hear(ours, worker, time.monotonic() + module["seconds"] + 0.5)
    os.close(ours)
    with contextlib.suppress(OSError):
        os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()
    return read_lines(heard, word, {function["id"] for function in module["functions"]})


def hear(descriptor: int, worker: subprocess.Popen[bytes], until: float) -> bytes:
    """What is said on the descriptor until it is closed, the worker is gone, or time is over."""
    heard = b""
    while len(heard) < MOST_BYTES and time.monotonic() < until:
        over = worker.poll() is not None
        ready, _, _ = select.select([descriptor], [], [], 0.0 if over else 0.2)
        some = os.read(descriptor, 65536) if ready else b""
        if (ready or over) and not some:
            break
        heard += some
    return heard


def read_lines(heard: bytes, word: str, functions: set[int]) -> list[dict[str, Any]]:
    """The lines that carry the worker's word, and speak of what this worker was asked for."""
    lines = []
    for line in heard.split(b"\n"):
        try:
            said = json.loads(line)
        except ValueError:
            continue
        if isinstance(said, dict) and said.pop("word", None) == word and said.get("function", -1) in functions | {-1}:
            lines.append(said)
    return lines


if __name__ == "__main__":
    main()
