"""The agent's graph as a picture in Mermaid's words, drawn from the code; with the road that a run took on it."""

import re
import threading
from collections import Counter
from typing import Any, cast

from burnish.agent.ask import Tools
from burnish.agent.limits import Limits, Meter
from burnish.events import (
    Asked,
    BaseEvent,
    CheckFinished,
    Compared,
    Decided,
    Mutated,
    Refined,
    Reviewed,
    SpecAgreed,
    Strengthened,
    TestsRan,
    Tweaked,
)
from burnish.models.scripted import ScriptedModel
from burnish.runs.run import Run
from burnish.tasks.task import Task

NODES: dict[type[BaseEvent], str] = {
    SpecAgreed: "specify",
    Decided: "decide",
    Tweaked: "tweak",
    Compared: "select",
    Mutated: "survivors",
    Strengthened: "strengthen",
    Refined: "refine",
    Reviewed: "review",
}
"""Which node speaks in which event; nodes that ask are known by what they ask for."""
BEFORE = ("specify", "assume")
"""What the first node asks for and decides by itself; it speaks once, when all is agreed."""
VISITED = "\tclassDef visited fill:#d7f5dc,stroke:#2e7d32,line-height:1.2"


def picture(run: Run | None = None) -> str:
    """The graph; of a run, each node it came to says how often."""
    from burnish.agent.graph import build

    tools = Tools(ScriptedModel([]), cast(Any, None), Meter(Limits()), threading.Event())
    drawn = str(build(Task(id="any", prompt="any"), tools, lambda event: None).get_graph().draw_mermaid()).strip()
    if run is None:
        return drawn
    for node, count in visits(run).items():
        times = "once" if count == 1 else f"{count} times"
        drawn = re.sub(rf"^(\t{node}\({node})\)", rf"\1: {times}):::visited", drawn, flags=re.MULTILINE)
    return f"{drawn}\n{VISITED}"


def visits(run: Run) -> dict[str, int]:
    """How often each node was at work, as far as its events tell."""
    counts = Counter(event.purpose for event in run.all(Asked) if event.purpose not in BEFORE)
    for kind, node in NODES.items():
        counts[node] = sum(not _by_another(event) for event in run.all(kind))
    tried = [isinstance(event, TestsRan) for event in run.events]
    counts["run"] = sum(now and not before for before, now in zip([False, *tried], tried, strict=False))
    counts["judge"] = sum(event.evidence.check == "tests" for event in run.all(CheckFinished))
    return {node: count for node, count in counts.items() if count}


def _by_another(event: BaseEvent) -> bool:
    """Whether another node than `decide` said what comes next: the first one, or one that goes on once tests pass."""
    if not isinstance(event, Decided):
        return False
    return event.choice in (*BEFORE, "voices") or bool(event.check)
