"""In an evaluation on files of several functions: does every byte outside the repaired function stay as it was?

    BURNISH_DATA=/path/to/data python experiments/outside_bytes.py FOLDER

FOLDER is what `burnish eval mbppfix --variant file --out FOLDER` made. For each attempt the last answer and the task's
file are compared without the function that was to be repaired. Imports and helper functions that the repair brings
along are new lines; they are counted apart.
"""

import ast
import difflib
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from burnish.evals.eval_store import Folder
from burnish.evals.suites import load_suite
from burnish.events import Answered, CodeProposed, Event
from burnish.parsing import parse
from burnish.tasks import Task


def main(place: Path) -> None:
    folder = Folder.open(place)
    tasks = {task.id: task for task in load_suite(folder.plan.suite, variant=folder.plan.variant)}
    found = Counter(kind(tasks[name], events) for name, _, events in folder.attempts())
    for words, count in found.most_common():
        print(f"{count:6} {words}")


def kind(task: Task, events: list[Event]) -> str:
    code = answer(events)
    if code is None:
        return "no answer"
    before, after = outside(task.base_code, task.entry_point), outside(code, task.entry_point)
    if after is None or before is None:
        return "the function is not there any more"
    if before == after:
        return "the same byte for byte outside the function"
    steps = [line[0] for line in difflib.ndiff(before, after)]
    return "CHANGED outside the function" if "-" in steps else "the same, and new lines beside it"


def answer(events: list[Event]) -> str | None:
    last = [event.version for event in events if isinstance(event, Answered)][-1:]
    codes = {event.version: event.code for event in events if isinstance(event, CodeProposed)}
    return codes.get(last[0]) if last else None


def outside(code: str, name: str) -> list[str] | None:
    """The lines of a module but those of one function with its decorators; None where it has none of that name."""
    lines = code.splitlines(keepends=True)
    for first, last in spans(code, name):
        return lines[: first - 1] + lines[last:]
    return None


def spans(code: str, name: str) -> Iterator[tuple[int, int]]:
    try:
        module = parse(code)
    except SyntaxError:
        return
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            heads = [part.lineno for part in node.decorator_list]
            yield min([node.lineno, *heads]), node.end_lineno or node.lineno


if __name__ == "__main__":
    main(Path(sys.argv[1]))
