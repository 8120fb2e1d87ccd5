"""One task, start to finish: the only place that joins agent, sandbox, checks and record. Read this first."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager

from burnish.agent.ask import Tools
from burnish.agent.limits import Limits, Meter
from burnish.checks.final import FinalChecks
from burnish.errors import AttemptError
from burnish.events import BaseEvent, Broke, Event, RunStarted, Stopped
from burnish.models.model import Model
from burnish.models.names import open_model
from burnish.runs import Record, Run, Store, read_record
from burnish.sandbox import Sandbox, open_sandbox
from burnish.silence import silence
from burnish.tasks import Task
from burnish.version import __version__

Watch = Callable[[BaseEvent], None]


def attempt(
    task: Task,
    model: Model | str,
    *,
    limits: Limits | None = None,
    sandbox: str = "auto",
    store: Store | None = None,
    watch: Watch | None = None,
    continues: str | None = None,
    checks: Sequence[str] = (),
) -> Run:
    """Work on the task until its verdict, a limit, or Ctrl-C, and return the recorded run.

    `checks` look at the final files once the tests have; the verdict stays with the tests.
    Every event is on disk before the next step, and then given to `watch`. A KeyboardInterrupt ends the run within
    two seconds and is raised again once the record is closed; an AttemptError is on record, and the run has no verdict.
    """
    store, limits = store or Store(), limits or Limits()
    answering = open_model(model) if isinstance(model, str) else model
    answering.warm_up()
    with open_sandbox(sandbox) as box:
        run_id, record = store.begin(task.id)
        with record, _blamed(record, watch):
            _tell(record, watch, _started(run_id, task, answering, box, limits, continues))
            final = FinalChecks(checks, sandbox) if checks else None
            tools = Tools(answering, box, Meter(limits), threading.Event(), checks=final)
            _work_in_background(task, tools, record, watch)
    return Run(read_record(record.path.parent))


def _started(run_id: str, task: Task, model: Model, box: Sandbox, limits: Limits, continues: str | None) -> RunStarted:
    settings = {"limits": limits.model_dump(), "task": task.model_dump(exclude={"hidden_tests", "gold"})}
    return RunStarted(
        run_id=run_id,
        verb="write",
        prompt=task.prompt,
        model=model.name,
        burnish=__version__,
        sandbox=box.level,
        settings=settings,
        continues=continues,
    )


def _work_in_background(task: Task, tools: Tools, record: Record, watch: Watch | None) -> None:
    """The agent works in a thread of its own, so that Ctrl-C in this one is heard at once, whatever it waits for."""
    work: Future[None] = Future()

    def go() -> None:
        try:
            for event in _events(task, tools, record):
                if watch:
                    watch(event)
        except BaseException as error:
            work.set_exception(error)
        else:
            work.set_result(None)

    threading.Thread(target=go, name="burnish-agent", daemon=True).start()
    try:
        work.result()
    except KeyboardInterrupt:
        tools.cancel.set()
        tools.sandbox.close()
        if tools.checks:
            tools.checks.close()
        _tell(record, watch, Stopped(reason="interrupted", why="stopped by the user"))
        raise


def _events(task: Task, tools: Tools, record: Record) -> Iterator[Event]:
    from burnish.agent.graph import build

    with silence():
        steps = {"recursion_limit": 4 * tools.meter.limits.rounds + 20}
        yield from build(task, tools, record.append).stream({"events": []}, steps, stream_mode="custom")


@contextmanager
def _blamed(record: Record, watch: Watch | None) -> Iterator[None]:
    """A failure goes on record. This attempt's own kind ends here; our bug is raised again."""
    try:
        yield
    except AttemptError as error:
        _tell(record, watch, Broke(error=type(error).__name__, message=str(error)))
    except Exception as error:
        _tell(record, watch, Broke(error=type(error).__name__, message=str(error)))
        raise


def _tell(record: Record, watch: Watch | None, event: BaseEvent) -> None:
    record.append(event)
    if watch:
        watch(event)
