"""How fairly the mutation check judges thirty small functions. Run: .venv/bin/python benchmarks/mutation_fairness.py

Each correct function is judged with a full suite, which must pass, and with one branch left untested, which should
fail. Prints for both what the check says beside what it said when every mutant of mutmut's counted and no other was
tried, and the seconds; then the counts. With -v: what goes unnoticed. Exit code 1 for a false failure, or where fewer
than 27 untested branches are flagged.
"""

import ast
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

from burnish.checks.final import FinalChecks
from burnish.evidence.claims import recount_mutants

DATA = Path(__file__).parent / "data" / "mutation_fairness.toml"
LEAST_FLAGGED = 27


def write_suite(function: dict[str, Any], is_full: bool) -> str:
    """The test file: all of it, or with the tests that reach one branch left out."""
    left_out = () if is_full else function["untested"]
    tests = [node for node in ast.parse(function["tests"]).body if getattr(node, "name", "") not in left_out]
    more = "" if is_full else function.get("extra", "")
    return f"from solution import {function['name']}\n\n{ast.unparse(ast.Module(tests, []))}\n{more}"


def main() -> int:
    """Judge every function twice and count."""
    functions = tomllib.loads(DATA.read_text("utf-8"))["function"]
    counts = {"false failures": [0, 0], "untested branches flagged": [0, 0]}
    total = 0.0
    for function in functions:
        row = [f"{function['name']:18}"]
        for is_full, counted in zip((True, False), counts, strict=True):
            began = time.monotonic()
            found = FinalChecks(["mutation"]).judge(function["code"], write_suite(function, is_full))[0]
            seconds = time.monotonic() - began
            total += seconds
            before = recount_mutants(found)
            for place, evidence in enumerate((before, found)):
                counts[counted][place] += evidence.verdict != "passed"
            same = found.details.get("equivalent", 0)
            row.append(f"{'full' if is_full else 'branch untested':15} {before.verdict} {before.figure:>5}")
            row.append(f"-> {found.verdict:7} {found.figure:>5}, {same:2} equivalent, {seconds:4.1f} s")
            if "-v" in sys.argv:
                row += [f"\n    {one['what']}" for one in found.details.get("findings", [])]
        print(*row, sep="  ", flush=True)
    for name, (before, now) in counts.items():
        print(f"{name}: {before} of {len(functions)} before, {now} now")
    print(f"{total:.0f} seconds for {2 * len(functions)} checks")
    return int(counts["false failures"][1] > 0 or counts["untested branches flagged"][1] < LEAST_FLAGGED)


if __name__ == "__main__":
    sys.exit(main())
