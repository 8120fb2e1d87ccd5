"""Our runner of mutants beside mutmut's own: the same verdict for each mutant, and how much faster.

    python benchmarks/mutation.py MBPP_JSONL [TOOLZ_FOLDER]

Ten MBPP functions with their three asserts, and toolz/itertoolz.py with its own tests where an unpacked toolz is given.
Both work on a copy, in turns. "Start-up" is everything from question to verdicts: mutmut's process; our sandbox, the
making of mutants and the run without any. Burnish itself is started once for all ten, as in a session; what one cold
start costs is printed too. Wanted: the same verdicts, and at least 3 times as fast with start-up.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.mutation import MutationCheck
from burnish.checks.mutation.branch_mutants import MARK
from burnish.checks.mutation.mutant import MUTMUT
from burnish.checks.mutation.mutate_project import EQUIVALENT
from burnish.checks.project import Project, Settings

FUNCTIONS, FIRST, FEWEST = 10, 11, 4
KILLED = {1: "killed", 3: "killed", 0: "survived", 5: "no_tests", 33: "no_tests", -24: "timeout", -9: "timeout"}
KILLED |= dict.fromkeys((24, 36, 152, 255), "timeout")
NOTICED = {"killed", "timeout", "suspicious"}


@dataclass
class Told:
    """What one of the two said about one project."""

    outcomes: dict[str, str]
    seconds: float
    trying_seconds: float


def main() -> None:
    if len(sys.argv) > 2 and sys.argv[1] == "--cold":
        ours(*sample(Path(sys.argv[2])))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        mbpp = [stored(folder / str(row["task_id"]), row) for row in rows(Path(sys.argv[1]))]
        compare("MBPP, ten functions", [sample(place) for place in mbpp])
        began = time.monotonic()
        subprocess.run([sys.executable, __file__, "--cold", str(mbpp[0])], check=True)
        print(f"one function, Burnish started for it alone: {time.monotonic() - began:.2f} s\n")
        if len(sys.argv) > 2:
            place = unpacked(Path(sys.argv[2]), folder / "toolz")
            compare("toolz/itertoolz.py", [(place, Path("toolz/itertoolz.py"), Path("toolz/tests/test_itertoolz.py"))])


def rows(file: Path) -> list[dict[str, object]]:
    """The first ten tasks from 11 on that have at least four mutants."""
    found = []
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["task_id"] >= FIRST and len(MUTMUT.mutants("solution.py", plain(row["code"]))) >= FEWEST:
            found.append(row)
            if len(found) == FUNCTIONS:
                break
    return found


def plain(code: object) -> str:
    return str(code).replace("\r\n", "\n") + "\n"


def stored(place: Path, row: dict[str, object]) -> Path:
    asserts = row["test_list"]
    assert isinstance(asserts, list)
    cases = [f"def test_{number}():\n    {plain(line)}\n" for number, line in enumerate(asserts, start=1)]
    (place / "tests").mkdir(parents=True)
    (place / "solution.py").write_text(plain(row["code"]))
    (place / "tests" / "test_solution.py").write_text(
        f"from solution import *\n{plain(row['test_setup_code'])}\n" + "\n".join(cases)
    )
    (place / "setup.cfg").write_text("[mutmut]\nsource_paths=solution.py\n")
    return place


def sample(place: Path) -> tuple[Path, Path, Path]:
    return place, Path("solution.py"), Path("tests/test_solution.py")


def unpacked(source: Path, place: Path) -> Path:
    """A copy in which the examples in docstrings are no tests: mutmut would run them for every copy of a function."""
    shutil.copytree(source, place, ignore=shutil.ignore_patterns("mutants", ".git"))
    module = place / "toolz" / "itertoolz.py"
    module.write_text(module.read_text().replace(">>> ", ">> "))
    words = {"source_paths": ["toolz"], "only_mutate": ["toolz/itertoolz.py"]}
    words["pytest_add_cli_args_test_selection"] = ["toolz/tests/test_itertoolz.py"]
    table = "\n".join(f"{key} = {json.dumps(value)}" for key, value in words.items())
    config = place / "pyproject.toml"
    config.write_text(f"{config.read_text()}\n[tool.mutmut]\n{table}\n")
    return place


def compare(title: str, projects: list[tuple[Path, Path, Path]]) -> None:
    stock_all, ours_all, different = [], [], []
    for number, project in enumerate(projects):
        pair = [(stock, stock_all), (ours, ours_all)]
        for run, told in pair if number % 2 else pair[::-1]:
            told.append(run(*project))
        different += disagreements(project[0].name, stock_all[-1].outcomes, ours_all[-1].outcomes)
    total = sum(len(told.outcomes) for told in stock_all)
    print(f"{title}: {total} mutants, {total - len(different)} with the same verdict", *different, sep="\n  ")
    for words, which in (("with start-up", "seconds"), ("without", "trying_seconds")):
        slow, fast = (sum(getattr(one, which) for one in told) for told in (stock_all, ours_all))
        print(f"  {words}: mutmut {total / slow:.1f}/s, ours {total / fast:.1f}/s; ratio {slow / fast:.1f}")


def disagreements(name: str, theirs: dict[str, str], own: dict[str, str]) -> list[str]:
    keys = sorted(theirs.keys() | own.keys())
    told = [(key, theirs.get(key, "missing"), own.get(key, "missing")) for key in keys]
    return [f"{name} {key}: mutmut {a}, ours {b}" for key, a, b in told if (a in NOTICED) != (b in NOTICED)]


def stock(place: Path, source: Path, tests: Path) -> Told:
    shutil.rmtree(place / "mutants", ignore_errors=True)
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "mutmut", "run"], cwd=place, capture_output=True, text=True)
    seconds = time.monotonic() - began
    meta = json.loads((place / "mutants" / f"{source}.meta").read_text())
    outcomes = {key: KILLED.get(code, f"exit code {code}") for key, code in meta["exit_code_by_key"].items()}
    rate = re.findall(r"([0-9.]+) mutations/second", done.stdout)
    shutil.rmtree(place / "mutants")
    return Told(outcomes, seconds, len(outcomes) / float(rate[-1]))


def ours(place: Path, source: Path, tests: Path) -> Told:
    settings = Settings(mutation_seconds=600)
    project = Project(root=place, sources=(source,), tests=(tests,), python=Path(sys.executable), settings=settings)
    began = time.monotonic()
    with CheckContext(project) as lab:
        details = MutationCheck().judge(project, lab).details
    seconds = time.monotonic() - began
    told, rate = details["outcomes"], details["per_second"]
    assert isinstance(told, dict)
    assert isinstance(rate, float)
    # mutmut makes no mutants of branches, and calls none equivalent.
    outcomes = {key: was.replace(EQUIVALENT, "survived") for key, was in told.items() if MARK not in key}
    return Told(outcomes, seconds, len(outcomes) / rate)


if __name__ == "__main__":
    main()
