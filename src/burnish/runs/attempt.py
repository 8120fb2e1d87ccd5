"""One attempt, start to finish: the only place where a run is made. Read this first.

`start` joins models, packages, sandbox and record around the work of a run, in a thread of its own, and returns a
handle on it; the work of `solve`, the agent's graph, is the usual one. Evaluations make thousands of attempts side by
side, in one sandbox and without a record each: they take `begin_run`, `equip` and `solve` from here, and read the
events as they are yielded.
"""

import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import cast

from burnish.agent.ask import Checkpoint, TieBreaker, Tools
from burnish.agent.limits import check_answer_fits, explain_missing_cap, meter_after
from burnish.agent.packages import packages_event, prepare_run_layer
from burnish.agent.questions import Answerer, OpenQuestion
from burnish.checks.bench.bench import Bench, ProjectBench
from burnish.checks.final import FinalChecks, RepairChecks
from burnish.checks.mutation.mutate_module import Mutations
from burnish.errors import AttemptError, SetupProblem
from burnish.events import (
    Broke,
    Event,
    Notice,
    PackagesAdded,
    QuestionAnswered,
    QuestionAsked,
    Resumed,
    Reviewed,
    RunFinished,
    RunStarted,
    Stopped,
)
from burnish.events.history import Run
from burnish.events.replay import Replay
from burnish.models.model import Model
from burnish.models.names import default_names, open_models
from burnish.no_telemetry import disable_tracing
from burnish.packages import Budget, Layer
from burnish.report.narrate import add_confidence, describe
from burnish.runs.handle import Closable, Handle
from burnish.runs.record import Emitter, Record, Watch, read_record
from burnish.runs.request import Request
from burnish.runs.store import Store
from burnish.sandbox import Sandbox, open_sandbox
from burnish.search.edits import EditCache
from burnish.tasks import Task
from burnish.version import __version__

POLL_SECONDS = 0.2
"""Between two looks at whether a run that waits for an answer was stopped."""

Work = Callable[[Tools, Emitter], Iterator[Event]]
"""What is done in a run: each event is recorded before the next step, and yielded for whoever watches."""


Keep = Callable[[Closable], None]
"""Has something closed when the run is stopped, or over."""


@dataclass(frozen=True)
class Resources:
    """What an attempt works with that cannot be written down."""

    models: Sequence[Model] = ()
    """The first answers, the others help when it is stuck. None: those that the request names are opened in the run."""
    store: Store = field(default_factory=Store)
    watch: Watch | None = None
    """Given every event once it is on disk."""
    answer: Callable[[str], str] | None = None
    """Puts an assumption to the user, whose words, if any, take its place."""
    review: Callable[[Checkpoint], Reviewed] | None = None
    """Shows a person what there is on the way."""
    settle: Answerer | None = None
    """Puts a question about what versions disagree on to a person; None: see `answer_seconds`."""
    prefer: TieBreaker | None = None
    """Who breaks ties between versions."""
    answer_seconds: float = 0.0
    """How long such a question waits for `RunHandle.answer`; without an answer it stays open, and the run goes on."""
    settled: str = ""
    """Of a run that is taken up again: the open question that is answered now."""
    ground: Bench | None = None
    """Where versions are tried; None: each alone in the sandbox."""
    sandbox: Sandbox | None = None
    """One that is open already, and stays so; None: one of the requested kind is opened for the run."""
    replay: Sequence[Event] = ()
    """What an earlier part of the same run has on record: it is taken up again there."""
    cancel: threading.Event = field(default_factory=threading.Event)
    edits: EditCache = field(default_factory=EditCache)
    """Small edits that were found already; the attempts of an evaluation share them."""


Prepare = Callable[[Keep], tuple[Request, Resources]]
"""Finds out what is to be done, and with what, where that takes a while: a project's tests are run for it."""


