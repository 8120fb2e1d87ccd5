"""What `fix` is about to do, found out before the model is asked anything: the file, its tests, the broken function."""

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
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
from burnish.errors import CheckError, SetupProblem
from burnish.events import Notice
from burnish.packages import Budget
from burnish.parsing import explain_syntax_error, try_parse
from burnish.runs import Watch
from burnish.runs.voice import noticing
from burnish.tasks import Task
from burnish.tasks.contradiction import refuse_contradiction
from burnish.tasks.repair import docstring_of, examples_of, from_file, lines_of_body, repairable_names
from burnish.text import one_line
from burnish.verbs.layers import add_project_layer
from burnish.verbs.target import Target, must_be_writable, read_target

MOST_NAMED = 5


@dataclass(frozen=True)
class Plan:
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

    def settings(self, apply: bool) -> dict[str, object]:
        """What the run's record says of its file, enough to go on from."""
        return {
            "fix": {
                "file": str(self.target.path),
                "name": str(self.source),
                "sha256": self.target.sha256,
                "encoding": self.target.encoding,
                "apply": apply,
                "tests": [str(test) for test in self.project.tests],
                "python": str(self.project.python),
                "test_seconds": self.before.seconds,
                "aside": list(self.aside),
            }
        }


def ground_of(plan: Plan, sandbox: str = "auto") -> ProjectBench:
    """Where the versions of a plan are tried."""
    usual = UsualRun(plan.before.seconds, plan.before.slowest, tuple(plan.failing))
    return ProjectBench(plan.project, plan.source, sandbox, usual)


def plan_for(
    path: Path | str,
    *,
    tests: Sequence[Path | str] = (),
    spec: str = "",
    function: str | None = None,
    apply: bool = False,
    python: Path | str | None = None,
    sandbox: str = "auto",
    watch: Watch | None = None,
    packages: Sequence[str] = (),
    bounds: Budget | None = None,
) -> Plan:
    """Look at the file and at what its tests say of it. Raises SetupProblem for all that somebody can put right.

    `bounds` are for the packages, if there are any to prepare.
    """
    target = read_target(path)
    if apply:
        must_be_writable(target)
    if function:
        from_file(target.text, function)
    project = find_project([target.path], [str(test).partition("::")[0] for test in tests], python)
    project, layer = add_project_layer(project, packages, noticing(watch), bounds)
    source = target.path.relative_to(project.root)
    looked = Plan(target, project, source, Task(id="fix", prompt=""), packages=layer.asked if layer else ())
    before = _looked(looked, sandbox, watch)
    _must_hold_no_test(source, before)
    chosen = _chosen(tests, project.root)
    name, suspects = _function(looked, before, function, spec, sandbox)
    count = choose_deciding(before, name, chosen, parses=try_parse(target.text) is not None)
    files = fingerprint(project.root, count.deciding_tests, source)
    task = from_file(target.text, name, spec, count.deciding_tests, tuple(suspects)).model_copy(
        update={"project_files": files, **({"packages": tuple(packages)} if packages else {})}
    )
    refuse_contradiction(task.visible_tests)
    why = _why_nothing(looked, before, count, task, spec, sandbox)
    return Plan(target, project, source, task, before, count.aside, count.failing, layer.asked if layer else (), why)


def _looked(plan: Plan, sandbox: str, watch: Watch | None) -> OriginalRun:
    if not has_tests(plan.project):
        return OriginalRun()
    if watch:
        watch(Notice(text="running the project's tests as they are"))
    with CheckContext(plan.project, sandbox) as lab:
        try:
            return run_original(plan.project, lab, plan.source, plan.target.text)
        except CheckError as error:
            raise SetupProblem(_not_run(str(error))) from error


def _not_run(why: str) -> str:
    return f"The tests of the project could not be run: {why}. Look at them by themselves: python -m pytest"


def _must_hold_no_test(source: Path, before: OriginalRun) -> None:
    """Whatever a file is called: where pytest found a test in it, it is one."""
    names = [test.partition("::")[2] for test in (*before.failing, *before.passing) if _file(test) == str(source)]
    inside = [name for name in names if "." not in name.partition("[")[0] and name != source.stem]
    if inside:  # the examples of docstrings have the module's name in theirs
        raise SetupProblem(
            f"{source} holds a test ({one_line(inside[0])}), and Burnish never changes a test. "
            f"Name the code that it tests: burnish fix FILE.py --tests {source}"
        )


def _file(test: str) -> str:
    return test.partition("::")[0]


