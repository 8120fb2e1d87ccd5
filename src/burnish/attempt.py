"""One task, start to finish: the only place that joins agent, sandbox, checks and record. Read this first."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager
from pathlib import Path

from burnish.agent.ask import Shown, Tools
from burnish.agent.fitting import check_fits
from burnish.agent.limits import Limits, Meter, check_priced
from burnish.agent.packages import MOST_BYTES, Packages, added, layer_for
from burnish.checks.final import FinalChecks
from burnish.checks.ground import Ground
from burnish.checks.in_project import InProject
from burnish.checks.mutation.alone import Mutations
from burnish.errors import AttemptError
from burnish.events import BaseEvent, Broke, Event, Notice, PackagesAdded, Resumed, Reviewed, RunStarted, Stopped
from burnish.models.model import Model
from burnish.models.names import Chosen, Models, open_models
from burnish.packages import Bounds, Layer
from burnish.runs import Record, Replay, Run, Store, read_record, unless_known
from burnish.sandbox import open_sandbox
from burnish.sandbox.box import Box
from burnish.silence import silence
from burnish.tasks import Task
from burnish.version import __version__

Watch = Callable[[BaseEvent], None]
LAST_WORDS_SECONDS = 0.5
"""For what is under way when Ctrl-C comes, so that nothing is said after the end."""


def attempt(
    task: Task,
    model: Models,
    *,
    limits: Limits | None = None,
    sandbox: str = "auto",
    store: Store | None = None,
    watch: Watch | None = None,
    continues: str | None = None,
    checks: Sequence[str] = (),
    ground: Ground | None = None,
    verb: str = "write",
    settings: Mapping[str, object] | None = None,
    replay: Sequence[Event] = (),
    answer: Callable[[str], str] | None = None,
    afterwards: Iterable[str] = (),
    review: Callable[[Shown], Reviewed] | None = None,
    packages: Sequence[str] = (),
    allow_packages: Sequence[str] = (),
) -> Run:
    """Work on the task until its verdict, a limit, or Ctrl-C, and return the recorded run.

    The first model answers, the others help when it is stuck. `checks` look at the final files once the tests have;
    the verdict stays with the tests. `ground` is where versions are tried; `settings` go on record beside the task's.
    `replay` is what an earlier part of the same run has on record: it is taken up again there.
    `answer` puts each assumption to the user, whose words, if any, take its place. `afterwards` names what follows once
    the tests pass; `review` shows a person what there is on the way. `packages` are prepared before
    any code runs; code may have others that are well known, or are among `allow_packages`.
    Every event is on disk before the next step, and then given to `watch`. A KeyboardInterrupt ends the run within
    two seconds and is raised again once the record is closed; an AttemptError is on record, and the run has no verdict.
    """
    store, limits = store or Store(), limits or Limits()
    models = _opened(model)
    check_priced(limits, *(model.name for model in models))
    check_fits(limits, models)
    began = time.time()
    bounds = Bounds.within(limits.seconds)
    layer = layer_for(packages, Run(replay).last(PackagesAdded), _telling(watch), bounds)
    preparing_seconds = time.time() - began if layer else 0.0
    folder = layer.folder if layer else None
    with open_sandbox(sandbox, layer=folder) as box:
        run_id, record = _record(store, task, replay)
        with record, _blamed(record, watch):
            more = {"sandbox": sandbox, "afterwards": sorted(afterwards)}
            more |= {"packages": list(packages)} if packages else {}
            more |= {"allow_packages": list(allow_packages)} if allow_packages else {}
            more |= {"chosen": models.why} if isinstance(models, Chosen) else {}
            told = {**_settings(task, limits, checks), **more, **(settings or {})}
            started = RunStarted(
                at=time.time() - preparing_seconds,
                run_id=run_id,
                verb=verb,
                prompt=task.prompt,
                model=",".join(model.name for model in models),
                burnish=__version__,
                sandbox=ground.level if ground else box.level,
                settings=told,
                continues=continues,
            )
            earlier = _begin(started, replay, record, watch)
            if layer and not replay:
                _tell(record, watch, added(layer, seconds=preparing_seconds))
            final = FinalChecks(checks, sandbox, folder) if checks else None
            mutations = Mutations(sandbox, layer=folder) if "strengthen" in afterwards else None
            meter, cancel = _meter(limits, earlier, models, preparing_seconds), threading.Event()
            several = (box, final, mutations, ground)
            tools = Tools(
                models[0],
                box,
                meter,
                cancel,
                checks=final,
                mutations=mutations,
                packages=_packages(layer, allow_packages, watch, several, lambda: _optional(meter, cancel)),
                place=ground,
                others=tuple(models[1:]),
                answer=answer,
                afterwards=frozenset(afterwards),
                review=review,
                replay=earlier,
            )
            _work_in_background(task, tools, record, watch, unless_known(replay, record.append))
    return Run(read_record(record.path.parent))


def _record(store: Store, task: Task, replay: Sequence[Event]) -> tuple[str, Record]:
    """A new record, or the one that the earlier events are in."""
    if not replay:
        return store.begin(task.id)
    run_id = Run(replay).id
    return run_id, store.take_up(run_id)


def _begin(started: RunStarted, replay: Sequence[Event], record: Record, watch: Watch | None) -> Replay:
    """Put the beginning on record; of a run that goes on, what differs from its beginning."""
    earlier = Replay(replay)
    if not replay:
        _tell(record, watch, started)
        return earlier
    first = Run(replay).started
    if watch:
        watch(first)
    differs = {key: value for key, value in started.settings.items() if first.settings.get(key) != value}
    _tell(record, watch, Resumed(answers=earlier.answers, burnish=__version__, settings=differs))
    return earlier


def _packages(
    layer: Layer | None,
    allow: Sequence[str],
    watch: Watch | None,
    wearers: Sequence[Box | FinalChecks | Mutations | Ground | None],
    bounds: Callable[[], Bounds],
) -> Packages | None:
    """What code may import; everybody who runs code sees a new layer at once. An environment of a project's own stays
    as it is.
    """
    several = [one for one in wearers if isinstance(one, Box | FinalChecks | Mutations | InProject)]
    if any(isinstance(one, InProject) and not one.project.alone for one in several):
        return None

    def wear(folder: Path) -> None:
        for one in several:
            one.wear(folder)

    return Packages(layer, allow, wear, _telling(watch), bounds)


def _optional(meter: Meter, cancel: threading.Event) -> Bounds:
    """For packages that only the code asks for: half of the time that is left, so that it can be told to do without."""
    return Bounds.within(meter.seconds_left / 2, cancel, MOST_BYTES)


def _telling(watch: Watch | None) -> Callable[[str], None] | None:
    return (lambda text: watch(Notice(text=text))) if watch else None


def _meter(limits: Limits, earlier: Replay, models: Sequence[Model], seconds: float = 0.0) -> Meter:
    """What may still be spent: time and calls that came to nothing are spent; answers on record count when given."""
    meter = Meter(limits, earlier.seconds + seconds)
    for asked, reply in earlier.lost:
        meter.count_lost(asked, reply, [model.name for model in models])
    for lost in earlier.tries:
        meter.count_try(lost)
    return meter


def _opened(model: Models) -> Sequence[Model]:
    models = open_models(model) if isinstance(model, str) else model
    if not isinstance(models, Sequence):
        models = (models,)
    models[0].warm_up()
    return models


def _settings(task: Task, limits: Limits, checks: Sequence[str]) -> dict[str, object]:
    told = task.model_dump(mode="json", exclude={"hidden_tests", "gold"})
    return {"limits": limits.on_record(), "task": told, "checks": list(checks)}


def _work_in_background(
    task: Task, tools: Tools, record: Record, watch: Watch | None, append: Callable[[BaseEvent], None]
) -> None:
    """The agent works in a thread of its own, so that Ctrl-C in this one is heard at once, whatever it waits for."""
    work: Future[None] = Future()
    interrupted: list[BaseEvent] = []

    def keep(event: BaseEvent) -> None:
        """What is said after the end that the user made is kept no more."""
        if not interrupted:
            append(event)
        if isinstance(event, Stopped) and event.reason == "interrupted":
            interrupted.append(event)

    def go() -> None:
        try:
            for event in _events(task, tools, keep):
                if watch and (not interrupted or event == interrupted[0]):
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
        for working in (tools.checks, tools.mutations):
            if working:
                working.close()
        wait([work], LAST_WORDS_SECONDS)
        if not interrupted:
            _tell(record, watch, Stopped(reason="interrupted", why="stopped by the user"))
        raise


def _events(task: Task, tools: Tools, append: Callable[[BaseEvent], None]) -> Iterator[Event]:
    from burnish.agent.graph import build, steps

    with silence():
        most = {"recursion_limit": steps(tools.meter.limits.rounds)}
        yield from build(task, tools, append).stream({"events": []}, most, stream_mode="custom")


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
