"""`retry`: independent samples until one passes the tests that may be seen. Nothing is learnt from a failure."""

from collections.abc import Generator, Iterator

from burnish.agent.ask import Tools
from burnish.checks import grade_script
from burnish.evals.plan import Plan
from burnish.evals.puzzle import Puzzle
from burnish.evals.strategies.sample import sample
from burnish.events import Answered, CodeProposed, Decided, Event, Stopped, TestsRan
from burnish.tasks.sentence import find_kinds

TEMPERATURE = 0.7


class Retry:
    """The first sample that passes wins; if none does, the one that passed most, the earliest of equals."""

    name = "retry"
    timeout_seconds = 5.0

    def calls(self, plan: Plan) -> int:
        """The first sample, and one more for each round."""
        return plan.rounds + 1

    def solve(self, puzzle: Puzzle, plan: Plan, seed: int, tools: Tools) -> Iterator[Event]:
        """Sample, run, hand over the best so far; again until one passes."""
        temperature = TEMPERATURE if plan.temperature is None else plan.temperature
        passed: dict[int, int] = {}
        for call in range(1, self.calls(plan) + 1):
            proposed = yield from sample(puzzle, plan, tools, call=call, seed=seed, temperature=temperature)
            if proposed is None:
                return
            won = ""
            if not proposed.problem:
                passed[call], won = yield from _meet_tests(puzzle, tools, proposed)
            best = call if won else max(passed, key=lambda version: passed[version], default=None)
            yield Answered(call=call, round=call - 1, version=best)
            if won:
                yield Stopped(reason="done", why=won)
                return
        yield Stopped(reason="rounds", why=f"none of {self.calls(plan)} samples passes the tests")


def _meet_tests(puzzle: Puzzle, tools: Tools, proposed: CodeProposed) -> Generator[Event, None, tuple[int, str]]:
    """How many tests a version passes, and why it wins if it does; without tests the first one that parses does."""
    if not puzzle.tests.strip():
        why = "no test may be seen, so the first sample that parses is taken"
        yield Decided(choice="take", reason=f"Version {proposed.version} parses; {why}.")
        return 0, why
    kinds = find_kinds(puzzle.task)
    graded = grade_script(proposed.code, puzzle.tests, tools.sandbox, puzzle.timeout_seconds, kinds)
    yield TestsRan(version=proposed.version, graded=graded)
    return graded.passed, f"version {proposed.version} passes the tests" if graded.all_passed else ""
