"""The published agent's steps. Each asks or runs, says what happened as events, and returns what changed."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypedDict

from burnish.agent.ask import Tools, ask
from burnish.checks import grade_script
from burnish.evals.puzzle import Puzzle
from burnish.evals.strategies.reflect import prompts
from burnish.evals.strategies.reflect.reading import failed_assertion, failure, function_in, source_in, summary
from burnish.evals.strategies.sample import seed_of
from burnish.events import Answered, CodeProposed, Decided, Event, Graded, Message, Stopped, TestsRan
from burnish.models.model import Ask
from burnish.tasks.assemble import assemble
from burnish.tasks.sentence import find_kinds

MOST_TOKENS = 512
TOP_K, MIN_P, REPETITION_PENALTY = 20, 0.0, 1.1
"""The published pipeline set neither of these, so the model's own generation settings held, for the greedy draft too:
Qwen2.5-Coder ships top_k 20 and a repetition penalty of 1.1. There is no min_p in them."""


class State(TypedDict):
    """What the agent remembers; a step replaces what it changes."""

    messages: tuple[Message, ...]
    candidates: tuple[str | None, ...]
    """Every answer's function; None where there was none."""
    graded: Graded | None
    iteration: int
    """0 until the first refinement is done."""
    over: bool


class Change(TypedDict, total=False):
    """The part of the state that a step replaces."""

    messages: tuple[Message, ...]
    candidates: tuple[str | None, ...]
    graded: Graded | None
    iteration: int
    over: bool


Step = Generator[Event, None, Change]


@dataclass(frozen=True)
class Desk:
    """What the steps work with."""

    puzzle: Puzzle
    tools: Tools
    seed: int


def draft(state: State, desk: Desk) -> Step:
    """The first answer, greedy, from the buggy code, the docstring and the tests."""
    system = Message(role="system", content=prompts.SYSTEM)
    opening: State = {**state, "messages": (system,)}
    return (yield from _answer(opening, desk, "draft", prompts.draft(desk.puzzle), iteration=0))


def test(state: State, desk: Desk) -> Step:
    """Run the last answer under the module's own imports and helpers. Without tests it is final."""
    version, code = len(state["candidates"]), state["candidates"][-1]
    assert code is not None, "an answer without code goes to syntax"
    if not desk.puzzle.tests.strip():
        yield Decided(choice="take", reason="No test may be seen, so there is nothing to reflect on.")
        yield Stopped(reason="done", why="no test may be seen")
        return {"over": True}
    module = assemble(desk.puzzle.task, code)
    puzzle = desk.puzzle
    graded = grade_script(module, puzzle.tests, desk.tools.sandbox, puzzle.timeout_seconds, find_kinds(puzzle.task))
    yield TestsRan(version=version, graded=graded)
    if graded.all_passed:
        yield Stopped(reason="done", why=f"version {version} passes the tests")
    return {"graded": graded, "over": graded.all_passed}


def reflect(state: State, desk: Desk) -> Step:
    """Show the first assertion that failed, or else the end of the error, and ask again."""
    assert state["graded"] is not None, "reflect comes after test"
    told = failure(state["graded"])
    text = prompts.reflect(desk.puzzle, failed_assertion(told, desk.puzzle.tests), summary(told))
    return (yield from _refine(state, desk, "reflect", text))


def repeat(state: State, desk: Desk) -> Step:
    """Say that this answer was given before, and ask for another way."""
    return (yield from _refine(state, desk, "repeat", prompts.REPEAT))


def syntax(state: State, desk: Desk) -> Step:
    """Say that the answer is no Python, and ask for it again."""
    return (yield from _refine(state, desk, "syntax", prompts.SYNTAX))


def temperature(iteration: int) -> float:
    """Warmer with every iteration; the first refinement is iteration 0."""
    return round(min(0.25 + 0.2 * iteration, 0.9), 3)


def top_p(iteration: int) -> float:
    """Wider with every iteration."""
    return round(min(0.9 + 0.03 * iteration, 0.98), 3)


def _refine(state: State, desk: Desk, by: str, text: str) -> Step:
    """One more turn; whatever its kind, it costs an iteration."""
    return (yield from _answer(state, desk, by, text, iteration=state["iteration"] + 1))


def _answer(state: State, desk: Desk, by: str, text: str, iteration: int) -> Step:
    """Ask with all that was said before, keep only the function of the answer, and hand it over."""
    call, name = len(state["candidates"]) + 1, desk.puzzle.task.entry_point
    asked = (*state["messages"], Message(role="user", content=text))
    question = _question(by, asked, seed_of(desk.seed, call), iteration)
    reply = yield from ask(desk.tools, f"{by}-{call}", question, prompts.VERSION)
    if reply is None:
        return {"over": True}
    code = function_in(reply.text, name)
    yield _proposed(desk, call, by, reply.ask_id, code, reply.text)
    yield Answered(call=call, round=iteration, version=call if code else None)
    said = Message(role="assistant", content=f"```python\n{code or '<NO VALID CODE>'}\n```")
    return {"messages": (*asked, said), "candidates": (*state["candidates"], code), "iteration": iteration}


def _question(by: str, messages: tuple[Message, ...], seed: int, iteration: int) -> Ask:
    greedy = by == "draft"
    return Ask(
        purpose=by,
        messages=messages,
        temperature=0.0 if greedy else temperature(iteration - 1),
        top_p=1.0 if greedy else top_p(iteration - 1),
        max_tokens=MOST_TOKENS,
        seed=seed,
        top_k=TOP_K,
        min_p=MIN_P,
        repetition_penalty=REPETITION_PENALTY,
    )


def _proposed(desk: Desk, call: int, by: str, ask_id: str, code: str | None, text: str) -> CodeProposed:
    name = desk.puzzle.task.entry_point
    problem = "" if code else f"the answer holds no Python that defines {name}"
    whole = assemble(desk.puzzle.task, code) if code else source_in(text)
    return CodeProposed(version=call, code=whole, by=by, ask_id=ask_id, problem=problem)
