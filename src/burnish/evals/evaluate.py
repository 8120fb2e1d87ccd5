"""From a suite's name to its numbers: load, validate, plan, run, report. The Python twin of `burnish eval`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from burnish.agent.limits import Limits, check_answer_fits, check_priced
from burnish.errors import SetupProblem
from burnish.evals.eval_store import PLAN_FILE, Folder, find_evaluation, new_path
from burnish.evals.replay import RecordedModel
from burnish.evals.reports.report import write_reports
from burnish.evals.runner import EvalProgress, name_engine, open_eval_sandbox, open_task_model, run_missing
from burnish.evals.schema import Asking, EvalLimits, LeftOut, Plan, Protocol, Results
from burnish.evals.strategies.kinds import check_answers, check_parts, find_strategy
from burnish.evals.suites import check_protocol, is_file_suite, load_suite, resolve_variant
from burnish.evals.validate import TIMEOUT_SECONDS, hash_tasks, validate
from burnish.events import PROVEN
from burnish.models.catalog import DEFAULT_MODEL
from burnish.models.model import Model
from burnish.models.names import AUTO, default_names
from burnish.paths import describe_origin
from burnish.report.deliverables import check_free
from burnish.runs.attempt import Resources
from burnish.sandbox.open import choose_resumed_sandbox
from burnish.tasks.task import EvalSplit, Task


def evaluate(
    suite: str,
    model: Model | str | None = None,
    *,
    strategy: str = "burnish",
    rounds: int = 5,
    protocol: Protocol = "visible",
    ask: Asking = "auto",
    variant: str = "",
    split: EvalSplit = "eval",
    limit: int | None = None,
    seeds: Sequence[int] = (0,),
    temperature: float | None = None,
    without: Sequence[str] = (),
    answers: int = 0,
    confidence: float = PROVEN,
    max_tokens: int | None = None,
    thinking: int | None = None,
    timeout_seconds: float | None = None,
    limits: EvalLimits | None = None,
    at_once: int = 0,
    data: Path | str | None = None,
    out: Path | str | None = None,
    sandbox: str = "auto",
    watch: EvalProgress | None = None,
) -> Results:
    """Measure a model and a strategy on a suite, and return the results; reports lie in the evaluation's folder.

    Each finished attempt is on disk at once. An `out` that holds this very evaluation is gone on with, also with more
    seeds than it has. `max_tokens` and `thinking` are for one answer, as in `Limits`; `limits` are for all of it, and
    `timeout_seconds` for the tests of a task. `answers` is how many questions about what versions disagree on the
    reference may answer, in a user's place.
    """
    watch, data = watch or EvalProgress(), Path(data) if data else None
    model = default_names() if model is None else model
    _refuse_auto(model, suite)
    find_strategy(strategy)
    variant = resolve_variant(suite, variant)
    check_protocol(suite, protocol)
    tasks = load_suite(suite, variant=variant, split=split, data=data, progress=watch.on_prepare)[:limit]
    folder = Path(out).expanduser().absolute() if out else None
    if folder and not (folder / PLAN_FILE).exists():
        check_free(folder)
    answering = open_task_model(model, watch.on_fetch) if isinstance(model, str) else model
    check_answer_fits(Limits(max_tokens=max_tokens, thinking=thinking), [answering])
    if limits:
        check_priced(Limits(dollars=limits.dollars), answering.name)
    plan = Plan(
        suite=suite,
        variant=variant,
        split=split,
        limit=limit,
        model=answering.name,
        engine=name_engine(answering),
        strategy=strategy,
        protocol=protocol,
        ask=ask,
        rounds=rounds,
        temperature=temperature,
        without=check_parts(without, strategy),
        answers=check_answers(answers, strategy),
        confidence=confidence,
        left_out=getattr(find_strategy(strategy), "left_out", ()),
        max_tokens=max_tokens,
        thinking=thinking,
        timeout_seconds=timeout_seconds,
        seeds=tuple(seeds),
        at_once=at_once,
        sandbox=sandbox,
    )
    # Absolute, so that it holds in any folder.
    source = Path(suite) if is_file_suite(suite) else data
    place = str(source.expanduser().absolute()) if source else ""
    with open_eval_sandbox(answering, sandbox) as box:
        valid, broken = validate(tasks, box, watch.on_prepare, timeout_seconds or TIMEOUT_SECONDS)
        if not valid:
            why = f" The first, {broken[0].id!r}: {broken[0].why}." if broken else ""
            raise SetupProblem(
                f"No row of {suite!r} can be used.{why} See what a suite must hold with: burnish eval list"
            )
        answering.warm_up()
        watch.raise_if_stopped()
        begun = _create_folder(plan, valid, broken, folder, data=place)
        shared = Resources([answering], sandbox=box, cancel=watch.cancel)
        return _run_folder(begun, valid, shared, watch, seeds, limits)


def replay(
    name: str,
    *,
    suite: str = "",
    data: Path | str | None = None,
    out: Path | str | None = None,
    watch: EvalProgress | None = None,
    **changes: Any,
) -> Results:
    """Judge the answers that an evaluation recorded by another policy; no model is asked. See `evals.replay`.

    `changes` are settings of the plan that shall differ from the recorded one: strategy, without, rounds, seeds, limit…
    """
    watch, source = watch or EvalProgress(), Folder.open(find_evaluation(name))
    recorded = source.plan
    asked = {"suite": suite, "variant": changes.pop("variant", ""), "split": changes.pop("split", "")}
    for field, value in asked.items():
        is_place = field == "suite" and value and str(Path(value).expanduser().absolute()) == source.contents.data
        if value and value != getattr(recorded, field) and not is_place:
            raise SetupProblem(
                f"The evaluation {source.name!r} recorded the {field} {getattr(recorded, field)!r}, not {value!r}, so "
                f"it has no answers for that. Type: burnish eval {recorded.suite} --replay {source.name}"
            )
    if more := [seed for seed in changes.get("seeds", ()) if seed not in recorded.seeds]:
        raise SetupProblem(
            f"The evaluation {source.name!r} recorded no seed {more[0]}. Record it first: "
            f"burnish eval resume {source.name} --seed {more[0]}"
        )
    strategy, limit = changes.get("strategy", recorded.strategy), changes.get("limit")
    find_strategy(strategy)
    check_protocol(recorded.suite, changes.get("protocol", recorded.protocol))
    tasks = _reload_tasks(source, Path(data) if data else None, watch)[:limit]
    without = changes.get("without", recorded.without if strategy == recorded.strategy else ())
    own = {
        "without": check_parts(without, strategy),
        "answers": check_answers(changes.get("answers", recorded.answers), strategy),
        "left_out": getattr(find_strategy(strategy), "left_out", ()),
        "limit": min(filter(None, (limit, recorded.limit)), default=None),
        "replayed": source.path.name,
    }
    plan = Plan.model_validate({**recorded.model_dump(), "sandbox": "auto", **changes, **own})
    model = RecordedModel(source)
    with open_eval_sandbox(model, plan.sandbox) as box:
        folder = _create_folder(
            plan,
            tasks,
            source.broken,
            Path(out) if out else None,
            data=source.contents.data,
            replay_source=str(source.path),
        )
        return _run_folder(folder, tasks, Resources([model], sandbox=box, cancel=watch.cancel), watch, plan.seeds)


def resume(
    name: str,
    *,
    seeds: Sequence[int] = (),
    limits: EvalLimits | None = None,
    model: Model | None = None,
    data: Path | str | None = None,
    watch: EvalProgress | None = None,
    sandbox: str | None = None,
) -> Results:
    """Make the attempts that an evaluation still lacks, and write its reports anew. Finished ones stay as they are.

    `seeds` are added to those that it has; each of `limits` takes the place of the one before. The sandbox is the
    plan's unless named; one without isolation has to be named.
    """
    watch, data = watch or EvalProgress(), Path(data) if data else None
    folder = Folder.open(find_evaluation(name))
    sandbox = choose_resumed_sandbox(sandbox, folder.plan.sandbox, f"burnish eval resume {folder.name}")
    if limits:
        check_priced(Limits(dollars=limits.dollars), folder.plan.model)
    with folder.lock():
        folder.extend(seeds, limits)
        if len(folder.finished_attempts()) == folder.total:
            watch.on_begin(folder)
            return write_reports(folder)
        tasks = _reload_tasks(folder, data, watch)
        if place := folder.contents.replay_source:
            model = RecordedModel(Folder.open(Path(place)))
        answering = model or open_task_model(folder.plan.model, watch.on_fetch)
        _check_same_model(answering, folder)
        with open_eval_sandbox(answering, sandbox) as box:
            answering.warm_up()
            run_missing(folder, tasks, Resources([answering], sandbox=box, cancel=watch.cancel), watch)
        watch.raise_if_stopped()
        return write_reports(folder)


def _refuse_auto(model: Model | str, suite: str) -> None:
    """A table says who was measured, so somebody has to be named."""
    if isinstance(model, str) and AUTO in [part.strip() for part in model.split(",")]:
        raise SetupProblem(
            f"An evaluation measures one model, and {model!r} names none for sure. Name one of those that `burnish"
            f" models` lists: burnish eval {suite} --model {DEFAULT_MODEL}"
        )


def _create_folder(
    plan: Plan, tasks: Sequence[Task], broken: Sequence[LeftOut], out: Path | None, **places: str
) -> Folder:
    """The folder of an evaluation that begins here and now, with its plan; `places` as for `Folder.create`."""
    origin = describe_origin()
    plan = plan.model_copy(
        update={"tasks_hash": hash_tasks(tasks), "commit": origin["commit"], "machine": origin["machine"]}
    )
    path = out or new_path(f"{Path(plan.suite).stem} {plan.strategy} {plan.model.partition(':')[2]}")
    return Folder.create(path, plan, tasks, broken, **places)


def _run_folder(
    folder: Folder,
    tasks: Sequence[Task],
    resources: Resources,
    watch: EvalProgress,
    seeds: Sequence[int],
    limits: EvalLimits | None = None,
) -> Results:
    """Make every attempt that is missing, and write the reports."""
    with folder.lock():
        folder.extend(seeds, limits)
        run_missing(folder, tasks, resources, watch)
        watch.raise_if_stopped()
        return write_reports(folder)


def _reload_tasks(folder: Folder, data: Path | None, watch: EvalProgress) -> tuple[Task, ...]:
    """The tasks of the plan, which must be what they were."""
    plan, source = folder.plan, folder.contents.data
    suite = plan.suite
    if source and is_file_suite(source):
        suite = source
    elif source:
        data = data or Path(source)
    loaded = load_suite(suite, variant=plan.variant, split=plan.split, data=data, progress=watch.on_prepare)
    left_out = {row.id for row in folder.broken}
    tasks = tuple(task for task in loaded[: plan.limit] if task.id not in left_out)
    if hash_tasks(tasks) != plan.tasks_hash:
        raise SetupProblem(
            f"The tasks of {plan.suite!r} are no longer those that the evaluation {folder.name!r} began with: the "
            f"data, or how this version of Burnish reads it, has changed. Its finished attempts are kept. Name the "
            f"data it began with by --data DIR, or begin a new one: burnish eval {plan.suite}"
        )
    return tasks


def _check_same_model(model: Model, folder: Folder) -> None:
    """One table, one model on one engine: the same weights answer differently elsewhere.

    An engine may have more to say of itself once it is loaded; it is the same one as far as the shorter word goes.
    """
    plan = folder.plan
    begun, now = f"{plan.model} on {plan.engine}", f"{model.name} on {name_engine(model)}"
    if not begun.startswith(now) and not now.startswith(begun):
        raise SetupProblem(
            f"The evaluation {folder.name!r} began with {begun}, and this would be {now}; answers of both in one table "
            f"would compare nothing. Its finished attempts are kept. Go on with it where it began, or begin a new one: "
            f"burnish eval {plan.suite} --model {model.name}"
        )
