"""What a job may leave behind: nothing. Ends its processes, removes its files, and compares the cell with before."""

# ruff: noqa: PTH100, PTH101, PTH102, PTH103, PTH106, PTH108, PTH112, PTH120, PTH123, PTH208

import contextlib
import os
import signal
from typing import Any

from burnish.sandbox.inside import bounds
from burnish.sandbox.inside.helper import Helpers

POLITE_ROUNDS = 3
"""Rounds of ending strangers one by one; whoever still multiplies then is ended together with the helpers."""


class Cell:
    """The cell as process 1 sees it."""

    def __init__(self, settings: dict[str, Any], helpers: Helpers) -> None:
        self.isolated: bool = settings["isolated"]
        self.work: str = settings["work"]
        self.links: str = settings["packages"]
        """What code may import. Outside of a real cell it is a folder of links that was made for this one."""
        self.folders: list[str] = [self.work, *settings["folders"]]
        self.helpers = helpers
        self.jobs = 0
        if not self.isolated:
            bounds.adopt_orphans()
        self.descriptors = count_descriptors()

    def new_folder(self) -> str:
        """A folder for one job, with a name no earlier job had."""
        self.jobs += 1
        folder = f"{self.work}/{self.jobs}"
        os.mkdir(folder, 0o700)
        return folder

    def strangers(self) -> list[int]:
        """Every process that belongs to a job."""
        pids = everybody() if self.isolated else descendants(os.getpid())
        return list(pids - {os.getpid()} - self.helpers.pids())

    def sweep(self, child: int = 0) -> int:
        """End every process of the job; the wait status of `child`."""
        status = 0
        if child:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            status = os.waitpid(child, 0)[1]
        rounds = 0
        while strangers := self.strangers():
            rounds += 1
            if rounds > POLITE_ROUNDS and self.isolated:
                self.end_all()
            for pid in strangers:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            reap(strangers)
        return status

    def end_all(self) -> None:
        """SIGKILL for everybody else in the cell at one stroke, helpers too. Never outside a cell."""
        if os.getpid() != 1 or not self.isolated:
            raise RuntimeError("only process 1 of a cell may signal everybody")
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        for helper in list(self.helpers.living.values()):
            self.helpers.end(helper)

    def remove_files(self) -> None:
        """Empty every place that can be written."""
        for folder in self.folders:
            for name in os.listdir(folder):
                remove(f"{folder}/{name}")

    def is_unchanged(self) -> bool:
        """True when nothing of the job is left: no file, no descriptor. (That no process is left, `sweep` saw.)"""
        empty = not any(os.listdir(folder) for folder in self.folders)
        return empty and count_descriptors() == self.descriptors + len(self.helpers.living)

    def end(self) -> None:
        """The last thing process 1 does. In a cell the kernel ends everybody with it; outside nobody else would."""
        if self.isolated:
            return
        for helper in list(self.helpers.living.values()):
            self.helpers.end(helper)
        self.sweep()
        remove_tree(self.work)
        remove_tree(self.links)


def everybody() -> set[int]:
    """All processes of this pid namespace."""
    return {int(name) for name in os.listdir("/proc") if name.isdigit()}


def descendants(top: int) -> set[int]:
    """All processes below `top`."""
    found: set[int] = set()
    for task in listed(f"/proc/{top}/task"):
        with contextlib.suppress(OSError), open(f"/proc/{top}/task/{task}/children") as file:
            for child in map(int, file.read().split()):
                found |= {child} | descendants(child)
    return found


def listed(folder: str) -> list[str]:
    """The names in a folder, none if it is gone."""
    try:
        return os.listdir(folder)
    except OSError:
        return []


def reap(pids: list[int]) -> None:
    """Wait for killed processes. One that is not our child yet becomes it when its parent is gone."""
    for pid in pids:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)


def remove(path: str) -> None:
    """Remove a file or a tree; what resists makes the cell changed, and it is thrown away."""
    try:
        os.rmdir(path)
    except NotADirectoryError:
        os.unlink(path)
    except OSError:
        remove_tree(path)


def remove_tree(path: str) -> None:
    """Remove a folder and all in it, also where the job took our permissions away."""
    import shutil  # not above: it brings three libraries along, and every fork would pay for them

    for folder, _, _ in os.walk(path):
        with contextlib.suppress(OSError):
            os.chmod(folder, 0o700)
    shutil.rmtree(path, ignore_errors=True)


def count_descriptors() -> int:
    """How many descriptors this process has open."""
    return len(os.listdir("/proc/self/fd"))