def _chosen(tests: Sequence[Path | str], root: Path) -> tuple[str, ...]:
    """The tests that were named, as pytest names them; nothing where only whole files and folders were."""
    if not any("::" in str(test) for test in tests):
        return ()
    parts = [str(test).partition("::") for test in tests]
    return tuple(f"{Path(os.path.abspath(file)).relative_to(root)}{mark}{rest}" for file, mark, rest in parts)  # noqa: PTH100


def _function(plan: Plan, before: OriginalRun, named: str | None, spec: str, sandbox: str) -> tuple[str, list[str]]:
    """The function to repair, and the others that may hold the bug."""
    text = plan.target.text
    known, suspects = repairable_names(text), rank_functions(before)
    if named:
        return named, [name for name in suspects if name != named]
    if len(known) == 1:
        return known[0], []
    if not known:
        raise SetupProblem(
            f"There is no function in {plan.source}, and functions are what is repaired. Name a file that has one."
        )
    if problem := explain_syntax_error(text):
        return _at_fault(text, known, problem), []
    if suspects:
        return suspects[0], suspects[1:]
    if before.failing or before.broken:
        raise SetupProblem(_unreachable(plan, before))
    return _by_its_words(plan, known, spec, sandbox), []


def _at_fault(text: str, known: list[str], problem: str) -> str:
    """The function that the parser's complaint is about, else the one above it."""
    line = (
        int(problem.split()[1].rstrip(":")) if problem.startswith("line ") and problem.split()[1][:-1].isdigit() else 1
    )
    spans = {name: lines_of_body(text, name) or (0, 0) for name in known}
    inside = [name for name, (first, last) in spans.items() if first <= line <= last]
    above = [name for name, (first, _) in spans.items() if first <= line]
    return (inside or above or known)[-1]


def _unreachable(plan: Plan, before: OriginalRun) -> str:
    failed = {**before.broken, **before.failing}
    first = next(iter(failed.values()))
    if package := find_missing_package((test.message for test in failed.values()), plan.project):
        return _lacking(plan, package)
    said = one_line(first.message, 200).rstrip(".")
    many = "1 test fails" if len(failed) == 1 else f"{len(failed)} tests fail"
    return (
        f"{many}, but none of them runs a function of {plan.source}: {', '.join(list(failed)[:MOST_NAMED])}. "
        f"The first says: {said}. Name the file that is broken, or say what is wrong: "
        f'burnish fix {plan.source} --function NAME --spec "…"'
    )


def _lacking(plan: Plan, package: str) -> str:
    """What to type where tests fail for want of a package."""
    said = f"The tests of {plan.source} cannot be run: {package} is not installed"
    if plan.project.has_environment:
        return f"{said} in the project's environment. Type: {install_command(package, plan.project)}"
    names = shlex.quote(",".join([*plan.packages, package]))
    return f"{said}, and no environment of the project was found. Type: burnish fix {plan.source} --with {names}"


def _by_its_words(plan: Plan, known: list[str], spec: str, sandbox: str) -> str:
    """Where no test fails: the function that the spec speaks of, or whose own examples fail."""
    text = plan.target.text
    spoken = [name for name in known if name.rpartition(".")[2] in spec.replace("(", " ").replace("`", " ").split()]
    if spoken:
        return spoken[0]
    if spec:
        raise SetupProblem(
            f"It is not clear which function the spec is about. Name it: --function {' or '.join(known[:MOST_NAMED])}"
        )
    with_examples = {name: tuple(examples_of(docstring_of(text, name), name)) for name in known}
    with ground_of(plan, sandbox) as ground:
        for name, given in with_examples.items():
            if given and not ground.grade(text, Suite(entry_point=name, given=given)).all_passed:
                return name
    return known[0]


def _why_nothing(plan: Plan, before: OriginalRun, count: DecidingTests, task: Task, spec: str, sandbox: str) -> str:
    """In one sentence, why there is nothing to repair; empty when something fails, or words ask for more."""
    if count.failing or explain_syntax_error(plan.target.text):
        return ""
    if task.visible_tests:
        with ground_of(plan, sandbox) as ground:
            suite = Suite(entry_point=task.entry_point, given=task.visible_tests)
            if not ground.grade(plan.target.text, suite).all_passed:
                return ""
    elif spec:
        return ""
    if count.aside:
        raise SetupProblem(_unreachable(plan, before))
    passing = len(count.deciding_tests) + len(task.visible_tests)
    if not passing and before.problem:
        raise SetupProblem(_not_run(before.problem))
    if not passing:
        raise SetupProblem(
            f"There is no test of {plan.source}, no example and no spec, so nothing says what is wrong. "
            f'Say it: burnish fix {plan.source} --tests test_{plan.source.name}, or --spec "what it should do"'
        )
    said = "its test passes" if passing == 1 else f"all {passing} tests pass"
    return f"nothing to fix: {said} already{describe_sharing(passing, passing)}"
