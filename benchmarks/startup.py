"""How long a warm `./burnish --help` takes, in bare interpreter starts. Run: .venv/bin/python benchmarks/startup.py

Prints the ratio and fails above the limit. Set up first: any `./burnish` command does it.
"""

import subprocess
import sys
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 10
STARTS = 15


def seconds(*command: str) -> float:
    """The median wall time of a command."""
    times = []
    for _ in range(STARTS):
        start = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - start)
    return median(times)


def main() -> int:
    root = Path(sys.argv[1]) if sys.argv[1:] else ROOT
    launcher, python = str(root / "burnish"), str(root / ".venv" / "bin" / "python")
    subprocess.run([launcher, "--help"], stdout=subprocess.DEVNULL, check=True)
    bare, burnish = seconds(python, "-c", "pass"), seconds(launcher, "--help")
    ratio = burnish / bare
    print(
        f"bare interpreter {bare * 1000:.1f} ms, ./burnish --help {burnish * 1000:.1f} ms: {ratio:.1f} (limit {LIMIT})"
    )
    return int(ratio > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
