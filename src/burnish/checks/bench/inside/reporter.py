"""The pytest plugin that writes down what each test said, chooses the order, and names what is under way."""

from __future__ import annotations

import importlib.util
import os
import random
import re
import traceback
import unittest
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from .case_ids import all_ids, is_own

LONGEST, MOST_FRAMES = 2000, 60
SKIPS = (pytest.skip.Exception, pytest.xfail.Exception, unittest.SkipTest)
KEEPS_ORDER = ("order", "dependency", "incremental", "run")
"""Marks by which tests say that their order matters."""

PRINTED_FRAME = re.compile(r'File "([^"\n]+)", line (\d+)')

COV_VALUES = ("--cov", "--cov-report", "--cov-config", "--cov-fail-under", "--cov-context", "--cov-precision")
COV_FLAGS = ("--cov-branch", "--cov-append", "--no-cov", "--no-cov-on-fail", "--cov-reset")
HARMLESS = {
    "pytest_cov": (COV_VALUES, COV_FLAGS),
    "xdist": (("-n", "--numprocesses", "--dist", "--maxprocesses", "--max-worker-restart"), ()),
    "pytest_randomly": (("--randomly-seed",), ("--randomly-dont-reset-seed", "--randomly-dont-reorganize")),
    "random_order": (("--random-order-bucket", "--random-order-seed"), ("--random-order",)),
    "pytest_html": (("--html",), ("--self-contained-html",)),
}
"""Options, with a value and without, that change no test's outcome: of plugins that may be missing, or are shut out."""
SHUT_OUT = ("pytest_randomly", "random_order")


class Plugin:
    """What both plugins of ours do: serve files in our way, collect a source named for its doctests, make the plan."""

    def __init__(self, tell: Callable[..., None], job: dict[str, Any], finder: Any) -> None:
        self.tell = tell
        self.job = job
        self.finder = finder
        self.ids: list[str] = []
        self.name_examples(job["doctests"])

    def name_examples(self, sources: list[str]) -> None:
        """These sources are collected for the examples in their docstrings."""
        self.doctests = {Path(self.job["root"], name) for name in sources}

    def pytest_addoption(self, parser: Any) -> None:
        """Options that change nothing here, of plugins that are not there, are read and left.

        Coverage is measured by us, tests run in one process, and the order is ours.
        """
        for plugin, (valued, flags) in HARMLESS.items():
            if plugin in SHUT_OUT or importlib.util.find_spec(plugin) is None:
                group = parser.getgroup(plugin)
                for name in valued:  # a short name in small letters is refused by the public way
                    group._addoption(name, action="append", nargs="?", const="")
                for name in flags:
                    group._addoption(name, action="store_true")

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

    def __init__(
        self, tell: Callable[..., None], job: dict[str, Any], cover: Any, override: Any = None, recorder: Any = None
    ) -> None:
        super().__init__(tell, job, override)
        self.cover = cover
        self.recorder = recorder
        self.phases: dict[str, list[Any]] = {}

    def pytest_configure(self, config: Any) -> None:
        """What pytest-cov is told to measure is what the project's own command measures."""
        named = getattr(config.option, "cov", None) or getattr(config.option, "cov_source", None) or []
        sources = [name for name in named if isinstance(name, str) and name]
        if self.cover and self.job["own_settings"] and sources:
            self.cover.keep_sources(sources)

    def pytest_collection_finish(self) -> None:
        """How many tests there are decides whether coverage tells them apart."""
        if self.cover:
            self.cover.tests = len(self.ids)

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

    def pytest_exception_interact(self, call: Any, report: Any) -> None:
        """Keep where the code was when it failed: of a test, and of a file that cannot be collected."""
        report.frames = find_frames(call.excinfo.value, report, self.job["root"])

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
        if self.recorder and (calls := self.recorder.take()):
            self.tell(called={"test": nodeid, "calls": calls})
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
    said, frames = report.longrepr, getattr(report, "frames", [])
    if isinstance(said, tuple) and len(said) == 3:
        file, line, message = said[0], int(said[1] or 0), str(said[2])
    elif (crash := getattr(said, "reprcrash", None)) is not None:
        file, line, message = crash.path, int(crash.lineno), str(crash.message)
    else:
        place = getattr(report, "location", None) or ("", None, "")
        file, line, message = place[0], (place[1] or -1) + 1, extract_error(str(said))
    return {"file": str(file), "line": line, "message": message[:LONGEST], **({"frames": frames} if frames else {})}


def find_frames(error: BaseException | None, report: Any, root: str) -> list[tuple[str, int]]:
    """Files and lines of a failure, the innermost last: those that a process of the test's printed, then its own,
    then those of the errors behind it.
    """
    printed = "\n".join([*(text for _, text in report.sections), str(report.longrepr)])
    found = [(file, int(line)) for file, line in PRINTED_FRAME.findall(printed)]
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        found += [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
        behind = getattr(error, "exc_info", None)  # where an example in a docstring raised
        hidden = error.__suppress_context__
        error = behind[1] if behind else error.__cause__ or (None if hidden else error.__context__)
    return [(file.removeprefix(f"{root}/"), line) for file, line in dict.fromkeys(found)][-MOST_FRAMES:]


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
