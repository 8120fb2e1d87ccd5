"""`reflect`: the published agent that fixes Python functions, rebuilt to behave alike, and frozen.

Its rule: never tuned. A change here is a change of the yardstick. Where it comes from: docs/strategies.md.
Each step asks or runs, says what happened as events, and returns what changed.
"""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any, TypedDict

from burnish.agent.ask import Tools, ask
from burnish.checks import grade_script
from burnish.evals.schema import Plan
from burnish.evals.strategies import reflect_prompts as prompts
from burnish.evals.strategies.baselines import seed_for_call
from burnish.evals.strategies.strategy import Puzzle
from burnish.events import Answered, CodeProposed, Decided, Event, Graded, Message, Stopped, TestsRan
from burnish.models.model import Ask
from burnish.no_telemetry import disable_tracing
from burnish.tasks.assemble import assemble
from burnish.tasks.sentence import find_kinds

MOST_TOKENS = 512
TOP_K, MIN_P, REPETITION_PENALTY = 20, 0.0, 1.1
"""The published pipeline set neither of these, so the model's own generation settings held, for the greedy draft too:
Qwen2.5-Coder ships top_k 20 and a repetition penalty of 1.1. There is no min_p in them."""


class ReflectState(TypedDict, total=False):
    """What the agent remembers, all of it or the part that a step replaces."""

    messages: tuple[Message, ...]
    candidates: tuple[str | None, ...]
    """Every answer's function; None where there was none."""
    graded: Graded | None
    iteration: int
    """0 until the first refinement is done."""
    over: bool


Step = Generator[Event, None, ReflectState]
START_STATE: ReflectState = {"messages": (), "candidates": (), "graded": None, "iteration": 0, "over": False}


@dataclass(frozen=True)
class ReflectContext:
    """What the steps work with."""

    puzzle: Puzzle
    tools: Tools
    seed: int


class Reflect:
    """Draft once, then reflect on the failing assertion until the tests pass. The last answer counts, good or bad."""

    name = "reflect"
    timeout_seconds = 6.0

    def calls(self, plan: Plan) -> int:
        """The draft, and one for each iteration."""
        return plan.rounds + 1

    def solve(self, puzzle: Puzzle, plan: Plan, seed: int, tools: Tools) -> Iterator[Event]:
        """Everything the graph says, and why it ended."""
        stopped = False
        with disable_tracing():
            graph = build_graph(puzzle, plan.rounds, seed, tools)
            steps = {"recursion_limit": 2 * self.calls(plan) + 5}
            for event in graph.stream(START_STATE, steps, stream_mode="custom"):
                stopped = stopped or isinstance(event, Stopped)
                yield event
        if not stopped:
            yield Stopped(reason="rounds", why=f"the limit of {plan.rounds} iterations is reached")


def build_graph(puzzle: Puzzle, iterations: int, seed: int, tools: Tools) -> Any:
    """The compiled graph for one puzzle; its events come through the custom stream.

    It drafts, then tests and refines until the tests pass or the iterations are used up.
    """
    # LangGraph takes most of a second to import, and `burnish eval list` needs none of it.
    from langgraph.graph import END, START, StateGraph

    def after_answer(state: ReflectState) -> str:
        """Is it Python, is it new? Only then it is run; a repair of either costs an iteration, if one is left."""
        if state["over"]:
            return END
        repair = "syntax" if state["candidates"][-1] is None else "repeat" if is_repeated(state["candidates"]) else ""
        if not repair:
            return "test"
        return repair if state["iteration"] < iterations else END

    def after_test(state: ReflectState) -> str:
        """Reflect on the failure while iterations are left."""
        return END if state["over"] or state["iteration"] >= iterations else "reflect"

    graph = StateGraph(ReflectState)
    context = ReflectContext(puzzle, tools, seed)
    graph.add_node("draft", _stream_step(draft, context))
    graph.add_node("test", _stream_step(test, context))
    graph.add_node("reflect", _stream_step(reflect, context))
    graph.add_node("repeat", _stream_step(repeat, context))
    graph.add_node("syntax", _stream_step(syntax, context))

    graph.add_edge(START, "draft")
    graph.add_conditional_edges("draft", after_answer, ["test", "syntax", END])
    graph.add_conditional_edges("reflect", after_answer, ["test", "repeat", "syntax", END])
    graph.add_conditional_edges("repeat", after_answer, ["test", "repeat", "syntax", END])
    graph.add_conditional_edges("syntax", after_answer, ["test", "repeat", "syntax", END])
    graph.add_conditional_edges("test", after_test, ["reflect", END])
    return graph.compile()


