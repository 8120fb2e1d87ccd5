"""The published agent's picture: draft, then test and refine until the tests pass or the iterations are used up."""

from collections.abc import Callable
from functools import partial
from typing import Any

from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph

from burnish.agent.ask import Tools
from burnish.evals.puzzle import Puzzle
from burnish.evals.strategies.reflect import nodes
from burnish.evals.strategies.reflect.nodes import Change, Desk, State, Step

START_STATE: State = {"messages": (), "candidates": (), "graded": None, "iteration": 0, "over": False}


def build(puzzle: Puzzle, iterations: int, seed: int, tools: Tools) -> Any:
    """The compiled graph for one puzzle; its events come through the custom stream."""
    graph = StateGraph(State)
    desk = Desk(puzzle, tools, seed)

    def add(name: str, node: Callable[[State, Desk], Step]) -> None:
        graph.add_node(name, _drained(node, desk))

    add("draft", nodes.draft)
    add("test", nodes.test)
    add("reflect", nodes.reflect)
    add("repeat", nodes.repeat)
    add("syntax", nodes.syntax)

    answered = partial(after_answer, iterations=iterations)
    graph.add_edge(START, "draft")
    graph.add_conditional_edges("draft", answered, ["test", "syntax", END])
    graph.add_conditional_edges("reflect", answered, ["test", "repeat", "syntax", END])
    graph.add_conditional_edges("repeat", answered, ["test", "repeat", "syntax", END])
    graph.add_conditional_edges("syntax", answered, ["test", "repeat", "syntax", END])
    graph.add_conditional_edges("test", partial(after_test, iterations=iterations), ["reflect", END])
    return graph.compile()


def after_answer(state: State, iterations: int) -> str:
    """Is it Python, is it new? Only then it is run; a repair of either costs an iteration, if one is left."""
    if state["over"]:
        return END
    if state["candidates"][-1] is None:
        return _if_left(state, iterations, "syntax")
    if is_repeated(state["candidates"]):
        return _if_left(state, iterations, "repeat")
    return "test"


def after_test(state: State, iterations: int) -> str:
    """Reflect on the failure while iterations are left."""
    return END if state["over"] else _if_left(state, iterations, "reflect")


def is_repeated(candidates: tuple[str | None, ...]) -> bool:
    """Whether the last answer is the same as any earlier one, blank space around it aside."""
    *earlier, last = [code.strip() if code is not None else None for code in candidates]
    return last is not None and last in earlier


def _if_left(state: State, iterations: int, node: str) -> str:
    return node if state["iteration"] < iterations else END


def _drained(node: Callable[[State, Desk], Step], desk: Desk) -> Any:
    """A generator of events as LangGraph wants it: each event streamed, the change returned."""

    def step(state: State) -> Change:
        stream = get_stream_writer()
        events = node(state, desk)
        while True:
            try:
                stream(next(events))
            except StopIteration as ended:
                change: Change = ended.value
                return change

    return step
