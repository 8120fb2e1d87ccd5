"""Golden runs: record what the product does, and compare a later version with that.

    python -m tests.golden record --checkout PATH --out golden.json.gz [--only PATTERN]
    python -m tests.golden compare --checkout PATH --golden golden.json.gz [--accepted FILE]
    python -m tests.golden list

Every case runs in an empty folder of its own, without network, with scripted models or a server of this tool's own.
`record --only` renews these cases in the file and leaves the others. `compare` prints a line for each difference and
exits with 1 unless each of them is in the file of accepted differences: a JSON list of {"where": pattern, "reason": …},
where the pattern is matched against `case/step/place`; an exit code, a verdict or a reason to stop is accepted only by
a pattern that ends in its name.

`--coverage` also prints which share of the lines was reached: processes of the host count, what runs inside a cell (a
fork server without our interpreter's settings) does not, nor does a process that was killed.
"""

import argparse
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tests.golden.case import Case
from tests.golden.cases import CASES
from tests.golden.observe import flat
from tests.golden.run import Product, run_case

Steps = list[dict[str, Any]]
Golden = dict[str, Steps]
HERE = Path(__file__).parent
DECISIVE = ("exit", "verdict", "stopped")
"""What a difference may not hide in a pattern that fits many places."""
NOT_COUNTED = ("*/inside/*", "*/models/huggingface/*")
"""Runs inside cells, or needs torch."""
NEEDS_WEIGHTS_OR_NETWORK = ("*/models/local.py", "*/models/weights.py", "*/models/sources.py", "*/sandbox/docker/*")


def chosen(only: str, data: bool) -> list[Case]:
    """The cases whose name holds the pattern; those with benchmark files only where these are."""
    return [
        case
        for case in CASES
        if any(fnmatchcase(case.name, part) or part in case.name for part in only.split(","))
        and (data or not case.data)
    ]


def run_all(cases: list[Case], product: Product, jobs: int, keep: Path | None) -> Iterator[tuple[str, Steps]]:
    """What is kept of each case, as soon as it ends, with a line of progress."""
    with tempfile.TemporaryDirectory(prefix="golden-") as scratch, ThreadPoolExecutor(jobs) as pool:
        root = keep or Path(scratch)

        def one(case: Case) -> tuple[Steps, float]:
            folder = root / re.sub(r"\W+", "-", case.name) / "work"  # pip splits PIP_FIND_LINKS at spaces
            folder.mkdir(parents=True)
            started = time.monotonic()
            return run_case(case, product, folder), time.monotonic() - started

        under_way = {pool.submit(one, case): case.name for case in cases}
        for number, future in enumerate(as_completed(under_way), 1):
            name = under_way[future]
            steps, seconds = future.result()
            exits = " ".join(str(step["exit"]) for step in steps)
            print(f"[{number}/{len(cases)}] {name}  exit {exits}  {seconds:.1f} s", file=sys.stderr, flush=True)
            yield name, steps


def differences(case: str, old: Steps | None, new: Steps) -> list[tuple[str, str]]:
    """Where what is kept of a case differs, and how."""
    before, after = flat(old, case), flat(new, case)
    found = []
    for place in [*before, *(place for place in after if place not in before)]:
        was, now = (json.dumps(held[place]) if place in held else "nothing" for held in (before, after))
        if was != now:
            found.append((place, f"{was} -> {now}"))
    return found


def read(path: Path) -> Golden:
    """A file of golden runs, compressed or not."""
    data = path.read_bytes()
    golden: Golden = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    return golden


def write(path: Path, golden: Golden) -> None:
    """Put golden runs into a file; the same runs make the same bytes."""
    data = (json.dumps(golden, indent=0, sort_keys=True) + "\n").encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


