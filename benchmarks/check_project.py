"""How many times its own run a project's check takes. Run: .venv/bin/python benchmarks/check_project.py FOLDER
or, for a made project: .venv/bin/python benchmarks/check_project.py TESTS LINES

Prints the seconds of `coverage run -m pytest`, those of `burnish check` without mutation, what each check
says and takes, and last the ratio of the two. The own run has no sandbox: name only folders whose code you trust.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHECKS = "tests,coverage,security,dependencies,quality,performance"
LINES_A_FUNCTION, FUNCTIONS_A_FILE = 10, 100
FUNCTION = '''def add_{0}(number: int) -> int:
    """The number and {0}, never below nought."""
    total = number + {0}
    if total < 0:
        return 0
    for _ in range(2):
        total += 1
    return total - 2


'''


def make_project(folder: Path, tests: int, lines: int) -> None:
    """Functions of ten lines in files of a hundred; tests that share them out by parametrize."""
    files = max(1, lines // (LINES_A_FUNCTION * FUNCTIONS_A_FILE))
    (folder / "tests").mkdir()
    for file in range(files):
        functions = "".join(FUNCTION.format(number) for number in range(FUNCTIONS_A_FILE))
        (folder / f"made_{file}.py").write_text(functions.rstrip() + "\n")
        share = tests // files + (file < tests % files)
        (folder / "tests" / f"test_made_{file}.py").write_text(
            f"import made_{file}\nimport pytest\n\n\n@pytest.mark.parametrize('number', range({share}))\n"
            f"def test_adds(number):\n    term = number % {FUNCTIONS_A_FILE}\n"
            f"    assert getattr(made_{file}, f'add_{{term}}')(number) == number + term\n"
        )


def run_timed(command: list[str], folder: Path) -> tuple[float, str]:
    """How long a command takes in a folder, and what it writes to standard output."""
    environment = {**os.environ, "COVERAGE_FILE": f"{tempfile.mkdtemp()}/coverage", "PYTHONDONTWRITEBYTECODE": "1"}
    started = time.monotonic()
    ended = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
    return time.monotonic() - started, ended.stdout


def main() -> None:
    """Its own run, then ours, then the ratio."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made if sys.argv[1].isdigit() else sys.argv[1]).resolve()
        if sys.argv[1].isdigit():
            make_project(folder, int(sys.argv[1]), int(sys.argv[2]))
        own_seconds, printed = run_timed(
            [sys.executable, "-m", "coverage", "run", "-m", "pytest", "-q", "-p", "no:cacheprovider"], folder
        )
        print(f"own run: {own_seconds:.1f} s; {(printed.splitlines() or ['nothing'])[-1]}", flush=True)
        command = [sys.executable, "-m", "burnish", "check", ".", "--only", CHECKS, "--json", "--python"]
        seconds, report = run_timed([*command, sys.executable], folder)
        told = json.loads(report)
        for evidence in told["evidence"]:
            took = told["seconds"][evidence["check"]]
            print(f"{evidence['check']}: {evidence['verdict']} in {took:.1f} s; {evidence['why'][:150]}")
        print(f"burnish check: {seconds:.1f} s\n{seconds / own_seconds:.1f} times its own run")


if __name__ == "__main__":
    main()
