"""What a cell costs: one warm job over a bare fork of the same job, opening a cell over starting an interpreter,
and sixteen jobs at once.

    python benchmarks/sandbox.py [DATA_FOLDER]
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from burnish.sandbox import bubblewrap, open_sandbox

CODE = "def f(x):\n    return sorted(x)"
TESTS = "assert f([3, 1, 2]) == [1, 2, 3]\nassert f([]) == []\nassert f(['b', 'a']) == ['a', 'b']"
AT_ONCE = 16


def median_ms(action: Callable[[], object], times: int) -> float:
    """The middle of so many measurements, after one that does not count."""
    action()
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        action()
        taken.append((time.perf_counter() - started) * 1000)
    return statistics.median(taken)


def bare_fork() -> None:
    child = os.fork()
    if child == 0:
        try:
            exec(compile(f"{CODE}\n{TESTS}", "program", "exec"), {"__name__": "program"})
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def bare_fork_ms() -> float:
    """Measured in a fresh small interpreter, as a fork costs more the more there is to copy."""
    here = str(Path(__file__).parent)
    code = f"import sys; sys.path.insert(0, {here!r}); import sandbox as s; print(s.median_ms(s.bare_fork, 300))"
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def warm_job() -> None:
    bare = bare_fork_ms()
    with open_sandbox("bubblewrap", cells=1) as box:
        warm = median_ms(lambda: box.grade(CODE, TESTS), 300)
        command = median_ms(lambda: box.run(["true"]), 100)
    print(f"a bare fork of the job {bare:.2f} ms, graded in a warm cell {warm:.2f} ms, `true` run {command:.2f} ms")
    print(f"warm job / bare fork of the same job: {warm / bare:.2f}")


def opening() -> None:
    python = str(bubblewrap.find_interpreter())
    bare = median_ms(lambda: subprocess.run([python, "-c", "pass"], check=True), 15)
    ours = median_ms(lambda: open_sandbox("bubblewrap", cells=1).close(), 15)
    print(f"a bare interpreter start {bare:.0f} ms, opening and closing a cell {ours:.0f} ms")
    print(f"opening a cell / starting an interpreter: {ours / bare:.2f}")


def sixteen(folder: Path) -> None:
    rows = [json.loads(line) for line in (folder / "humanevalpack-python.jsonl").read_text().splitlines()]
    jobs = [(row["declaration"] + row["canonical_solution"], row["test"]) for row in rows] * 3
    with open_sandbox("bubblewrap", cells=AT_ONCE) as box, ThreadPoolExecutor(AT_ONCE) as pool:
        started = time.perf_counter()
        graded = list(pool.map(lambda job: box.grade(*job, timeout_seconds=3.0), jobs))
        seconds = time.perf_counter() - started
    late, wrong = sum(one.timed_out for one in graded), sum(not one.all_passed for one in graded)
    print(f"{AT_ONCE} at once on {os.cpu_count()} cores: {len(jobs) / seconds:.0f} gold answers a second")
    print(f"false timeouts / jobs: {late} / {len(jobs)}   wrong verdicts / jobs: {wrong} / {len(jobs)}")


def main() -> None:
    warm_job()
    opening()
    if len(sys.argv) > 1:
        sixteen(Path(sys.argv[1]))


if __name__ == "__main__":
    main()