class RunHandle(Handle[Event, Run]):
    """A run that goes on. Its id is that of its record, which is there at once."""

    def __init__(
        self,
        request: Request,
        resources: Resources,
        run_id: str,
        record: Record,
        work: Work | None = None,
        prepare: Prepare | None = None,
    ) -> None:
        self.id = run_id
        self._emitter = Emitter(record, resources.watch, resources.replay, request.keep_thoughts)
        super().__init__(self._emitter.live)
        self._answered = threading.Condition()
        self._question: OpenQuestion | None = None
        self._answer: QuestionAnswered | None = None
        self._request, self._resources = request, self._own(resources)
        self._record, self._work, self._prepare = record, work, prepare
        self._kept: list[Closable] = []

    def _own(self, resources: Resources) -> Resources:
        """These, with what stops this run, and who is asked where nobody was named."""
        settle = resources.settle or (self._wait_for_answer if resources.answer_seconds > 0 else None)
        return replace(resources, cancel=self._cancel, settle=settle)

    def _read_result(self) -> Run:
        """The run as it is on record."""
        return Run(read_record(self._emitter.folder))

    def _keep(self, working: Closable) -> None:
        """Close this when the run is stopped, or over. Raises AttemptError where it is stopped already."""
        with self._lock:
            self._to_close.append(working)
            self._kept.append(working)
            if self._cancel.is_set():
                working.close()
                raise AttemptError("stopped before anything had begun")

    def sentences(self) -> Iterator[str]:
        """What happens, in words, until it is over: the last ones are the verdict, or what kept it from beginning."""
        yield from filter(None, map(describe, self.events()))
        if problem := self._done.exception():
            yield str(problem)
        elif finished := self._so_far.ending(RunFinished):
            yield ", ".join(filter(None, add_confidence(finished.verdict, finished)))

    @property
    def code(self) -> str:
        """The newest version so far; once there is a verdict, the one that carries it."""
        run = self._so_far
        return run.code or next((version.code for version in reversed(run.versions) if version.code), "")

    @property
    def _so_far(self) -> Run:
        return Run(cast(Sequence[Event], self.live.lasting))

    @property
    def question(self) -> QuestionAsked | None:
        """The question that the run waits with; None while it waits for nobody."""
        waiting = self._question
        return waiting.asked if waiting else None

    def answer(self, text: str) -> None:
        """Answer the question that the run waits with: a letter, a value as Python writes it, "" for do not care.

        Raises SetupProblem for what cannot be an answer, and where no question waits.
        """
        with self._answered:
            if self._question is None:
                raise SetupProblem(
                    f"Run {self.id!r} waits for no answer. A question that stayed open is answered once the run is "
                    f"over: burnish answer {self.id}"
                )
            self._answer = self._question.read(text)
            self._question = None
            self._answered.notify_all()

    def _wait_for_answer(self, question: OpenQuestion) -> QuestionAnswered | None:
        """What `answer` brings, in time; None where nothing comes."""
        ends = time.monotonic() + self._resources.answer_seconds
        with self._answered:
            self._question, self._answer = question, None
            while self._question and not self._cancel.is_set() and time.monotonic() < ends:
                self._answered.wait(min(POLL_SECONDS, max(0.0, ends - time.monotonic())))
            self._question = None
            return self._answer

    def _make(self) -> None:
        """What is to be done, where that has to be found out first, and then all of it."""
        try:
            if self._prepare:
                request, resources = self._prepare(self._keep)
                self._request, self._resources = request, self._own(resources)
            self._work_on_request()
        finally:
            with self._lock:
                for kept in self._kept:
                    kept.close()

    def _work_on_request(self) -> None:
        """Models, packages and a sandbox, then the work itself."""
        request, emitter, work = self._request, self._emitter, self._work
        if request.nothing:  # it ends where it begins; nobody is asked
            emitter.tell(begin_run(request, self._resources, self.id, level=""))
            emitter.tell(Stopped(reason="done", why=request.nothing))
            emitter.tell(RunFinished(verdict="proven", why=request.nothing))
            return
        models = self._resources.models or open_models(request.model or default_names(), self._tell_fetching)
        resources = replace(self._resources, models=models)
        models[0].warm_up()
        if work is None:
            check_answer_fits(request.limits, models)
        began = time.time()
        # Packages are fetched out here, before any code runs; of a run that goes on, the same versions again.
        earlier = Run(resources.replay).last(PackagesAdded)
        budget = Budget.within(request.limits.seconds, self._cancel)
        layer = prepare_run_layer(request.packages, earlier, emitter.notify, budget)
        seconds, folder = (time.time() - began, layer.folder) if layer else (0.0, None)
        shared = resources.sandbox
        with nullcontext(shared) if shared else open_sandbox(request.sandbox, layer=folder) as sandbox:
            tools = equip(request, resources, sandbox, layer, seconds)
            tools = tools.with_packages(layer, request.allow_packages, emitter.notify)
            with self._lock:
                own = (None if shared else sandbox, tools.checks, tools.mutations)
                self._to_close += [working for working in own if working]
                if self._cancel.is_set():
                    return
            try:
                started = begin_run(request, resources, self.id, sandbox.level, seconds)
                _tell_start(started, resources, tools.replay.answers, emitter)
                if work is None and (doubt := explain_missing_cap(request.limits, *(one.name for one in models))):
                    emitter.tell(Notice(text=doubt, stays=True))
                if layer and not resources.replay:
                    emitter.tell(packages_event(layer, seconds=seconds))
                for event in work(tools, emitter) if work else solve(request.task, tools, emitter.record):
                    emitter.show(event)
            except Exception as error:
                if not self._cancel.is_set():  # else it broke because all was closed under it
                    emitter.tell(Broke(error=type(error).__name__, message=str(error)))
                if work or not isinstance(error, AttemptError):
                    raise

    def _tell_fetching(self, done: int, total: int, source: str) -> None:
        """While weights are on their way. Raises AttemptError once the run is stopped, which ends that."""
        if self._cancel.is_set():
            raise AttemptError("stopped while weights were fetched")
        self._emitter.notify(f"weights: {100 * done // max(1, total)} %, {source}")

    def _close_record(self, error: BaseException | None) -> BaseException | None:
        """The user's stop is the last word. A run that never began leaves no folder."""
        emitter = self._emitter
        try:
            if self._cancel.is_set() and not emitter.has_verdict:
                error = error if isinstance(error, KeyboardInterrupt) else None
                if not emitter.has_begun:
                    emitter.tell(begin_run(self._request, self._resources, self.id, level=""))
                emitter.tell(Stopped(reason="interrupted", why="stopped by the user"))
        except Exception as failed:  # the disk is full, or whoever watches breaks
            error = failed
        self._record.close()
        if not emitter.has_begun:
            shutil.rmtree(emitter.folder, ignore_errors=True)
        return error


