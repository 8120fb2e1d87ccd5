"""How a run of `burnish fix` is taken up again: on the same file, as it was, in the same project."""

from pathlib import Path

from burnish.agent.limits import Limits
from burnish.checks.bench.bench import fingerprint
from burnish.checks.bench.fault_localisation import OriginalRun
from burnish.checks.bench.project_finder import find_project
from burnish.errors import SetupProblem
from burnish.events import PackagesAdded
from burnish.models.names import Models
from burnish.packages import Budget
from burnish.runs import Run, Store, Watch
from burnish.tasks import Task
from burnish.verbs.apply import facts_of, is_in_place
from burnish.verbs.fix import carried_out, delivered
from burnish.verbs.layers import add_recorded_layer
from burnish.verbs.plan import Plan
from burnish.verbs.target import read_target


def take_up(run: Run, model: Models, limits: Limits, store: Store, watch: Watch | None, sandbox: str) -> Run:
    """Go on with a repair; refused when the file is not what it was when the run began, nor what the run made of it."""
    if facts_of(run).get("apply") and is_in_place(run):
        return delivered(run, True, store, watch)
    plan = plan_of(run, Budget.within(limits.seconds))
    settings, apply = run.started.settings, bool(facts_of(run).get("apply"))
    more = {"limits": limits, "replay": run.events, "allow_packages": settings.get("allow_packages", ())}
    return carried_out(plan, model, apply, store, watch, sandbox=sandbox, **more)


def plan_of(run: Run, bounds: Budget | None = None) -> Plan:
    """What was to be done, from the record; nothing is looked at anew but the file itself."""
    facts = facts_of(run)
    target = read_target(str(facts["file"]))
    if target.sha256 != facts["sha256"]:
        raise SetupProblem(
            f"{target.path.name} has changed on disk since run {run.id!r} began: its answers are about another file. "
            f"Begin anew: burnish fix {target.path}"
        )
    source = Path(str(facts["name"]))
    root = target.path.parents[len(source.parts) - 1]
    project = find_project([target.path], [root / test for test in facts["tests"]], facts["python"])
    packages = run.last(PackagesAdded)
    project = add_recorded_layer(project, packages, bounds) if packages else project
    task = Task.model_validate(run.started.settings["task"])
    if fingerprint(project.root, task.project_tests, source) != task.project_files and task.project_files:
        raise SetupProblem(
            f"The tests have changed on disk since run {run.id!r} began: its results are about others. "
            f"Begin anew: burnish fix {target.path}"
        )
    before = OriginalRun(seconds=float(facts.get("test_seconds", 0.0)))
    return Plan(target, project, target.path.relative_to(project.root), task, before, tuple(facts.get("aside", ())))
