"""`burnish.fix`: a file with a bug goes in, a tested repair of one function comes out. No test is ever touched."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from burnish.agent.limits import Limits
from burnish.attempt import attempt
from burnish.events import Applied, RunFinished, RunStarted, Stopped
from burnish.model_choice import open_chosen_models
from burnish.models.names import Models, default_names
from burnish.packages import Budget, parse_requirements
from burnish.runs import Run, Store, Watch
from burnish.verbs.apply import GOOD, save_diff
from burnish.verbs.apply import apply as apply_run
from burnish.verbs.plan import Plan, ground_of, plan_for
from burnish.version import __version__


def fix(
    path: Path | str,
    model: Models | None = None,
    *,
    tests: Sequence[Path | str] = (),
    spec: str = "",
    function: str | None = None,
    apply: bool = False,
    python: Path | str | None = None,
    limits: Limits | None = None,
    sandbox: str = "auto",
    store: Store | None = None,
    watch: Watch | None = None,
    packages: Sequence[str] = (),
    allow_packages: Sequence[str] = (),
) -> Run:
    """Repair one function of a file until its tests pass, and return the recorded run; `diff_of` tells the change.

    The project's tests decide, or those that `tests` name, with the examples in `spec` and in the docstring. Without
    `function` the one that failing tests point at is repaired. `model` is who answers, as in `write`. `apply` writes
    the file, its old content kept beside it. `packages` are third-party packages for a project that has no environment
    of its own, besides those that it requires; see `write`.
    """
    plan = plan_for(
        path,
        tests=tests,
        spec=spec,
        function=function,
        apply=apply,
        python=python,
        sandbox=sandbox,
        watch=watch,
        packages=parse_requirements(packages, allow_packages),
        bounds=Budget.within((limits or Limits()).seconds),
    )
    answering = model or default_names() if plan.nothing else open_chosen_models(model, limits, store)
    return repair(
        plan,
        answering,
        apply=apply,
        limits=limits,
        sandbox=sandbox,
        store=store,
        watch=watch,
        allow_packages=allow_packages,
    )


def repair(
    plan: Plan,
    model: Models,
    *,
    apply: bool = False,
    limits: Limits | None = None,
    sandbox: str = "auto",
    store: Store | None = None,
    watch: Watch | None = None,
    allow_packages: Sequence[str] = (),
) -> Run:
    """Do what the plan says. Where it says that there is nothing to do, nobody is asked: a name is model enough."""
    store = store or Store()
    if plan.nothing:
        return _nothing(plan, model, store, watch)
    facts = plan.settings(apply)
    more = {"limits": limits, "settings": facts, "allow_packages": allow_packages}
    return carried_out(plan, model, apply, store, watch, sandbox=sandbox, **more)


def carried_out(
    plan: Plan, model: Models, apply: bool, store: Store, watch: Watch | None, *, sandbox: str, **more: Any
) -> Run:
    """The agent at work in the project, and what it made delivered; `more` goes to the attempt as it is."""
    more |= {"sandbox": sandbox, "packages": plan.packages}
    with ground_of(plan, sandbox) as ground:
        run = attempt(plan.task, model, store=store, watch=watch, ground=ground, verb="fix", **more)
    return delivered(run, apply, store, watch)


def delivered(run: Run, apply: bool, store: Store, watch: Watch | None) -> Run:
    """The diff in the run's folder; and where that was asked for and the repair is good, the file in its place."""
    changed = bool(save_diff(run, store))
    good = run.verdict in GOOD and not run.last(Applied)
    return apply_run(run, store=store, watch=watch) if apply and good and changed else run


def _nothing(plan: Plan, model: Models, store: Store, watch: Watch | None) -> Run:
    """A run that ends where it begins; nobody was asked."""
    run_id, record = store.begin(plan.task.id)
    task = plan.task.model_dump(exclude={"hidden_tests", "gold"})
    events = (
        RunStarted(
            run_id=run_id,
            verb="fix",
            prompt=plan.task.prompt,
            model=_name(model),
            burnish=__version__,
            settings={"task": task, **plan.settings(False)},
        ),
        Stopped(reason="done", why=plan.nothing),
        RunFinished(verdict="proven", why=plan.nothing),
    )
    with record:
        for event in events:
            record.append(event)
            if watch:
                watch(event)
    return Run(events)


def _name(model: Models) -> str:
    if isinstance(model, str):
        return model
    several = model if isinstance(model, Sequence) else [model]
    return ",".join(one if isinstance(one, str) else one.name for one in several)
