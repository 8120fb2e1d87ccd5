"""What `fix` is about to do, found out before the model is asked anything: the file, its tests, the broken function."""

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from burnish.checks.bench.bench import ProjectBench, UsualRun, fingerprint
from burnish.checks.bench.check_context import CheckContext
from burnish.checks.bench.fault_localisation import (
    DecidingTests,
    OriginalRun,
    choose_deciding,
    rank_functions,
    run_original,
)
from burnish.checks.bench.project_finder import find_project
from burnish.checks.bench.project_run import has_tests
from burnish.checks.missing_packages import find_missing_package, install_command
from burnish.checks.project import Project
from burnish.checks.suite import Suite
from burnish.checks.tests import describe_sharing
from burnish.commands.apply import fix_facts
from burnish.commands.layers import add_project_layer, add_recorded_layer
from burnish.commands.target import Target, check_writable, read_target
from burnish.errors import CheckError, SetupProblem
from burnish.events import FixFacts, Notice, PackagesAdded
from burnish.packages import Budget
from burnish.parsing import parse, try_parse
from burnish.runs import Run, Watch
from burnish.runs.emitter import notices_to
from burnish.tasks import Task
from burnish.tasks.contradiction import refuse_contradiction
from burnish.tasks.repair import docstring_of, examples_of, from_file, lines_of_body, repairable_names
from burnish.text import one_line

MOST_NAMED = 5


@dataclass(frozen=True)
class FixPlan:
    """What is to be done, decided before the model is asked anything."""

    target: Target
    project: Project
    source: Path
    task: Task
    before: OriginalRun = field(default_factory=OriginalRun)
    aside: tuple[str, ...] = ()
    """Tests that fail for reasons that the repair cannot reach."""
    failing: tuple[str, ...] = ()
    """Tests that decide and fail as long as nothing is repaired."""
    packages: tuple[str, ...] = ()
    """What was prepared for a project without an environment of its own."""
    nothing: str = ""
    """Why there is nothing to repair; empty when there is."""

    def settings(self, apply: bool) -> FixFacts:
        """What the run's record says of its file, enough to go on from."""
        return FixFacts(
            file=str(self.target.path),
            name=str(self.source),
            sha256=self.target.sha256,
            encoding=self.target.encoding,
            apply=apply,
            tests=tuple(str(test) for test in self.project.tests),
            python=str(self.project.python),
            test_seconds=self.before.seconds,
            aside=self.aside,
        )

    def bench(self, sandbox: str = "auto") -> ProjectBench:
        """Where versions of the file are tried."""
        before = self.before
        usual = UsualRun(before.seconds, before.slowest, tuple(self.failing))
        return ProjectBench(self.project, self.source, sandbox, usual)


@dataclass(frozen=True)
class FixAsked:
    """What is to be repaired, in the user's words."""

    path: Path | str
    tests: Sequence[Path | str] = ()
    spec: str = ""
    function: str | None = None
    apply: bool = False
    python: Path | str | None = None
    sandbox: str = "auto"
    packages: Sequence[str] = ()
    bounds: Budget | None = None
    """What preparing packages may take."""


def plan_fix(asked: FixAsked, watch: Watch | None = None) -> FixPlan:
    """Look at the file and at what its tests say of it. Raises SetupProblem for all that somebody can put right."""
    target = read_target(asked.path)
    if asked.apply:
        check_writable(target)
    if asked.function:
        from_file(target.text, asked.function)
    project = find_project([target.path], [str(test).partition("::")[0] for test in asked.tests], asked.python)
    project, layer = add_project_layer(project, asked.packages, notices_to(watch), asked.bounds)
    source = target.path.relative_to(project.root)
    packages = layer.asked if layer else ()
    plan = FixPlan(target, project, source, Task(id="fix", prompt=""), packages=packages)
    plan = replace(plan, before=_run_tests(plan, asked.sandbox, watch))
    _refuse_test_file(plan)
    name, suspects = _find_function(plan, asked)
    parses = try_parse(target.text) is not None
    count = choose_deciding(plan.before, name, _read_test_ids(asked.tests, project.root), parses=parses)
    files = fingerprint(project.root, count.deciding_tests, source)
    task = from_file(target.text, name, asked.spec, count.deciding_tests, tuple(suspects)).model_copy(
        update={"project_files": files, **({"packages": tuple(asked.packages)} if asked.packages else {})}
    )
    refuse_contradiction(task.visible_tests)
    why = _explain_nothing(plan, count, task, asked)
    return replace(plan, task=task, aside=count.aside, failing=count.failing, nothing=why)


