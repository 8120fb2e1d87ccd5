"""Children: forked processes that do one piece of work each, with their time, their limits and a folder of their own.

What is loaded in this process is loaded in each child, for the cost of a fork; nothing that a child does comes back but
the facts that it tells.
"""

# ruff: noqa: PTH102, PTH103, PTH106, PTH108, PTH114, PTH118, PTH123

from __future__ import annotations

import contextlib
import itertools
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from .facts import Fact, FactReader, say

SPARE_BYTES = 768 * 1024 * 1024
"""Memory that a child may take beyond what it was born with."""
MOST_BYTES = 64 * 1024 * 1024
SLOW = (signal.SIGPROF, signal.SIGXCPU)
END: Fact = {"end": True}
"""The last fact of a child that came to its end. What it started may hold the pipe open for longer."""

Work = Callable[[], Iterable[Fact]]


class Allowance(NamedTuple):
    """What a child may take."""

    cpu_seconds: float
    wall_seconds: float
    silent_seconds: float = 3600.0
    """How long it may go without telling a fact."""


class Child:
    """One process, and the facts that it has told so far."""

    def __init__(self, name: Any, work: Work, folder: str, allowance: Allowance) -> None:
        nonce = os.urandom(16).hex()
        self.name, self.folder, self.allowance = name, folder, allowance
        self.reader = FactReader(nonce)
        self.facts = self.reader.facts
        self.until = time.monotonic() + allowance.wall_seconds
        self.deadline = min(self.until, time.monotonic() + allowance.silent_seconds)
        self.pipe, writer = os.pipe()
        os.mkdir(folder)
        self.pid = os.fork()
        if self.pid == 0:
            self.live(writer, nonce, work)
        os.close(writer)

    def live(self, writer: int, nonce: str, work: Work) -> None:
        """Tell what the work finds, as it comes, and end without any of the goodbyes that belong to the parent."""
        try:
            os.setpgid(0, 0)  # what the work starts is ended with the child
            settle(self.folder, self.allowance.cpu_seconds)
            own = os.getpid()
            for fact in itertools.chain(work(), [END]):
                if os.getpid() != own:  # a copy that the code made of itself must not answer as well
                    break
                say(writer, nonce, fact)
        finally:
            os._exit(0)

    def listen(self) -> bool:
        """Take what there is to hear; True when the child has told its end, or can tell nothing any more."""
        data, known = os.read(self.pipe, 1 << 20), len(self.facts)
        self.reader(data)
        if len(self.facts) > known:
            self.deadline = min(self.until, time.monotonic() + self.allowance.silent_seconds)
        return not data or END in self.facts or len(self.reader.rest) > MOST_BYTES

    def end(self) -> str:
        """Kill the child and what it started: "ended" when it told its end, else "timeout" or "crash"."""
        is_late = time.monotonic() >= self.deadline
        for kill in (os.killpg, os.kill):  # it may have no group of its own yet
            with contextlib.suppress(OSError):
                kill(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        os.close(self.pipe)
        remove_folder(self.folder)
        if END in self.facts:
            return "ended"
        return "timeout" if is_late or (os.WIFSIGNALED(status) and os.WTERMSIG(status) in SLOW) else "crash"


def settle(folder: str, cpu_seconds: float) -> None:
    """Limits for this process, nothing to read or to print to, and a folder of its own for whatever it writes."""
    for which in SLOW:
        signal.signal(which, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
    whole = int(cpu_seconds) + 2  # for processes that this one starts
    resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 1))
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm") as file:
        wanted = int(file.read().split()[0]) * resource.getpagesize() + SPARE_BYTES
    limits = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min([wanted, *limits]), hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    os.environ["TMPDIR"] = folder
    if known := sys.modules.get("tempfile"):  # not imported here, as that takes long; it reads the variable once
        known.tempdir = folder  # type: ignore[attr-defined]


def remove_folder(folder: str) -> None:
    """Remove a folder with all in it, as far as that goes; mostly it is empty."""
    for here, folders, names in os.walk(folder, topdown=False):
        for name in (*folders, *names):
            place = os.path.join(here, name)
            with contextlib.suppress(OSError):
                (os.rmdir if name in folders and not os.path.islink(place) else os.unlink)(place)
    with contextlib.suppress(OSError):
        os.rmdir(folder)


class Nursery:
    """Runs children, so many at once, and hands them back in the order in which they end."""

    def __init__(self, folder: str, at_once: int) -> None:
        self.folder, self.at_once = folder, at_once
        os.makedirs(folder, exist_ok=True)
        self.born = 0
        self.living: dict[int, Child] = {}

    @property
    def full(self) -> bool:
        """True when the next child has to wait."""
        return len(self.living) >= self.at_once

    def start(self, name: Any, work: Work, allowance: Allowance) -> None:
        """A new child."""
        self.born += 1
        child = Child(name, work, os.path.join(self.folder, str(self.born)), allowance)
        self.living[child.pipe] = child

    def collect_ended(self, patience_seconds: float = 3600.0) -> list[tuple[Child, str]]:
        """Wait until a child says something or its time is up, at most so long; those that ended, and how."""
        nearest = min((child.deadline for child in self.living.values()), default=0.0) - time.monotonic()
        ready = select.select(list(self.living), [], [], max(0.0, min(nearest, patience_seconds)))[0]
        now = time.monotonic()
        ended = [
            child for pipe, child in self.living.items() if (pipe in ready and child.listen()) or now >= child.deadline
        ]
        for child in ended:
            del self.living[child.pipe]
        return [(child, child.end()) for child in ended]

    def close(self) -> None:
        """End all that still live."""
        for child in self.living.values():
            child.end()
        self.living.clear()
