"""The picture: which node comes after which, and why. Everything the agent does is on this page."""

import operator
from collections.abc import Callable, Iterator
from typing import Annotated, Any, TypedDict

from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph

from burnish.agent import nodes
from burnish.agent.ask import Tools
from burnish.agent.work import Work
from burnish.events import BaseEvent, Decided, Event, Stopped
from burnish.tasks.examples import in_words
from burnish.tasks.task import Task
from burnish.text import one_line

Node = Callable[[Work, Tools], Iterator[Event]]


class State(TypedDict):
    """All that has happened so far; nodes that run side by side only ever add to it."""

    events: Annotated[list[Event], operator.add]


def build(task: Task, tools: Tools, record: Callable[[BaseEvent], None]) -> Any:
    """The compiled graph for one task. `record` is called with each event before the next step is taken."""
    graph = StateGraph(State)

    def add(name: str, node: Node) -> None:
        graph.add_node(name, _drained(node, task, tools, record))

    add("specify", nodes.specify)
    add("tests", nodes.tests)
    add("draft", nodes.draft)
    add("run", nodes.run)
    add("decide", decide)
    add("reflect", nodes.reflect)
    add("rewrite", nodes.rewrite)
    add("second_opinion", nodes.second_opinion)
    add("judge", nodes.judge)

    graph.add_edge(START, "specify")
    graph.add_edge("specify", "tests")
    graph.add_edge("specify", "draft")
    graph.add_edge(["tests", "draft"], "run")
    graph.add_edge("run", "decide")
    graph.add_conditional_edges(
        "decide",
        lambda state: after_decision(_work(task, state)),
        ["reflect", "rewrite", "second_opinion", "judge", END],
    )
    graph.add_edge("reflect", "run")
    graph.add_edge("rewrite", "run")
    graph.add_edge("second_opinion", "run")
    graph.add_edge("judge", END)
    return graph.compile()


def decide(work: Work, tools: Tools) -> Iterator[Event]:
    """Say in one sentence what comes next, so that every turn of the road is on record."""
    if tools.cancel.is_set() and not work.stopped:
        yield Stopped(reason="interrupted", why="stopped by the user")
    elif work.stopped:
        yield Decided(choice="judge", reason=f"The work ends here: {work.stopped.why}.")
    elif work.holds:
        yield Decided(choice="judge", reason=_why_done(work))
    elif work.round >= tools.meter.limits.rounds:
        yield Stopped(reason="rounds", why=f"the limit of {tools.meter.limits.rounds} rounds is reached")
    else:
        yield Decided(choice="refine", reason=_why_again(work))


def after_decision(work: Work) -> list[str]:
    """Refine with two asks side by side, judge, or leave an interrupted run as it is."""
    if work.stopped and work.stopped.reason == "interrupted":
        return [END]
    if work.stopped or work.holds:
        return ["judge"]
    return ["second_opinion" if only_own_tests_fail(work) else "reflect", "rewrite"]


def only_own_tests_fail(work: Work) -> bool:
    """Whether the code passes what was given: then the model's tests may not bend it, only votes decide."""
    return bool(work.suite.given) and work.best is not None and work.passes_given(work.best)


def _why_done(work: Work) -> str:
    assert work.best is not None
    aside = f"; {len(work.disputed)} disputed, set aside" if work.disputed else ""
    return f"Version {work.best.number} passes all tests that count{aside}."


def _why_again(work: Work) -> str:
    if work.best is None:
        return (
            f"No version can be run yet ({work.versions[-1].problem if work.versions else 'no answer'}): asking again."
        )
    if only_own_tests_fail(work):
        return f"Version {work.best.number} passes your tests but not all of the model's: asking for second opinions."
    failure = work.first_failure(work.best)
    what = one_line(in_words(failure[0]), 60) if failure else "its tests"
    return f"Version {work.best.number} is the best so far but fails {what}: repairing it and writing it afresh."


def _drained(node: Node, task: Task, tools: Tools, record: Callable[[BaseEvent], None]) -> Any:
    """A generator of events as LangGraph wants it: recorded, streamed to whoever watches, added to the state."""

    def step(state: State) -> State:
        stream = get_stream_writer()
        lasting: list[Event] = []
        for event in node(_work(task, state), tools):
            record(event)
            stream(event)
            if event.lasting:
                lasting.append(event)
        return {"events": lasting}

    return step


def _work(task: Task, state: State) -> Work:
    return Work(task, state["events"])
