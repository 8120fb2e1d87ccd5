"""The tests check: the one caller of `sandbox.grade`. What it says is what evals count and training rewards.

A version of a task meets the task's suite (`TestsCheck`). A project meets its own suite, three times in three orders,
or a command of the user's whose exit code decides; what `write` made is graded apart from its tests (`TestsOfProject`).
"""

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from typing import Protocol

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.bench.missing_packages import explain_missing, find_missing_packages
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
ONE_ORDER_SECONDS = 60.0
"""A suite that takes longer is run once, in its own order."""
NO_TESTS = "no tests were found; write some in tests/, or name them with --tests"
MOST_NAMED, MOST_SLOW, MOST_MESSAGE = 3, 10, 300
CODE, TESTS = Path("solution.py"), Path("test_solution.py")
"""The files of what `write` makes."""
SKIPPED = ("skipped", "not_run")
_TRACEBACK = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t]+.*(?:\n|$))*")
CANNOT_RUN = (126, 127)
"""How a shell says that there is no such command, or that it may not be run."""


class CaseRow(DetailRow):
    """One test of a project, as details list it."""

    id: str
    outcome: str
    seconds: float
    message: str = ""
    """What a failed one said, in one line; empty in older records."""


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
        why = graded.problem or "there is no test"
        if graded.cases:
            failed = len(graded.cases) - graded.passed
            said = f"{plural(graded.passed, 'test')} passed, {failed} failed"
            why = said if failed else f"{every(graded.passed, 'test')} passed"
            why += describe_sharing(graded.shared, len(graded.cases)) + (
                f"; {graded.problem}" if graded.problem else ""
            )
        return Evidence(check=self.name, verdict=verdict, why=why, details=details.dump())


class TestsOfProject:
    """Do all tests pass, whatever their order?"""

    __test__ = False
    name = "tests"

    def judge(self, project: Project, context: CheckContext) -> Evidence:
        """Passed only if there was a test, every one passed, each time."""
        if project.test_command:
            return _judge_command(project, context)
        if project.generated and project.sources == (CODE,) and project.tests == (TESTS,):
            return self._judge_isolated(project, context)
        if not has_tests(project):
            return Evidence(check=self.name, verdict="not_run", why=NO_TESTS)
        return self._judge_suite(project, context)

    def _judge_suite(self, project: Project, context: CheckContext) -> Evidence:
        """The suite in its own order, then in random ones; not when the first run was broken off, ran nothing, or took
        long.
        """
        runs = [run_suite(project, context)]
        first = runs[0]
        context.tell(1, 1 + len(SEEDS))
        has_run = first.counted("failed", *PASSING)
        if not first.problem and has_run and first.seconds <= min(ONE_ORDER_SECONDS, project.settings.test_seconds / 3):
            with ThreadPoolExecutor(len(SEEDS)) as pool:  # at once: they wait for a cell, not for us
                runs += pool.map(lambda seed: run_suite(project, context, seed), SEEDS)
        context.tell(1 + len(SEEDS), 1 + len(SEEDS))
        details = SuiteDetails(
            runs=tuple(SeededRun(seed=seed, seconds=run.seconds) for seed, run in zip((0, *SEEDS), runs, strict=False)),
            separated=False,
            shared=len(first.tests),
            sandbox=context.sandbox.level,
        )
        evidence = self._join_runs(runs, details, context.root)
        missing = find_missing_packages((test.message for test in first.failures), project)
        own = explain_own_command(project)
        return evidence.model_copy(update={"why": evidence.why + own + explain_missing(missing, project)})

    def _judge_isolated(self, project: Project, context: CheckContext) -> Evidence:
        """Grade generated code three times, apart from its tests, as the sandbox grades: it cannot reach its judge."""
        grades = []
        for number in range(1 + len(SEEDS)):
            grades.append(grade_script(project.text(CODE), project.text(TESTS), context.sandbox))
            context.tell(number + 1, 1 + len(SEEDS))
        runs = [
            SuiteRun(
                tests={
                    case.name: CaseReport(case.name, case.outcome, case.seconds, case.message, str(TESTS))
                    for case in graded.cases
                },
                problem=graded.problem,
                seconds=graded.seconds,
            )
            for graded in grades
        ]
        details = SuiteDetails(
            separated=all(graded.separated for graded in grades),
            shared=grades[0].shared,
            sandbox=context.sandbox.level,
        )
        return self._join_runs(runs, details, context.root)

    def _join_runs(self, runs: Sequence[SuiteRun], known: SuiteDetails, root: str) -> Evidence:
        """What several runs of the same tests say together, added to what is known of them."""
        first = runs[0]
        flaky = find_flaky([{test.id: test.outcome for test in run.tests.values()} for run in runs])
        verdict, why = _decide(runs, flaky, known)
        failed = {test.id: one_line(fold_traceback(test.message), MOST_MESSAGE) for test in first.failures}
        rows = [
            CaseRow(id=test.id, outcome=test.outcome, seconds=test.seconds, message=failed.get(test.id, ""))
            for test in first.tests.values()
        ]
        slow = sorted(rows, key=lambda row: -row.seconds)[:MOST_SLOW]
        found = {
            "findings": tuple(find_failures(first, flaky, root)),
            "tests": tuple(rows),
            "slowest": tuple(SlowCase(id=row.id, seconds=row.seconds) for row in slow),
            "flaky": tuple(flaky),
            "seconds": round(sum(run.seconds for run in runs), 3),
        }
        if known.runs:
            found["printed"] = first.printed if verdict != "passed" else ""
        counts = {
            "passed": first.counted(*PASSING),
            "failed": len(first.failures),
            "skipped": first.counted(*SKIPPED),
            "not run": sum(name not in first.tests for name in first.plan),
        }
        return Evidence(
            check=self.name,
            verdict=verdict,
            why=why,
            figure=", ".join(f"{count} {name}" for name, count in counts.items() if count) or "none",
            threshold="all pass",
            details=known.model_copy(update=found).dump(),
        )