def is_repeated(candidates: tuple[str | None, ...]) -> bool:
    """Whether the last answer is the same as any earlier one, blank space around it aside."""
    *earlier, last = [code.strip() if code is not None else None for code in candidates]
    return last is not None and last in earlier


def draft(state: ReflectState, context: ReflectContext) -> Step:
    """The first answer, greedy, from the buggy code, the docstring and the tests."""
    system = Message(role="system", content=prompts.SYSTEM)
    opening: ReflectState = {**state, "messages": (system,)}
    return (yield from _answer(opening, context, "draft", prompts.draft(context.puzzle)))


def test(state: ReflectState, context: ReflectContext) -> Step:
    """Run the last answer under the module's own imports and helpers. Without tests it is final."""
    puzzle, version, code = context.puzzle, len(state["candidates"]), state["candidates"][-1]
    assert code is not None, "an answer without code goes to syntax"
    if not puzzle.tests.strip():
        yield Decided(choice="take", reason="No test may be seen, so there is nothing to reflect on.")
        yield Stopped(reason="done", why="no test may be seen")
        return {"over": True}
    module, kinds = assemble(puzzle.task, code), find_kinds(puzzle.task)
    graded = grade_script(module, puzzle.tests, context.tools.sandbox, puzzle.timeout_seconds, kinds)
    yield TestsRan(version=version, graded=graded)
    if graded.all_passed:
        yield Stopped(reason="done", why=f"version {version} passes the tests")
    return {"graded": graded, "over": graded.all_passed}


def reflect(state: ReflectState, context: ReflectContext) -> Step:
    """Show the first assertion that failed, or else the end of the error, and ask again."""
    assert state["graded"] is not None, "reflect comes after test"
    output = prompts.describe_failure(state["graded"])
    assertion = prompts.find_assertion(output, context.puzzle.tests)
    text = prompts.reflect(context.puzzle, assertion, prompts.summarise_error(output))
    return (yield from _answer(state, context, "reflect", text))


def repeat(state: ReflectState, context: ReflectContext) -> Step:
    """Say that this answer was given before, and ask for another way."""
    return (yield from _answer(state, context, "repeat", prompts.REPEAT))


def syntax(state: ReflectState, context: ReflectContext) -> Step:
    """Say that the answer is no Python, and ask for it again."""
    return (yield from _answer(state, context, "syntax", prompts.SYNTAX))


def _answer(state: ReflectState, context: ReflectContext, by: str, text: str) -> Step:
    """Ask with all that was said before, keep only the function of the answer, and hand it over.

    Whatever its kind, an answer after the draft costs an iteration; the question is warmer and wider with each.
    """
    task, call, greedy = context.puzzle.task, len(state["candidates"]) + 1, by == "draft"
    iteration = 0 if greedy else state["iteration"] + 1
    asked = (*state["messages"], Message(role="user", content=text))
    question = Ask(
        purpose=by,
        messages=asked,
        temperature=0.0 if greedy else round(min(0.25 + 0.2 * (iteration - 1), 0.9), 3),
        top_p=1.0 if greedy else round(min(0.9 + 0.03 * (iteration - 1), 0.98), 3),
        max_tokens=MOST_TOKENS,
        seed=seed_for_call(context.seed, call),
        top_k=TOP_K,
        min_p=MIN_P,
        repetition_penalty=REPETITION_PENALTY,
    )
    reply = yield from ask(context.tools, f"{by}-{call}", question, prompts.VERSION)
    if reply is None:
        return {"over": True}
    code = prompts.extract_function(reply.text, task.entry_point)
    yield CodeProposed(
        version=call,
        code=assemble(task, code) if code else prompts.extract_source(reply.text),
        by=by,
        ask_id=reply.ask_id,
        problem="" if code else f"the answer holds no Python that defines {task.entry_point}",
    )
    yield Answered(call=call, round=iteration, version=call if code else None)
    kept = Message(role="assistant", content=f"```python\n{code or '<NO VALID CODE>'}\n```")
    return {"messages": (*asked, kept), "candidates": (*state["candidates"], code), "iteration": iteration}


def _stream_step(step: Callable[[ReflectState, ReflectContext], Step], context: ReflectContext) -> Any:
    """A generator of events as LangGraph wants it: each event streamed, the change returned."""
    from langgraph.config import get_stream_writer

    def node(state: ReflectState) -> ReflectState:
        stream = get_stream_writer()
        events = step(state, context)
        while True:
            try:
                stream(next(events))
            except StopIteration as ended:
                update: ReflectState = ended.value
                return update

    return node
