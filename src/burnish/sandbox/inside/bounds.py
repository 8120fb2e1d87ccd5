"""The limits of every process of a cell: process 1 sets them on itself, and whatever it forks inherits them.

But for one: process 1 may have more descriptors than a job. The kernel counts those that are on their way through
sockets for all processes of a user together, and compares with the limit of whoever sends the next one. With the limit
of a job, a job in another cell, which is the same user, could keep process 1 from handing anything to its helpers.
"""

# ruff: noqa: PTH123

import contextlib
import ctypes
import os
import resource
from typing import Any

PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36
OWN_PROCESSES = 5
"""Process 1, three helpers and a fork of one: not the job's."""
MOST_DESCRIPTORS = 1 << 20
SERVER_FILES = 1 << 14
"""Descriptors of process 1, where the machine allows it so many."""
JOB_FILES: list[int] = []
"""The limit on descriptors that `close_all_but` sets in a new process."""
libc = ctypes.CDLL(None, use_errno=True)


def hide_memory() -> None:
    """From now on no other process of the cell can read this one's memory, descriptors or environment."""
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def adopt_orphans() -> None:
    """Become the parent of whatever outlives its own parent, as process 1 of a cell is anyway."""
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def apply(limits: dict[str, Any]) -> None:
    """Lower, for good, what each process may use. What a job may use in total is watched from outside."""
    settle(resource.RLIMIT_AS, limits["memory_bytes"])
    settle(resource.RLIMIT_FSIZE, limits["file_bytes"])
    settle(resource.RLIMIT_NOFILE, max(SERVER_FILES, limits["open_files"]))
    JOB_FILES[:] = [limits["open_files"]]
    settle(resource.RLIMIT_CORE, 0)
    if limits["processes"]:
        settle(resource.RLIMIT_NPROC, limits["processes"] + OWN_PROCESSES)
    stand_back(limits["niceness"])


def stand_back(niceness: int) -> None:
    """Let others go first, on kernels that weigh each session as one (`autogroup`) too."""
    if not niceness:
        return
    os.nice(niceness)
    with contextlib.suppress(OSError), open("/proc/self/autogroup", "w") as file:
        file.write(str(niceness))


def renew_standard_files() -> None:
    """Open /dev/null anew as standard input, output and error of this process.

    Flags and locks belong to an open file, so on one inherited from process 1 they would stay for the next job.
    """
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nowhere, fd)
    os.close(nowhere)


def close_all_but(*keep: int) -> None:
    """In a new process: close descriptors but the standard three and those to keep; allow no more than a job has."""
    for most in JOB_FILES:
        settle(resource.RLIMIT_NOFILE, most)
    low = 3
    for fd in sorted(keep):
        os.closerange(low, fd)
        low = fd + 1
    os.closerange(low, MOST_DESCRIPTORS)


def settle(kind: int, value: int) -> None:
    """Lower one limit."""
    hard = resource.getrlimit(kind)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))
