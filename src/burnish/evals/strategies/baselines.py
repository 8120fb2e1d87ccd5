"""`single` and `retry`: what every other strategy is measured against. Nothing is learnt from a failure."""

from collections.abc import Generator, Iterator

from burnish.agent.answer.code import extract_code, find_problem
from burnish.agent.ask import Tools, ask
from burnish.checks import grade_script
from burnish.evals.schema import Plan
from burnish.evals.strategies import prompts
from burnish.evals.strategies.strategy import Puzzle
from burnish.events import Answered, CodeProposed, Decided, Event, Stopped, TestsRan
from burnish.models.model import Ask
from burnish.tasks.assemble import assemble
from burnish.tasks.sentence import find_kinds

TEMPERATURE = 0.7
"""Of `retry`; `single` is greedy."""
MOST_TOKENS = 1024
MOST_CALLS = 1000
"""More than any attempt makes: the seeds of two attempts at one task never meet."""


class Single:
    """One answer, handed over as it is."""

    name = "single"
    timeout_seconds = 5.0

    def calls(self, plan: Plan) -> int:
        """One, whatever the plan."""
        return 1

    def solve(self, puzzle: Puzzle, plan: Plan, seed: int, tools: Tools) -> Iterator[Event]:
        """Ask, and hand over."""
        question = _question(puzzle, plan, seed_for_call(seed, 1), plan.temperature or 0.0)
        proposed = yield from _sample(puzzle, tools, question, 1)
        if proposed:
            yield Answered(call=1, round=0, version=None if proposed.problem else 1)
            yield Stopped(reason="done", why="one answer is all this strategy asks for")


class Retry:
    """The first sample that passes wins; if none does, the one that passed most, the earliest of equals."""

    name = "retry"
    timeout_seconds = 5.0

    def calls(self, plan: Plan) -> int:
        """The first sample, and one more for each round."""
        return plan.rounds + 1

    def solve(self, puzzle: Puzzle, plan: Plan, seed: int, tools: Tools) -> Iterator[Event]:
        """Sample, run, hand over the best so far; again until one passes the tests that may be seen."""
        temperature = TEMPERATURE if plan.temperature is None else plan.temperature
        passed: dict[int, int] = {}
        for call in range(1, self.calls(plan) + 1):
            question = _question(puzzle, plan, seed_for_call(seed, call), temperature)
            proposed = yield from _sample(puzzle, tools, question, call)
            if proposed is None:
                return
            won = ""
            if not proposed.problem:
                passed[call], won = yield from _run_tests(puzzle, tools, proposed)
            best = call if won else max(passed, key=lambda version: passed[version], default=None)
            yield Answered(call=call, round=call - 1, version=best)
            if won:
                yield Stopped(reason="done", why=won)
                return
        yield Stopped(reason="rounds", why=f"none of {self.calls(plan)} samples passes the tests")


def seed_for_call(seed: int, call: int) -> int:
    """The seed of one ask: the same on a rerun, another for each call and each attempt."""
    return seed * MOST_CALLS + call


def _question(puzzle: Puzzle, plan: Plan, seed: int, temperature: float) -> Ask:
    return Ask(
        purpose=prompts.resolve_asking(puzzle.task, plan.ask),
        messages=prompts.messages(puzzle, plan.ask),
        temperature=temperature,
        top_p=0.95 if temperature else 1.0,
        max_tokens=MOST_TOKENS,
        seed=seed,
    )


def _sample(puzzle: Puzzle, tools: Tools, question: Ask, call: int) -> Generator[Event, None, CodeProposed | None]:
    """Ask once and make a version of the answer; None when a limit or the user ended the work."""
    reply = yield from ask(tools, f"{question.purpose}-{call}", question, prompts.VERSION)
    if reply is None:
        return None
    code = extract_code(reply.text, puzzle.task.entry_point)
    problem = find_problem(code, puzzle.task.entry_point)
    if problem and reply.ended == "length":
        problem += "; the answer was cut off at its token limit"
    whole = code if problem else assemble(puzzle.task, code)
    proposed = CodeProposed(version=call, code=whole, by=question.purpose, ask_id=reply.ask_id, problem=problem)
    yield proposed
    return proposed


def _run_tests(puzzle: Puzzle, tools: Tools, proposed: CodeProposed) -> Generator[Event, None, tuple[int, str]]:
    """How many tests a version passes, and why it wins if it does; without tests the first one that parses does."""
    if not puzzle.tests.strip():
        why = "no test may be seen, so the first sample that parses is taken"
        yield Decided(choice="take", reason=f"Version {proposed.version} parses; {why}.")
        return 0, why
    kinds = find_kinds(puzzle.task)
    graded = grade_script(proposed.code, puzzle.tests, tools.sandbox, puzzle.timeout_seconds, kinds)
    yield TestsRan(version=proposed.version, graded=graded)
    return graded.passed, f"version {proposed.version} passes the tests" if graded.all_passed else ""
