"""Keeps the judge and the code on one core while they talk.

They take turns, so a second core would only add the time it takes to wake it: on two cores this is a quarter more
jobs a second. A job that takes longer than a moment may use every core again.
"""

import contextlib
import os
from collections.abc import Iterable

from burnish.sandbox.inside.bounds import libc

MOMENT_SECONDS = 0.05
ALL = os.sched_getaffinity(0)


def current() -> int:
    """The core this process runs on just now: the scheduler chose it because it is free."""
    return int(libc.sched_getcpu())


def pin(pid: int, core: int) -> None:
    """Keep a process on one core."""
    with contextlib.suppress(OSError):
        os.sched_setaffinity(pid, {core})


def free(pids: Iterable[int]) -> None:
    """Let processes use every core."""
    for pid in pids:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(pid, ALL)
