"""`burnish strengthen` on a real package: how many small changes of its code its tests notice before and after.

    python experiments/strengthen_package.py PACKAGE TESTS MODULE [MODULE …] [--python ENV] [--model NAME] [--seconds N]

PACKAGE is the unpacked source of the package; TESTS and each MODULE are paths below it. Nothing is written into it.
Prints a row a module: mutants tried, noticed before, noticed after, those that only pinned tests notice, probably
equivalent ones, new tests, seconds. `--show` prints the new files too.
"""

import argparse
import json
import tempfile
from pathlib import Path

from burnish import SetupProblem, strengthen
from burnish.commands.strengthen import read_new_tests
from burnish.events import Mutated, Strengthened
from burnish.paths import describe_origin
from burnish.runs import Store

COLUMNS = (
    "| module | mutants | noticed before | after | with pinned | alike | tests (pinned) | contradictions | seconds |"
)


def main() -> None:
    given = arguments()
    print(COLUMNS)
    print("|---" * 9 + "|")
    with tempfile.TemporaryDirectory() as home:
        for module in given.modules:
            told = row(given, module, Store(Path(home)))
            print(f"| {' | '.join(map(str, told))} |", flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("package", type=Path)
    parser.add_argument("tests", type=Path)
    parser.add_argument("modules", type=Path, nargs="+")
    parser.add_argument("--python")
    parser.add_argument("--model", default="none")
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--out", type=Path, help="a folder for a JSON file a module")
    return parser.parse_args()


def row(given: argparse.Namespace, module: Path, store: Store) -> list[object]:
    tests, source = given.package / given.tests, given.package / module
    try:
        run = strengthen(tests, source, given.model, python=given.python, seconds=given.seconds, store=store)
    except SetupProblem as problem:
        return [module, str(problem), *[""] * 7]
    before, after = run.last(Mutated), run.last(Strengthened)
    assert before
    assert after
    files = read_new_tests(run, store)
    if given.show:
        print("\n".join(files.values()))
    if given.out:
        given.out.mkdir(parents=True, exist_ok=True)
        told = {**describe_origin(), "why": run.why, "before": before.model_dump(), "after": after.model_dump()}
        told["files"] = {str(path): text for path, text in files.items()}
        (given.out / f"{module.stem}.json").write_text(json.dumps(told, indent=1))
    pinned = sum(test.origin == "pinned" for test in after.tests)
    shares = [
        f"{100 * n / before.mutants:.0f} %" for n in (before.noticed, after.noticed, after.noticed + after.pinned)
    ]
    tests_ = f"{len(after.tests)} ({pinned})"
    return [module, before.mutants, *shares, len(after.alike), tests_, len(after.exposing), round(run.seconds)]


if __name__ == "__main__":
    main()
