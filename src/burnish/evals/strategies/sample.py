"""One answer to one prompt, made into a version. What `single` and `retry` have in common."""

from collections.abc import Generator

from burnish.agent.answer.code import extract_code, find_problem
from burnish.agent.ask import Tools, ask
from burnish.evals.plan import Plan
from burnish.evals.puzzle import Puzzle
from burnish.evals.strategies import prompts
from burnish.events import CodeProposed, Event
from burnish.models.model import Ask
from burnish.tasks.assemble import assemble

MOST_TOKENS = 1024
MOST_CALLS = 1000
"""More than any attempt makes: the seeds of two attempts at one task never meet."""


def seed_of(seed: int, call: int) -> int:
    """The seed of one ask: the same on a rerun, another for each call and each attempt."""
    return seed * MOST_CALLS + call


def sample(
    puzzle: Puzzle, plan: Plan, tools: Tools, *, call: int, seed: int, temperature: float
) -> Generator[Event, None, CodeProposed | None]:
    """Ask once and say what came of it; None when a limit or the user ended the work."""
    question = Ask(
        purpose=prompts.asked_for(puzzle.task, plan.ask),
        messages=prompts.messages(puzzle, plan.ask),
        temperature=temperature,
        top_p=0.95 if temperature else 1.0,
        max_tokens=MOST_TOKENS,
        seed=seed_of(seed, call),
    )
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
