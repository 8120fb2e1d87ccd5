"""One task, start to finish: the only place that joins agent, sandbox, checks and record. Read this first."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from burnish.agent.ask import Checkpoint, Tools
from burnish.agent.background import work
from burnish.agent.context_budget import check_answer_fits
from burnish.agent.limits import Limits, check_priced, explain_missing_cap, meter_after
from burnish.agent.packages import make_run_packages, packages_event, prepare_run_layer
from burnish.checks.bench.bench import Bench
from burnish.checks.final import FinalChecks
from burnish.checks.mutation.mutate_module import Mutations
from burnish.events import Event, Notice, PackagesAdded, Resumed, Reviewed, RunStarted
from burnish.models.model import Model
from burnish.models.names import ChosenModels, Models, open_models
from burnish.packages import Budget, Layer
from burnish.runs import Record, Replay, Run, Store, Voice, Watch, read_record, unless_known
from burnish.runs.voice import noticing
from burnish.sandbox import open_sandbox
from burnish.tasks import Task
from burnish.version import __version__


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
    ground: Bench | None = None,
    verb: str = "write",
    settings: Mapping[str, object] | None = None,
    replay: Sequence[Event] = (),
    answer: Callable[[str], str] | None = None,
    afterwards: Iterable[str] = (),
    review: Callable[[Checkpoint], Reviewed] | None = None,
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
    check_answer_fits(limits, models)
    worn = _worn(packages, replay, limits, watch)
    with open_sandbox(sandbox, layer=worn.folder) as box:
        run_id, record = _record(store, task, replay)
        voice = Voice(record, watch)
        with record, voice.blaming():
            asked = {"packages": list(packages), "allow_packages": list(allow_packages), "chosen": _why(models)}
            started = RunStarted(
                at=time.time() - worn.seconds,
                run_id=run_id,
                verb=verb,
                prompt=task.prompt,
                model=",".join(model.name for model in models),
                burnish=__version__,
                sandbox=ground.level if ground else box.level,
                settings={
                    **{"limits": limits.on_record(), "task": _public(task), "checks": list(checks)},
                    **{"sandbox": sandbox, "afterwards": sorted(afterwards)},
                    **{name: value for name, value in asked.items() if value},
                    **(settings or {}),
                },
                continues=continues,
            )
            earlier = _begin(started, replay, voice)
            if doubt := explain_missing_cap(limits, *(model.name for model in models)):
                voice.tell(Notice(text=doubt, stays=True))
            if worn.layer and not replay:
                voice.tell(packages_event(worn.layer, seconds=worn.seconds))
            meter, cancel = meter_after(earlier, limits, models, worn.seconds), threading.Event()
            tools = Tools(
                models[0],
                box,
                meter,
                cancel,
                checks=FinalChecks(checks, sandbox, worn.folder, task.named) if checks else None,
                mutations=Mutations(sandbox, layer=worn.folder) if "strengthen" in afterwards else None,
                place=ground,
                others=tuple(models[1:]),
                answer=answer,
                afterwards=frozenset(afterwards),
                review=review,
                replay=earlier,
            )
            tools = replace(tools, packages=make_run_packages(tools, worn.layer, allow_packages, noticing(watch)))
            work(task, tools, voice, unless_known(replay, record.append))
    return Run(read_record(record.path.parent))


class _Worn(NamedTuple):
    """The packages that a run begins with, and how long it took to have them ready."""

    layer: Layer | None
    seconds: float

    @property
    def folder(self) -> Path | None:
        return self.layer.folder if self.layer else None


def _worn(packages: Sequence[str], replay: Sequence[Event], limits: Limits, watch: Watch | None) -> _Worn:
    began = time.time()
    layer = prepare_run_layer(packages, Run(replay).last(PackagesAdded), noticing(watch), Budget.within(limits.seconds))
    return _Worn(layer, time.time() - began if layer else 0.0)


def _record(store: Store, task: Task, replay: Sequence[Event]) -> tuple[str, Record]:
    """A new record, or the one that the earlier events are in."""
    if not replay:
        return store.begin(task.id)
    run_id = Run(replay).id
    return run_id, store.take_up(run_id)


def _begin(started: RunStarted, replay: Sequence[Event], voice: Voice) -> Replay:
    """Put the beginning on record; of a run that goes on, what differs from its beginning."""
    earlier = Replay(replay)
    if not replay:
        voice.tell(started)
        return earlier
    first = Run(replay).started
    if voice.watch:
        voice.watch(first)
    differs = {key: value for key, value in started.settings.items() if first.settings.get(key) != value}
    voice.tell(Resumed(answers=earlier.answers, burnish=__version__, settings=differs))
    return earlier


def _opened(model: Models) -> Sequence[Model]:
    models = open_models(model) if isinstance(model, str) else model
    if not isinstance(models, Sequence):
        models = (models,)
    models[0].warm_up()
    return models


def _why(models: Sequence[Model]) -> str:
    return models.why if isinstance(models, ChosenModels) else ""


def _public(task: Task) -> dict[str, object]:
    """What the record may say of a task: nothing that the agent must not see."""
    return task.model_dump(mode="json", exclude={"hidden_tests", "gold"})
