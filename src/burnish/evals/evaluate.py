"""From a suite's name to its numbers: load, validate, plan, run, report. The Python twin of `burnish eval`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from burnish.agent.context_budget import check_answer_fits
from burnish.agent.limits import Limits
from burnish.errors import SetupProblem
from burnish.evals import shelf
from burnish.evals.answers import opened
from burnish.evals.engine import engine_of
from burnish.evals.folder import Folder
from burnish.evals.plan import Asking, Plan, Protocol
from burnish.evals.report import write_reports
from burnish.evals.results import Results
from burnish.evals.runner import opened_for, run
from burnish.evals.strategies.kinds import left_out
from burnish.evals.strategies.kinds import strategy as strategy_named
from burnish.evals.suites import Broken, is_file_suite, load_suite, tasks_hash, validate, variant_of
from burnish.evals.watcher import Watcher
from burnish.models.catalog import DEFAULT_MODEL
from burnish.models.model import Model
from burnish.models.names import AUTO, default_names
from burnish.sandbox.open import sandbox_again
from burnish.sandbox.sandbox import Sandbox
from burnish.tasks.task import Task


def evaluate(
    suite: str,
    model: Model | str | None = None,
    *,
    strategy: str = "burnish",
    rounds: int = 5,
    protocol: Protocol = "visible",
    ask: Asking = "auto",
    variant: str = "",
    split: Literal["eval", "tune"] = "eval",
    limit: int | None = None,
    seeds: Sequence[int] = (0,),
    temperature: float | None = None,
    without: Sequence[str] = (),
    max_tokens: int | None = None,
    thinking: int | None = None,
    at_once: int = 0,
    data: Path | None = None,
    out: Path | None = None,
    sandbox: str = "auto",
    watch: Watcher | None = None,
) -> Results:
    """Measure a model and a strategy on a suite, and return the results; reports lie in the evaluation's folder.

    Each finished attempt is on disk at once. An `out` that holds this very evaluation is gone on with. `max_tokens` and
    `thinking` are for one answer, as in `Limits`.
    """
    watch = watch or Watcher()
    model = default_names() if model is None else model
    _refuse_auto(model, suite)
    strategy_named(strategy)
    variant = variant_of(suite, variant)
    tasks = load_suite(
        suite, variant=variant, split=split, protocol=protocol, data=data, limit=limit, progress=watch.preparing
    )
    if out:
        out = out.expanduser().absolute()
        if not (out / shelf.FILE).exists():
            shelf.check_free(out)
    answering = opened(model, watch.fetching) if isinstance(model, str) else model
    check_answer_fits(Limits(max_tokens=max_tokens, thinking=thinking), [answering])
    plan = Plan(
        suite=suite,
        variant=variant,
        split=split,
        limit=limit,
        model=answering.name,
        engine=engine_of(answering),
        strategy=strategy,
        protocol=protocol,
        ask=ask,
        rounds=rounds,
        temperature=temperature,
        without=left_out(without, strategy),
        max_tokens=max_tokens,
        thinking=thinking,
        seeds=tuple(seeds),
        at_once=at_once,
        sandbox=sandbox,
    )
    with opened_for(answering, sandbox) as box:
        valid, broken = _validated(suite, tasks, box, watch)
        answering.warm_up()
        plan = plan.model_copy(update={"tasks_hash": tasks_hash(valid)})
        path = out or shelf.fresh(f"{Path(suite).stem} {strategy} {answering.name.partition(':')[2]}")
        folder = Folder.create(path, plan, valid, broken, data=_source(suite, data))
        with folder.lock():
            run(folder, valid, answering, watch, sandbox=box)
            return write_reports(folder)


def resume(
    name: str,
    *,
    model: Model | None = None,
    data: Path | None = None,
    watch: Watcher | None = None,
    sandbox: str | None = None,
) -> Results:
    """Make the attempts that an evaluation still lacks, and write its reports anew. Finished ones stay as they are.

    The sandbox is the plan's unless named; one without isolation has to be named.
    """
    watch = watch or Watcher()
    folder = Folder.open(shelf.find(name))
    sandbox = sandbox_again(sandbox, folder.plan.sandbox, f"burnish eval resume {folder.name}")
    with folder.lock():
        if len(folder.finished()) == folder.total:
            watch.begun(folder)
            return write_reports(folder)
        tasks = _reloaded(folder, data, watch)
        answering = model or opened(folder.plan.model, watch.fetching)
        _refuse_another(answering, folder)
        with opened_for(answering, sandbox) as box:
            answering.warm_up()
            run(folder, tasks, answering, watch, sandbox=box)
        return write_reports(folder)


def _refuse_auto(model: Model | str, suite: str) -> None:
    """A table says who was measured, so somebody has to be named."""
    if isinstance(model, str) and AUTO in [part.strip() for part in model.split(",")]:
        raise SetupProblem(
            f"An evaluation measures one model, and {model!r} names none for sure. Name one of those that `burnish"
            f" models` lists: burnish eval {suite} --model {DEFAULT_MODEL}"
        )


def _validated(
    suite: str, tasks: Sequence[Task], box: Sandbox, watch: Watcher
) -> tuple[tuple[Task, ...], tuple[Broken, ...]]:
    """The tasks that are fair: the reference passes, the bug fails. None at all is the user's to put right."""
    checked = validate(tasks, box, watch.preparing)
    if checked.valid:
        return checked.valid, checked.broken
    why = f" The first, {checked.broken[0].id!r}: {checked.broken[0].why}." if checked.broken else ""
    raise SetupProblem(f"No row of {suite!r} can be used.{why} See what a suite must hold with: burnish eval list")


def _reloaded(folder: Folder, data: Path | None, watch: Watcher) -> tuple[Task, ...]:
    """The tasks of the plan, which must be what they were."""
    plan = folder.plan
    source = folder.contents.data
    suite, place = (
        (source, None) if source and is_file_suite(source) else (plan.suite, Path(source) if source else None)
    )
    loaded = load_suite(
        suite, variant=plan.variant, split=plan.split, data=data or place, limit=plan.limit, progress=watch.preparing
    )
    left_out = {row.id for row in folder.broken}
    tasks = tuple(task for task in loaded if task.id not in left_out)
    if tasks_hash(tasks) != plan.tasks_hash:
        raise SetupProblem(
            f"The tasks of {plan.suite!r} are no longer those that the evaluation {folder.name!r} began with: the "
            f"data, or how this version of Burnish reads it, has changed. Its finished attempts are kept. Name the "
            f"data it began with by --data DIR, or begin a new one: burnish eval {plan.suite}"
        )
    return tasks


def _refuse_another(model: Model, folder: Folder) -> None:
    """One table, one model on one engine: the same weights answer differently elsewhere.

    An engine may have more to say of itself once it is loaded; it is the same one as far as the shorter word goes.
    """
    plan = folder.plan
    begun, now = f"{plan.model} on {plan.engine}", f"{model.name} on {engine_of(model)}"
    if not begun.startswith(now) and not now.startswith(begun):
        raise SetupProblem(
            f"The evaluation {folder.name!r} began with {begun}, and this would be {now}; answers of both in one table "
            f"would compare nothing. Its finished attempts are kept. Go on with it where it began, or begin a new one: "
            f"burnish eval {plan.suite} --model {model.name}"
        )


def _source(suite: str, data: Path | None) -> str:
    """Where the tasks came from, said so that it holds in any folder."""
    if is_file_suite(suite):
        return str(Path(suite).expanduser().absolute())
    return str(data.expanduser().absolute()) if data else ""
