"""Weights that nobody has, given as slowly as a test wants."""

import threading
from pathlib import Path

from burnish.models import weights
from burnish.models.catalog import Weights

TINY = "local:tiny"
BYTES = b"the very bytes" * 1000


class SlowSource:
    """Gives the weights in ten parts, one whenever the test lets it, and goes on after what is there."""

    def __init__(self) -> None:
        self.may_go = threading.Semaphore(0)
        self.began_at: list[int] = []

    def fetch(self, entry: Weights, folder: Path, report: weights.Report) -> Path:
        target = folder / "slow"
        done = target.stat().st_size if target.exists() else 0
        self.began_at.append(done)
        with target.open("ab") as file:
            while done < len(BYTES):
                self.may_go.acquire(timeout=20)
                file.write(BYTES[done : done + len(BYTES) // 10])
                file.flush()
                done = file.tell()
                report(done)
        return target
