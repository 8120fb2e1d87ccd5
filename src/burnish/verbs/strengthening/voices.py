"""Versions of a function that the model writes from its docstring, without seeing its body: they say what is right."""

import threading
from collections.abc import Callable, Iterator

from burnish.agent.ask import Tools
from burnish.agent.limits import Limits, Meter
from burnish.agent.nodes.draft import rewrite
from burnish.agent.work import Work
from burnish.checks.in_project import InProject
from burnish.checks.lab import Lab
from burnish.checks.suite import Suite
from burnish.errors import AttemptError
from burnish.events import BaseEvent, CodeProposed, Event, Move, SpecAgreed, Stopped, TestsRan
from burnish.models.model import Model
from burnish.tasks.repair import from_file
from burnish.verbs.strengthening.calls import is_plain_function
from burnish.verbs.strengthening.unnoticed import Spot

TEMPERATURES = (0.0, 0.6, 0.9, 1.0)
"""One version for each."""
PURPOSE = "rewrite"

Tell = Callable[[BaseEvent], None]


class Voices:
    """Asks the model for versions of functions, as long as the time and the caps of the run allow."""

    def __init__(self, model: Model, lab: Lab, answer: Limits, tests: tuple[str, ...], tell: Tell) -> None:
        limits = answer.model_copy(update={"calls": 10_000, "tokens": 10_000_000})
        self.tools = Tools(model, lab.sandbox, Meter(limits), threading.Event())
        self.tests, self.tell = tests, tell
        self.number = 0

    def of(self, spot: Spot, ground: InProject) -> dict[int, str]:
        """Whole sources with the function written anew, all of which pass the project's tests; by their numbers."""
        task = from_file(spot.text, spot.function)
        if not is_plain_function(spot) or not task.described:
            return {}
        agreed = SpecAgreed(entry_point=spot.function, signature=task.signature, given_tests=task.visible_tests)
        work = Work(task, [agreed])
        made = {version.version: version.code for version in self._made(work) if not version.problem}
        suite = Suite(entry_point=spot.function, project=self.tests)
        try:
            return {number: code for number, code in made.items() if self._passes(number, code, suite, ground)}
        except AttemptError:
            return {}

    def _passes(self, number: int, code: str, suite: Suite, ground: InProject) -> bool:
        graded = ground.grade(code, suite)
        self.tell(TestsRan(version=number, graded=graded))
        return graded.all_passed

    def _made(self, work: Work) -> Iterator[CodeProposed]:
        for temperature in TEMPERATURES:
            self.number += 1
            move = Move(kind=PURPOSE, version=self.number, round=0, temperature=temperature)
            events: list[Event] = list(rewrite(work, self.tools, move))
            for event in events:
                if not isinstance(event, Stopped):
                    self.tell(event)
                if isinstance(event, CodeProposed):
                    yield event
            if any(isinstance(event, Stopped) for event in events):
                return
