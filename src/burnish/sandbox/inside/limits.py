"""What a process of a cell may use: limits that it inherits, the core it runs on, and its time.

Process 1 sets the limits on itself, and whatever it forks inherits them, but for one: process 1 may have more
descriptors than a job. The kernel counts those that are on their way through sockets for all processes of a user
together, and compares with the limit of whoever sends the next one. With the limit of a job, a job in another cell,
which is the same user, could keep process 1 from handing anything to its helpers.

CPU seconds decide when a job is over, so that a busy machine fails nobody; the wall limit is four times as long.
"""

# ruff: noqa: PTH123

import contextlib
import ctypes
import os
import resource
import select
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from burnish.sandbox.inside.bounds import SERVER_FILES, WALL

PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36
OWN_PROCESSES = 5
"""Process 1, three helpers and a fork of one: not the job's."""
MOST_DESCRIPTORS = 1 << 20
JOB_FILES: list[int] = []
"""The limit on descriptors that `close_all_but` sets in a new process."""
MOMENT_SECONDS = 0.05
"""How long the judge and the code stay on one core. They take turns, so a second core would only add the time it takes
to wake it: on two cores this is a quarter more jobs a second.
"""
ALL_CORES = os.sched_getaffinity(0)
CORE_COUNT = os.cpu_count() or 1
TICKS = os.sysconf("SC_CLK_TCK")
SHORTEST_NAP = 0.01
libc = ctypes.CDLL(None, use_errno=True)


class HungUp(Exception):
    """Burnish is gone or wants no more."""


class JobControl(Protocol):
    """How process 1 hears from Burnish and answers: the two kinds are in `control.py`."""

    output: int
    """Where to read what a job says, if that has to be passed on; else -1."""

    def fileno(self) -> int:
        """Readable when there is a job, or Burnish is gone."""

    def receive(self) -> tuple[dict[str, Any], list[int]] | None:
        """The next job and its descriptors, None when there will be none."""

    def say(self, message: dict[str, Any]) -> None:
        """Tell Burnish something."""

    def pass_on(self) -> bool:
        """Pass on what the job says; False when there is nothing."""


def apply_limits(limits: dict[str, Any]) -> None:
    """Lower, for good, what each process may use. What a job may use in total is watched from outside."""
    bounds = {
        resource.RLIMIT_AS: limits["memory_bytes"],
        resource.RLIMIT_FSIZE: limits["file_bytes"],
        resource.RLIMIT_NOFILE: max(SERVER_FILES, limits["open_files"]),
        resource.RLIMIT_CORE: 0,
    }
    if limits["processes"]:
        bounds[resource.RLIMIT_NPROC] = limits["processes"] + OWN_PROCESSES
    for kind, value in bounds.items():
        lower_limit(kind, value)
    JOB_FILES[:] = [limits["open_files"]]
    if limits["niceness"]:
        os.nice(limits["niceness"])
        # Some kernels weigh each session as one, whatever its processes say of themselves.
        with contextlib.suppress(OSError), open("/proc/self/autogroup", "w") as file:
            file.write(str(limits["niceness"]))


def lower_limit(kind: int, value: int) -> None:
    """Lower one limit."""
    hard = resource.getrlimit(kind)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def renew_standard_files(fds: Iterable[int] = (0, 1, 2)) -> None:
    """Open /dev/null anew as standard input, output and error of this process, or as some of them.

    Flags and locks belong to an open file, so on one inherited from process 1 they would stay for the next job.
    """
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in fds:
        os.dup2(nowhere, fd)
    os.close(nowhere)


def close_all_but(*keep: int) -> None:
    """In a new process: close descriptors but the standard three and those to keep; allow no more than a job has."""
    for most in JOB_FILES:
        lower_limit(resource.RLIMIT_NOFILE, most)
    low = 3
    for fd in sorted(keep):
        os.closerange(low, fd)
        low = fd + 1
    os.closerange(low, MOST_DESCRIPTORS)


def set_cores(pids: Iterable[int], cores: Iterable[int]) -> None:
    """Keep processes on these cores; one that is gone needs none."""
    for pid in pids:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(pid, cores)


def read_helper_clock(pid: int) -> float:
    """CPU seconds of a helper; 0 where there is none, or none any more."""
    with contextlib.suppress(OSError):
        # Linux has a clock for each process; its number is made from the pid.
        return time.clock_gettime((~pid << 3) | 2) if pid else 0.0
    return 0.0


def count_process_seconds(pid: int) -> float:
    """CPU seconds of one living process and of its children that are no more.

    Its name, which it chose itself, stays in one buffer that is emptied: a later job is forked from this memory.
    """
    text = bytearray(4096)
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            size = file.readinto(text) or 0
    except OSError:
        return 0.0
    fields = bytes(text[text.rfind(b")") + 1 : size]).split()
    text[:] = bytes(len(text))
    return sum(int(ticks) for ticks in fields[11:15]) / TICKS


@contextlib.contextmanager
def open_pidfd(child: int) -> Iterator[int]:
    """A descriptor that becomes readable when the child ends."""
    handle = os.pidfd_open(child)
    try:
        yield handle
    finally:
        os.close(handle)


def wait_for_end(
    handle: int, control: JobControl, timeout: float, find_strangers: Callable[[], list[int]], helper: int = 0
) -> str:
    """Wait until `handle` says that the job is done, or its time is up: "" or "cpu" or "wall".

    What the job used is the time of all its processes, and of the helper that judges it. They are looked at only when
    the limit could have been reached, so a job that ends in time is not disturbed.
    """
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    poll.register(control, select.POLLIN)
    if control.output >= 0:
        poll.register(control.output, select.POLLIN)
    deadline, before = time.monotonic() + WALL * timeout, read_helper_clock(helper)
    look_at = time.monotonic() + MOMENT_SECONDS
    while True:
        ready = [fd for fd, _ in poll.poll(max(SHORTEST_NAP, look_at - time.monotonic()) * 1000)]
        if handle in ready:
            return ""
        if control.fileno() in ready:
            raise HungUp
        if ready:
            control.pass_on()
            if time.monotonic() < look_at:
                continue
        strangers = find_strangers()
        set_cores({helper or os.getpid(), *strangers}, ALL_CORES)
        used = read_helper_clock(helper) - before + sum(map(count_process_seconds, strangers))
        if used >= timeout:
            return "cpu"
        left = deadline - time.monotonic()
        if left <= 0:
            return "wall"
        look_at = time.monotonic() + min((timeout - used) / CORE_COUNT, left)
