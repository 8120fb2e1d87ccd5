"""`single`: one greedy answer. What every other strategy is measured against."""

from collections.abc import Iterator

from burnish.agent.ask import Tools
from burnish.evals.plan import Plan
from burnish.evals.puzzle import Puzzle
from burnish.evals.strategies.sample import sample
from burnish.events import Answered, Event, Stopped


class Single:
    """One answer, handed over as it is."""

    name = "single"
    timeout_seconds = 5.0

    def calls(self, plan: Plan) -> int:
        """One, whatever the plan."""
        return 1

    def solve(self, puzzle: Puzzle, plan: Plan, seed: int, tools: Tools) -> Iterator[Event]:
        """Ask, and hand over."""
        proposed = yield from sample(puzzle, plan, tools, call=1, seed=seed, temperature=plan.temperature or 0.0)
        if proposed:
            yield Answered(call=1, round=0, version=None if proposed.problem else 1)
            yield Stopped(reason="done", why="one answer is all this strategy asks for")
