"""One verdict from all checks: each gives its answer, whatever happens to the others.

Checks that only read text run in a thread beside those that run code. Performance measures time, so it runs alone.
"""

import copy
import difflib
import threading
import time
import traceback
from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

from pydantic import Field

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.check import Check
from burnish.checks.project import CHECKS, Project, Settings
from burnish.errors import BurnishError, SetupProblem
from burnish.events import Evidence, Frozen
from burnish.text import one_line

BESIDE = ("security", "dependencies", "quality")
"""These only read text."""
ALONE = ("performance",)
"""These measure time."""


class Watcher:
    """Who looks on while checks run; every method may be left as it is, and then does nothing.

    Hears from two threads at once: checks that only read text run beside those that run code.
    """

    def notice(self, text: str) -> None:
        """Something that a person who waits would like to know."""

    def begin(self, check: str) -> None:
        """A check has started."""

    def advance(self, check: str, done: int, total: int) -> None:
        """A long check has come so far; a total of 0 means that nobody knows."""

    def finish(self, evidence: Evidence, seconds: float) -> None:
        """A check has given its answer."""


class ProjectSummary(Frozen):
    """What was checked, without the machine it lay on."""

    name: str
    sources: tuple[str, ...]
    tests: tuple[str, ...]
    generated: bool = False
    settings: Settings


class CheckResults(Frozen):
    """What all checks said about one project."""

    version: int = 1
    """Of the form of `report.json`. Raise it when an old file would read differently."""
    project: ProjectSummary
    required: tuple[str, ...]
    """Checks that must pass, among those that were asked for."""
    must_not_fail: tuple[str, ...] = ()
    """Further ones that decide where they fail; one that was not run does no harm."""
    evidence: tuple[Evidence, ...]
    """In the order of `project.CHECKS`."""
    seconds: dict[str, float] = Field(default_factory=dict)
    bugs: tuple[Any, ...] = Field(default=(), exclude=True, repr=False)
    """Exceptions of our own making, for the caller to raise once the answers are safe."""

    @property
    def passed(self) -> bool:
        """Whether all that decides passed. A required check that was not run did not."""
        verdicts = {item.check: item.verdict for item in self.evidence}
        return all(verdicts.get(name) == "passed" for name in self.decisive)

    @property
    def decisive(self) -> tuple[str, ...]:
        """The checks that the verdict comes from: those that are required, and failed ones that must not fail."""
        failed = {item.check for item in self.evidence if item.verdict == "failed"}
        return tuple(dict.fromkeys((*self.required, *(name for name in self.must_not_fail if name in failed))))

    def __getitem__(self, check: str) -> Evidence:
        """The answer of one check; KeyError if it was not asked for."""
        return {item.check: item for item in self.evidence}[check]


def all_checks() -> dict[str, Check]:
    """One of each, in the order in which they are shown."""
    # They are imported when first asked for, because their tools are heavy.
    from burnish.checks.coverage import CoverageCheck
    from burnish.checks.dependencies import DependenciesCheck
    from burnish.checks.mutation import MutationCheck
    from burnish.checks.performance import PerformanceCheck
    from burnish.checks.quality import QualityCheck
    from burnish.checks.security import SecurityCheck
    from burnish.checks.tests import TestsOfProject

    checks: list[Check] = [
        TestsOfProject(),
        CoverageCheck(),
        MutationCheck(),
        SecurityCheck(),
        DependenciesCheck(),
        QualityCheck(),
        PerformanceCheck(),
    ]
    return {check.name: check for check in checks}


def choose_checks(only: Collection[str] | None) -> list[str]:
    """The checks to run, in their order. A name that nobody knows is something the user can put right."""
    for name in only or ():
        if name not in CHECKS:
            near = difflib.get_close_matches(name, CHECKS, 1, 0.3) or [CHECKS[0]]
            raise SetupProblem(
                f"There is no check {one_line(name, 60)!r}. There are {', '.join(CHECKS)}. Try: --only {near[0]}"
            )
    return [name for name in CHECKS if not only or name in only]


def judge_all(
    project: Project, context: CheckContext, only: Collection[str] | None = None, watch: Watcher | None = None
) -> CheckResults:
    """The answers of all checks, or of those named in `only`; a check that breaks is "not_run" and says why."""
    names = choose_checks(only)
    answers: dict[str, Evidence] = {}
    seconds: dict[str, float] = {}
    bugs: list[Exception] = []
    watch, checks = watch or Watcher(), all_checks()

    def judge(names: Sequence[str], own: CheckContext) -> None:
        """One check after the other; two threads do this, with different names."""
        for name in names:
            started = time.monotonic()
            watch.begin(name)
            own.tell = partial(watch.advance, name)
            answers[name] = _judge_safely(name, checks[name], project, own, bugs)
            seconds[name] = round(time.monotonic() - started, 3)
            watch.finish(answers[name], seconds[name])

    beside = threading.Thread(
        target=judge, args=([name for name in names if name in BESIDE], copy.copy(context)), daemon=True
    )
    beside.start()
    judge([name for name in names if name not in (*BESIDE, *ALONE)], context)
    beside.join()
    judge([name for name in names if name in ALONE], context)
    required = tuple(name for name in names if name in project.settings.required)
    return CheckResults(
        project=ProjectSummary(
            name=project.root.name,
            sources=tuple(map(str, project.sources)),
            tests=tuple(map(str, project.tests)),
            generated=project.generated,
            settings=project.settings,
        ),
        # Somebody who asks only for checks that are not required wants to know about those.
        required=required or tuple(names) if only else required,
        must_not_fail=tuple(name for name in names if name in project.settings.must_not_fail),
        evidence=tuple(answers[name] for name in names),
        seconds={name: seconds[name] for name in names},
        bugs=tuple(bugs),
    )


def _judge_safely(name: str, check: Check, project: Project, context: CheckContext, bugs: list[Exception]) -> Evidence:
    """The answer of one check; a bug of ours goes to `bugs` as well."""
    try:
        try:
            return check.judge(project, context)
        except SystemError:  # two threads' parsers got into each other's way (see `burnish.parsing`)
            return check.judge(project, context)
    except BurnishError as error:
        return Evidence(check=name, verdict="not_run", why=one_line(str(error), 400) or type(error).__name__)
    except Exception as error:
        bugs.append(error)
        why = f"our bug: {type(error).__name__}: {one_line(str(error), 300)}"
        details: dict[str, object] = {"traceback": traceback.format_exc(limit=-8)}
        return Evidence(check=name, verdict="not_run", why=why, details=details)
