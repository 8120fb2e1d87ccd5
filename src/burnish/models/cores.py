"""Turns at the machine's cores: between processes one generates at a time, within a process all may."""

import fcntl
import os
import threading
import time
from functools import cache
from pathlib import Path
from typing import IO, Self

from burnish.places import cores_lock


class Cores:
    """A lock between processes that the threads of one process hold together. Freed by the kernel if we die."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._holders = 0
        self._file: IO[bytes] | None = None

    @classmethod
    @cache
    def of_this_machine(cls) -> Self:
        """The lock that every Burnish of this user shares."""
        return cls(cores_lock())

    def take(self, timeout_seconds: float) -> bool:
        """Whether the cores are ours; waits at most so long."""
        deadline = time.monotonic() + timeout_seconds
        while not self._try():
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.02)
        return True

    def give_back(self) -> None:
        """Let go; the last of this process's holders frees the lock."""
        with self._lock:
            self._holders -= 1
            if self._holders == 0 and self._file:
                self._file.close()
                self._file = None

    def _try(self) -> bool:
        with self._lock:
            if self._holders == 0 and not self._lock_file():
                return False
            self._holders += 1
            return True

    def _lock_file(self) -> bool:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = self.path.open("wb")
        except OSError:  # nowhere to put a lock: generate without taking turns rather than not at all
            return True
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            return False
        os.set_inheritable(file.fileno(), False)
        self._file = file
        return True
