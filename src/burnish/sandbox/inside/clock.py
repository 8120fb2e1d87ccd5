"""When is a job over? CPU seconds decide, so that a busy machine fails nobody; the wall limit is four times as long."""

# ruff: noqa: PTH100, PTH101, PTH102, PTH103, PTH108, PTH112, PTH120, PTH123, PTH208

import os
import resource
import select
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from burnish.sandbox.inside import cores

if TYPE_CHECKING:
    from burnish.sandbox.inside.traces import Cell

WALL = 4
TICKS = os.sysconf("SC_CLK_TCK")
CORES = os.cpu_count() or 1
SHORTEST_NAP = 0.01


class HungUp(Exception):
    """Burnish is gone or wants no more."""


class Spent:
    """CPU seconds that a job has used: everything it started, and the helper that judges it."""

    def __init__(self, cell: "Cell", helper: int = 0) -> None:
        self.cell = cell
        self.helper = helper
        self.before = reaped_seconds() + helper_seconds(helper)

    def seconds(self) -> float:
        """What finished processes and the helper used."""
        return round(reaped_seconds() + helper_seconds(self.helper) - self.before, 4)

    def seconds_so_far(self) -> float:
        """What finished and living processes used."""
        return self.seconds() + sum(seconds_of(pid) for pid in self.cell.strangers())


def reaped_seconds() -> float:
    """CPU seconds of all children that are no more, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def helper_seconds(pid: int) -> float:
    """CPU seconds of a living helper (Linux makes a clock for each process; its number is made from the pid)."""
    try:
        return time.clock_gettime((~pid << 3) | 2) if pid else 0.0
    except OSError:
        return 0.0


def seconds_of(pid: int) -> float:
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


@contextmanager
def ending_of(child: int) -> Iterator[int]:
    """A descriptor that becomes readable when the child ends."""
    handle = os.pidfd_open(child)
    try:
        yield handle
    finally:
        os.close(handle)


def watch(handle: int, control: socket.socket, timeout: float, spent: Spent) -> str:
    """Wait until `handle` says that the job is done, or its time is up: "" or "cpu" or "wall".

    Looks only when the limit could have been reached, so a job that ends in time is not disturbed.
    """
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    poll.register(control, select.POLLIN)
    deadline = time.monotonic() + WALL * timeout
    nap = cores.MOMENT_SECONDS
    while True:
        ready = [fd for fd, _ in poll.poll(max(SHORTEST_NAP, nap) * 1000)]
        if handle in ready:
            return ""
        if ready:
            raise HungUp
        cores.free({spent.helper or os.getpid(), *spent.cell.strangers()})
        used = spent.seconds_so_far()
        if used >= timeout:
            return "cpu"
        left = deadline - time.monotonic()
        if left <= 0:
            return "wall"
        nap = min((timeout - used) / CORES, left)
