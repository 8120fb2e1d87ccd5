"""One run of a project's tests in the sandbox, and what it said. Read from outside; missing words are never a pass."""

import json
import re
import secrets
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.bench.inside.facts import PACKAGE, Fact, FactReader
from burnish.checks.bench.missing_packages import explain_missing, find_missing_packages
from burnish.checks.bench.project_finder import is_named_as_test, python_files
from burnish.checks.project import Project
from burnish.errors import CheckError, blame
from burnish.events import CommandRan
from burnish.sandbox import Sandbox
from burnish.system import count_cores
from burnish.text import one_line

INSIDE = Path(__file__).parent / "inside"
Runner = Sandbox | CheckContext
DOCTEST = re.compile(r"^\s*>>> ", re.M)
TELLING = re.compile(r"error: |^(?:ERROR|INTERNALERROR|mainloop|!!!)")
"""Lines in which pytest says why it does not go on."""
PASSING = ("passed", "xfailed")
INTERRUPTED, INTERNAL, USAGE, NOTHING = 2, 3, 4, 5
"""How pytest leaves, besides 0 and 1."""
MOST_AT_ONCE = 32
USER = "user"
"""Who tests find themselves to be: the user of a cell has no name in any list, and code that asks would fail."""
OWN_PYTHON = "python"
"""What the Python of a cell is called there."""
BARE_START = "import site, sitecustomize; site.setquit(); site.setcopyright(); site.sethelper(); "
"""All that Python does at its start, but for reading what is installed beside it."""
OPTIONS = ["--continue-on-collection-errors", "--maxfail=0", "--tb=short"]


class PytestRefused(CheckError):
    """pytest did not begin: an option or a file of its settings is not right, or a package is missing."""

    def __init__(self, why: str, printed: str) -> None:
        super().__init__(why)
        self.printed = printed


@dataclass(frozen=True)
class CaseReport:
    """What one test said."""

    id: str
    outcome: str
    """passed, failed, skipped, or xfailed (failed as expected, or passed unexpectedly where that is allowed)."""
    seconds: float = 0.0
    message: str = ""
    file: str = ""
    line: int = 0
    frames: Sequence[tuple[str, int]] = ()
    """Where the code was when it failed, the innermost last; files below the project's root by their path there."""


@dataclass(frozen=True)
class SuiteRun:
    """One run of the whole suite."""

    tests: dict[str, CaseReport] = field(default_factory=dict)
    broken: list[CaseReport] = field(default_factory=list)
    """Files that could not be collected."""
    plan: list[str] = field(default_factory=list)
    problem: str = ""
    """Why the verdict is not whole; "" when it is."""
    timed_out: bool = False
    printed: str = ""
    """The end of what was printed."""
    exit: int = -1
    seconds: float = 0.0
    covered: list[Fact] = field(default_factory=list)
    uncovered: list[Fact] = field(default_factory=list)
    cover_settings: Fact = field(default_factory=dict)
    """What the project's settings for coverage leave out and ask for, and whether tests were told apart."""
    has_cover: bool = False
    is_forged: bool = False
    """True when the code changed what judges it: then nothing that was said counts."""

    @property
    def failures(self) -> list[CaseReport]:
        """Files that could not be collected, then tests that failed."""
        return [*self.broken, *(test for test in self.tests.values() if test.outcome == "failed")]

    def counted(self, *outcomes: str) -> int:
        """How many tests ended in one of these ways."""
        return sum(test.outcome in outcomes for test in self.tests.values())


def has_tests(project: Project) -> bool:
    """True when there is anything pytest could be asked to run."""
    return bool(project.tests or (project.own and project.own.collects) or doctests(project))


@cache
def doctests(project: Project) -> tuple[Path, ...]:
    """Sources that show how they are used; none where a model wrote them beside tests, which alone judge its code."""
    if not project.examples or (project.generated and project.tests):
        return ()

    def has_example(source: Path) -> bool:
        try:
            return bool(DOCTEST.search(project.text(source)))
        except (OSError, SyntaxError, UnicodeDecodeError):
            return False

    return tuple(filter(has_example, project.sources))


def targets(project: Project) -> list[str]:
    """What pytest is asked to collect: tests, and sources with examples.

    A folder that holds such sources is named by its test files, because pytest passes over a folder when a file below
    it is named as well. Where the project's own command collects, only what it says.
    """
    if project.own and project.own.collects:
        return list(project.own.words)
    examples = doctests(project)
    named: list[Path] = []
    for path in project.tests:
        mixed = any(example.is_relative_to(path) for example in examples)
        files = [file for file in python_files(project.root / path) if is_named_as_test(file)] if mixed else []
        named += [file.relative_to(project.root) for file in sorted(files)] if mixed else [path]
    return [str(path) for path in dict.fromkeys([*named, *examples])]


