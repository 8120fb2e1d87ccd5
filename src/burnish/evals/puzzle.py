"""What a strategy may see of a task. The one place where hidden tests could leak, so it is small."""

from burnish.errors import TaskError
from burnish.evals.plan import Protocol
from burnish.events import Frozen
from burnish.tasks.task import Task


class Puzzle(Frozen):
    """A task without its answer, and the tests that may be shown and run."""

    task: Task
    tests: str
    """A script for the sandbox; empty when nothing may be seen."""
    timeout_seconds: float = 5.0


def seen(task: Task, protocol: Protocol, timeout_seconds: float = 5.0) -> Puzzle:
    """The task as a strategy gets it: `gold` and `hidden_tests` are gone; under `oracle` the latter drive the loop."""
    if protocol == "oracle" and not task.hidden_tests:
        raise TaskError(f"task {task.id!r} has no scoring tests to show")
    if protocol == "oracle" and _holds(task.hidden_tests, task.gold):
        raise TaskError(f"the scoring tests of task {task.id!r} hold its reference, so they cannot be shown")
    tests = task.hidden_tests if protocol == "oracle" else "\n".join(task.visible_tests)
    bare = task.model_copy(update={"hidden_tests": "", "gold": ""})
    return Puzzle(task=bare, tests=tests, timeout_seconds=timeout_seconds)


def _holds(tests: str, gold: str) -> bool:
    """Whether a text has the reference in it, however it is indented."""
    return bool(gold.strip()) and "".join(gold.split()) in "".join(tests.split())
