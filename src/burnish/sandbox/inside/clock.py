"""When is a job over? CPU seconds decide, so that a busy machine fails nobody; the wall limit is four times as long."""

# ruff: noqa: PTH100, PTH101, PTH102, PTH103, PTH108, PTH112, PTH120, PTH123, PTH208

import os
import resource
import select
import socket
import sys
import time

WALL = 4
TICKS = os.sysconf("SC_CLK_TCK")
CORES = os.cpu_count() or 1
SHORTEST_NAP = 0.01


class Spent:
    """CPU seconds that a job and everything it started have used."""

    def __init__(self, isolated: bool) -> None:
        self.isolated = isolated
        self.before = reaped_seconds()

    def seconds(self) -> float:
        """What finished processes used."""
        return round(reaped_seconds() - self.before, 4)

    def seconds_so_far(self) -> float:
        """What finished and living processes used."""
        return self.seconds() + sum(seconds_of(pid) for pid in others(self.isolated))


def reaped_seconds() -> float:
    """CPU seconds of all children that are no more, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def others(isolated: bool) -> list[int]:
    """Every living process of the job. In a cell that is everyone but process 1; outside, our descendants."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    if isolated:
        return [pid for pid in pids if pid != os.getpid()]
    return descendants(os.getpid(), {pid: parent_of(pid) for pid in pids})


def descendants(top: int, parents: dict[int, int]) -> list[int]:
    """All processes below `top`."""
    found: list[int] = []
    fresh = [top]
    while fresh:
        fresh = [pid for pid, parent in parents.items() if parent in fresh]
        found += fresh
    return found


def fields(pid: int) -> list[bytes]:
    """What /proc says of a process, from its state on; empty when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return []


def parent_of(pid: int) -> int:
    """The parent of a process, 0 when it is gone."""
    found = fields(pid)
    return int(found[1]) if found else 0


def seconds_of(pid: int) -> float:
    """CPU seconds of one living process and of its children that are no more."""
    return sum(int(ticks) for ticks in fields(pid)[11:15]) / TICKS


def watch(child: int, control: socket.socket, timeout: float, spent: Spent) -> str:
    """Wait until the job's first process ends, or its time is up: "" or "cpu" or "wall".

    Looks only when the limit could have been reached, so a job that ends in time is not disturbed.
    """
    handle = os.pidfd_open(child)
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        poll.register(control, select.POLLIN)
        return wait(poll, handle, timeout, spent)
    finally:
        os.close(handle)


def wait(poll: select.poll, handle: int, timeout: float, spent: Spent) -> str:
    """The loop of `watch`."""
    deadline = time.monotonic() + WALL * timeout
    nap = timeout / CORES
    while True:
        ready = [fd for fd, _ in poll.poll(max(SHORTEST_NAP, nap) * 1000)]
        if handle in ready:
            return ""
        if ready:
            sys.exit(0)
        used = spent.seconds_so_far()
        if used >= timeout:
            return "cpu"
        left = deadline - time.monotonic()
        if left <= 0:
            return "wall"
        nap = min((timeout - used) / CORES, left)
