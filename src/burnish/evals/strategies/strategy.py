"""The idea of a strategy: how a model is used on one task, and what it may see of it. Its kinds are the neighbours."""

import ast
from collections.abc import Iterator
from typing import Protocol

from burnish.agent.ask import Tools
from burnish.errors import TaskError
from burnish.evals import schema
from burnish.events import Event, Frozen
from burnish.parsing import try_parse
from burnish.tasks.task import Task


class Puzzle(Frozen):
    """A task without its answer, and the tests that may be shown and run."""

    task: Task
    tests: str
    """A script for the sandbox; empty when nothing may be seen."""
    timeout_seconds: float = 5.0


def show_task(task: Task, protocol: schema.Protocol, timeout_seconds: float = 5.0) -> Puzzle:
    """The task as a strategy gets it: `gold` and `hidden_tests` are gone; under `oracle` the latter drive the loop.

    The one place where hidden tests could leak. Raises TaskError where they cannot be shown though they should be.
    """
    if protocol == "oracle" and not task.hidden_tests:
        raise TaskError(f"task {task.id!r} has no scoring tests to show")
    if protocol == "oracle" and _tests_hold_reference(task):
        raise TaskError(f"the scoring tests of task {task.id!r} hold its reference, so they cannot be shown")
    shown = task.hidden_tests if protocol == "oracle" else "\n".join(task.visible_tests)
    bare = task.model_copy(update={"hidden_tests": "", "gold": ""})
    return Puzzle(task=bare, tests=shown, timeout_seconds=timeout_seconds)


def _tests_hold_reference(task: Task) -> bool:
    """Whether the scoring tests hold the reference, however it is indented in them, with a docstring or without."""

    def bodies_in(code: str) -> set[str]:
        tree = try_parse(code)
        nodes = [node for node in (ast.walk(tree) if tree else ()) if isinstance(node, ast.FunctionDef)]
        named = [node for node in nodes if node.name == task.entry_point]
        return {"\n".join(map(ast.unparse, node.body[ast.get_docstring(node) is not None :])) for node in named}

    gold, tests = ("".join(text.split()) for text in (task.gold, task.hidden_tests))
    return bool(gold) and (gold in tests or not bodies_in(task.gold).isdisjoint(bodies_in(task.hidden_tests)))


class Strategy(Protocol):
    """A way to use a model on a puzzle.

    Promises: asks only through `burnish.agent.ask.ask`, so that every prompt is on record and every limit holds; runs
    code only in `tools.sandbox`; says each version as `CodeProposed` (a whole module) and, after each call that could
    change the answer, what it would hand over now as `Answered`. It never sees the scoring tests, except as
    `puzzle.tests` under the protocol that says so.
    """

    name: str
    timeout_seconds: float
    """How long one run of the tests may take while this strategy works."""

    def calls(self, plan: schema.Plan) -> int:
        """The most calls one attempt can make under this plan."""
        ...

    def solve(self, puzzle: Puzzle, plan: schema.Plan, seed: int, tools: Tools) -> Iterator[Event]:
        """Everything that happens, in order."""
        ...
