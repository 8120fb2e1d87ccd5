"""A container as a process of ours: something to wait for, to end, and to find again when its owner was killed."""

import contextlib
import os
import secrets
import select
import subprocess
from pathlib import Path
from typing import IO

from burnish.errors import SandboxError
from burnish.sandbox.docker.engine import Engine

OURS = "burnish-cell-"
NAME_WORDS = 5


class Container:
    """Process 1 of a container, seen from outside. `Cell` needs no more of a process than this."""

    def __init__(self, engine: Engine, name: str, pid: int, stderr: IO[bytes] | None) -> None:
        self.engine = engine
        self.name = name
        self.pid = pid
        self.stderr = stderr
        self._handle = os.pidfd_open(pid)

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it is gone, and with it, by the kernel's rule, every other process of the container."""
        if self._handle < 0:
            return 0
        if not select.select([self._handle], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(self.name, timeout or 0.0)
        os.close(self._handle)
        self._handle = -1
        return 0

    def kill(self) -> None:
        """End it and remove the container."""
        with contextlib.suppress(SandboxError):
            self.engine.ask("rm", "--force", self.name)


def new_name() -> str:
    """The name of a new container: it says whose it is."""
    return f"{OURS}{here()}-{os.getpid()}-{started_at(os.getpid())}-{secrets.token_hex(4)}"


def here() -> str:
    """Which start of which machine, and which process namespace: only there does a process number mean anything."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text()[:8]
    return f"{boot}-{os.stat('/proc/self/ns/pid').st_ino}"  # noqa: PTH116  # a link that leads nowhere


def started_at(pid: int) -> str:
    """When a process was started, in the kernel's ticks: a later one of the same number is another. "" when none is."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""


def is_left_over(name: str) -> bool:
    """True when the owner of a container lived here and is no more, or the machine was started anew since."""
    words = name.removeprefix(OURS).split("-")
    if not name.startswith(OURS) or len(words) != NAME_WORDS or not words[2].isdigit():
        return False
    place, pid, started = "-".join(words[:2]), int(words[2]), words[3]
    if words[0] != here().split("-")[0]:
        return True
    return place == here() and started_at(pid) != started


def remove_leftovers(engine: Engine) -> None:
    """Remove the containers of a Burnish that is no more."""
    names = engine.ask("ps", "--all", "--format", "{{.Names}}").split()
    left = [name for name in names if is_left_over(name)]
    if left:
        with contextlib.suppress(SandboxError):
            engine.ask("rm", "--force", *left)
