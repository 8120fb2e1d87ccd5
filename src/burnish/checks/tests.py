"""The tests check: the one caller of `sandbox.grade`. What it says is what evals count and training rewards.

A version of a task meets the task's suite (`TestsCheck`). A project meets its own suite, three times in three orders,
or a command of the user's whose exit code decides; what `write` made is graded apart from its tests (`TestsOfProject`).
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from typing import Protocol

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.bench.project_run import (
    PASSING,
    CaseReport,
    SuiteRun,
    has_tests,
    import_paths,
    read_run,
    run_job,
    run_suite,
)
from burnish.checks.check import DetailRow, Details, Finding
from burnish.checks.missing_packages import explain_install, find_missing_package
from burnish.checks.project import Project
from burnish.checks.suite import Suite
from burnish.errors import CheckError, SandboxError
from burnish.events import Case, Evidence, Graded, Outcome
from burnish.sandbox.sandbox import Sandbox
from burnish.tasks.sentence import AskedKinds
from burnish.text import every, one_line, plural

TIMEOUT_SECONDS = 5.0
SEEDS = (1, 2)
"""The random orders that are tried after the project's own; always the same, so that a verdict can be had again."""
NO_TESTS = "no tests were found; write some in tests/, or name them with --tests"
MOST_NAMED, MOST_SLOW = 3, 10
CODE, TESTS = Path("solution.py"), Path("test_solution.py")
"""The files of what `write` makes."""
CANNOT_RUN = (126, 127)
"""How a shell says that there is no such command, or that it may not be run."""


class CaseRow(DetailRow):
    """One test of a project, as details list it."""

    id: str
    outcome: str
    seconds: float


class SlowCase(DetailRow):
    """One of the slowest tests."""

    id: str
    seconds: float


class SeededRun(DetailRow):
    """One run of the suite; seed 0 is the project's own order."""

    seed: int
    seconds: float


class SuiteDetails(Details):
    """What the tests check found: `cases` of a task's suite, `tests` of a project's."""

    cases: tuple[Case, ...] = ()
    tests: tuple[CaseRow, ...] = ()
    slowest: tuple[SlowCase, ...] = ()
    flaky: tuple[str, ...] = ()
    runs: tuple[SeededRun, ...] = ()
    command: tuple[str, ...] = ()
    seconds: float = 0.0
    printed: str = ""
    """The end of the output, when something went wrong."""
    separated: bool = True
    """Whether the code ran apart from its tests."""
    shared: int | None = None
    """How many tests shared its process; None in old records, which do not say."""
    sandbox: str = ""


def grade(code: str, suite: Suite, sandbox: Sandbox, disputed: tuple[str, ...] = ()) -> Graded:
    """Every undisputed test of the suite against the code."""
    return grade_script(code, suite.render(disputed), sandbox, TIMEOUT_SECONDS, suite.kinds)


def grade_script(
    code: str, tests: str, sandbox: Sandbox, timeout_seconds: float = TIMEOUT_SECONDS, kinds: AskedKinds = ()
) -> Graded:
    """Tests as a benchmark ships them, a pytest file or a script of asserts, against a whole module."""
    return sandbox.grade(code, tests, timeout_seconds=timeout_seconds, kinds=dict(kinds))


def describe_sharing(shared: int, total: int, whole: str = "they") -> str:
    """How many tests shared a process with the code, to be put behind what they said; empty where none did."""
    if not shared:
        return ""
    who = whole if shared >= total else f"{shared} of them"
    return f"; {who} shared a process with the code, which could have fooled them"


class Grader(Protocol):
    """A place where a whole module meets its tests. Code runs in the sandbox behind it and nowhere else."""

    level: str
    """One line for reports: which protections are active."""

    def grade(self, module: str, suite: Suite, disputed: tuple[str, ...] = ()) -> Graded:
        """What every undisputed test says about the module. Raises SandboxError."""
        ...


class TestsCheck:
    """Do all undisputed tests pass, run once more from the final files?"""

    __test__ = False
    name = "tests"

    def __init__(self, disputed: tuple[str, ...] = ()) -> None:
        self.disputed = disputed

    def judge(self, code: str, suite: Suite, grader: Grader) -> Evidence:
        """Passed only if there was a test and every one passed."""
        try:
            graded = grader.grade(code, suite, self.disputed)
        except SandboxError as error:
            return Evidence(check=self.name, verdict="not_run", why=str(error))
        verdict: Outcome = "passed" if graded.all_passed else "failed" if graded.cases or graded.problem else "not_run"
        details = SuiteDetails(
            cases=graded.cases,
            separated=graded.separated,
            shared=graded.shared,
            sandbox=grader.level,
            seconds=round(graded.seconds, 3),
        )
        return Evidence(check=self.name, verdict=verdict, why=_explain_graded(graded), details=details.dump())


def _explain_graded(graded: Graded) -> str:
    if not graded.cases:
        return graded.problem or "there is no test"
    failed = len(graded.cases) - graded.passed
    said = f"{every(graded.passed, 'test')} passed"
    if failed:
        said = f"{plural(graded.passed, 'test')} passed, {failed} failed"
    said += describe_sharing(graded.shared, len(graded.cases))
    return f"{said}; {graded.problem}" if graded.problem else said


