"""What the attack battery says again and again."""

import subprocess
import sys
from pathlib import Path

from burnish.sandbox import Sandbox

HEALTHY = "assert double(2) == 4"
WON = "THE ATTACK WORKED"


def works(box: Sandbox, code: str, timeout_seconds: float = 5.0) -> bool:
    """Run an attack; it prints WON as its last act if it got what it wanted."""
    return WON in box.run(["python", "-c", f"{code}\nprint({WON!r})"], timeout_seconds=timeout_seconds).output


def is_healthy(box: Sandbox) -> bool:
    """True when the next jobs are not hurt by the last one."""
    return box.grade("def double(x):\n    return 2 * x", HEALTHY).all_passed and box.run(["true"]).exit_code == 0


def fools_a_naive_grader(box: Sandbox, code: str, tests: str) -> bool:
    """The usual way: code and tests in one folder and one process, judged by the exit code."""
    if "def test" in tests:
        files = {"solution.py": code, "test_it.py": tests}
        argv = ["python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"]
        return box.run(argv, files={**files, "go.sh": ""}, timeout_seconds=10).exit_code == 0
    files = {"program.py": f"{code}\n{tests}\n"}
    return box.run(["python", "program.py"], files=files, timeout_seconds=5).exit_code == 0


def run_bare(code: str, folder: Path, timeout_seconds: float = 20.0) -> subprocess.CompletedProcess[bytes]:
    """A plain child process, for attacks that even limits alone would stop."""
    return subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, timeout=timeout_seconds)
