"""One run of a project's tests in the sandbox, and what it said. Read from outside; missing words are never a pass."""

import json
import re
import secrets
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from burnish.checks.inside.guard import PACKAGE
from burnish.checks.lab import Lab
from burnish.checks.project import Project
from burnish.checks.python_files import python_files
from burnish.checks.suite_finder import is_named_as_test
from burnish.errors import CheckError, blame
from burnish.events import CommandRan
from burnish.jsonlines import parse_json_lines
from burnish.text import one_line

INSIDE = Path(__file__).parent / "inside"
FILES = ("__init__", "guard", "suite", "lent", "replaced", "reporter", "ids", "cover", "unchanged")
DOCTEST = re.compile(r"^\s*>>> ", re.M)
TELLING = re.compile(r"error: |^(?:ERROR|INTERNALERROR|mainloop|!!!)")
"""Lines in which pytest says why it does not go on."""
PASSING = ("passed", "xfailed")
INTERRUPTED, INTERNAL, USAGE, NOTHING = 2, 3, 4, 5
"""How pytest leaves, besides 0 and 1."""


@dataclass
class Said:
    """What one test said."""

    id: str
    outcome: str
    """passed, failed, skipped, or xfailed (failed as expected, or passed unexpectedly where that is allowed)."""
    seconds: float = 0.0
    message: str = ""
    file: str = ""
    line: int = 0


@dataclass
class Ran:
    """One run of the whole suite."""

    tests: dict[str, Said] = field(default_factory=dict)
    broken: list[Said] = field(default_factory=list)
    """Files that could not be collected."""
    plan: list[str] = field(default_factory=list)
    problem: str = ""
    """Why the verdict is not whole; "" when it is."""
    printed: str = ""
    """The end of what was printed."""
    exit: int = -1
    seconds: float = 0.0
    covered: list[dict[str, Any]] = field(default_factory=list)
    uncovered: list[dict[str, Any]] = field(default_factory=list)
    has_cover: bool = False
    is_forged: bool = False
    """True when the code changed what judges it: then nothing that was said counts."""

    @property
    def silent(self) -> int:
        """How many tests never gave an answer."""
        return sum(name not in self.tests for name in self.plan)

    def counted(self, *outcomes: str) -> int:
        """How many tests ended in one of these ways."""
        return sum(test.outcome in outcomes for test in self.tests.values())


def has_tests(project: Project) -> bool:
    """True when there is anything pytest could be asked to run."""
    return bool(project.tests or doctests(project))


@cache
def doctests(project: Project) -> tuple[Path, ...]:
    """Sources that show how they are used; none where a model wrote them beside tests, which alone judge its code."""
    if not project.examples or (project.generated and project.tests):
        return ()
    return tuple(source for source in project.sources if DOCTEST.search(_text(project, source)))


def targets(project: Project) -> list[str]:
    """What pytest is asked to collect: tests, and sources with examples.

    A folder that holds such sources is named by its test files, because pytest passes over a folder when a file below
    it is named as well.
    """
    examples = doctests(project)
    named: list[Path] = []
    for path in project.tests:
        mixed = any(example.is_relative_to(path) for example in examples)
        files = [file for file in python_files(project.root / path) if is_named_as_test(file)] if mixed else []
        named += [file.relative_to(project.root) for file in sorted(files)] if mixed else [path]
    return [str(path) for path in dict.fromkeys([*named, *examples])]


def run_suite(
    project: Project,
    lab: Lab,
    seed: int = 0,
    cover: bool = False,
    more: Mapping[str, Any] | None = None,
    files: Mapping[str, str] | None = None,
) -> Ran:
    """Run pytest on the project; raises CheckError when pytest itself cannot be run.

    `more` is said in the job besides, or instead; `files` lie in the folder where it starts.
    """
    job = {**a_job(project, lab, seed), "cover": [str(path) for path in project.sources] if cover else []}
    command, nonce = run_job(project, lab, job | dict(more or {}), files)
    with blame(CheckError, "reading what the tests said"):
        return read(command, nonce)