def import_paths(project: Project, context: CheckContext) -> list[str]:
    """What is importable as it would be for `python -m pytest` in an installed project."""
    return [context.root, *([f"{context.root}/src"] if (project.root / "src").is_dir() else [])]


def run_suite(
    project: Project,
    context: CheckContext,
    seed: int = 0,
    cover: bool = False,
    more: Mapping[str, Any] | None = None,
    files: Mapping[str, str] | None = None,
) -> SuiteRun:
    """Run pytest on the project; raises CheckError when pytest itself cannot be run.

    `more` is said in the job besides, or instead; `files` lie in the folder where it starts.
    """
    job = {**describe_job(project, context, seed), "cover": [str(path) for path in project.sources] if cover else []}
    command, facts = run_job(project, context, job | dict(more or {}), files)
    with blame(CheckError, "reading what the tests said"):
        try:
            return read_run(command, facts)
        except PytestRefused as refused:
            missing = find_missing_packages([refused.printed], project)
            raise CheckError(f"{refused}{explain_missing(missing, project)}") from refused


def describe_job(project: Project, context: CheckContext, seed: int = 0, options: Sequence[str] = OPTIONS) -> Fact:
    """All that a run of the whole suite has to know."""
    # Our own environment has LangSmith's plugin, which a project under test does not expect.
    ours = project.python == Path(sys.executable)
    files = dict.fromkeys(test.partition("::")[0] for test in project.chosen)
    examples = [str(path) for path in doctests(project)]
    by_itself = bool(project.own and project.own.collects)
    return {
        "targets": [*files] or targets(project),
        **({"chosen": list(project.chosen)} if project.chosen else {}),
        "doctests": [] if by_itself else examples,
        "instead": examples if by_itself else [],
        "own_settings": project.own is not None,
        "cover": [],
        "generated": project.generated,
        "seed": seed,
        "packages": context.packages,
        "paths": import_paths(project, context),
        "options": [*options, *(["-p", "no:langsmith_plugin"] if ours else [])],
        # Another order of tests comes with another order of sets: both are chance to a user.
        "environment": {
            "PYTHONHASHSEED": str(seed),
            "HYPOTHESIS_STORAGE_DIRECTORY": "/tmp/hypothesis",
            **dict.fromkeys(("USER", "LOGNAME"), USER),
        },
        "seconds": project.settings.test_seconds,
    }


@cache
def _inside_files() -> dict[str, str]:
    """Our own files that go into the cell with each job."""
    return {f"{PACKAGE}/{file.name}": file.read_text("utf-8") for file in INSIDE.glob("*.py")}


def send_job(
    runner: Runner,
    command: Sequence[str],
    job: Fact,
    files: Mapping[str, str],
    cpu_seconds: float,
    on_fact: Callable[[Fact], None] | None = None,
) -> tuple[CommandRan, list[Fact]]:
    """Run `command`, a start of Python followed by the name of one of the scripts in `inside`, on a job.

    How it ended, and the facts that it told; `on_fact` hears each as it comes.
    """
    nonce = secrets.token_hex(16)
    reader = FactReader(nonce, on_fact)
    *start, script = command
    main = f"from {PACKAGE}.{script} import main; main()"
    # The cell's own Python need not read what is installed beside it, which no code may import: a file there that
    # imports something costs each start more than most jobs take.
    argv = (*start, "-S", "-B", "-c", BARE_START + main) if start[-1] == OWN_PYTHON else (*start, "-B", "-c", main)
    sent = {**_inside_files(), **files, "job.json": json.dumps(job | {"nonce": nonce})}
    return runner.run(argv, sent, cpu_seconds, reader), reader.facts


def processes_at_once() -> int:
    """How many children try versions at a time."""
    return max(1, min(MOST_AT_ONCE, count_cores()))


def run_job(
    project: Project,
    context: CheckContext,
    job: Fact,
    files: Mapping[str, str] | None = None,
    on_fact: Callable[[Fact], None] | None = None,
    cpu_seconds: float = 0.0,
) -> tuple[CommandRan, list[Fact]]:
    """One job of a project under the guard."""
    # The guard's clock is on the wall; the cell's counts the CPU seconds of all processes, so it is wider.
    limit = cpu_seconds or 4 * project.settings.test_seconds + 10
    return send_job(context, (context.python, "guard"), job | {"root": context.root}, files or {}, limit, on_fact)


