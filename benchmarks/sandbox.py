"""What a cell costs: one warm job over a bare fork of the same job, opening a cell over starting an interpreter,
a program that is served in one over the same program bare, and sixteen jobs at once.

    python benchmarks/sandbox.py [DATA_FOLDER]
"""

import json
import os
import socket
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


WEB = ["python", "-m", "http.server", "8000", "--bind", "127.0.0.1"]


def first_answer(connect: Callable[[], socket.socket]) -> None:
    """One request, as soon as somebody listens."""
    while True:
        try:
            with connect() as client:
                client.sendall(b"GET / HTTP/1.0\r\n\r\n")
                assert client.recv(4) == b"HTTP"
                return
        except ConnectionRefusedError:
            time.sleep(0.005)


def serve_bare() -> None:
    command = [str(bubblewrap.find_interpreter()), *WEB[1:3], "8765", *WEB[4:]]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        first_answer(lambda: socket.create_connection(("127.0.0.1", 8765)))
        process.kill()


def serving() -> None:
    """From `serve` to the first answer, with the end; and the memory of twenty such cells."""
    with open_sandbox("bubblewrap", cells=1) as box:

        def serve() -> None:
            with box.serve(WEB, 8000) as served:
                first_answer(served.connect)

        bare, ours = median_ms(serve_bare, 10), median_ms(serve, 10)
        print(f"a web server bare {bare:.0f} ms to its first answer, in a cell {ours:.0f} ms: {ours / bare:.1f} times")
        all_served = [box.serve(WEB, 8000) for _ in range(20)]
        for served in all_served:
            first_answer(served.connect)
        own = statistics.median(private_mib(served._cell.process.pid) for served in all_served)
        print(f"twenty at once, memory of each that it shares with nobody: {own:.0f} MiB")


def private_mib(pid: int) -> float:
    """Memory that a process and all below it share with nobody."""
    rows = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    own = sum(int(row.split()[1]) for row in rows if row.startswith("Private_")) / 1024
    below = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return own + sum(private_mib(int(child)) for child in below)


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
    serving()
    if len(sys.argv) > 1:
        sixteen(Path(sys.argv[1]))


if __name__ == "__main__":
    main()
