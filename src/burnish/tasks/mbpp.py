"""MBPP: short Python tasks with three assertions each. The first is shown; all of them score."""

import ast
from pathlib import Path

from burnish.parsing import parse
from burnish.tasks import data
from burnish.tasks.assemble import IMPORTS, names_of
from burnish.tasks.data import Progress, Row
from burnish.tasks.examples import called_names
from burnish.tasks.task import Split, Task

SPLITS: dict[Split, range] = {"eval": range(11, 511), "tune": range(511, 601), "train": range(601, 975)}


def load_mbpp(split: Split, folder: Path | None = None, progress: Progress | None = None) -> list[Task]:
    """The tasks of one split, in order."""
    path = data.find(data.MBPP, folder, progress)
    with data.reading(path):
        return [_task(row, split) for row in data.read_rows(path) if row["task_id"] in SPLITS[split]]


def _task(row: Row, split: Split) -> Task:
    gold = _unix(row["code"]).strip() + "\n"
    setup = _unix(row["test_setup_code"]).strip()
    tests = [_unix(test).strip() for test in row["test_list"]]
    imports = _imports("\n".join([setup, *tests]), gold)
    shown = [*imports, *_own_names(setup, gold), setup, tests[0]]
    return Task(
        id=f"mbpp-{row['task_id']}",
        prompt=row["text"].strip(),
        entry_point=entry_point(tests[0], gold),
        visible_tests=("\n".join(filter(None, shown)),),
        hidden_tests="\n".join(filter(None, [*imports, setup, *tests])) + "\n",
        gold=gold,
        split=split,
    )


def entry_point(test: str, gold: str) -> str:
    """The function that a test is about: the first it calls that the reference defines, even one named `sum`."""
    defined = _defined(gold)
    calls = [node.func for node in ast.walk(parse(test)) if isinstance(node, ast.Call)]
    names = [call for call in calls if isinstance(call, ast.Name) and call.id in defined]
    first = sorted(names, key=lambda call: (call.lineno, call.col_offset))
    return first[0].id if first else called_names(test)[0]


def _imports(tests: str, gold: str) -> list[str]:
    """The imports that tests lean on without making them: they count on those of the code under test."""
    used = {node.id for node in ast.walk(parse(tests)) if isinstance(node, ast.Name)}
    nodes = [node for node in parse(gold).body if isinstance(node, IMPORTS)]
    return [ast.unparse(node) for node in nodes if names_of(node) & used]


def _own_names(setup: str, gold: str) -> list[str]:
    """The import that lets a test's preparation stand on its own: the classes it makes objects of."""
    names = [name for name in called_names(setup) if name in _defined(gold)]
    return [f"from solution import {', '.join(names)}"] if names else []


def _defined(gold: str) -> set[str]:
    return {node.name for node in parse(gold).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
