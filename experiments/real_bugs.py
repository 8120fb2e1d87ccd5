"""Ten bugs planted in two real packages: are they found and repaired, and how large is the diff?

    python experiments/real_bugs.py TOOLZ HUMANIZE PYTHON [MODEL] [NUMBER ...]

TOOLZ and HUMANIZE are unpacked source distributions (toolz 1.2.0, humanize 4.16.0), PYTHON an interpreter that has
pytest and what their tests need. Each bug gets a fresh copy; `fix` is told the file and nothing else.
"""

import difflib
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from burnish import Limits, fix
from burnish.models.names import open_model
from burnish.runs import Store


class Bug(NamedTuple):
    """One text in one file, replaced by a wrong one."""

    package: str
    file: str
    right: str
    wrong: str


ITER, DICT = "toolz/itertoolz.py", "toolz/dicttoolz.py"
NUMBER, LISTS, SIZE = "src/humanize/number.py", "src/humanize/lists.py", "src/humanize/filesize.py"
BUGS = [
    Bug("toolz", ITER, "end = len(seq) % n\n", "end = len(seq) // n\n"),
    Bug(
        "toolz",
        DICT,
        "except (KeyError, IndexError, TypeError):\n        if no_default",
        "except KeyError:\n        if no_default",
    ),
    Bug("toolz", DICT, "result[k] = func(v.__self__)", "result[k] = v.__self__"),
    Bug("toolz", ITER, "tuple(heapq.nlargest(k, seq, key=key))", "tuple(heapq.nsmallest(k, seq, key=key))"),
    Bug("toolz", ITER, "partial(operator.is_not, itr)", "partial(operator.is_, itr)"),
    Bug("humanize", SIZE, "if abs_bytes < base:", "if abs_bytes <= base:"),
    Bug("humanize", NUMBER, "        ordinal += 1\n        rounded_value = 1.0\n", "        ordinal += 1\n"),
    Bug("humanize", LISTS, "for item in items[:-1]", "for item in items[:-2]"),
    Bug("humanize", NUMBER, "        token = floor_token\n", "        token = ceil_token\n"),
    Bug("humanize", NUMBER, "{whole_number:.0f} {abs(numerator):.0f}", "{whole_number:.0f} {numerator:.0f}"),
]


def main(toolz: str, humanize: str, python: str, model: str, wanted: list[str]) -> None:
    """One line for each bug, and a last one with the counts."""
    homes = {"toolz": Path(toolz), "humanize": Path(humanize)}
    answering = open_model(model)
    outcomes = []
    for number, bug in enumerate(BUGS, 1):
        if wanted and str(number) not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            place = shutil.copytree(homes[bug.package], Path(folder) / bug.package)
            outcomes.append(tried(number, bug, place, python, answering, Store(Path(folder) / "store")))
    print({outcome: outcomes.count(outcome) for outcome in sorted(set(outcomes))})


def tried(number: int, bug: Bug, place: Path, python: str, model: object, store: Store) -> str:
    """Plant, repair, compare with the original."""
    file = place / bug.file
    original = file.read_text("utf-8")
    assert original.count(bug.right) == 1, bug
    broken = original.replace(bug.right, bug.wrong)
    file.write_text(broken, "utf-8")
    started = time.monotonic()
    run = fix(file, model, python=python, store=store, limits=Limits(calls=8, rounds=4, seconds=420, tokens=40_000))
    lines = [line for line in difflib.ndiff(broken.splitlines(), (run.code or broken).splitlines()) if line[0] in "+-"]
    by = run.final.by if run.final else "nobody"
    same = "as it was" if run.code == original else "otherwise"
    print(
        f"{number:2} {bug.package} {bug.file}: {run.verdict} by {by}, {same}, {len(lines)} lines of diff, "
        f"{run.calls} calls, {time.monotonic() - started:.0f} s; {run.why[:110]}",
        flush=True,
    )
    for line in lines[:8]:
        print(f"      {line}")
    return f"{run.verdict}, {same}" if run.verdict == "proven" else str(run.verdict)


if __name__ == "__main__":
    model_name = sys.argv[4] if len(sys.argv) > 4 else "local:qwen2.5-coder-1.5b"
    main(*sys.argv[1:4], model_name, sys.argv[5:])
