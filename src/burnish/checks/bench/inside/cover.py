"""Watches which lines of the sources run, and for which test; says it as facts when the tests are over."""

from __future__ import annotations

import contextlib
import json
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import coverage


class Cover:
    """One measurement. Lines that run while no single test does (imports, shared fixtures) belong to nobody: ""."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.job = job
        self.file = f"{os.environ['COVERAGE_FILE']}.json"
        self.files = [str(Path(job["root"], name)) for name in job["cover"]]
        warnings.filterwarnings("ignore", module="coverage")
        self.coverage = coverage.Coverage(
            data_file=None, branch=True, include=self.files, config_file=False, messages=False
        )
        if job["generated"]:
            self.coverage.clear_exclude()
        self.excluded = list(self.coverage.get_exclude_list())
        self.current = ""
        self.coverage.start()

    def enter(self, test: str) -> None:
        """From here on, what runs belongs to this test."""
        self.current = test
        with contextlib.suppress(coverage.CoverageException):
            self.coverage.switch_context(test)

    @contextlib.contextmanager
    def for_all(self) -> Iterator[None]:
        """What runs in here belongs to every test."""
        before = self.current
        self.enter("")
        try:
            yield
        finally:
            self.enter(before)

    def say_all(self, reporter: Any) -> None:
        """One fact a file: its lines and branches, run and not run; and for each line the set of tests that run it."""
        self.coverage.stop()
        if list(self.coverage.get_exclude_list()) != self.excluded:
            reporter.tell(changed=["which lines coverage leaves out"])
        numbers = {test: number for number, test in enumerate(reporter.ids)}
        reports = self.reports(self.files, ignore_errors=True)
        for file, name in zip(self.files, self.job["cover"]):  # noqa: B905
            if name in reports:
                reporter.tell(covered={"file": name, **facts(reports[name], numbers)})
            else:
                reporter.tell(uncovered={"file": name, "why": self.why_not(file)})

    def reports(self, files: list[str], ignore_errors: bool) -> dict[str, Any]:
        """What coverage says of each file, by the file's name in the project."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.coverage.json_report(files, outfile=self.file, show_contexts=True, ignore_errors=ignore_errors)
        found: dict[str, Any] = json.loads(Path(self.file).read_text(encoding="utf-8"))["files"]
        return found

    def why_not(self, file: str) -> str:
        """Why a file is not in the report."""
        try:
            self.reports([file], ignore_errors=False)
        except coverage.CoverageException as error:
            return str(error)
        return "coverage left it out"


def facts(report: dict[str, Any], numbers: dict[str, int]) -> dict[str, Any]:
    """A file's report in few words: tests as numbers, and each set of them once."""
    sets: dict[tuple[int, ...], int] = {}
    lines = {}
    for line, tests in report.get("contexts", {}).items():
        key = tuple(sorted(numbers.get(test, -1) for test in tests))
        lines[line] = sets.setdefault(key, len(sets))
    return {
        "run": report["executed_lines"],
        "missing": report["missing_lines"],
        "excluded": report["excluded_lines"],
        "branches": report.get("executed_branches", []),
        "missing_branches": report.get("missing_branches", []),
        "lines": lines,
        "sets": list(sets),
    }
