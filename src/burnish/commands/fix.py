"""`burnish.fix`: a file with a bug goes in, a tested repair of one function comes out. No test is ever touched.

What is to be done is found out before the model is asked anything: the file, its tests, the broken function.
"""

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from burnish.agent.limits import Limits
from burnish.agent.questions import MOST_QUESTIONS, Answerer
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
from burnish.checks.project import Project
from burnish.checks.suite import Suite
from burnish.checks.tests import describe_sharing, find_missing_package, install_command
from burnish.commands.apply import GOOD, Target, check_writable, fix_facts, read_target, save_diff
from burnish.commands.apply import apply as apply_run
from burnish.commands.project_packages import add_project_layer, add_recorded_layer
from burnish.errors import CheckError, SetupProblem
from burnish.events import Applied, FixFacts, Notice, PackagesAdded
from burnish.model_choice import Opener, select_models
from burnish.models.names import Models
from burnish.packages import Budget, parse_requirements
from burnish.parsing import parse, try_parse
from burnish.runs import Run, Store, Watch
from burnish.runs.attempt import Resources, start
from burnish.runs.record import notices_to
from burnish.runs.request import Request
from burnish.tasks import Task
from burnish.tasks.examples import refuse_contradiction
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
class FixOptions:
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
    keep_thoughts: bool = False,
    settle: Answerer | None = None,
) -> Run:
    """Repair one function of a file until its tests pass, and return the recorded run; `diff_of` tells the change.

    The project's tests decide, or those that `tests` name, with the examples in `spec` and in the docstring. Without
    `function` the one that failing tests point at is repaired. `model` is who answers, as in `write`. `apply` writes
    the file, its old content kept beside it. `packages` are third-party packages for a project that has no environment
    of its own, besides those that it requires; see `write`, also for `keep_thoughts` and `settle`.
    """
    store, limits = store or Store(), limits or Limits()
    selection = select_models(model, limits, store)
    options = FixOptions(
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
    plan = plan_fix(options, watch)
    request = Request(
        task=plan.task,
        verb="fix",
        model=selection.names if plan.nothing else "",
        chosen=selection.why,
        limits=limits,
        sandbox=sandbox,
        packages=plan.packages,
        allow_packages=tuple(allow_packages),
        keep_thoughts=keep_thoughts,
        questions=MOST_QUESTIONS,
        nothing=plan.nothing,
        fix=plan.settings(apply and not plan.nothing),
    )
    if plan.nothing:  # nobody is asked: a name is model enough
        return start(request, Resources(store=store, watch=watch)).wait()
    return repair(plan, request, Resources(selection.open(opener), store, watch, settle=settle))


def repair(plan: FixPlan, request: Request, resources: Resources) -> Run:
    """The agent at work in the project, and what it made delivered."""
    with plan.bench(request.sandbox) as ground:
        run = start(request, replace(resources, ground=ground)).wait()
    return deliver(run, resources.store, resources.watch)


def deliver(run: Run, store: Store, watch: Watch | None) -> Run:
    """The diff in the run's folder; and where that was asked for and the repair is good, the file in its place."""
    changed = bool(save_diff(run, store))
    wanted = run.settings.fix is not None and run.settings.fix.apply
    good = run.verdict in GOOD and not run.last(Applied)
    return apply_run(run, store=store, watch=watch) if wanted and good and changed else run


def plan_fix(options: FixOptions, watch: Watch | None = None) -> FixPlan:
    """Look at the file and at what its tests say of it. Raises SetupProblem for all that somebody can put right."""
    target = read_target(options.path)
    if options.apply:
        check_writable(target)
    if options.function:
        from_file(target.text, options.function)
    project = find_project([target.path], [str(test).partition("::")[0] for test in options.tests], options.python)
    project, layer = add_project_layer(project, options.packages, notices_to(watch), options.bounds)
    source, before = target.path.relative_to(project.root), OriginalRun()
    if has_tests(project):
        if watch:
            watch(Notice(text="running the project's tests as they are"))
        with CheckContext(project, options.sandbox) as lab:
            try:
                before = run_original(project, lab, source, target.text)
            except CheckError as error:
                raise _explain_not_run(str(error)) from error
    packages = layer.asked if layer else ()
    plan = FixPlan(target, project, source, Task(id="fix", prompt=""), before, packages=packages)
    _refuse_test_file(plan)
    name, suspects = _find_function(plan, options)
    parses = try_parse(target.text) is not None
    named: tuple[str, ...] = ()
    if any("::" in str(test) for test in options.tests):  # else only whole files and folders were named
        for test in options.tests:
            file, mark, rest = str(test).partition("::")
            inside = Path(os.path.abspath(file)).relative_to(project.root)  # noqa: PTH100
            named += (f"{inside}{mark}{rest}",)
    count = choose_deciding(before, name, named, parses=parses)
    files = fingerprint(project.root, count.deciding_tests, source)
    task = from_file(target.text, name, options.spec, count.deciding_tests, tuple(suspects)).model_copy(
        update={"project_files": files, **({"packages": tuple(options.packages)} if options.packages else {})}
    )
    refuse_contradiction(task.visible_tests)
    why = _explain_nothing(plan, count, task, options)
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


def _explain_not_run(why: str) -> SetupProblem:
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


def _find_function(plan: FixPlan, options: FixOptions) -> tuple[str, list[str]]:
    """The function to repair, and the others that may hold the bug."""
    text, named = plan.target.text, options.function
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
        return _find_by_syntax_error(text, known), []
    if suspects:
        return suspects[0], suspects[1:]
    if plan.before.failing or plan.before.broken:
        raise SetupProblem(_explain_unreachable(plan))
    return _find_by_words(plan, known, options), []


def _find_by_syntax_error(text: str, known: list[str]) -> str:
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


def _find_by_words(plan: FixPlan, known: list[str], options: FixOptions) -> str:
    """Where no test fails: the function that the spec speaks of, or whose own examples fail."""
    text, spec = plan.target.text, options.spec
    spoken = [name for name in known if name.rpartition(".")[2] in spec.replace("(", " ").replace("`", " ").split()]
    if spoken:
        return spoken[0]
    if spec:
        raise SetupProblem(
            f"It is not clear which function the spec is about. Name it: --function {' or '.join(known[:MOST_NAMED])}"
        )
    with_examples = {name: tuple(examples_of(docstring_of(text, name), name)) for name in known}
    with plan.bench(options.sandbox) as ground:
        for name, given in with_examples.items():
            if given and not ground.grade(text, Suite(entry_point=name, given=given)).all_passed:
                return name
    return known[0]


def _explain_nothing(plan: FixPlan, count: DecidingTests, task: Task, options: FixOptions) -> str:
    """In one sentence, why there is nothing to repair; empty when something fails, or words ask for more."""
    if count.failing or try_parse(plan.target.text) is None:
        return ""
    if task.visible_tests:
        with plan.bench(options.sandbox) as ground:
            suite = Suite(entry_point=task.entry_point, given=task.visible_tests)
            if not ground.grade(plan.target.text, suite).all_passed:
                return ""
    elif options.spec:
        return ""
    if count.aside:
        raise SetupProblem(_explain_unreachable(plan))
    passing = len(count.deciding_tests) + len(task.visible_tests)
    if not passing and plan.before.problem:
        raise _explain_not_run(plan.before.problem)
    if not passing:
        raise SetupProblem(
            f"There is no test of {plan.source}, no example and no spec, so nothing says what is wrong. "
            f'Say it: burnish fix {plan.source} --tests test_{plan.source.name}, or --spec "what it should do"'
        )
    said = "its test passes" if passing == 1 else f"all {passing} tests pass"
    return f"nothing to fix: {said} already{describe_sharing(passing, passing)}"
