"""MBPP: short Python tasks with three assertions each. The first is shown; all of them score."""

import ast
from pathlib import Path

from burnish.parsing import parse
from burnish.tasks import data
from burnish.tasks.data import Progress, Row
from burnish.tasks.examples import find_called_names
from burnish.tasks.source import IMPORTS, find_bound_names
from burnish.tasks.task import Split, Task

SPLITS: dict[Split, range] = {"eval": range(11, 511), "tune": range(511, 601), "train": range(601, 975)}


def load_mbpp(split: Split, folder: Path | None = None, progress: Progress | None = None) -> list[Task]:
    """The tasks of one split, in order."""
    path = data.find_file(data.MBPP, folder, progress)
    with data.blame_file(path):
        return [_task(row, split) for row in data.read_rows(path) if row["task_id"] in SPLITS[split]]


def _task(row: Row, split: Split) -> Task:
    gold = _unix_lines(row["code"]).strip() + "\n"
    setup = _unix_lines(row["test_setup_code"]).strip()
    tests = [_unix_lines(test).strip() for test in row["test_list"]]
    # Tests lean on imports without making them: they count on those of the code under test.
    used = {node.id for node in ast.walk(parse("\n".join([setup, *tests]))) if isinstance(node, ast.Name)}
    available = [node for node in parse(gold).body if isinstance(node, IMPORTS)]
    imports = [ast.unparse(node) for node in available if find_bound_names(node) & used]
    classes = [name for name in find_called_names(setup) if name in _names_defined_in(gold)]
    own = [f"from solution import {', '.join(classes)}"] if classes else []  # what the preparation makes objects of
    return Task(
        id=f"mbpp-{row['task_id']}",
        prompt=row["text"].strip(),
        entry_point=find_entry_point(tests[0], gold),
        visible_tests=("\n".join(filter(None, [*imports, *own, setup, tests[0]])),),
        hidden_tests="\n".join(filter(None, [*imports, setup, *tests])) + "\n",
        gold=gold,
        split=split,
    )


def find_entry_point(test: str, gold: str) -> str:
    """The function that a test is about: the first it calls that the reference defines, even one named `sum`."""
    names = _names_defined_in(gold)
    calls = [node.func for node in ast.walk(parse(test)) if isinstance(node, ast.Call)]
    own = [call for call in calls if isinstance(call, ast.Name) and call.id in names]
    first = min(own, key=lambda call: (call.lineno, call.col_offset), default=None)
    return first.id if first else find_called_names(test)[0]


def _names_defined_in(gold: str) -> set[str]:
    return {node.name for node in parse(gold).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def _unix_lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
