"""Makes a layer, or finds it made: before any cell starts, from wheels alone, and whole or not at all."""

import fcntl
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from burnish.packages import faults, layer
from burnish.packages.bounds import LOOK_SECONDS, Bounds
from burnish.packages.layer import Layer
from burnish.packages.making import Making
from burnish.packages.pip import Tell, identity
from burnish.packages.wanted import normal


def prepare(
    requirements: Sequence[str],
    *,
    interpreter: Path | None = None,
    tell: Tell | None = None,
    bounds: Bounds | None = None,
) -> Layer:
    """The layer with these requirements and all they need, from the cache if it is there.

    Made anew, it comes from wheels that were fetched before, if they do, and else from the user's index. Nothing of a
    package runs. `interpreter` is the one that will import it, if not the one that runs Burnish. Once one of the
    `bounds` is passed, pip is ended, whatever it does. Raises SetupProblem.
    """
    asked, bounds = normal(requirements), bounds or Bounds()
    own = interpreter is None or os.path.realpath(interpreter) == os.path.realpath(sys.executable)
    python = None if own else interpreter
    name = identity(python)
    folder = layer.home() / layer.key(name, asked)
    if found := layer.load(folder):
        return found
    with faults.of_the_disk(layer.home()), faults.of_bounds(asked), _alone(folder, tell, bounds) as lock:
        return layer.load(folder) or Making(folder, asked, name, python, tell, lock, bounds).made()


@contextmanager
def _alone(folder: Path, tell: Tell | None, bounds: Bounds) -> Iterator[int]:
    """One process at a time for one layer; the kernel frees the lock of a process that died. Raises Passed."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("wb") as lock:
        if not _locked(lock):
            if tell:
                tell("Waiting for another Burnish that prepares the same packages")
            while not _locked(lock):
                bounds.check()
                time.sleep(LOOK_SECONDS)
        yield lock.fileno()


def _locked(file: BinaryIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
