"""What the model writes of an app: functions that no rule can build, each in a run of its own with its own verdict."""

import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from burnish.agent.ask import Tools
from burnish.agent.limits import Limits
from burnish.apps.blueprint import Blueprint, Computed, Entity, FieldType
from burnish.checks.project import CHECKS
from burnish.errors import AttemptError, BurnishError, SetupProblem
from burnish.events import (
    BaseEvent,
    CodeProposed,
    Event,
    Frozen,
    FunctionBegun,
    FunctionWritten,
    RunSettings,
    TestsRan,
)
from burnish.events.apps import Stage
from burnish.models.model import Model
from burnish.packages import Layer
from burnish.report.narrate import describe
from burnish.runs import Run, Store
from burnish.runs.attempt import Keep, Resources, RunHandle, start
from burnish.runs.request import Request
from burnish.tasks import Task, from_sentence
from burnish.text import join_words, one_line

VERB = "write"
CHECKS_AT_END = tuple(name for name in CHECKS if name in ("security", "quality"))
"""What looks at a function beside its tests: the app's own checkpoints see the rest."""
MOST_CALLS, MOST_ROUNDS = 8, 2
TYPES: dict[FieldType | str, str] = {
    "integer": "int",
    "decimal": "float",
    "yes_no": "bool",
    "date": "datetime.date",
    "date_time": "datetime.datetime",
    "time": "datetime.time",
    "reference": "int",
}
"""Of Python, by the types of a blueprint; all others are text."""
GOOD = ("proven", "plausible")


class AskedFunction(Frozen):
    """A computed field that no rule can build."""

    entity: Entity
    computed: Computed

    @property
    def name(self) -> str:
        """By which everybody knows it."""
        return f"{self.entity.name}.{self.computed.name}"

    def to_task(self) -> Task:
        """What the agent is asked for. The app shows nothing where a function is given a field that is empty."""
        computed, taken = self.computed, [self.entity.field(name) for name in self.computed.takes]
        named = ", ".join(f"{one.name}: {TYPES.get(one.type, 'str')}" for one in taken if one)
        signature = f"{computed.name}({named}) -> {TYPES.get(computed.gives, 'str')}"
        words = computed.sentence.strip().rstrip(".")
        of = f"of a {self.entity.label.lower()} from its {join_words([one.label for one in taken if one])}"
        examples = [one.removeprefix("assert ") for one in computed.examples]
        shown = f", e.g. {' and '.join(examples)}" if examples else ""
        task = from_sentence(f"a function {signature} that works out {words} {of}{shown}")
        tests = tuple(f"assert {one}" for one in examples) or task.visible_tests
        return task.model_copy(update={"entry_point": computed.name, "signature": signature, "visible_tests": tests})


def list_functions(blueprint: Blueprint) -> tuple[AskedFunction, ...]:
    """Everything in a blueprint that has to be written, in order."""
    return tuple(
        AskedFunction(entity=entity, computed=one)
        for entity in blueprint.entities
        for one in entity.computed
        if one.sentence
    )


