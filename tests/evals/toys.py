"""Toy tasks for evaluations, small enough to read: a bug each, one visible and two hidden tests."""

import json
from pathlib import Path

from burnish.tasks.task import Task

GOLD = "def add_{n}(x):\n    return x + {n}\n"
BUGGY = "def add_{n}(x):\n    return x - {n}\n"


def toy(n: int, id_: str = "", sleep: float = 0) -> Task:
    """Add n to a number; with `sleep` the scoring tests take that long."""
    nap = f"import time\ntime.sleep({sleep})\n" if sleep else ""
    return Task(
        id=id_ or f"toy-{n}",
        prompt=f"Add {n} to x.",
        entry_point=f"add_{n}",
        signature=f"add_{n}(x)",
        visible_tests=(f"assert add_{n}(1) == {n + 1}",),
        base_code=BUGGY.format(n=n),
        hidden_tests=f"{nap}assert add_{n}(2) == {n + 2}\nassert add_{n}(-5) == {n - 5}",
        gold=GOLD.format(n=n),
        bug="operator misuse",
    )


def toys(count: int) -> list[Task]:
    """So many toy tasks."""
    return [toy(n) for n in range(1, count + 1)]


def jsonl(path: Path, tasks: list[Task]) -> Path:
    """The tasks in the format that users write."""
    rows = [
        {
            "id": task.id,
            "prompt": task.prompt,
            "entry_point": task.entry_point,
            "buggy": task.base_code,
            "visible_tests": list(task.visible_tests),
            "hidden_tests": task.hidden_tests,
            "gold": task.gold,
        }
        for task in tasks
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path
