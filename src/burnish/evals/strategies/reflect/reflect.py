"""The published agent as a strategy: its limits, and its graph run to the end."""

from collections.abc import Iterator

from burnish.agent.ask import Tools
from burnish.evals.plan import Plan
from burnish.evals.puzzle import Puzzle
from burnish.events import Event, Stopped
from burnish.no_telemetry import disable_tracing


class Reflect:
    """Draft once, then reflect on the failing assertion until the tests pass. The last answer counts, good or bad."""

    name = "reflect"
    timeout_seconds = 6.0

    def calls(self, plan: Plan) -> int:
        """The draft, and one for each iteration."""
        return plan.rounds + 1

    def solve(self, puzzle: Puzzle, plan: Plan, seed: int, tools: Tools) -> Iterator[Event]:
        """Everything the graph says, and why it ended."""
        from burnish.evals.strategies.reflect.graph import START_STATE, build

        stopped = False
        with disable_tracing():
            graph = build(puzzle, plan.rounds, seed, tools)
            steps = {"recursion_limit": 2 * self.calls(plan) + 5}
            for event in graph.stream(START_STATE, steps, stream_mode="custom"):
                stopped = stopped or isinstance(event, Stopped)
                yield event
        if not stopped:
            yield Stopped(reason="rounds", why=f"the limit of {plan.rounds} iterations is reached")