def plan_again(run: Run, bounds: Budget | None = None) -> FixPlan:
    """What was to be done, from the record; nothing is looked at anew but the file itself.

    Raises SetupProblem when the file, or its tests, are not what they were when the run began.
    """
    facts = fix_facts(run)
    target = read_target(facts.file)
    if target.sha256 != facts.sha256:
        raise SetupProblem(
            f"{target.path.name} has changed on disk since run {run.id!r} began: its answers are about another file. "
            f"Begin anew: burnish fix {target.path}"
        )
    source = Path(facts.name)
    root = target.path.parents[len(source.parts) - 1]
    project = find_project([target.path], [root / test for test in facts.tests], facts.python)
    packages = run.last(PackagesAdded)
    project = add_recorded_layer(project, packages, bounds) if packages else project
    task = Task.model_validate(run.settings.task)
    if fingerprint(project.root, task.project_tests, source) != task.project_files and task.project_files:
        raise SetupProblem(
            f"The tests have changed on disk since run {run.id!r} began: its results are about others. "
            f"Begin anew: burnish fix {target.path}"
        )
    before = OriginalRun(seconds=facts.test_seconds)
    return FixPlan(target, project, target.path.relative_to(project.root), task, before, facts.aside)


def _run_tests(plan: FixPlan, sandbox: str, watch: Watch | None) -> OriginalRun:
    if not has_tests(plan.project):
        return OriginalRun()
    if watch:
        watch(Notice(text="running the project's tests as they are"))
    with CheckContext(plan.project, sandbox) as lab:
        try:
            return run_original(plan.project, lab, plan.source, plan.target.text)
        except CheckError as error:
            raise _not_run(str(error)) from error


def _not_run(why: str) -> SetupProblem:
    return SetupProblem(
        f"The tests of the project could not be run: {why}. Look at them by themselves: python -m pytest"
    )


def _refuse_test_file(plan: FixPlan) -> None:
    """Whatever a file is called: where pytest found a test in it, it is one."""
    source, found = plan.source, (*plan.before.failing, *plan.before.passing)
    names = [name for file, _, name in (test.partition("::") for test in found) if file == str(source)]
    inside = [name for name in names if "." not in name.partition("[")[0] and name != source.stem]
    if inside:  # the examples of docstrings have the module's name in theirs
        raise SetupProblem(
            f"{source} holds a test ({one_line(inside[0])}), and Burnish never changes a test. "
            f"Name the code that it tests: burnish fix FILE.py --tests {source}"
        )


def _read_test_ids(tests: Sequence[Path | str], root: Path) -> tuple[str, ...]:
    """The tests that were named, as pytest names them; nothing where only whole files and folders were."""
    if not any("::" in str(test) for test in tests):
        return ()
    parts = [str(test).partition("::") for test in tests]
    return tuple(f"{Path(os.path.abspath(file)).relative_to(root)}{mark}{rest}" for file, mark, rest in parts)  # noqa: PTH100


def _find_function(plan: FixPlan, asked: FixAsked) -> tuple[str, list[str]]:
    """The function to repair, and the others that may hold the bug."""
    text, named = plan.target.text, asked.function
    known, suspects = repairable_names(text), rank_functions(plan.before)
    if named:
        return named, [name for name in suspects if name != named]
    if len(known) == 1:
        return known[0], []
    if not known:
        raise SetupProblem(
            f"There is no function in {plan.source}, and functions are what is repaired. Name a file that has one."
        )
    if try_parse(text) is None:
        return _find_unparsed(text, known), []
    if suspects:
        return suspects[0], suspects[1:]
    if plan.before.failing or plan.before.broken:
        raise SetupProblem(_explain_unreachable(plan))
    return _find_by_words(plan, known, asked), []


