"""The idea of a strategy: how a model is used on one task. Its kinds are this file's neighbours."""

from collections.abc import Iterator
from typing import Protocol

from burnish.agent.ask import Tools
from burnish.evals.plan import Plan
from burnish.evals.puzzle import Puzzle
from burnish.events import Event


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

    def calls(self, plan: Plan) -> int:
        """The most calls one attempt can make under this plan."""
        ...

    def solve(self, puzzle: Puzzle, plan: Plan, seed: int, tools: Tools) -> Iterator[Event]:
        """Everything that happens, in order."""
        ...
