"""The picture: which node comes after which, and why. Everything the agent does is on this page."""

import operator
import re
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from functools import partial
from typing import Annotated, Any, NotRequired, TypedDict, cast

from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from burnish.agent import nodes
from burnish.agent.ask import Tools, drop_limits
from burnish.agent.limits import Limits, Meter
from burnish.agent.nodes.review import MOST_VERSIONS
from burnish.agent.policy import NO_QUESTION, QUESTION, decide
from burnish.agent.progress_rows import add_rows
from burnish.agent.questions import MOST_QUESTIONS
from burnish.agent.state import BY_PERSON, MORE_VERSIONS, AgentState
from burnish.events import (
    Asked,
    BaseEvent,
    CheckFinished,
    CodeProposed,
    Compared,
    Decided,
    Event,
    Move,
    Mutated,
    QuestionAsked,
    Refined,
    Reviewed,
    SpecAgreed,
    Strengthened,
    TestsProbed,
    TestsRan,
    Tweaked,
)
from burnish.events.history import Run
from burnish.models.scripted import ScriptedModel
from burnish.tasks.task import Task

Node = Callable[[AgentState, Tools], Iterator[Event]]
AskingNode = Callable[[AgentState, Tools, Move], Generator[Event, None, None]]

MOST_STRENGTHENED = 2
ASKING = ("draft", "rewrite", "repair")
STEPS = 7
"""Nodes in one round, with some to spare."""
NODE_OF_EVENT: dict[type[BaseEvent], str] = {
    SpecAgreed: "specify",
    Decided: "decide",
    Tweaked: "tweak",
    Compared: "select",
    TestsProbed: "probe",
    QuestionAsked: "question",
    Mutated: "survivors",
    Strengthened: "strengthen",
    Refined: "refine",
    Reviewed: "review",
}
"""Which node speaks in which event; nodes that ask are known by what they ask for."""
IN_SPECIFY = ("specify", "examples", "assume")
"""What the first node asks for and decides by itself; it speaks once, when all is agreed."""
ELSEWHERE = (*IN_SPECIFY, MORE_VERSIONS, NO_QUESTION)
"""Decisions of other nodes than `decide`."""
VISITED = "\tclassDef visited fill:#d7f5dc,stroke:#2e7d32,line-height:1.2"


class GraphState(TypedDict):
    """All that has happened so far; nodes that run side by side only ever add to it."""

    events: Annotated[list[Event], operator.add]
    move: NotRequired[Move]
    """What a node that asks is sent to do."""


def build(task: Task, tools: Tools, record: Callable[[BaseEvent], None]) -> Any:
    """The compiled graph for one task. `record` is called with each event before the next step is taken."""
    graph = StateGraph(GraphState)

    def add(name: str, node: Node) -> None:
        graph.add_node(name, drain(lambda values: add_rows(node, task, values["events"], tools), record))

    def add_asking(name: str, node: AskingNode) -> None:
        graph.add_node(name, drain(lambda values: _ask(node, task, tools, values), record))

    def branch(name: str, route: Callable[[AgentState], Any], targets: list[str]) -> None:
        def choose(values: GraphState) -> Any:
            state = AgentState(task, values["events"])
            interrupted = state.stopped is not None and state.stopped.reason == "interrupted"
            return END if interrupted and END in targets else route(state)

        graph.add_conditional_edges(name, choose, targets)

    # One line a node, then the edges: this reads as the picture in docs/graph.md, which is drawn from it.
    add("specify", nodes.specify)
    add("tests", nodes.write_tests)
    add_asking("draft", nodes.rewrite)
    add_asking("rewrite", nodes.rewrite)
    add_asking("repair", nodes.repair)
    add("run", nodes.run)
    add("tweak", nodes.tweak)
    add("select", nodes.select)
    add("probe", nodes.probe)
    add("decide", decide)
    add("question", nodes.question)
    add("survivors", nodes.try_mutants)
    add("strengthen", nodes.strengthen)
    add("refine", nodes.refine)
    add("review", nodes.review)
    add("judge", nodes.judge)

    graph.add_edge(START, "specify")
    graph.add_edge("specify", "run")
    graph.add_edge("run", "tweak")
    graph.add_edge("tweak", "select")
    graph.add_edge("select", "probe")
    graph.add_edge("probe", "decide")
    branch(
        "decide",
        partial(after_decision, tools=tools),
        ["tests", *ASKING, "question", "survivors", "strengthen", "refine", "review", END],
    )
    graph.add_edge("question", "tweak")
    branch("survivors", after_survivors, ["rewrite", "strengthen", END])
    branch("strengthen", after_strengthening, ["decide", "survivors", "refine", END])
    graph.add_edge("refine", "review")
    branch("review", after_review, ["run", "judge"])
    for name in ("tests", *ASKING):
        graph.add_edge(name, "run")
    graph.add_edge("judge", END)
    return graph.compile()


def most_steps(rounds: int) -> int:
    """More nodes than a run with so many rounds can visit: LangGraph stops a graph that goes round for ever."""
    return STEPS * (rounds + 3) + STEPS * 6 + 2 * STEPS * MOST_VERSIONS + STEPS * (MOST_QUESTIONS + 1)


