"""One process at a time makes one layer; the kernel frees the lock of a process that died."""

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from burnish.packages.bounds import LOOK_SECONDS, Bounds
from burnish.packages.pip import Tell


@contextmanager
def alone(folder: Path, tell: Tell | None, bounds: Bounds) -> Iterator[int]:
    """Be the only one who makes the layer of this folder. The open file that is locked; raises Passed."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with lock_of(folder).open("wb") as lock:
        if not taken(lock):
            if tell:
                tell("Waiting for another Burnish that prepares the same packages")
            while not taken(lock):
                bounds.check()
                time.sleep(LOOK_SECONDS)
        yield lock.fileno()


def lock_of(folder: Path) -> Path:
    """The file whose lock says who makes this layer."""
    return folder.with_name(f"{folder.name}.lock")


def taken(file: BinaryIO) -> bool:
    """Take the lock, unless somebody has it; it is held until the file is closed."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
