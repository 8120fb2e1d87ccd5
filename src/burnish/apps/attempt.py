"""The run of a build, start to finish: the only place where one is made."""

from collections.abc import Iterator
from dataclasses import replace

from burnish.agent.ask import Tools
from burnish.apps.functions import Workshop
from burnish.apps.generator.generate import REQUIREMENTS
from burnish.apps.state import BuildBrief
from burnish.events import AppFacts, Event
from burnish.models.scripted import ScriptedModel
from burnish.report.costs import NOBODY
from burnish.runs.attempt import Keep, Prepare, Resources, RunHandle, start
from burnish.runs.record import Emitter
from burnish.runs.request import Request

VERB = "build"


def start_build(request: Request, resources: Resources | None = None, prepare: Prepare | None = None) -> RunHandle:
    """Begin to build the app that the sentence of `request` asks for, in a thread of its own; `request.app` says more.

    Its packages are those of the app: they are prepared before any code runs. A stop ends whatever is open, the runs
    of its functions too. A run that is taken up again (`resources.replay`) asks nothing again that its record has, and
    goes on with a function that it was in the middle of.
    """
    facts, resources = request.app or AppFacts(), resources or Resources()
    if facts.without == "model":
        resources = replace(resources, models=(ScriptedModel([], NOBODY),))
    request = request.model_copy(update={"packages": REQUIREMENTS})
    keep: Keep

    def open_all(given: Keep) -> tuple[Request, Resources]:
        nonlocal keep
        keep = given
        return request, prepare(given)[1] if prepare else resources

    def work(tools: Tools, emitter: Emitter) -> Iterator[Event]:
        from burnish.apps.graph import build_app

        known = resources.replay
        workshop = Workshop(tools, resources.store, request.sandbox, keep, emitter.notify, emitter.folder.name, known)
        yield from build_app(BuildBrief(request.task.prompt, facts), workshop, emitter.record)

    return start(request, resources, work, open_all)
