"""A strategy at work on a small task: a scripted model, the real sandbox, and everything it said."""

import threading
from collections.abc import Sequence
from typing import Any, TypeVar

from burnish.agent.ask import Tools
from burnish.agent.limits import Limits, Meter
from burnish.evals.schema import Plan
from burnish.evals.strategies.kinds import find_strategy
from burnish.evals.strategies.strategy import show_task
from burnish.events import Answered, BaseEvent, CodeProposed, Event, Stopped
from burnish.models.model import Ask
from burnish.models.scripted import Script, ScriptedModel
from burnish.sandbox import Sandbox
from burnish.tasks import Task
from tests.support import block

E = TypeVar("E", bound=BaseEvent)

MARK = "4242424242"
"""Stands in the scoring tests and in the gold code, and nowhere else."""
BUGGY = "import math\n\n\ndef floor_half(n: float) -> int:\n    half = n / 2\n    return math.ceil(half)\n"
GOLD = BUGGY.replace("ceil", "floor")
RIGHT = block("def floor_half(n: float) -> int:\n    return int(n // 2)")
WRONG = block("def floor_half(n: float) -> int:\n    return 7")
HALF = block("def floor_half(n: float) -> int:\n    return 2")
TALK = "I would rather not."

TASK = Task(
    id="toy/1",
    prompt="Half of n, rounded down.",
    entry_point="floor_half",
    signature="floor_half(n: float) -> int",
    prelude="import math\n",
    base_code=BUGGY,
    visible_tests=("assert floor_half(5) == 2", "assert floor_half(9) == 4"),
    hidden_tests=f"assert floor_half(3) == 1\nassert floor_half({MARK}) == {int(MARK) // 2}\n",
    gold=GOLD + f"# {MARK}\n",
)
TO_WRITE = TASK.model_copy(update={"base_code": ""})
FAR_CODE = "import math\n\n\ndef floor_half(n: float) -> int:\n    return math.ceil(len(repr(n)))\n"
FAR = TASK.model_copy(update={"base_code": FAR_CODE})
"""The same with a bug that no small edit mends."""
NO_TESTS = TASK.model_copy(update={"visible_tests": ()})


def plan(name: str = "retry", **settings: Any) -> Plan:
    return Plan(**{"suite": "toy", "model": "scripted:inline", "strategy": name, **settings})


class Worked:
    """What happened, and what the model was asked."""

    def __init__(self, events: Sequence[Event], model: ScriptedModel) -> None:
        self.events, self.model = list(events), model

    def all(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def asked(self) -> list[Ask]:
        return self.model.asked

    @property
    def prompts(self) -> str:
        return "\n".join(message.content for ask in self.asked for message in ask.messages)

    @property
    def answers(self) -> list[tuple[int, int, int | None]]:
        return [(event.call, event.round, event.version) for event in self.all(Answered)]

    @property
    def stopped(self) -> str:
        return " ".join(event.reason for event in self.all(Stopped))

    @property
    def by(self) -> list[str]:
        return [event.by for event in self.all(CodeProposed)]

    @property
    def kinds(self) -> list[str]:
        return [event.kind for event in self.events if event.lasting]


def work(
    box: Sandbox,
    how: Plan,
    replies: Script,
    task: Task = TASK,
    seed: int = 0,
    cancel: threading.Event | None = None,
) -> Worked:
    model, kind = ScriptedModel(replies), find_strategy(how.strategy)
    limits = Limits(rounds=how.rounds, calls=100, tokens=1_000_000, seconds=600)
    tools = Tools(model, box, Meter(limits), cancel or threading.Event())
    return Worked(list(kind.solve(show_task(task, how.protocol, kind.timeout_seconds), how, seed, tools)), model)