class TestsOfProject:
    """Do all tests pass, whatever their order?"""

    __test__ = False
    name = "tests"

    def judge(self, project: Project, context: CheckContext) -> Evidence:
        """Passed only if there was a test, every one passed, each time."""
        if project.test_command:
            return _judge_command(project, context)
        if project.generated and project.sources == (CODE,) and project.tests == (TESTS,):
            return _judge_isolated(project, context)
        if not has_tests(project):
            return Evidence(check=self.name, verdict="not_run", why=NO_TESTS)
        return _judge_suite(project, context)


def _judge_suite(project: Project, context: CheckContext) -> Evidence:
    """The suite in its own order, then in random ones; not when the first run was broken off, ran nothing, or took
    long.
    """
    runs = [run_suite(project, context)]
    first = runs[0]
    context.tell(1, 1 + len(SEEDS))
    has_run = first.counted("failed", *PASSING)
    if not first.problem and has_run and first.seconds <= project.settings.test_seconds / 3:
        with ThreadPoolExecutor(len(SEEDS)) as pool:  # at once: they wait for a cell, not for us
            runs += pool.map(lambda seed: run_suite(project, context, seed), SEEDS)
    context.tell(1 + len(SEEDS), 1 + len(SEEDS))
    flaky = find_flaky([{test.id: test.outcome for test in run.tests.values()} for run in runs])
    verdict, why = _decide(runs, flaky)
    if package := find_missing_package((test.message for test in first.failures), project):
        why += f"; {package} is not installed: {explain_install(package, project)}"
    counts = {
        "passed": first.counted(*PASSING),
        "failed": len(first.failures),
        "skipped": first.counted("skipped"),
        "not run": sum(name not in first.tests for name in first.plan),
    }
    rows = [CaseRow(id=test.id, outcome=test.outcome, seconds=test.seconds) for test in first.tests.values()]
    details = SuiteDetails(
        findings=tuple(find_failures(first, flaky, context.root)),
        tests=tuple(rows),
        slowest=_slowest(rows),
        flaky=tuple(flaky),
        runs=tuple(SeededRun(seed=seed, seconds=run.seconds) for seed, run in zip((0, *SEEDS), runs, strict=False)),
        seconds=round(sum(run.seconds for run in runs), 3),
        printed=first.printed if verdict != "passed" else "",
        separated=False,
        shared=len(first.tests),
        sandbox=context.sandbox.level,
    )
    return _evidence(verdict, why, counts, details)


def _judge_isolated(project: Project, context: CheckContext) -> Evidence:
    """Grade generated code three times, apart from its tests, as the sandbox grades: it cannot reach its judge."""
    code, tests = project.text(CODE), project.text(TESTS)
    runs = []
    for number in range(1 + len(SEEDS)):
        runs.append(grade_script(code, tests, context.sandbox))
        context.tell(number + 1, 1 + len(SEEDS))
    first = runs[0]
    flaky = find_flaky([{case.name: case.outcome for case in run.cases} for run in runs])
    verdict, why = _decide_isolated(first, flaky)
    skipped = sum(case.outcome == "not_run" for case in first.cases)
    counts = {"passed": first.passed, "failed": len(first.cases) - first.passed - skipped, "skipped": skipped}
    bad = [case for case in first.cases if case.outcome == "failed" or case.name in flaky]
    rows = [CaseRow(id=case.name, outcome=case.outcome, seconds=case.seconds) for case in first.cases]
    details = SuiteDetails(
        findings=tuple(
            Finding(file=str(TESTS), what=f"{case.name} failed: {one_line(case.message, 300)}", rule="failed")
            for case in bad
        ),
        tests=tuple(rows),
        slowest=_slowest(rows),
        flaky=tuple(flaky),
        seconds=round(sum(run.seconds for run in runs), 3),
        separated=all(run.separated for run in runs),
        shared=first.shared,
        sandbox=context.sandbox.level,
    )
    return _evidence(verdict, why, counts, details)


