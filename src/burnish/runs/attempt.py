"""One attempt, start to finish: the only place where a run is made. Read this first.

`attempt` joins models, packages, sandbox and record around the work of a run; that of `solve`, the agent's graph, is
the usual one. Evaluations make thousands of attempts side by side, in one sandbox and without a record each: they take
`begin_run`, `equip` and `solve` from here, and read the events as they are yielded.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import nullcontext
from dataclasses import dataclass, field

from burnish.agent.ask import Checkpoint, Tools
from burnish.agent.limits import check_answer_fits, explain_missing_cap, meter_after
from burnish.agent.packages import packages_event, prepare_run_layer
from burnish.checks.bench.bench import Bench
from burnish.checks.final import FinalChecks
from burnish.checks.mutation.mutate_module import Mutations
from burnish.errors import AttemptError
from burnish.events import (
    Broke,
    Event,
    Notice,
    PackagesAdded,
    Resumed,
    Reviewed,
    RunFinished,
    RunStarted,
    Stopped,
)
from burnish.events.history import Run
from burnish.events.replay import Replay
from burnish.models.model import Model
from burnish.no_telemetry import disable_tracing
from burnish.packages import Budget, Layer
from burnish.runs.record import Emitter, Watch, notices_to, read_record
from burnish.runs.request import Request
from burnish.runs.store import Store
from burnish.sandbox import Sandbox, open_sandbox
from burnish.search.edits import EditCache
from burnish.tasks import Task
from burnish.version import __version__

LAST_WORDS_SECONDS = 0.5
"""For what is under way when Ctrl-C comes, so that nothing is said after the end."""

Work = Callable[[Tools, Emitter], Iterator[Event]]
"""What is done in a run: each event is recorded before the next step, and yielded for whoever watches."""


@dataclass(frozen=True)
class Resources:
    """What an attempt works with that cannot be written down."""

    models: Sequence[Model] = ()
    """The first answers, the others help when it is stuck."""
    store: Store = field(default_factory=Store)
    watch: Watch | None = None
    """Given every event once it is on disk."""
    answer: Callable[[str], str] | None = None
    """Puts an assumption to the user, whose words, if any, take its place."""
    review: Callable[[Checkpoint], Reviewed] | None = None
    """Shows a person what there is on the way."""
    ground: Bench | None = None
    """Where versions are tried; None: each alone in the sandbox."""
    sandbox: Sandbox | None = None
    """One that is open already, and stays so; None: one of the requested kind is opened for the run."""
    replay: Sequence[Event] = ()
    """What an earlier part of the same run has on record: it is taken up again there."""
    cancel: threading.Event = field(default_factory=threading.Event)
    edits: EditCache = field(default_factory=EditCache)
    """Small edits that were found already; the attempts of an evaluation share them."""


def attempt(request: Request, resources: Resources, work: Work | None = None) -> Run:
    """Work on the request until its verdict, a limit, or Ctrl-C, and return the recorded run.

    Every event is on disk before the next step. A KeyboardInterrupt ends the run within two seconds and is raised again
    once the record is closed; an AttemptError is on record, and the run has no verdict. `work` takes the place of the
    agent, for runs of another kind; what breaks it is raised.
    """
    if request.nothing:
        return _record_nothing(request, resources)
    resources.models[0].warm_up()
    if work is None:
        check_answer_fits(request.limits, resources.models)
    began, tell = time.time(), notices_to(resources.watch)
    # Packages are fetched out here, before any code runs; of a run that goes on, the same versions again.
    earlier = Run(resources.replay).last(PackagesAdded)
    layer = prepare_run_layer(request.packages, earlier, tell, Budget.within(request.limits.seconds))
    seconds, folder = (time.time() - began, layer.folder) if layer else (0.0, None)
    shared = resources.sandbox
    with nullcontext(shared) if shared else open_sandbox(request.sandbox, layer=folder) as sandbox:
        if resources.replay:
            run_id = Run(resources.replay).id
            record = resources.store.take_up(run_id)
        else:
            run_id, record = resources.store.begin(request.task.id)
        with record:
            emitter = Emitter(record, resources.watch, resources.replay)
            tools = equip(request, resources, sandbox, layer, seconds)
            tools = tools.with_packages(layer, request.allow_packages, tell)

            def go() -> None:
                try:
                    started = begin_run(request, resources, run_id, sandbox.level, seconds)
                    _tell_start(started, resources.replay, tools.replay.answers, emitter)
                    names = [model.name for model in resources.models]
                    if work is None and (doubt := explain_missing_cap(request.limits, *names)):
                        emitter.tell(Notice(text=doubt, stays=True))
                    if layer and not resources.replay:
                        emitter.tell(packages_event(layer, seconds=seconds))
                    for event in work(tools, emitter) if work else solve(request.task, tools, emitter.record):
                        emitter.show(event)
                except Exception as error:
                    emitter.tell(Broke(error=type(error).__name__, message=str(error)))
                    if work or not isinstance(error, AttemptError):
                        raise

            own = [] if shared else [sandbox]
            _run_in_thread(go, [*own, tools.checks, tools.mutations], resources.cancel, emitter)
    return Run(read_record(record.path.parent))


def begin_run(request: Request, resources: Resources, run_id: str, level: str, seconds: float = 0.0) -> RunStarted:
    """The first event of a run, which began so many seconds ago; `level` is how far its sandbox isolates."""
    return RunStarted(
        at=time.time() - seconds,
        run_id=run_id,
        verb=request.verb,
        prompt=request.task.prompt,
        model=request.model or ",".join(model.name for model in resources.models),
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
    return Tools(
        resources.models[0],
        sandbox,
        meter_after(earlier, request.limits, resources.models, seconds),
        resources.cancel,
        seed=request.seed,
        checks=FinalChecks(checks, request.sandbox, folder, request.task.named) if checks else None,
        mutations=Mutations(request.sandbox, layer=folder) if "strengthen" in request.afterwards else None,
        place=resources.ground,
        others=tuple(resources.models[1:]),
        answer=resources.answer,
        without=request.without,
        afterwards=request.afterwards,
        review=resources.review,
        replay=earlier,
        edits=resources.edits,
        errors_end=request.model_errors_end,
    )


def solve(task: Task, tools: Tools, record: Watch = lambda event: None) -> Iterator[Event]:
    """The agent at work on a task: every event of its graph, each given to `record` before the next step."""
    from burnish.agent.graph import build, most_steps

    with disable_tracing():
        most = {"recursion_limit": most_steps(tools.meter.limits.rounds)}
        yield from build(task, tools, record).stream({"events": []}, most, stream_mode="custom")


def _record_nothing(request: Request, resources: Resources) -> Run:
    """A run that ends where it begins; nobody was asked."""
    run_id, record = resources.store.begin(request.task.id)
    emitter = Emitter(record, resources.watch)
    with record:
        emitter.tell(begin_run(request, resources, run_id, level=""))
        emitter.tell(Stopped(reason="done", why=request.nothing))
        emitter.tell(RunFinished(verdict="proven", why=request.nothing))
    return Run(read_record(record.path.parent))


def _tell_start(started: RunStarted, replay: Sequence[Event], answers: int, emitter: Emitter) -> None:
    """Put the beginning on record; of a run that goes on, what differs from its beginning."""
    if not replay:
        emitter.tell(started)
        return
    first = Run(replay).started
    emitter.show(first)
    differs = {key: value for key, value in started.settings.items() if first.settings.get(key) != value}
    emitter.tell(Resumed(answers=answers, burnish=__version__, settings=differs))


def _run_in_thread(
    go: Callable[[], None],
    to_close: Sequence[Sandbox | FinalChecks | Mutations | None],
    cancel: threading.Event,
    emitter: Emitter,
) -> None:
    """Work in a thread of its own, so that Ctrl-C is heard at once, whatever the work waits for.

    A KeyboardInterrupt breaks off what is under way, is on record, and raised again.
    """
    done: Future[None] = Future()

    def run() -> None:
        try:
            go()
        except BaseException as error:
            done.set_exception(error)
        else:
            done.set_result(None)

    threading.Thread(target=run, name="burnish-agent", daemon=True).start()
    try:
        done.result()
    except KeyboardInterrupt:
        cancel.set()
        for working in to_close:
            if working:
                working.close()
        wait([done], LAST_WORDS_SECONDS)
        emitter.tell(Stopped(reason="interrupted", why="stopped by the user"))
        raise
