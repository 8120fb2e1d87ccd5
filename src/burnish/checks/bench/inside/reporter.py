"""The pytest plugin that writes down what each test said, chooses the order, and names what is under way."""

from __future__ import annotations

import os
import random
import traceback
import unittest
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from .case_ids import all_ids, is_own

LONGEST = 2000
SKIPS = (pytest.skip.Exception, pytest.xfail.Exception, unittest.SkipTest)
KEEPS_ORDER = ("order", "dependency", "incremental", "run")
"""Marks by which tests say that their order matters."""


class Plugin:
    """What both plugins of ours do: serve files in our way, collect a source named for its doctests, make the plan."""

    def __init__(self, tell: Callable[..., None], job: dict[str, Any], finder: Any) -> None:
        self.tell = tell
        self.job = job
        self.finder = finder
        self.doctests = {Path(job["root"], name) for name in job["doctests"]}
        self.ids: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self) -> None:
        """Before anything of the project is imported."""
        if self.finder:
            self.finder.be_first()

    def pytest_pycollect_makemodule(self, module_path: Path, parent: Any) -> Any:
        """A source that was named for its doctests is collected for those and nothing else."""
        if module_path not in self.doctests or parent.config.option.doctestmodules:
            return None
        from _pytest.doctest import DoctestModule

        return DoctestModule.from_parent(parent, path=module_path)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """The plan: only what was chosen; what fails without a repair first; in an order of our own where asked for."""
        if self.job.get("chosen") is not None:
            items[:] = [item for item in items if is_chosen(item.nodeid, self.job)]
        first = set(self.job.get("first", ()))
        items.sort(key=lambda item: item.nodeid not in first)
        if self.job["seed"]:
            items[:] = shuffle_items(items, random.Random(self.job["seed"]))
        self.ids = [item.nodeid for item in items]
        self.tell(plan=self.ids)


class Reporter(Plugin):
    """Tells what one run of the tests says."""

    def __init__(self, tell: Callable[..., None], job: dict[str, Any], cover: Any, override: Any = None) -> None:
        super().__init__(tell, job, override)
        self.cover = cover
        self.phases: dict[str, list[Any]] = {}

    def pytest_collectstart(self, collector: Any) -> None:
        """Say which file is being imported, in case nobody comes back from it."""
        if isinstance(collector, pytest.File):
            self.tell(collecting=collector.nodeid)

    def pytest_collectreport(self, report: Any) -> None:
        """A file that cannot be collected is a failure; one that skips itself is skipped."""
        if report.failed:
            self.tell(broken={"id": report.nodeid, **describe_failure(report)})
        elif report.skipped:
            self.tell(test={"id": report.nodeid, "outcome": "skipped", "seconds": 0.0, **describe_failure(report)})

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, call: Any) -> Generator[None, Any, None]:
        """A test that the repaired file left by a skip or an expected failure has failed: only tests may say that."""
        raised, is_left = call.excinfo, False
        if self.finder and raised is not None and isinstance(raised.value, SKIPS):
            frames = (frame.f_code.co_filename for frame, _ in traceback.walk_tb(raised.tb))
            is_left = any(os.path.realpath(file) == self.finder.path for file in frames)
        outcome = yield
        if is_left:
            report = outcome.get_result()
            report.outcome = "failed"
            vars(report).pop("wasxfail", None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Say which test is under way, in case it does not come back."""
        self.tell(start=nodeid)
        self.phases[nodeid] = []
        if self.cover:
            self.cover.enter(nodeid)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """One line a test, after its last phase."""
        if self.cover:
            self.cover.enter("")
        if reports := self.phases.pop(nodeid, []):
            self.tell(test={"id": nodeid, **summarise_phases(reports)})

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep what a phase said."""
        self.phases.setdefault(report.nodeid, []).append(report)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, Any, None]:
        """What a shared fixture runs, it runs for every test."""
        shared = self.cover and fixturedef.scope != "function"
        before = self.cover.enter("") if shared else ""
        yield
        if shared:
            self.cover.enter(before)


def is_chosen(test: str, job: dict[str, Any]) -> bool:
    """True for a test that was asked for by an id that means it; and for our own."""
    return not all_ids(test).isdisjoint(job["chosen"]) or (bool(job.get("own")) and is_own(test, job["own"]))


def summarise_phases(reports: list[Any]) -> dict[str, Any]:
    """What one test said, from what its phases said."""
    telling = next((report for report in reports if report.failed), None)
    outcome = "failed"
    if telling is None and any(hasattr(report, "wasxfail") for report in reports):
        outcome = "xfailed"
    elif telling is None and (telling := next((report for report in reports if report.skipped), None)):
        outcome = "skipped"
    elif telling is None and any(report.when == "call" and report.passed for report in reports):
        outcome = "passed"
    seconds = round(sum(report.duration for report in reports), 6)
    return {"outcome": outcome, "seconds": seconds, **(describe_failure(telling) if telling else {})}


def describe_failure(report: Any) -> dict[str, Any]:
    """The first lines of why, and where."""
    said = report.longrepr
    if isinstance(said, tuple) and len(said) == 3:
        return {"file": str(said[0]), "line": int(said[1] or 0), "message": str(said[2])[:LONGEST]}
    crash = getattr(said, "reprcrash", None)
    if crash is not None:
        return {"file": str(crash.path), "line": int(crash.lineno), "message": str(crash.message)[:LONGEST]}
    place = getattr(report, "location", None) or ("", None, "")
    return {"file": str(place[0]), "line": (place[1] or -1) + 1, "message": extract_error(str(said))[:LONGEST]}


def extract_error(text: str) -> str:
    """The lines pytest marks as the error, else the end, from where a doctest says what it got."""
    lines = [line for line in text.splitlines() if not line.endswith((": DocTestFailure", ": UnexpectedException"))]
    marked = [line[1:].strip() for line in lines if line.startswith("E ")]
    said = [number for number, line in enumerate(lines) if line.startswith(("Expected", "UNEXPECTED EXCEPTION"))]
    return "\n".join(marked or lines[said[-1] if said else -10 :])


def shuffle_items(items: list[Any], chance: random.Random) -> list[Any]:
    """Modules in random order, classes in random order within them, tests within those: shared fixtures stay whole."""
    modules: dict[str, dict[str, list[Any]]] = {}
    for item in items:
        file, _, rest = item.nodeid.partition("::")
        group = rest.rpartition("::")[0] if "::" in rest.partition("[")[0] else ""
        modules.setdefault(file, {}).setdefault(group, []).append(item)
    found = []
    for file in chance.sample(list(modules), len(modules)):
        groups = modules[file]
        marks = (mark.name for group in groups.values() for item in group for mark in item.iter_markers())
        fixed = any(name in KEEPS_ORDER for name in marks)
        for name in list(groups) if fixed else chance.sample(list(groups), len(groups)):
            found += groups[name] if fixed else chance.sample(groups[name], len(groups[name]))
    return found
