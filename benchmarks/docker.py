"""What a warm container is worth: one graded job in it, over `docker run` for the same job, and over a bubblewrap cell.

    python benchmarks/docker.py

`docker run` gets the same image, folders and limits, and a fresh Python that runs code and tests as one program: what a
sandbox does that starts a container for each job. Rounds take turns, so a busy machine is busy for all.
"""

import statistics
import subprocess
import time
from collections.abc import Callable

from burnish.sandbox import JobLimits, bubblewrap, open_sandbox, owner
from burnish.sandbox.docker import command, container, engine

CODE = "def f(x):\n    return sorted(x)"
TESTS = "assert f([3, 1, 2]) == [1, 2, 3]\nassert f([]) == []\nassert f(['b', 'a']) == ['a', 'b']"
ROUNDS = 7
JOBS = 20
"""Warm jobs for each `docker run`."""


def milliseconds(action: Callable[[], object], times: int = 1) -> float:
    started = time.perf_counter()
    for _ in range(times):
        action()
    return (time.perf_counter() - started) * 1000 / times


def run_anew(found: engine.Engine, name: str) -> None:
    """The same job in a container of its own."""
    mounts = command.list_mount_options(found, JobLimits(), "/dev/null", {})
    before = command.build_command(found, JobLimits(), owner.make_name(container.OURS), mounts)
    python = ["-i", str(bubblewrap.find_interpreter()), "-sSB", "-c", f"{CODE}\n{TESTS}"]
    subprocess.run([*before, name, *python], check=True)


def main() -> None:
    found = engine.find_engine()
    name = command.ensure_image(found)
    anew, warm, bare = [], [], []
    with open_sandbox("docker", cells=1) as docker, open_sandbox("bubblewrap", cells=1) as cell:
        for box in (docker, cell):
            assert box.grade(CODE, TESTS).all_passed
        for _ in range(ROUNDS):
            anew.append(milliseconds(lambda: run_anew(found, name)))
            warm.append(milliseconds(lambda: docker.grade(CODE, TESTS), JOBS))
            bare.append(milliseconds(lambda: cell.grade(CODE, TESTS), JOBS))
    opening = milliseconds(lambda: open_sandbox("docker", cells=1).close(), 3)
    opening_bare = milliseconds(lambda: open_sandbox("bubblewrap", cells=1).close(), 3)
    run, job, cell_job = (statistics.median(taken) for taken in (anew, warm, bare))
    print(f"{found.title}; medians of {ROUNDS} rounds")
    print(f"`docker run` {run:.0f} ms, a job in a warm container {job:.2f} ms, in a bubblewrap cell {cell_job:.2f} ms")
    print(f"`docker run` / warm job: {run / job:.0f}   (at least 5 wanted)")
    print(f"warm container / bubblewrap cell: {job / cell_job:.2f}")
    print(f"opening {opening:.0f} ms, a bubblewrap cell {opening_bare:.0f} ms: {opening / opening_bare:.1f}")


if __name__ == "__main__":
    main()
