"""What a warm container is worth: one graded job in it, over `docker run` for the same job, and over a bubblewrap cell.

    python benchmarks/docker.py

`docker run` gets the same image, folders and limits, and a fresh Python that runs code and tests as one program: what a
sandbox does that starts a container for each job. Rounds take turns, so a busy machine is busy for all.

Where the engine has an image `burnish-python` (`sandbox/docker/Dockerfile`), it is also treated as one with another
kernel: jobs then go through a stream, and every connection to a served program through a command of the engine's.
"""

import dataclasses
import statistics
import subprocess
import time
from collections.abc import Callable

from burnish.errors import SandboxError
from burnish.sandbox import JobLimits, Served, bubblewrap, open_sandbox, owner
from burnish.sandbox.box import Box
from burnish.sandbox.docker import command, container, engine, streamed

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


def open_streamed_box(found: engine.Engine) -> Box:
    """Containers of the same engine as if it had another kernel; the usual ones where it has no image for that."""
    away = dataclasses.replace(found, system="Docker Desktop")
    try:
        copies = streamed.Copies(away, command.ensure_image(away))
    except SandboxError as error:
        print(f"nothing of a stream is measured: {error}")
        return open_sandbox("docker", cells=1)
    opener = lambda layer, limits: streamed.open_streamed_cell(copies, limits, layer=layer)  # noqa: E731
    return Box("docker", "", opener, JobLimits(), cells=1)


def compare_connections(*boxes: Box) -> None:
    """Connections to `python -m http.server`, each from its call to its end."""
    web = ["python", "-m", "http.server", "8000", "--bind", "127.0.0.1"]
    taken = []
    for box in boxes:
        with box.serve(web, 8000, {"index.html": "hello"}) as served:
            taken.append(statistics.median(milliseconds(lambda: fetch(served)) for _ in range(ROUNDS)))  # noqa: B023
    print("a connection by a call, and through a stream: {:.1f} ms, {:.1f} ms".format(*taken))


def fetch(served: Served) -> None:
    with served.connect() as client:
        client.sendall(b"GET / HTTP/1.0\r\n\r\n")
        while client.recv(65536):
            pass


def main() -> None:
    found = engine.find_engine()
    name = command.ensure_image(found)
    anew, warm, bare = [], [], []
    streamed_jobs: list[float] = []
    with (
        open_sandbox("docker", cells=1) as docker,
        open_sandbox("bubblewrap", cells=1) as cell,
        open_streamed_box(found) as streamed_box,
    ):
        for box in (docker, cell, streamed_box):
            assert box.grade(CODE, TESTS).all_passed
        for _ in range(ROUNDS):
            streamed_jobs.append(milliseconds(lambda: streamed_box.grade(CODE, TESTS), JOBS))
            anew.append(milliseconds(lambda: run_anew(found, name)))
            warm.append(milliseconds(lambda: docker.grade(CODE, TESTS), JOBS))
            bare.append(milliseconds(lambda: cell.grade(CODE, TESTS), JOBS))
        compare_connections(docker, streamed_box)
    opening = milliseconds(lambda: open_sandbox("docker", cells=1).close(), 3)
    opening_bare = milliseconds(lambda: open_sandbox("bubblewrap", cells=1).close(), 3)
    run, job, cell_job = (statistics.median(taken) for taken in (anew, warm, bare))
    print(f"{found.title}; medians of {ROUNDS} rounds")
    print(f"`docker run` {run:.0f} ms, a job in a warm container {job:.2f} ms, in a bubblewrap cell {cell_job:.2f} ms")
    print(f"`docker run` / warm job: {run / job:.0f}   (at least 5 wanted)")
    print(f"warm container / bubblewrap cell: {job / cell_job:.2f}")
    print(f"the same job through a stream / by a call: {statistics.median(streamed_jobs) / job:.2f}")
    print(f"opening {opening:.0f} ms, a bubblewrap cell {opening_bare:.0f} ms: {opening / opening_bare:.1f}")


if __name__ == "__main__":
    main()