@dataclass(frozen=True)
class Workshop:
    """What functions are written with: the models and the limits of the run that needs them."""

    tools: Tools
    store: Store
    sandbox: str
    keep: Keep
    notify: Callable[[str], None]
    """Shows how far the work is."""
    run_id: str
    """Of the run that needs them."""
    known: Sequence[Event] = field(default=())
    """What an earlier part of the run has on record: a function that was begun is gone on with."""

    @property
    def layer(self) -> Layer:
        """The packages that the app may import."""
        layer = self.tools.packages.layer if self.tools.packages else None
        assert layer, "the packages of an app are prepared before its run begins"
        return layer

    @property
    def models(self) -> tuple[Model, ...]:
        """Who is asked."""
        return (self.tools.model, *self.tools.others)

    def tell(self, what: str) -> None:
        """Show how far the work is. Raises AttemptError once the user wants no more of it."""
        self.check_stopped()
        self.notify(what)

    def check_stopped(self) -> None:
        """Raise AttemptError once the user wants no more: what breaks as all is closed under it says nothing."""
        if self.tools.cancel.is_set():
            raise AttemptError("stopped by the user")

    def write(
        self, functions: Sequence[AskedFunction], waiting: int, attempt: int = 1, stage: Stage = "generate"
    ) -> Generator[Event, None, None]:
        """Have these written side by side; `waiting` is how many of the app share what is left of the limits."""
        begun: list[tuple[AskedFunction, RunHandle | FunctionWritten]] = []
        for function in functions:
            ended = self._find_written(function.name, attempt)
            if ended:
                self.tools.meter.spend(ended.calls, ended.tokens, ended.dollars)
                begun.append((function, ended))
                continue
            handle = self._begin(function, max(1, waiting), attempt)
            yield FunctionBegun(function=function.name, run_id=handle.id, attempt=attempt, stage=stage)
            begun.append((function, handle))
        for function, work in begun:
            if isinstance(work, FunctionWritten):
                yield FunctionBegun(function=function.name, run_id=work.run_id, attempt=attempt, stage=stage)
                yield work
            else:
                yield self._finish(function.name, work, attempt, stage)

    def _find_written(self, name: str, attempt: int) -> FunctionWritten | None:
        """What the record says came of it."""
        found = (one for one in self.known if isinstance(one, FunctionWritten))
        return next((one for one in found if (one.function, one.attempt) == (name, attempt) and one.run_id), None)

    def _begin(self, function: AskedFunction, share: int, attempt: int) -> RunHandle:
        """Start its run, or go on with the one that a crash had ended. Raises AttemptError once all is stopped."""
        meter, limits = self.tools.meter, self.tools.meter.limits
        left = None if limits.dollars is None else max(0.0, limits.dollars - meter.dollars) / share
        own = Limits(
            rounds=MOST_ROUNDS,
            calls=min(MOST_CALLS, meter.calls_left // share),
            tokens=max(0, limits.tokens - meter.tokens) // share,
            seconds=max(0.0, meter.seconds_left / 2),
            dollars=left,
            max_tokens=limits.max_tokens,
            thinking=limits.thinking,
        )
        request = Request(
            task=function.to_task(),
            verb=VERB,
            limits=own,
            sandbox=self.sandbox,
            checks=CHECKS_AT_END,
            seed=attempt - 1,
            part_of=self.run_id,
        )
        begun = (one for one in self.known if isinstance(one, FunctionBegun))
        earlier = next((one for one in begun if (one.function, one.attempt) == (function.name, attempt)), None)
        resources = Resources(self.models, self.store, partial(self._watch, function.name))
        handle = None
        if earlier and (before := self._open(earlier.run_id)):
            settings = RunSettings.merge(before.started.settings)
            again = request.model_copy(update={"limits": Limits(**settings.limits), "task": Task(**settings.task)})
            handle = start(again, replace(resources, replay=before.events))
        handle = handle or start(request, resources)
        self.keep(_Stopper(handle))
        return handle

    def _watch(self, name: str, event: BaseEvent) -> None:
        if isinstance(event, CodeProposed | TestsRan):
            self.notify(f"{name}: {describe(event)}")

    def _open(self, run_id: str) -> Run | None:
        """A run that was begun; None where its record is gone."""
        try:
            return self.store.open(run_id)
        except SetupProblem:
            return None

    def _finish(self, name: str, handle: RunHandle, attempt: int, stage: Stage) -> FunctionWritten:
        """Wait for the run, and take what came of it."""
        about: dict[str, Any] = {"function": name, "run_id": handle.id, "attempt": attempt, "stage": stage}
        try:
            run = handle.wait()
        except BurnishError as error:
            return FunctionWritten(**about, why=one_line(str(error), 300))
        self.check_stopped()  # it is gone on with, and not counted as failed
        tokens = run.tokens_in + run.tokens_out
        self.tools.meter.spend(run.calls, tokens, run.dollars)
        code = run.code if run.verdict in GOOD else ""
        about |= {"calls": run.calls, "tokens": tokens, "dollars": run.dollars}
        return FunctionWritten(**about, verdict=run.verdict, code=code, why=run.why)


class _Stopper:
    """Stops a run without waiting for it: several are stopped side by side, within the same two seconds."""

    def __init__(self, handle: RunHandle) -> None:
        self._handle = handle

    def close(self) -> None:
        """From any thread, and as often as one likes."""
        threading.Thread(target=self._handle.stop, daemon=True).start()