def after_decision(state: AgentState, tools: Tools) -> list[str | Send]:
    """Side by side: each move to the node that makes it, and the tests beside the first. Or what follows once the tests
    pass: tests for what goes unnoticed, then rounds for what checks find, then a person, then the judge.
    """
    decision = state.run.last(Decided)
    if decision and decision.moves and not state.stopped:
        asked = _send(decision, state)
        return [*asked, "tests"] if decision.choice == "begin" else asked
    if decision and decision.choice == QUESTION:
        return ["question"]
    # Once a person has looked at the code, it goes back to them, with what they wanted or without it.
    seen = any(event.where == "checks" for event in state.run.all(Reviewed))
    if state.stopped or not state.best_passes or seen or (state.best and state.best.by in BY_PERSON):
        return ["review"]
    if "strengthen" in tools.afterwards and _may_strengthen(state):
        return ["strengthen" if state.mutated else "survivors"]
    return ["refine"]


def after_survivors(state: AgentState) -> list[str | Send]:
    """Further versions to hear what is right, where there are too few; else the tests can be made."""
    decision = state.run.last(Decided)
    wants_more = decision and decision.choice == MORE_VERSIONS and decision.moves
    return _send(decision, state) if decision and wants_more else ["strengthen"]


def after_strengthening(state: AgentState) -> str:
    """On with what passes all tests, also the new ones; code that a new test shows to be wrong is worked on again.

    Where another version is the best by that, its mutants are next.
    """
    if not state.best_passes and not state.stopped:
        return "decide"
    return "survivors" if not state.stopped and _may_strengthen(state) else "refine"


def after_review(state: AgentState) -> str:
    """Back to work where a person has just asked for a version, and it has not met the tests."""
    turns = [event for event in state.run.events if isinstance(event, CodeProposed | Decided)]
    last = turns[-1] if turns else None
    return "run" if isinstance(last, CodeProposed) and last.by in BY_PERSON and not last.problem else "judge"


def _may_strengthen(state: AgentState) -> bool:
    """Whether no tests were made for the version that is the best now, and may be; twice is enough."""
    done = [event.version for event in state.run.all(Strengthened)]
    return state.best is not None and state.best.number not in done and len(done) < MOST_STRENGTHENED


def _send(decision: Decided, state: AgentState) -> list[str | Send]:
    # LangGraph runs what is sent side by side, each with a copy of the state that holds its own move.
    return [Send(move.kind, {"events": list(state.run.events), "move": move}) for move in decision.moves]


def _ask(node: AskingNode, task: Task, tools: Tools, values: GraphState) -> Iterator[Event]:
    """What a node that asks says; a limit that keeps a further version from being written ends no run that is done."""
    state = AgentState(task, values["events"])
    events, decision = node(state, tools, values["move"]), state.run.last(Decided)
    yield from drop_limits(events, []) if decision and decision.choice == MORE_VERSIONS else events


def drain(node: Callable[[GraphState], Iterator[Event]], record: Callable[[BaseEvent], None]) -> Any:
    """A generator of events as LangGraph wants it: recorded, streamed to whoever watches, added to the state."""

    def step(values: GraphState) -> GraphState:
        stream = get_stream_writer()
        lasting: list[Event] = []
        for event in node(values):
            record(event)  # first of all: a watcher may fail, and what happened must be on disk by then
            stream(event)
            if event.lasting:
                lasting.append(event)
        return {"events": lasting}

    return step


def draw_mermaid(run: Run | None = None) -> str:
    """The graph as Mermaid text, drawn from the code; of a run, each node it came to says how often."""
    tools = Tools(ScriptedModel([]), cast(Any, None), Meter(Limits()), threading.Event())
    text = str(build(Task(id="any", prompt="any"), tools, lambda event: None).get_graph().draw_mermaid()).strip()
    if run is None:
        return text
    for node, count in count_visits(run).items():
        times = "once" if count == 1 else f"{count} times"
        text = re.sub(rf"^(\t{node}\({node})\)", rf"\1: {times}):::visited", text, flags=re.MULTILINE)
    return f"{text}\n{VISITED}"


def count_visits(run: Run) -> dict[str, int]:
    """How often each node was at work, as far as its events tell."""
    counts = Counter(event.purpose for event in run.all(Asked) if event.purpose not in IN_SPECIFY)
    counts.update(NODE_OF_EVENT[type(event)] for event in run.events if type(event) in NODE_OF_EVENT)
    # Some decisions are made by another node than `decide`: the first one, or one that goes on once tests pass.
    counts["decide"] -= sum(bool(one.check) or one.choice in ELSEWHERE for one in run.all(Decided))
    are_tests = [isinstance(event, TestsRan) for event in run.events]
    counts["run"] = sum(now and not before for before, now in zip([False, *are_tests], are_tests, strict=False))
    counts["judge"] = sum(event.evidence.check == "tests" for event in run.all(CheckFinished))
    return {node: count for node, count in counts.items() if count}