def _find_unparsed(text: str, known: list[str]) -> str:
    """The function that the parser's complaint is about, else the one above it."""
    line = 1
    try:
        parse(text)
    except SyntaxError as error:
        line = error.lineno or 1
    except (ValueError, MemoryError, RecursionError):
        pass
    spans = {name: lines_of_body(text, name) or (0, 0) for name in known}
    inside = [name for name, (first, last) in spans.items() if first <= line <= last]
    above = [name for name, (first, _) in spans.items() if first <= line]
    return (inside or above or known)[-1]


def _explain_unreachable(plan: FixPlan) -> str:
    failed = {**plan.before.broken, **plan.before.failing}
    first = next(iter(failed.values()))
    if package := find_missing_package((test.message for test in failed.values()), plan.project):
        said = f"The tests of {plan.source} cannot be run: {package} is not installed"
        if plan.project.has_environment:
            return f"{said} in the project's environment. Type: {install_command(package, plan.project)}"
        names = shlex.quote(",".join([*plan.packages, package]))
        return f"{said}, and no environment of the project was found. Type: burnish fix {plan.source} --with {names}"
    said = one_line(first.message, 200).rstrip(".")
    many = "1 test fails" if len(failed) == 1 else f"{len(failed)} tests fail"
    return (
        f"{many}, but none of them runs a function of {plan.source}: {', '.join(list(failed)[:MOST_NAMED])}. "
        f"The first says: {said}. Name the file that is broken, or say what is wrong: "
        f'burnish fix {plan.source} --function NAME --spec "…"'
    )


def _find_by_words(plan: FixPlan, known: list[str], asked: FixAsked) -> str:
    """Where no test fails: the function that the spec speaks of, or whose own examples fail."""
    text, spec = plan.target.text, asked.spec
    spoken = [name for name in known if name.rpartition(".")[2] in spec.replace("(", " ").replace("`", " ").split()]
    if spoken:
        return spoken[0]
    if spec:
        raise SetupProblem(
            f"It is not clear which function the spec is about. Name it: --function {' or '.join(known[:MOST_NAMED])}"
        )
    with_examples = {name: tuple(examples_of(docstring_of(text, name), name)) for name in known}
    with plan.bench(asked.sandbox) as ground:
        for name, given in with_examples.items():
            if given and not ground.grade(text, Suite(entry_point=name, given=given)).all_passed:
                return name
    return known[0]


def _explain_nothing(plan: FixPlan, count: DecidingTests, task: Task, asked: FixAsked) -> str:
    """In one sentence, why there is nothing to repair; empty when something fails, or words ask for more."""
    if count.failing or try_parse(plan.target.text) is None:
        return ""
    if task.visible_tests:
        with plan.bench(asked.sandbox) as ground:
            suite = Suite(entry_point=task.entry_point, given=task.visible_tests)
            if not ground.grade(plan.target.text, suite).all_passed:
                return ""
    elif asked.spec:
        return ""
    if count.aside:
        raise SetupProblem(_explain_unreachable(plan))
    passing = len(count.deciding_tests) + len(task.visible_tests)
    if not passing and plan.before.problem:
        raise _not_run(plan.before.problem)
    if not passing:
        raise SetupProblem(
            f"There is no test of {plan.source}, no example and no spec, so nothing says what is wrong. "
            f'Say it: burnish fix {plan.source} --tests test_{plan.source.name}, or --spec "what it should do"'
        )
    said = "its test passes" if passing == 1 else f"all {passing} tests pass"
    return f"nothing to fix: {said} already{describe_sharing(passing, passing)}"
