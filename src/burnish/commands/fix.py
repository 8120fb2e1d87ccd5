"""`burnish.fix`: a file with a bug goes in, a tested repair of one function comes out. No test is ever touched."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from burnish.agent.limits import Limits
from burnish.commands.answering import Opener, choose_answering
from burnish.commands.apply import GOOD, save_diff
from burnish.commands.apply import apply as apply_run
from burnish.commands.fix_plan import FixAsked, FixPlan, plan_fix
from burnish.events import Applied
from burnish.models.names import Models
from burnish.packages import Budget, parse_requirements
from burnish.runs import Run, Store, Watch
from burnish.runs.attempt import Resources, attempt
from burnish.runs.request import Request


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
    opener: Opener | None = None,
) -> Run:
    """Repair one function of a file until its tests pass, and return the recorded run; `diff_of` tells the change.

    The project's tests decide, or those that `tests` name, with the examples in `spec` and in the docstring. Without
    `function` the one that failing tests point at is repaired. `model` is who answers, as in `write`. `apply` writes
    the file, its old content kept beside it. `packages` are third-party packages for a project that has no environment
    of its own, besides those that it requires; see `write`.
    """
    store, limits = store or Store(), limits or Limits()
    answering = choose_answering(model, limits, store)
    asked = FixAsked(
        path=path,
        tests=tuple(tests),
        spec=spec,
        function=function,
        apply=apply,
        python=python,
        sandbox=sandbox,
        packages=parse_requirements(packages, allow_packages),
        bounds=Budget.within(limits.seconds),
    )
    plan = plan_fix(asked, watch)
    request = Request(
        task=plan.task,
        verb="fix",
        model=answering.names if plan.nothing else "",
        chosen=answering.why,
        limits=limits,
        sandbox=sandbox,
        packages=plan.packages,
        allow_packages=tuple(allow_packages),
        nothing=plan.nothing,
        fix=plan.settings(apply and not plan.nothing),
    )
    if plan.nothing:  # nobody is asked: a name is model enough
        return attempt(request, Resources(store=store, watch=watch))
    return repair(plan, request, Resources(answering.open(opener), store, watch))


def repair(plan: FixPlan, request: Request, resources: Resources) -> Run:
    """The agent at work in the project, and what it made delivered."""
    with plan.bench(request.sandbox) as ground:
        run = attempt(request, replace(resources, ground=ground))
    return deliver(run, resources.store, resources.watch)


def deliver(run: Run, store: Store, watch: Watch | None) -> Run:
    """The diff in the run's folder; and where that was asked for and the repair is good, the file in its place."""
    changed = bool(save_diff(run, store))
    wanted = run.settings.fix is not None and run.settings.fix.apply
    good = run.verdict in GOOD and not run.last(Applied)
    return apply_run(run, store=store, watch=watch) if wanted and good and changed else run
