"""A container as a process of ours: something to wait for, to end, and to find again when its owner was killed."""

import contextlib
import os
import select
import subprocess
from pathlib import Path
from typing import IO

from burnish.errors import SandboxError
from burnish.sandbox.docker.engine import Engine

LABEL = "burnish.owner"


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


def here() -> str:
    """Which machine, since when, and which process namespace: only there does a process number mean anything."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot}/{os.stat('/proc/self/ns/pid').st_ino}"  # noqa: PTH116  # a link that leads nowhere


def owner(pid: int | None = None) -> str:
    """A process of this machine by its number and its start, so that a later one of the same number is another."""
    pid = os.getpid() if pid is None else pid
    return f"{here()}/{pid}/{started_at(pid)}"


def started_at(pid: int) -> str:
    """When a process was started, in the kernel's ticks; "" when there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""


def is_left_over(label: str) -> bool:
    """True when the owner of a container lived here and is no more."""
    place, _, rest = label.rpartition("/")[0].rpartition("/")
    boot = place.split("/")[0]
    if boot != here().split("/")[0]:
        return True  # the machine was started anew since
    return place == here() and rest.isdigit() and owner(int(rest)) != label


def remove_leftovers(engine: Engine) -> None:
    """Remove the containers of a Burnish that is no more."""
    listed = engine.ask(
        "ps", "--all", "--filter", f"label={LABEL}", "--format", f'{{{{.ID}}}} {{{{.Label "{LABEL}"}}}}'
    )
    left = [line.split()[0] for line in listed.splitlines() if is_left_over(line.partition(" ")[2])]
    if left:
        with contextlib.suppress(SandboxError):
            engine.ask("rm", "--force", *left)