def read_run(command: CommandRan, facts: Sequence[Fact]) -> SuiteRun:
    """What the suite said, from its own lines and from how it ended."""
    if not facts and command.exit_code > 0 and not command.timed_out:  # our first process leaves with 0, or is killed
        raise CheckError(f"the tests did not start: {complaint(command.output)}")
    last = {key: value for fact in facts for key, value in fact.items()}
    ended = last.get("ended") or {}
    said = [CaseReport(**fact["test"]) for fact in facts if "test" in fact]
    failed = {test.id: test for test in said if test.outcome == "failed"}
    run = SuiteRun(
        tests={test.id: test for test in said} | failed,  # a test that said two things has failed
        broken=[CaseReport(outcome="failed", **fact["broken"]) for fact in facts if "broken" in fact],
        plan=last.get("plan") or [],
        timed_out=command.timed_out or bool(ended.get("over")),
        printed=str(ended.get("printed", "")),
        exit=int(ended.get("exit", -1)),
        seconds=float(ended.get("seconds", command.seconds)),
        covered=[fact["covered"] for fact in facts if "covered" in fact],
        uncovered=[fact["uncovered"] for fact in facts if "uncovered" in fact],
        cover_settings=last.get("cover_settings") or {},
        has_cover="end" in last,
    )
    if "no_tool" in last:
        raise CheckError(
            f"the project's interpreter has no pytest and cannot use ours ({last['no_tool']}); install pytest in it"
        )
    if last.get("end") == USAGE:
        raise PytestRefused(f"pytest did not start: {complaint(run.printed)}", run.printed)
    # A test that ends the guard can have said that it passed: the last one that spoke is at fault then.
    where = find_unfinished(facts, run.tests) or (said[-1].id if said and not ended and not command.timed_out else "")
    forged = _find_forgery(facts)
    problem = _find_problem(run, bool(ended), last.get("end"), where) or forged
    tests = dict(run.tests)
    if problem and where in run.plan:
        tests[where] = CaseReport(where, "failed", message=problem)
    return replace(run, tests=tests, problem=problem, is_forged=bool(forged))


def _find_problem(run: SuiteRun, has_ended: bool, end: int | None, where: str) -> str:
    """Why what was said is not a whole verdict; "" when it is."""
    during = f" while {where} was under way" if where else ""
    if run.timed_out:
        return f"the time limit was reached{during}"
    if not has_ended:
        return f"the cell's own process was ended before the tests gave a verdict{during}"
    if run.exit < 0:
        known = {number.value for number in signal.Signals}
        name = signal.Signals(-run.exit).name if -run.exit in known else f"signal {-run.exit}"
        return f"the tests were killed by {name}{during}"
    if end is None or end != run.exit:
        why = during or (f": {complaint(run.printed)}" if run.printed.strip() else "")
        return f"the tests ended before their verdict (exit code {run.exit}){why}"
    if end in (INTERRUPTED, INTERNAL) and not run.broken:
        return f"pytest broke off{during}: {complaint(run.printed)}"
    silent = [name for name in run.plan if name not in run.tests]
    if silent:
        return f"{len(silent)} tests gave no answer, {silent[0]} among them"
    if end in (0, NOTHING) and run.failures:
        return f"tests failed, yet pytest left with {end}"
    if end not in (0, NOTHING) and not run.failures:
        return f"no test failed, yet pytest left with {end}: {complaint(run.printed)}"
    return ""


def _find_forgery(facts: Sequence[Fact]) -> str:
    """Why the answers may not be those of the tests; "" where nothing speaks against it."""
    changed = [name for fact in facts for name in fact.get("changed", ())]
    if changed:
        return f"the code changed {one_line(str(changed[0]), 100)} while the tests ran, so their answers mean nothing"
    if sum("end" in fact for fact in facts) > 1:
        return "the tests told their end twice, so their answers mean nothing"
    return ""


def find_unfinished(facts: Sequence[Fact], tests: Mapping[str, CaseReport]) -> str:
    """The test, else the file, that was being worked on last and did not come back."""
    for fact in reversed(facts):
        if "start" in fact:
            return str(fact["start"]) if fact["start"] not in tests else ""
        if "collecting" in fact:
            return str(fact["collecting"])
        if "plan" in fact:
            return ""
    return ""


def complaint(printed: str) -> str:
    """The line of pytest's output that says what is wrong."""
    lines = [line for line in printed.splitlines() if line.strip()]
    telling = [line for line in lines if TELLING.search(line) and "usage:" not in line]
    return one_line((telling or lines or ["it gave no reason"])[-1].replace("INTERNALERROR>", ""), 300)
