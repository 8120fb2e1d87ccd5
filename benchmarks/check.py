"""How long a person waits for all checks on a 50-line module. Run: .venv/bin/python benchmarks/check.py [TURNS]

Prints the seconds of each check and of all, and their ratio to running the module's tests once. The two take turns and
the fastest of each counts. Fails above the limit.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import burnish
from burnish.checks.verdict import CheckResults

LIMIT_SECONDS = 10.0
CODE = '''"""Intervals of whole numbers: joined, cut, counted."""

Interval = tuple[int, int]


def is_sound(interval: Interval) -> bool:
    """Whether it begins before it ends."""
    return interval[0] < interval[1]


def joined(intervals: list[Interval]) -> list[Interval]:
    """The same numbers in as few intervals as possible, in order."""
    result: list[Interval] = []
    for start, end in sorted(filter(is_sound, intervals)):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def length(intervals: list[Interval]) -> int:
    """How many whole numbers they hold, each counted once."""
    return sum(end - start for start, end in joined(intervals))


def contains(intervals: list[Interval], number: int) -> bool:
    """Whether one of them holds the number; the end does not belong to it."""
    return any(start <= number < end for start, end in intervals)


def cut(intervals: list[Interval], low: int, high: int) -> list[Interval]:
    """What of them lies between low and high."""
    clipped = [(max(start, low), min(end, high)) for start, end in intervals]
    return joined(clipped)


def gaps(intervals: list[Interval]) -> list[Interval]:
    """What lies between them."""
    whole = joined(intervals)
    return [(before[1], after[0]) for before, after in zip(whole, whole[1:], strict=False)]


def widest(intervals: list[Interval]) -> Interval | None:
    """The longest of the joined intervals, the first of equals."""
    whole = joined(intervals)
    return max(whole, key=lambda one: one[1] - one[0], default=None)
'''
TESTS = """from intervals import contains, cut, gaps, is_sound, joined, length, widest


def test_sound():
    assert [is_sound(one) for one in ((1, 2), (2, 2), (3, 2))] == [True, False, False]


def test_joined():
    assert joined([(5, 7), (1, 3), (3, 4), (6, 9), (2, 2)]) == [(1, 4), (5, 9)]
    assert joined([(1, 9), (2, 3)]) == [(1, 9)]
    assert joined([]) == []


def test_length():
    assert length([(1, 3), (2, 5), (9, 10)]) == 5


def test_contains():
    assert [contains([(1, 3), (7, 8)], number) for number in (0, 1, 2, 3, 7, 8)] == [0, 1, 1, 0, 1, 0]


def test_cut():
    assert cut([(1, 5), (6, 9), (20, 30)], 3, 8) == [(3, 5), (6, 8)]


def test_gaps():
    assert gaps([(7, 9), (1, 3), (4, 5)]) == [(3, 4), (5, 7)]


def test_widest():
    assert widest([(1, 3), (8, 10), (20, 21)]) == (1, 3)
    assert widest([]) is None
"""


def suite_seconds(folder: Path) -> float:
    """The tests once, as a developer runs them."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)]
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


def check_seconds(folder: Path) -> tuple[float, CheckResults]:
    """All checks, as `burnish check` runs them."""
    started = time.perf_counter()
    checked = burnish.check(folder)
    return time.perf_counter() - started, checked


def main() -> int:
    turns = int(sys.argv[1]) if sys.argv[1:] else 3
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        (folder / "intervals.py").write_text(CODE)
        (folder / "test_intervals.py").write_text(TESTS)
        times = [(suite_seconds(folder), *check_seconds(folder)) for _ in range(turns)]
    once = min(suite for suite, _, _ in times)
    seconds, checked = min(((seconds, checked) for _, seconds, checked in times), key=lambda one: one[0])
    for item in checked.evidence:
        print(
            f"{item.check:<13} {item.verdict.replace('_', ' '):<8} {checked.seconds[item.check]:6.2f} s  {item.figure}"
        )
    print(f"the tests once {once:.2f} s, all checks {seconds:.2f} s (limit {LIMIT_SECONDS:g} s)")
    print(f"ratio {seconds / once:.1f}")
    return int(seconds > LIMIT_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
