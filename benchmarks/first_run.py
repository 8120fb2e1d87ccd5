"""From a fresh clone to a verified answer, in minutes: install, weights, work. Run: python3 benchmarks/first_run.py

Nothing that an earlier run left on this machine is used: a new clone, a new cache, no cache of pip's. The network and a
Python are needed, nothing else. Fails unless the answer is proven or plausible.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TASK = (
    "a function roman(n) that turns 1..3999 into a Roman numeral, e.g. roman(1994) == 'MCMXCIV';"
    " ValueError for anything else"
)
SENTENCE = " ".join(sys.argv[1:]) or TASK


def stages(folder: Path) -> dict[str, list[str]]:
    """What is timed, in order."""
    burnish = str(folder / "clone" / "burnish")
    return {
        "clone": ["git", "clone", "--quiet", str(ROOT), str(folder / "clone")],
        "install": [burnish, "--version"],
        "weights": [burnish, "models", "pull"],
        "work": [burnish, "write", SENTENCE, "--out", str(folder / "answer")],
    }


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="burnish-first-run-") as name:
        folder, took = Path(name), {}
        places = {"BURNISH_CACHE": f"{name}/cache", "BURNISH_HOME": f"{name}/home", "PIP_NO_CACHE_DIR": "1"}
        for stage, command in stages(folder).items():
            start = time.perf_counter()
            code = subprocess.run(command, env={**os.environ, **places}).returncode
            took[stage] = time.perf_counter() - start
            if code:
                print(f"{stage} ended with exit code {code}")
                return code
    for stage, seconds in took.items():
        print(f"{stage:8} {seconds / 60:5.2f} min")
    print(f"{'total':8} {sum(took.values()) / 60:5.2f} min")
    return 0


if __name__ == "__main__":
    sys.exit(main())