class Accepted:
    """Differences that somebody gave a reason for; `report` prints the others."""

    def __init__(self, path: Path) -> None:
        self.reasons: dict[str, str] = {}
        for one in json.loads(path.read_text("utf-8")) if path.exists() else []:
            self.reasons[one["where"]] = one["reason"]
        self.seen, self.accepted, self.new = set[str](), 0, 0

    def report(self, found: list[tuple[str, str]]) -> None:
        """Print a line for each difference without a reason, and count them all."""
        for place, how in found:
            last = place.rpartition("/")[2]
            fitting = {where for where in self.reasons if fnmatchcase(place, where)}
            if last in DECISIVE:
                fitting = {where for where in fitting if where.endswith(last)}
            self.seen |= fitting
            self.accepted += bool(fitting)
            self.new += not fitting
            if not fitting:
                print(f"{place}: {how}", flush=True)

    def close(self) -> None:
        """Print a last line of counts."""
        print(f"{self.new} differences, {self.accepted} more are accepted")
        for where in sorted(set(self.reasons) - self.seen):
            print(f"accepted, and not seen: {where}", file=sys.stderr)


def set_up_coverage(folder: Path, checkout: Path) -> None:
    """The settings that every process of the product reads."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = f"[run]\nparallel = true\ndata_file = {folder}/data\nsource = {checkout}/src/burnish\n"
    (folder / "rc").write_text(settings + "patch = subprocess\ndisable_warnings = no-data-collected\n")


def print_coverage(product: Product, folder: Path) -> None:
    """The share of lines that was reached, and the files with most lines that were not."""
    coverage = [product.python, "-m", "coverage"]
    rc = f"--rcfile={folder / 'rc'}"
    subprocess.run([*coverage, "combine", "--append", "--quiet", rc], cwd=folder, check=False)
    for name, left_out in (("outside cells", NOT_COUNTED), ("and without weights, network, Docker", ())):
        omit = ",".join(NOT_COUNTED if left_out else (*NOT_COUNTED, *NEEDS_WEIGHTS_OR_NETWORK))
        told = [*coverage, "json", rc, f"--omit={omit}", "-q", "-o", "coverage.json"]
        subprocess.run(told, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        measured = json.loads((folder / "coverage.json").read_text())
        print(f"lines reached, {name}: {measured['totals']['percent_covered']:.1f} %")
    files = sorted(measured["files"].items(), key=lambda item: -item[1]["summary"]["missing_lines"])
    for path, one in files[:40]:
        print(f"  {one['summary']['missing_lines']:4} lines not reached  {path.partition('burnish/')[2]}")


def main() -> int:
    """Run the command line of this tool."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__.partition("\n")[0])
    parser.add_argument("do", choices=("record", "compare", "list"))
    parser.add_argument("--checkout", type=Path, default=Path.cwd())
    parser.add_argument("--out", type=Path, default=HERE / "golden.json.gz", help="where record puts them")
    parser.add_argument("--golden", type=Path, default=HERE / "golden.json.gz", help="what compare holds against")
    parser.add_argument("--accepted", type=Path, default=HERE / "accepted.json")
    parser.add_argument("--only", default="*", help="names of cases or parts of them, joined by commas")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="a new folder; what the cases leave behind stays there")
    parser.add_argument("--coverage", type=Path, help="a folder; measure lines reached, added to what is there")
    options = parser.parse_args()
    cases = chosen(options.only, "BURNISH_DATA" in os.environ)
    if options.do == "list":
        print("\n".join(case.name for case in cases))
        return 0
    if len(cases) < len(chosen(options.only, True)):
        print("BURNISH_DATA names no benchmark files: cases that need them are left out", file=sys.stderr)
    checkout = options.checkout.resolve()
    with tempfile.TemporaryDirectory(prefix="golden-cache-") as cache:
        product = Product(checkout, Path(cache), options.coverage and options.coverage.resolve())
        if product.coverage:
            set_up_coverage(product.coverage, checkout)
        renews = options.do == "record" and options.only != "*" and options.out.exists()
        golden = read(options.golden) if options.do == "compare" else read(options.out) if renews else {}
        accepted = Accepted(options.accepted)
        for name, steps in run_all(cases, product, options.jobs, options.keep and options.keep.resolve()):
            if options.do == "record":
                golden[name] = steps
                write(options.out, golden)
            else:
                accepted.report(differences(name, golden.get(name), steps))
        if product.coverage:
            print_coverage(product, product.coverage)
    if options.do == "compare":
        accepted.close()
    return 1 if accepted.new else 0


if __name__ == "__main__":
    sys.exit(main())
