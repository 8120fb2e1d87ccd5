"""Thousands of jobs in a row leave nothing behind. Ten thousand: SOAK_JOBS=10000."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from burnish.sandbox import open_sandbox
from burnish.sandbox.box import Box
from tests.sandbox.kinds import ISOLATED, must_be_there

GOOD = ("def f(x): return x + 1", "assert f(1) == 2\nassert f([1][0]) == 2")
BAD = ("def f(x): raise ValueError(x)", "assert f(1) == 2")
PAIRS = [
    GOOD,
    BAD,
    ("class A:\n    def m(self): return [1] * 1000", "a = A()\nassert a.m() == [1] * 1000"),
    ("1/0", ""),
]
JOBS = int(os.environ.get("SOAK_JOBS", "2500"))


def members(pid: int) -> list[int]:
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += members(int(child))
    return found


def memory_kib(pids: list[int]) -> int:
    status = [Path(f"/proc/{pid}/status").read_text() for pid in pids]
    return sum(int(line.split()[1]) for text in status for line in text.splitlines() if line.startswith("RssAnon"))


def census(box: Box) -> tuple[int, int, int]:
    """The processes of all cells, their memory, and our own descriptors."""
    family = [pid for cell in box._all for pid in members(cell.process.pid)]
    return len(family), memory_kib(family), len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", ISOLATED)
def test_thousands_of_jobs_leak_nothing(kind):
    jobs = JOBS if kind == "bubblewrap" else JOBS // 5  # the server is the same
    with open_sandbox(must_be_there(kind), cells=2) as box, ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda n: box.grade(*PAIRS[n % len(PAIRS)]), range(500)))
        processes, kib, descriptors = census(box)
        cells = set(box._all)
        passed = pool.map(lambda n: box.grade(*PAIRS[n % len(PAIRS)]).all_passed, range(jobs))
        assert sum(passed) == jobs // 2
        assert set(box._all) == cells
        after = census(box)
        print(f"before {(processes, kib, descriptors)}, after {after}")
        assert (after[0], after[2]) == (processes, descriptors)
        assert after[1] < kib * 1.05
