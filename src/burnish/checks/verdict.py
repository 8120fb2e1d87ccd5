"""One verdict from all checks: each gives its answer, whatever happens to the others.

Checks that only read text run in a thread beside those that run code. Performance measures time, so it runs alone.
"""

import copy
import difflib
import threading
import time
import traceback
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pydantic import Field

from burnish.checks.all import all_checks
from burnish.checks.check import Check
from burnish.checks.lab import Lab
from burnish.checks.project import Project
from burnish.checks.settings import CHECKS, Settings
from burnish.checks.watcher import Watcher
from burnish.errors import BurnishError, SetupProblem
from burnish.events import Evidence, Frozen
from burnish.text import one_line

BESIDE = ("security", "dependencies", "quality")
"""These only read text."""
ALONE = ("performance",)
"""These measure time."""


class Summary(Frozen):
    """What was checked, without the machine it lay on."""

    name: str
    sources: tuple[str, ...]
    tests: tuple[str, ...]
    generated: bool = False
    settings: Settings


class Checked(Frozen):
    """What all checks said about one project."""

    version: int = 1
    """Of the form of `report.json`. Raise it when an old file would read differently."""
    project: Summary
    required: tuple[str, ...]
    """Checks that must pass, among those that were asked for."""
    evidence: tuple[Evidence, ...]
    """In the order of `settings.CHECKS`."""
    seconds: dict[str, float] = Field(default_factory=dict)
    bugs: tuple[Any, ...] = Field(default=(), exclude=True, repr=False)
    """Exceptions of our own making, for the caller to raise once the answers are safe."""

    @property
    def passed(self) -> bool:
        """Whether every required check passed. One that was not run did not."""
        verdicts = {item.check: item.verdict for item in self.evidence}
        return all(verdicts.get(name) == "passed" for name in self.required)

    def __getitem__(self, check: str) -> Evidence:
        """The answer of one check; KeyError if it was not asked for."""
        return {item.check: item for item in self.evidence}[check]


def judge_all(project: Project, lab: Lab, only: Collection[str] | None = None, watch: Watcher | None = None) -> Checked:
    """The answers of all checks, or of those named in `only`; a check that breaks is "not_run" and says why."""
    names = chosen(only)
    bench = _Bench(project, watch or Watcher(), all_checks())
    beside = threading.Thread(
        target=bench.judge, args=([name for name in names if name in BESIDE], copy.copy(lab)), daemon=True
    )
    beside.start()
    bench.judge([name for name in names if name not in (*BESIDE, *ALONE)], lab)
    beside.join()
    bench.judge([name for name in names if name in ALONE], lab)
    return Checked(
        project=_summary(project),
        required=_required(project.settings, names, only),
        evidence=tuple(bench.answers[name] for name in names),
        seconds={name: bench.seconds[name] for name in names},
        bugs=tuple(bench.bugs),
    )


def chosen(only: Collection[str] | None) -> list[str]:
    """The checks to run, in their order. A name that nobody knows is something the user can put right."""
    for name in only or ():
        if name not in CHECKS:
            near = difflib.get_close_matches(name, CHECKS, 1, 0.3) or [CHECKS[0]]
            raise SetupProblem(
                f"There is no check {one_line(name, 60)!r}. There are {', '.join(CHECKS)}. Try: --only {near[0]}"
            )
    return [name for name in CHECKS if not only or name in only]


def _required(settings: Settings, names: Sequence[str], only: Collection[str] | None) -> tuple[str, ...]:
    """Among those asked for. Somebody who asks only for checks that are not required wants to know about those."""
    required = tuple(name for name in names if name in settings.required)
    return required or tuple(names) if only else required


def _summary(project: Project) -> Summary:
    return Summary(
        name=project.root.name,
        sources=tuple(map(str, project.sources)),
        tests=tuple(map(str, project.tests)),
        generated=project.generated,
        settings=project.settings,
    )


class _Bench:
    """Where the answers are gathered; two threads put them there under different names."""

    def __init__(self, project: Project, watch: Watcher, checks: Mapping[str, Check]) -> None:
        self.project = project
        self.watch = watch
        self.checks = checks
        self.answers: dict[str, Evidence] = {}
        self.seconds: dict[str, float] = {}
        self.bugs: list[Exception] = []

    def judge(self, names: Sequence[str], lab: Lab) -> None:
        """One check after the other."""
        for name in names:
            started = time.monotonic()
            self.watch.begun(name)
            lab.tell = _teller(self.watch, name)
            evidence = self._answer(name, lab)
            self.answers[name] = evidence
            self.seconds[name] = round(time.monotonic() - started, 3)
            self.watch.finished(evidence, self.seconds[name])

    def _answer(self, name: str, lab: Lab) -> Evidence:
        check = self.checks.get(name)
        if check is None:
            return Evidence(check=name, verdict="not_run", why="this check is not there")
        try:
            return _judged(check, self.project, lab)
        except BurnishError as error:
            return Evidence(check=name, verdict="not_run", why=one_line(str(error), 400) or type(error).__name__)
        except Exception as error:
            self.bugs.append(error)
            why = f"our bug: {type(error).__name__}: {one_line(str(error), 300)}"
            details: dict[str, object] = {"traceback": traceback.format_exc(limit=-8)}
            return Evidence(check=name, verdict="not_run", why=why, details=details)


def _judged(check: Check, project: Project, lab: Lab) -> Evidence:
    """The answer; asked for again where two threads' parsers got into each other's way (see `burnish.parsing`)."""
    try:
        return check.judge(project, lab)
    except SystemError:
        return check.judge(project, lab)


def _teller(watch: Watcher, name: str) -> Any:
    return lambda done, total: watch.moved(name, done, total)
