"""The agent's graph as a picture in Mermaid's words, drawn from the code; with the road that a run took on it."""

import re
import threading
from collections import Counter
from typing import Any, cast

from burnish.agent.ask import Tools
from burnish.agent.limits import Limits, Meter
from burnish.events import Asked, BaseEvent, CheckFinished, Compared, Decided, SpecAgreed, TestsRan, Tweaked
from burnish.models.scripted import ScriptedModel
from burnish.runs.run import Run
from burnish.tasks.task import Task

NODES_OF: dict[type[BaseEvent], tuple[str, ...]] = {
    SpecAgreed: ("specify",),
    Decided: ("decide", "policy"),
    Tweaked: ("tweak", "tweaks"),
    Compared: ("compare", "select", "agree"),
}
"""Which node speaks in which event, by the names it may have; nodes that ask are known by what they ask for."""
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
    counts: Counter[str] = Counter(event.purpose.replace(" ", "_") for event in run.all(Asked))
    for kind, names in NODES_OF.items():
        found = [event for event in run.all(kind) if getattr(event, "choice", "") != "specify"]
        counts.update({name: max(0, len(found) - counts[name]) for name in names})
    tried = [isinstance(event, TestsRan) for event in run.events]
    counts["run"] = sum(now and not before for before, now in zip([False, *tried], tried, strict=False))
    counts["judge"] = sum(event.evidence.check == "tests" for event in run.all(CheckFinished))
    return {node: count for node, count in counts.items() if count}
