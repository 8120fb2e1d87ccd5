"""Children that try one version each, as many at once as there are processors; each has its time and its own folder."""

# ruff: noqa: PTH102, PTH103, PTH118, PTH123

from __future__ import annotations

import contextlib
import json
import os
import resource
import secrets
import select
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

SPARE_BYTES = 768 * 1024 * 1024
"""Memory that a child may take beyond what it was born with."""
LEAST_CPU_SECONDS, TIMES = 0.5, 6.0
WALL, LEAST_WALL_SECONDS = 4.0, 2.0
"""Wall seconds for each CPU second, and besides, so that a busy machine makes no verdicts."""
MOST_BYTES = 64 * 1024 * 1024
SLOW = (signal.SIGPROF, signal.SIGXCPU)

Live = Callable[[], Any]


class Child:
    """One process and the pipe on which it says how it went."""

    def __init__(self, name: Any, live: Live, limits: tuple[float, float], folder: str, nonce: str) -> None:
        cpu_seconds, wall_seconds = limits
        self.name = name
        self.folder = folder
        self.nonce = nonce.encode()
        """What the line begins with that counts: the code under test could write to the pipe too."""
        self.deadline = time.monotonic() + wall_seconds
        self.heard = bytearray()
        self.reader, writer = os.pipe()
        os.mkdir(folder)
        self.pid = os.fork()
        if self.pid == 0:
            self.be_born(writer, live, cpu_seconds)
        os.close(writer)

    def be_born(self, writer: int, live: Live, cpu_seconds: float) -> None:
        """Live, say what came of it, and end without any of the goodbyes that belong to the parent."""
        code = 1
        try:
            os.setpgid(0, 0)  # what the tests start is ended with the child
            settle(self.folder, cpu_seconds)
            said = b"\n" + self.nonce + json.dumps(live()).encode() + b"\n"
            while said:
                said = said[os.write(writer, said) :]
            code = 0
        finally:
            os._exit(code)

    def listen(self) -> bool:
        """Take what there is to hear; True when the child has said all, or can say nothing any more."""
        data = os.read(self.reader, 1 << 20)
        self.heard += data
        is_whole = self.heard.endswith(b"\n") and self.word() is not None
        return not data or is_whole or len(self.heard) > MOST_BYTES

    def word(self) -> bytes | None:
        """The line that counts, once it has come."""
        lines = self.heard.split(b"\n")[:-1]
        return next((bytes(line[len(self.nonce) :]) for line in lines if line.startswith(self.nonce)), None)

    def end(self) -> Any:
        """What the child said; else "timeout" when its time was up, and "crash" when it ended without a word."""
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        os.close(self.reader)
        shutil.rmtree(self.folder, ignore_errors=True)
        if (word := self.word()) is not None:
            with contextlib.suppress(ValueError):
                return json.loads(word)
        late = time.monotonic() >= self.deadline
        return "timeout" if late or (os.WIFSIGNALED(status) and os.WTERMSIG(status) in SLOW) else "crash"


def settle(folder: str, cpu_seconds: float) -> None:
    """Limits for this process, and a folder of its own for whatever it writes."""
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
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    os.environ["TMPDIR"] = tempfile.tempdir = folder


class Nursery:
    """Runs children and hands back what each said, in the order they end."""

    def __init__(self, folder: str, at_once: int) -> None:
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        self.nonce = secrets.token_hex(16)
        self.at_once = at_once
        self.born = 0
        self.living: dict[int, Child] = {}

    @property
    def full(self) -> bool:
        """True when the next child has to wait."""
        return len(self.living) >= self.at_once

    def start(self, name: Any, live: Live, cpu_seconds: float, wall_seconds: float) -> None:
        """A new child."""
        self.born += 1
        limits = cpu_seconds, wall_seconds
        child = Child(name, live, limits, os.path.join(self.folder, str(self.born)), self.nonce)
        self.living[child.reader] = child

    def collect_ended(self, patience_seconds: float = 3600.0) -> Iterator[tuple[Any, Any]]:
        """Wait until a child ends or its time is up; the name and last word of each that did. At most so long."""
        if not self.living:
            return
        nearest = min(child.deadline for child in self.living.values()) - time.monotonic()
        ready = select.select(list(self.living), [], [], max(0.0, min(nearest, patience_seconds)))[0]
        now = time.monotonic()
        for reader, child in list(self.living.items()):
            if (reader in ready and child.listen()) or now >= child.deadline:
                del self.living[reader]
                yield child.name, child.end()

    def close(self) -> None:
        """End all that still live."""
        for child in self.living.values():
            child.end()
        self.living.clear()


def allowance(cpu_seconds: float, wall_seconds: float) -> tuple[float, float]:
    """The CPU and wall seconds for tests that take so long without a version."""
    cpu = LEAST_CPU_SECONDS + TIMES * cpu_seconds
    return cpu, LEAST_WALL_SECONDS + WALL * cpu + TIMES * wall_seconds
