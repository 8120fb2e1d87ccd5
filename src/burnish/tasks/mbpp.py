"""MBPP: short Python tasks with three assertions each. The first is shown, the others only score."""

import json
import os
from collections.abc import Iterable
from pathlib import Path

from burnish.errors import SetupProblem
from burnish.tasks.examples import called_names
from burnish.tasks.task import Split, Task

SPLITS: dict[Split, range] = {"eval": range(11, 511), "tune": range(511, 601), "train": range(601, 975)}


def load_mbpp(split: Split, path: Path | None = None) -> list[Task]:
    """The tasks of one split, in order, from `mbpp.jsonl` in the folder that BURNISH_DATA names."""
    file = path or Path(os.environ.get("BURNISH_DATA", "")) / "mbpp.jsonl"
    if not file.is_file():
        raise SetupProblem(
            f"MBPP is not at {str(file)!r}. Name the folder that holds it: export BURNISH_DATA=/path/to/folder"
        )
    return list(_tasks(file.read_text("utf-8").splitlines(), split))


def _tasks(lines: Iterable[str], split: Split) -> Iterable[Task]:
    for row in map(json.loads, lines):
        if row["task_id"] in SPLITS[split]:
            first, *others = row["test_list"]
            yield Task(
                id=f"mbpp-{row['task_id']}",
                prompt=row["text"],
                entry_point=called_names(first)[0],
                visible_tests=(first,),
                hidden_tests="\n".join(others),
                gold=row["code"],
                split=split,
            )
