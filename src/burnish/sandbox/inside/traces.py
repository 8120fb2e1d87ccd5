"""What a job may leave behind: nothing. Ends its processes, removes its folder, and compares with before."""

# ruff: noqa: PTH100, PTH101, PTH102, PTH103, PTH108, PTH112, PTH120, PTH123, PTH208

import contextlib
import os
import shutil
import signal
from typing import Any

from burnish.sandbox.inside import bounds, clock


class Baseline:
    """How the cell looked before its first job."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.isolated: bool = settings["isolated"]
        self.work: str = settings["work"]
        self.folders: list[str] = settings["folders"]
        self.jobs = 0
        if not self.isolated:
            bounds.adopt_orphans()
        self.descriptors = descriptors()

    def new_folder(self) -> str:
        """A folder for one job, with a name no earlier job had."""
        self.jobs += 1
        folder = f"{self.work}/{self.jobs}"
        os.mkdir(folder, 0o700)
        return folder

    def sweep(self, child: int = 0) -> int:
        """End every process but this one; the wait status of `child`."""
        status = 0
        while True:
            self.kill_all()
            try:
                pid, ended = os.waitpid(-1, 0)
            except ChildProcessError:
                break
            if pid == child:
                status = ended
        self.remove_files()
        return status

    def kill_all(self) -> None:
        """SIGKILL for everybody else in the cell. Outside a cell, only for our own descendants."""
        if self.isolated:
            with contextlib.suppress(ProcessLookupError):
                if os.getpid() != 1:
                    raise SystemExit("only process 1 of a cell may signal everybody")
                os.kill(-1, signal.SIGKILL)
            return
        for pid in clock.others(isolated=False):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def remove_files(self) -> None:
        """Empty every place that can be written."""
        for folder in (self.work, *self.folders):
            for name in os.listdir(folder):
                remove(f"{folder}/{name}")

    def holds(self) -> bool:
        """True when nothing of any job is left: no process, no file, no descriptor."""
        alone = not self.isolated or nobody_else()
        empty = not any(os.listdir(folder) for folder in (self.work, *self.folders))
        return alone and empty and descriptors() == self.descriptors


def remove(path: str) -> None:
    """Remove a file or a tree; what resists is found by `holds`, and the cell is thrown away."""
    try:
        os.unlink(path)
    except (IsADirectoryError, PermissionError):
        shutil.rmtree(path, ignore_errors=True)
    except OSError:
        return


def nobody_else() -> bool:
    """True when there is no other process in this cell."""
    try:
        os.kill(-1, 0)
    except ProcessLookupError:
        return True
    return False


def descriptors() -> list[str]:
    """The open descriptors of this process (the one that lists them is open only while it does)."""
    return os.listdir("/proc/self/fd")