Begin = Callable[[RunHandle], None]
"""Is given the handle of a run that has begun, where a function waits for its end."""


def start(
    request: Request, resources: Resources | None = None, work: Work | None = None, prepare: Prepare | None = None
) -> RunHandle:
    """Begin to work on the request, in a thread of its own, until its verdict, a limit, or a stop.

    Every event is on disk before the next step. An AttemptError is on record, and the run has no verdict. What the user
    has to put right before anything can begin leaves no record, and is raised by `RunHandle.wait`. `work` takes the
    place of the agent, for runs of another kind; what breaks it is raised there, too. `prepare` finds out, in the run,
    what takes the place of request and resources; until then these name it, and a stop ends it all the same.
    """
    resources = resources or Resources()
    if resources.replay:
        run_id = Run(resources.replay).id
        record = resources.store.take_up(run_id)
    else:
        run_id, record = resources.store.begin(request.task.id)
    handle = RunHandle(request, resources, run_id, record, work, prepare)
    handle._begin("burnish-agent")
    return handle


def begin_run(request: Request, resources: Resources, run_id: str, level: str, seconds: float = 0.0) -> RunStarted:
    """The first event of a run, which began so many seconds ago; `level` is how far its sandbox isolates."""
    return RunStarted(
        at=time.time() - seconds,
        run_id=run_id,
        verb=request.verb,
        prompt=request.task.prompt,
        model=",".join(model.name for model in resources.models) or request.model,
        burnish=request.burnish,
        sandbox=resources.ground.level if resources.ground else level,
        settings=request.settings.to_json(),
        continues=request.continues,
    )


def equip(
    request: Request, resources: Resources, sandbox: Sandbox, layer: Layer | None = None, seconds: float = 0.0
) -> Tools:
    """What the nodes of the agent work with. What earlier parts of the run have spent is spent.

    `layer` holds the packages that the run begins with; to prepare them took so many seconds.
    """
    earlier, folder, checks = Replay(resources.replay), layer.folder if layer else None, request.checks
    task, ground = request.task, resources.ground
    final = FinalChecks(checks, request.sandbox, folder, task.named)
    if isinstance(ground, ProjectBench):
        final = RepairChecks(checks, request.sandbox, ground, task.base_code, task.project_tests)
    return Tools(
        resources.models[0],
        sandbox,
        meter_after(earlier, request.limits, resources.models, seconds),
        resources.cancel,
        seed=request.seed,
        checks=final if checks else None,
        mutations=Mutations(request.sandbox, layer=folder) if "strengthen" in request.afterwards else None,
        place=resources.ground,
        others=tuple(resources.models[1:]),
        answer=resources.answer,
        without=request.without,
        afterwards=request.afterwards,
        review=resources.review,
        confidence=request.confidence,
        questions=request.questions,
        settle=resources.settle,
        replay=earlier,
        edits=resources.edits,
        prefer=resources.prefer,
        errors_end=request.model_errors_end,
    )


def solve(task: Task, tools: Tools, record: Watch = lambda event: None) -> Iterator[Event]:
    """The agent at work on a task: every event of its graph, each given to `record` before the next step."""
    from burnish.agent.graph import build, most_steps

    with disable_tracing():
        most = {"recursion_limit": most_steps(tools.meter.limits.rounds)}
        yield from build(task, tools, record).stream({"events": []}, most, stream_mode="custom")


def _tell_start(started: RunStarted, resources: Resources, answers: int, emitter: Emitter) -> None:
    """Put the beginning on record; of a run that goes on, what differs from its beginning."""
    if not resources.replay:
        emitter.tell(started)
        return
    first = Run(resources.replay).started
    emitter.show(first)
    differs = {key: value for key, value in started.settings.items() if first.settings.get(key) != value}
    settled, sandbox = resources.settled, started.sandbox
    emitter.tell(Resumed(answers=answers, burnish=__version__, settings=differs, sandbox=sandbox, question=settled))
