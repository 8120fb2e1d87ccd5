"""The picture: which node comes after which, and why. Everything the agent does is on this page."""

import operator
from collections.abc import Callable, Iterator
from typing import Annotated, Any, NotRequired, TypedDict

from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from burnish.agent import nodes
from burnish.agent.ask import Tools
from burnish.agent.decide import decide
from burnish.agent.work import Work
from burnish.events import BaseEvent, Event, Move
from burnish.tasks.task import Task

Node = Callable[[Work, Tools], Iterator[Event]]
Asking = Callable[[Work, Tools, Move], Iterator[Event]]

STEPS = 6
"""Nodes in one round, with some to spare."""


class State(TypedDict):
    """All that has happened so far; nodes that run side by side only ever add to it."""

    events: Annotated[list[Event], operator.add]
    move: NotRequired[Move]
    """What a node that asks is sent to do."""


def build(task: Task, tools: Tools, record: Callable[[BaseEvent], None]) -> Any:
    """The compiled graph for one task. `record` is called with each event before the next step is taken."""
    graph = StateGraph(State)

    def add(name: str, node: Node) -> None:
        graph.add_node(name, _drained(lambda state: node(_work(task, state), tools), record))

    def add_asking(name: str, node: Asking) -> None:
        graph.add_node(name, _drained(lambda state: node(_work(task, state), tools, state["move"]), record))

    add("specify", nodes.specify)
    add("tests", nodes.tests)
    add_asking("draft", nodes.draft)
    add_asking("rewrite", nodes.rewrite)
    add_asking("reflect", nodes.reflect)
    add_asking("repair", nodes.repair)
    add_asking("syntax", nodes.syntax)
    add_asking("repeat", nodes.repeat)
    add("run", nodes.run)
    add("tweak", nodes.tweak)
    add("select", nodes.select)
    add("decide", decide)
    add("judge", nodes.judge)

    asking = ["draft", "rewrite", "reflect", "repair", "syntax", "repeat"]
    graph.add_edge(START, "specify")
    graph.add_edge("specify", "run")
    graph.add_edge("run", "tweak")
    graph.add_edge("tweak", "select")
    graph.add_edge("select", "decide")
    graph.add_conditional_edges(
        "decide", lambda state: after_decision(_work(task, state), state), ["tests", *asking, "judge", END]
    )
    for name in ("tests", *asking):
        graph.add_edge(name, "run")
    graph.add_edge("judge", END)
    return graph.compile()


def steps(rounds: int) -> int:
    """More nodes than a run with so many rounds can visit: LangGraph wants to know when a graph has gone astray."""
    return STEPS * (rounds + 3)


def after_decision(work: Work, state: State) -> list[str | Send]:
    """Side by side: each move to the node that makes it, and the tests beside the first. Or judge, or leave it."""
    if work.stopped and work.stopped.reason == "interrupted":
        return [END]
    decision = work.decisions[-1] if work.decisions else None
    if work.stopped or decision is None or not decision.moves:
        return ["judge"]
    asked: list[str | Send] = [Send(move.kind, {**state, "move": move}) for move in decision.moves]
    return [*asked, "tests"] if decision.choice == "begin" else asked


def _drained(node: Callable[[State], Iterator[Event]], record: Callable[[BaseEvent], None]) -> Any:
    """A generator of events as LangGraph wants it: recorded, streamed to whoever watches, added to the state."""

    def step(state: State) -> State:
        stream = get_stream_writer()
        lasting: list[Event] = []
        for event in node(state):
            record(event)
            stream(event)
            if event.lasting:
                lasting.append(event)
        return {"events": lasting}

    return step


def _work(task: Task, state: State) -> Work:
    return Work(task, state["events"])