def run_facts(
    project: Project, lab: Lab, more: Mapping[str, Any], files: Mapping[str, str], inside: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Everything a job of another kind said; `inside` are further modules of ours that it needs."""
    own = {f"{PACKAGE}/{name}.py": text for name, text in inside.items()}
    command, nonce = run_job(project, lab, a_job(project, lab) | dict(more), {**files, **own})
    return facts_of(command, nonce)


def a_job(project: Project, lab: Lab, seed: int = 0) -> dict[str, Any]:
    """All that a run of the whole suite has to know."""
    return {
        "targets": targets(project),
        "doctests": [str(path) for path in doctests(project)],
        "cover": [],
        "generated": project.generated,
        "seed": seed,
        "packages": lab.packages,
        "paths": paths(project, lab),
        "off": ["-p", "no:langsmith_plugin"] if project.python == Path(sys.executable) else [],
        "environment": {"PYTHONHASHSEED": str(seed), "HYPOTHESIS_STORAGE_DIRECTORY": "/tmp/hypothesis"},
    }


def run_job(
    project: Project, lab: Lab, job: dict[str, Any], more: Mapping[str, str] | None = None
) -> tuple[CommandRan, str]:
    """One job under the guard, and the number that its lines begin with."""
    nonce = secrets.token_hex(16)
    whole = job | {"nonce": nonce, "root": lab.root, "seconds": project.settings.test_seconds}
    files = {f"{PACKAGE}/{file.name}": file.read_text() for file in (INSIDE / f"{name}.py" for name in FILES)}
    command = [lab.python, "-B", "-c", f"from {PACKAGE}.guard import main; main()"]
    limit = project.settings.test_seconds
    return lab.run(
        command, {**files, **(more or {}), "job.json": json.dumps(whole)}, timeout_seconds=4 * limit + 10
    ), nonce


def paths(project: Project, lab: Lab) -> list[str]:
    """What is importable as it would be for `python -m pytest` in an installed project."""
    return [lab.root, *([f"{lab.root}/src"] if (project.root / "src").is_dir() else [])]


def facts_of(ran: CommandRan, nonce: str) -> list[dict[str, Any]]:
    """The lines that begin with our number."""
    return list(parse_json_lines(line[len(nonce) :] for line in ran.output.splitlines() if line.startswith(nonce)))


def read(command: CommandRan, nonce: str) -> Ran:
    """What the suite said, from its own lines and from how it ended."""
    facts = facts_of(command, nonce)
    if not facts and command.exit_code > 0 and not command.timed_out:  # our first process leaves with 0, or is killed
        raise CheckError(f"the tests did not start: {_complaint(command.output)}")
    ended: dict[str, Any] = _last(facts, "ended") or {}
    ran = Ran(plan=_last(facts, "plan") or [], printed=str(ended.get("printed", "")))
    ran.exit, ran.seconds = int(ended.get("exit", -1)), float(ended.get("seconds", command.seconds))
    said = [Said(**fact["test"]) for fact in facts if "test" in fact]
    failed = {test.id: test for test in said if test.outcome == "failed"}
    ran.tests = {test.id: test for test in said} | failed  # a test that said two things has failed
    ran.broken = [Said(outcome="failed", **fact["broken"]) for fact in facts if "broken" in fact]
    ran.covered = [fact["covered"] for fact in facts if "covered" in fact]
    ran.uncovered = [fact["uncovered"] for fact in facts if "uncovered" in fact]
    if missing := _last(facts, "no_tool"):
        raise CheckError(
            f"the project's interpreter has no pytest and cannot use ours ({missing}); install pytest in it"
        )
    end = _last(facts, "end")
    if end == USAGE:
        raise CheckError(f"pytest did not start: {_complaint(ran.printed)}")
    where = under_way(facts, ran.tests)
    forged = _forged(facts)
    ran.is_forged = bool(forged)
    ran.problem = _problem(ran, command, ended, end, where) or forged
    if ran.problem and where in ran.plan:
        ran.tests[where] = Said(where, "failed", message=ran.problem)
    ran.has_cover = end is not None
    return ran


def _problem(ran: Ran, command: CommandRan, ended: dict[str, Any], end: int | None, where: str) -> str:
    """Why what was said is not a whole verdict."""
    during = f" while {where} was under way" if where else ""
    if command.timed_out or ended.get("over"):
        return f"the time limit was reached{during}"
    if not ended:
        return f"the cell's own process was ended before the tests gave a verdict{during}"
    if ran.exit < 0:
        return f"the tests were killed by {_signal(-ran.exit)}{during}"
    if end is None or end != ran.exit:
        why = during or (f": {_complaint(ran.printed)}" if ran.printed.strip() else "")
        return f"the tests ended before their verdict (exit code {ran.exit}){why}"
    if end in (INTERRUPTED, INTERNAL) and not ran.broken:
        return f"pytest broke off{during}: {_complaint(ran.printed)}"
    return _disagreement(ran, end)


def _disagreement(ran: Ran, end: int) -> str:
    """Why tests and exit code cannot both be right; "" when they can."""
    silent = [name for name in ran.plan if name not in ran.tests]
    if silent:
        return f"{len(silent)} tests gave no answer, {silent[0]} among them"
    failed = bool(ran.broken or ran.counted("failed"))
    if end in (0, NOTHING) and failed:
        return f"tests failed, yet pytest left with {end}"
    if end not in (0, NOTHING) and not failed:
        return f"no test failed, yet pytest left with {end}: {_complaint(ran.printed)}"
    return ""


def _forged(facts: Sequence[dict[str, Any]]) -> str:
    """Why the answers may not be those of the tests; "" where nothing speaks against it."""
    changed = [name for fact in facts for name in fact.get("changed", ())]
    if changed:
        return f"the code changed {one_line(str(changed[0]), 100)} while the tests ran, so their answers mean nothing"
    if sum("end" in fact for fact in facts) > 1:
        return "the tests told their end twice, so their answers mean nothing"
    return ""


def under_way(facts: Sequence[dict[str, Any]], tests: dict[str, Said]) -> str:
    """The test, else the file, that was being worked on last and did not come back."""
    for fact in reversed(facts):
        if "start" in fact:
            return str(fact["start"]) if fact["start"] not in tests else ""
        if "collecting" in fact:
            return str(fact["collecting"])
        if "plan" in fact:
            return ""
    return ""


def _last(facts: Sequence[dict[str, Any]], key: str) -> Any:
    return next((fact[key] for fact in reversed(facts) if key in fact), None)


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _complaint(printed: str) -> str:
    """The line of pytest's output that says what is wrong."""
    lines = [line for line in printed.splitlines() if line.strip()]
    telling = [line for line in lines if TELLING.search(line) and "usage:" not in line]
    return one_line((telling or lines or ["it gave no reason"])[-1].replace("INTERNALERROR>", ""), 300)


def _text(project: Project, source: Path) -> str:
    try:
        return project.text(source)
    except (OSError, SyntaxError, UnicodeDecodeError):
        return ""
