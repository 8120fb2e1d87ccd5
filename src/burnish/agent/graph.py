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
from burnish.agent.disputes import VOICES
from burnish.agent.human_review import MOST_VERSIONS
from burnish.agent.measuring import measuring
from burnish.agent.work import PERSON, Work
from burnish.events import BaseEvent, Decided, Event, Move, Stopped
from burnish.tasks.task import Task

Node = Callable[[Work, Tools], Iterator[Event]]
Asking = Callable[[Work, Tools, Move], Iterator[Event]]

MOST_STRENGTHENED = 2
MORE = ("survivors", "strengthen", "refine")
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
        graph.add_node(name, _drained(lambda state: measuring(node, task, state["events"], tools), record))

    def add_asking(name: str, node: Asking) -> None:
        graph.add_node(name, _drained(lambda state: _asked(node, _work(task, state), tools, state["move"]), record))

    add("specify", nodes.specify)
    add("tests", nodes.tests)
    add_asking("draft", nodes.draft)
    add_asking("rewrite", nodes.rewrite)
    add_asking("repair", nodes.repair)
    add("run", nodes.run)
    add("tweak", nodes.tweak)
    add("select", nodes.select)
    add("decide", decide)
    add("survivors", nodes.survivors)
    add("strengthen", nodes.strengthen)
    add("refine", nodes.refine)
    add("review", nodes.review)
    add("judge", nodes.judge)

    asking = ["draft", "rewrite", "repair"]
    graph.add_edge(START, "specify")
    graph.add_edge("specify", "run")
    graph.add_edge("run", "tweak")
    graph.add_edge("tweak", "select")
    graph.add_edge("select", "decide")
    graph.add_conditional_edges(
        "decide",
        lambda state: after_decision(_work(task, state), state, tools),
        ["tests", *asking, *MORE, "review", END],
    )
    graph.add_conditional_edges(
        "survivors", lambda state: after_survivors(_work(task, state), state), ["rewrite", "strengthen", END]
    )
    graph.add_conditional_edges(
        "strengthen", lambda state: after_strengthening(_work(task, state)), ["decide", "survivors", "refine", END]
    )
    graph.add_edge("refine", "review")
    graph.add_conditional_edges("review", lambda state: after_review(_work(task, state)), ["run", "judge"])
    for name in ("tests", *asking):
        graph.add_edge(name, "run")
    graph.add_edge("judge", END)
    return graph.compile()


def steps(rounds: int) -> int:
    """More nodes than a run with so many rounds can visit: LangGraph wants to know when a graph has gone astray."""
    return STEPS * (rounds + 3) + STEPS * 6 + 2 * STEPS * MOST_VERSIONS


def after_decision(work: Work, state: State, tools: Tools) -> list[str | Send]:
    """Side by side: each move to the node that makes it, and the tests beside the first. Or what follows once the tests
    pass, or judge, or leave it.
    """
    if _is_left(work):
        return [END]
    decision = work.decisions[-1] if work.decisions else None
    if work.stopped or decision is None or not decision.moves:
        return [_once_done(work, tools)]
    asked = _sent(decision, state)
    return [*asked, "tests"] if decision.choice == "begin" else asked


def _once_done(work: Work, tools: Tools) -> str:
    """Tests for what goes unnoticed, at most twice; then rounds for what checks find; then a person; then the judge.

    Once a person has looked at the code, it goes back to them, with what they wanted or without it.
    """
    seen = any(said.where == "checks" for said in work.reviewed)
    if work.stopped or not work.holds or seen or (work.best and work.best.by in PERSON):
        return "review"
    if "strengthen" in tools.afterwards and _is_new(work):
        return "strengthen" if work.mutated else "survivors"
    return "refine"


def _is_new(work: Work) -> bool:
    """Whether no tests were made for the version that is the best now, and may be."""
    done = {event.version for event in work.strengthened}
    return work.best is not None and work.best.number not in done and len(work.strengthened) < MOST_STRENGTHENED


def after_survivors(work: Work, state: State) -> list[str | Send]:
    """Further versions to hear what is right, where there are too few; else the tests can be made."""
    if _is_left(work):
        return [END]
    decision = work.decisions[-1]
    return _sent(decision, state) if decision.choice == VOICES and decision.moves else ["strengthen"]


def after_strengthening(work: Work) -> str:
    """On with what passes all tests, also the new ones; code that a new test shows to be wrong is worked on again.

    Where another version is the best by that, its mutants are next.
    """
    if _is_left(work):
        return END
    if not work.holds and not work.stopped:
        return "decide"
    return "survivors" if not work.stopped and _is_new(work) else "refine"


def _is_left(work: Work) -> bool:
    return work.stopped is not None and work.stopped.reason == "interrupted"


def after_review(work: Work) -> str:
    """Back to work where a person wants something changed."""
    return "run" if work.wanted else "judge"


def _sent(decision: Decided, state: State) -> list[str | Send]:
    return [Send(move.kind, {**state, "move": move}) for move in decision.moves]


def _asked(node: Asking, work: Work, tools: Tools, move: Move) -> Iterator[Event]:
    """What a node that asks says; a limit that keeps a further voice from being heard ends no run that is done."""
    optional = bool(work.decisions) and work.decisions[-1].choice == VOICES
    for event in node(work, tools, move):
        if not (optional and isinstance(event, Stopped) and event.reason != "interrupted"):
            yield event


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
