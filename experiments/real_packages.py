"""Does `burnish check` say of other people's packages what their own commands say?

    python experiments/real_packages.py FOLDER [NAME …]

For each line of real_packages/packages.txt the source release is fetched into FOLDER, unpacked, and installed for
development into an environment of its own, with pytest, coverage and what the line names. Then `pytest`, and `coverage
run -m pytest`, run in the project as its authors set it up, and `burnish check --only tests,coverage` after them. A row
says whether tests by outcome are equal, whether the lines that no test runs are equal in every file that both measured,
and how long both took. Its own command runs a package without a sandbox: use a machine that you can lose.
"""

import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

LIST = Path(__file__).parent / "real_packages" / "packages.txt"
MOST_SECONDS = 900
OUTCOMES = {"failure": "failed", "error": "failed", "skipped": "skipped"}
XFAILED = "pytest.xfail"


class Said(NamedTuple):
    """What one of the two said of a package."""

    tests: dict[str, int]
    missing: dict[str, tuple[int, ...]]
    """For each file of the package, the lines that no test runs."""
    seconds: float
    why: str = ""


def main() -> None:
    """A row for each package, then how many are right."""
    folder, names = Path(sys.argv[1]).resolve(), sys.argv[2:]
    rows = [line.split() for line in LIST.read_text().splitlines() if line and not line.startswith("#")]
    chosen = [row for row in rows if not names or row[0].partition("==")[0] in names]
    print("| package | own: tests | burnish: tests | lines never run: own / burnish | seconds: own / burnish | equal |")
    print("|---|---|---|---|---|---|")
    right = 0
    for requirement, *more in chosen:
        words = [word for word in more if word.endswith(".py") or word.startswith("--")]
        needed = [word for word in more if word not in words]
        root, python = prepare(requirement, needed, folder)
        own, ours = run_own(root, python, words), run_burnish(root, python)
        both = sorted(own.missing.keys() & ours.missing.keys())
        lines = [sum(len(said.missing[file]) for file in both) for said in (own, ours)]
        same_lines = bool(both) and all(own.missing[file] == ours.missing[file] for file in both)
        equal = own.tests == ours.tests and same_lines
        right += equal
        tests = [", ".join(f"{count} {name}" for name, count in sorted(said.tests.items())) for said in (own, ours)]
        word = (
            "yes"
            if equal
            else f"no: {ours.why or 'other lines' if own.tests == ours.tests else ours.why or 'other tests'}"
        )
        cells = [requirement, *tests, " / ".join(map(str, lines)), f"{own.seconds:.1f} / {ours.seconds:.1f}", word]
        print(f"| {' | '.join(cells)} |", flush=True)
    print(f"\n{right} of {len(chosen)} equal")


def prepare(requirement: str, needed: Sequence[str], folder: Path) -> tuple[Path, Path]:
    """The unpacked package, and the Python of its environment."""
    name, _, version = requirement.partition("==")
    place = folder / name
    found = [path for path in place.glob("*/") if path.name.endswith(version)]
    if not found:
        run(
            [
                sys.executable,
                "-m",
                "pip",
                "download",
                "-q",
                "--no-deps",
                "--no-binary",
                ":all:",
                "-d",
                place,
                requirement,
            ]
        )
        [archive] = place.glob("*.tar.gz")
        with tarfile.open(archive) as packed:
            packed.extractall(place, filter="data")
        found = [path for path in place.glob("*/") if path.name.endswith(version)]
    python = place / "environment" / "bin" / "python"
    if not python.exists():
        run([sys.executable, "-m", "uv", "venv", "-q", python.parent.parent])
        install = [sys.executable, "-m", "uv", "pip", "install", "-q", "--python", python]
        run([*install, "pytest", "coverage", *needed, "-e", found[0]])
    return found[0], python


def run(command: Sequence[str | Path], **more: Any) -> subprocess.CompletedProcess[str]:
    """A command that must not outlast its time."""
    words = [str(word) for word in command]
    try:
        return subprocess.run(words, text=True, capture_output=True, timeout=MOST_SECONDS, **more)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, 124, "", f"it took longer than {MOST_SECONDS} s")


def run_own(root: Path, python: Path, words: Sequence[str]) -> Said:
    """What the project's own commands say: its tests as they are, and once more under coverage."""
    report, data, kept = (root.parent / name for name in ("junit.xml", "coverage", "coverage.json"))
    environment = {
        **os.environ,
        "COVERAGE_FILE": str(data),
        "VIRTUAL_ENV": str(python.parent.parent),
        "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
    }
    for old in (report, data, kept):
        old.unlink(missing_ok=True)
    pytest = ["-m", "pytest", "-q", "-o", f"cache_dir={tempfile.mkdtemp()}", *words]
    started = time.monotonic()
    ended = run([python, *pytest, f"--junitxml={report}"], cwd=root, env=environment)
    seconds = time.monotonic() - started  # for both, where coverage needs a run of its own: ours has both as well
    outcomes: Counter[str] = Counter()
    for case in ElementTree.parse(report).iter("testcase") if report.exists() else ():
        kinds = [(child.tag, child.get("type")) for child in case]
        tag, kind = next(((tag, kind) for tag, kind in kinds if tag in OUTCOMES), ("", None))
        outcomes["xfailed" if kind == XFAILED else OUTCOMES.get(tag, "passed")] += 1
    if not data.exists():  # where the project's settings ask for pytest-cov, that has measured already
        run([python, "-m", "coverage", "run", *pytest], cwd=root, env=environment)
        seconds = time.monotonic() - started
    run([python, "-m", "coverage", "combine", "-q"], cwd=root, env=environment)
    run([python, "-m", "coverage", "json", "-q", "-i", "-o", kept], cwd=root, env=environment)
    files = json.loads(kept.read_text())["files"] if kept.exists() else {}
    missing = {file: tuple(sorted(told["missing_lines"])) for file, told in files.items()}
    return Said(dict(outcomes), missing, seconds, (ended.stdout + ended.stderr)[-300:])


def run_burnish(root: Path, python: Path) -> Said:
    """What `burnish check` says."""
    started = time.monotonic()
    command = [sys.executable, "-m", "burnish", "check", ".", "--only", "tests,coverage", "--json", "--python", python]
    ended = run(command, cwd=root)
    (root.parent / "burnish.json").write_text(ended.stdout)
    seconds = time.monotonic() - started
    try:
        report = json.loads(ended.stdout)
    except ValueError:
        return Said({}, {}, seconds, ended.stderr[-300:])
    checks = {evidence["check"]: evidence for evidence in report["evidence"]}
    outcomes = Counter(test["outcome"] for test in checks["tests"]["details"].get("tests", ()))
    files = checks["coverage"]["details"].get("files", ())
    missing = {file["file"]: tuple(sorted(file["missing"])) for file in files}
    return Said(dict(outcomes), missing, seconds, "; ".join(evidence["why"] for evidence in checks.values()))


if __name__ == "__main__":
    main()
