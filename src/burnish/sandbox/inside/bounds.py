"""The limits a process of a job sets on itself before anything untrusted runs in it."""

import ctypes
import math
import resource
from typing import Any

PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36
libc = ctypes.CDLL(None, use_errno=True)


def hide_memory() -> None:
    """From now on no other process of the cell can read this one's memory, descriptors or environment."""
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def adopt_orphans() -> None:
    """Become the parent of whatever outlives its own parent, as process 1 of a cell is anyway."""
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def apply(limits: dict[str, Any], timeout: float) -> None:
    """Set the limits that each process has for itself; what a job may use in total is watched from outside."""
    seconds = math.ceil(timeout) + 1
    settle(resource.RLIMIT_CPU, seconds)
    settle(resource.RLIMIT_AS, limits["memory_bytes"])
    settle(resource.RLIMIT_FSIZE, limits["file_bytes"])
    settle(resource.RLIMIT_NOFILE, limits["open_files"])
    settle(resource.RLIMIT_CORE, 0)
    if limits["processes"]:
        settle(resource.RLIMIT_NPROC, limits["processes"])


def settle(kind: int, value: int) -> None:
    """Lower one limit for good."""
    hard = resource.getrlimit(kind)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))