def explain_own_command(project: Project) -> str:
    """Which command of the project's was followed, or was not, to be put behind what the tests said."""
    own = project.own
    if own is None or not own.source or not (own.words or own.unread):
        return ""
    if own.unread:
        stated = f"`{one_line(own.unread, 100)}` in {own.source}"
        return (
            f"; run as plain `pytest`, because {stated} could not be read: if it says more, add --test-command COMMAND"
        )
    return f"; run as {own.source} says: pytest {shlex.join(own.words)}"


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


def find_flaky(runs: Sequence[Mapping[str, str]]) -> list[str]:
    """Tests whose outcome was not the same each time; one of the first run may not be missing later."""
    names = dict.fromkeys(name for run in runs for name in run)
    return [name for name in names if len({run.get(name) for run in runs if name in run or name in runs[0]}) > 1]


def _decide(runs: Sequence[SuiteRun], flaky: Sequence[str], known: SuiteDetails) -> tuple[Outcome, str]:
    """What the runs say together, and why."""
    first, total = runs[0], len(runs[0].tests)
    many = plural(len(flaky), "flaky test")
    if first.problem:
        return "failed", first.problem
    if first.failures:
        return "failed", _describe_failures(first) + (f"; {many}" if flaky else "")
    if flaky:
        more = f" and {len(flaky) - MOST_NAMED} more" if len(flaky) > MOST_NAMED else ""
        by = "by order or by chance" if known.runs else "by chance"
        return "failed", f"{many}, passing or failing {by}: {', '.join(flaky[:MOST_NAMED])}{more}"
    if not first.tests:
        return "not_run", NO_TESTS if known.runs else "there is no test"
    passed, skipped = first.counted(*PASSING), first.counted(*SKIPPED)
    if not passed:
        return "not_run", f"{every(total, 'test')} {'was' if total == 1 else 'were'} skipped; nothing was tested"
    said = f"{every(passed, 'test')} passed" + (f", {skipped} skipped" if skipped else "")
    took = f"{first.seconds:.0f} s"
    once = f" (run once: the suite takes {took}, so no other order was tried)" if len(runs) == 1 else ""
    return "passed", f"{said}{once}{describe_sharing(known.shared or 0, total)}"


def _describe_failures(run: SuiteRun) -> str:
    """How many failed, and the first of them; of a file that cannot be imported the error, not the way to it."""
    first = run.failures[0]
    if run.broken:
        last = next((line for line in reversed(first.message.splitlines()) if line.strip()), "")
        return f"{first.id or 'a test file'} could not be imported: {one_line(last, 200)}"
    many = f"{len(run.failures)} of {plural(len(run.tests), 'test')} failed"
    return f"{many}: {first.id}: {one_line(fold_traceback(first.message), 200)}"


def fold_traceback(message: str) -> str:
    """What a test said, without the way to the error: files and lines are in the report's output."""
    return _TRACEBACK.sub("", message)


def find_failures(run: SuiteRun, flaky: Sequence[str], root: str) -> list[Finding]:
    """Where to look: broken files, failed tests, flaky ones."""
    named = {test.id for test in run.failures}
    found = [_locate_failure(test, root) for test in run.failures]
    for name in (name for name in flaky if name not in named):
        file = name.partition("::")[0] if "::" in name else str(TESTS)
        found.append(Finding(file=file, what=f"flaky: {name} passes or fails by order or by chance", rule="flaky"))
    return found


def _locate_failure(test: CaseReport, root: str) -> Finding:
    """A failed test, at the line of the project where it failed."""
    own = test.id.partition("::")[0]
    path = PurePosixPath(test.file or own)
    inside = not path.is_absolute() or path.is_relative_to(root)
    file = str(path.relative_to(root)) if path.is_absolute() and inside else str(path)
    what = f"{test.id} failed: {one_line(fold_traceback(test.message), MOST_MESSAGE)}"
    return Finding(file=file if inside else own, line=test.line if inside else 0, what=what, rule="failed")
