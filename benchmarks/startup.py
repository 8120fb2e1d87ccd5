"""How long a warm `./burnish --help` takes, in bare interpreter starts. Run: .venv/bin/python benchmarks/startup.py

Prints the ratio and fails above the limit. The two take turns and the fastest of each counts, so that a busy machine
slows both or neither. Another clone can be named: startup.py /path/to/clone.
"""

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 10
TURNS = 30


def seconds(*command: str) -> float:
    """The wall time of a command."""
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def main() -> int:
    root = Path(sys.argv[1]).resolve() if sys.argv[1:] else ROOT
    launcher, python = str(root / "burnish"), str(root / ".venv" / "bin" / "python")
    seconds(launcher, "--help")
    turns = [(seconds(python, "-c", "pass"), seconds(launcher, "--help")) for _ in range(TURNS)]
    bare, burnish = (min(times) for times in zip(*turns, strict=True))
    print(f"bare interpreter {bare * 1000:.1f} ms, ./burnish --help {burnish * 1000:.1f} ms")
    print(f"ratio {burnish / bare:.1f} (limit {LIMIT})")
    return int(burnish / bare > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