def _judge_command(project: Project, context: CheckContext) -> Evidence:
    """Passed when the command left with 0. Run once: nothing is known of the tests in it."""
    environment = {
        "PATH": f"{os.path.dirname(context.python)}:/usr/local/bin:/usr/bin:/bin",  # noqa: PTH120
        "PYTHONPATH": os.pathsep.join(import_paths(project, context)),
        "PYTEST_ADDOPTS": "-p no:cacheprovider",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    job = {"command": list(project.test_command), "environment": environment, "seconds": project.settings.test_seconds}
    run = read_run(*run_job(project, context, job))
    lines = [line for line in run.printed.splitlines() if line.strip()]
    last = one_line(lines[-1], 200) if lines else "it said nothing"
    if run.exit in CANNOT_RUN:
        raise CheckError(f"the test command could not be run: {last}")
    why = run.problem
    if run.exit == 0:
        why = f"the test command left with exit code 0; single tests are not known{describe_sharing(1, 1)}"
    elif run.exit > 0:
        why = f"the test command left with exit code {run.exit}: {last}"
    details = SuiteDetails(
        findings=(),
        tests=(),
        command=project.test_command,
        printed=run.printed,
        seconds=run.seconds,
        separated=False,
        shared=1,
        sandbox=context.sandbox.level,
    )
    return Evidence(
        check=TestsOfProject.name,
        verdict="passed" if run.exit == 0 else "failed",
        why=why,
        figure=f"exit code {run.exit}" if run.exit >= 0 else "ended",
        threshold="exit code 0",
        details=details.dump(),
    )


def _evidence(verdict: Outcome, why: str, counts: Mapping[str, int], details: SuiteDetails) -> Evidence:
    """An answer with how many tests ended how: "214 passed, 1 failed, 2 skipped"."""
    return Evidence(
        check=TestsOfProject.name,
        verdict=verdict,
        why=why,
        figure=", ".join(f"{count} {name}" for name, count in counts.items() if count) or "none",
        threshold="all pass",
        details=details.dump(),
    )


def _slowest(rows: Iterable[CaseRow]) -> tuple[SlowCase, ...]:
    slow = sorted(rows, key=lambda row: -row.seconds)[:MOST_SLOW]
    return tuple(SlowCase(id=row.id, seconds=row.seconds) for row in slow)


def find_flaky(runs: Sequence[Mapping[str, str]]) -> list[str]:
    """Tests whose outcome was not the same each time; one of the first run may not be missing later."""
    names = dict.fromkeys(name for run in runs for name in run)
    return [name for name in names if len({run.get(name) for run in runs if name in run or name in runs[0]}) > 1]


def _decide(runs: Sequence[SuiteRun], flaky: Sequence[str]) -> tuple[Outcome, str]:
    """What the runs say together, and why."""
    first, total = runs[0], len(runs[0].tests)
    many = plural(len(flaky), "flaky test")
    if first.problem:
        return "failed", first.problem
    if first.failures:
        return "failed", _describe_failures(first) + (f"; {many}" if flaky else "")
    if flaky:
        named = ", ".join(flaky[:MOST_NAMED])
        more = f" and {len(flaky) - MOST_NAMED} more" if len(flaky) > MOST_NAMED else ""
        return "failed", f"{many}, passing or failing by order or by chance: {named}{more}"
    if not first.tests:
        return "not_run", NO_TESTS
    passed, skipped = first.counted(*PASSING), first.counted("skipped")
    if not passed:
        return "not_run", f"{every(total, 'test')} {'was' if total == 1 else 'were'} skipped; nothing was tested"
    said = f"{every(passed, 'test')} passed" + (f", {skipped} skipped" if skipped else "")
    once = " (run once: the suite takes long, so no other order was tried)" if len(runs) == 1 else ""
    return "passed", f"{said}{once}{describe_sharing(total, total)}"


def _decide_isolated(graded: Graded, flaky: Sequence[str]) -> tuple[Outcome, str]:
    failed = [case for case in graded.cases if case.outcome == "failed"]
    if graded.problem:
        return "failed", graded.problem
    if failed:
        first = f"{failed[0].name}: {one_line(failed[0].message, 200)}"
        return "failed", f"{len(failed)} of {plural(len(graded.cases), 'test')} failed: {first}"
    if flaky:
        many = plural(len(flaky), "flaky test")
        return "failed", f"{many}, passing or failing by chance: {', '.join(flaky[:MOST_NAMED])}"
    if not graded.passed:
        return "not_run", "all tests were skipped; nothing was tested" if graded.cases else "there is no test"
    return "passed", f"{every(graded.passed, 'test')} passed{describe_sharing(graded.shared, len(graded.cases))}"


def _describe_failures(run: SuiteRun) -> str:
    """How many failed, and the first of them; of a file that cannot be imported the error, not the way to it."""
    first = run.failures[0]
    if run.broken:
        last = next((line for line in reversed(first.message.splitlines()) if line.strip()), "")
        return f"{first.id or 'a test file'} could not be imported: {one_line(last, 200)}"
    many = f"{len(run.failures)} of {plural(len(run.tests), 'test')} failed"
    return f"{many}: {first.id}: {one_line(first.message, 200)}"


def find_failures(run: SuiteRun, flaky: Sequence[str], root: str) -> list[Finding]:
    """Where to look: broken files, failed tests, flaky ones."""
    named = {test.id for test in run.failures}
    return [_locate_failure(test, root) for test in run.failures] + [
        Finding(file=name.partition("::")[0], what=f"flaky: {name} passes or fails by order or by chance", rule="flaky")
        for name in flaky
        if name not in named
    ]


def _locate_failure(test: CaseReport, root: str) -> Finding:
    """A failed test, at the line of the project where it failed."""
    own = test.id.partition("::")[0]
    path = PurePosixPath(test.file or own)
    inside = not path.is_absolute() or path.is_relative_to(root)
    file = str(path.relative_to(root)) if path.is_absolute() and inside else str(path)
    what = f"{test.id} failed: {one_line(test.message, 300)}"
    return Finding(file=file if inside else own, line=test.line if inside else 0, what=what, rule="failed")
