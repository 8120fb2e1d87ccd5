"""Watches which lines of the sources run, and for which test; says it as facts when the tests are over."""

from __future__ import annotations

import contextlib
import json
import os
import warnings
from pathlib import Path
from typing import Any

import coverage


class Cover:
    """One measurement. Lines that run while no single test does (imports, shared fixtures) belong to nobody: ""."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.job, self.current = job, ""
        self.file = f"{os.environ['COVERAGE_FILE']}.json"
        warnings.filterwarnings("ignore", module="coverage")
        files = [str(Path(job["root"], name)) for name in job["cover"]]
        self.coverage = coverage.Coverage(data_file=None, branch=True, include=files, config_file=False, messages=False)
        if job["generated"]:
            self.coverage.clear_exclude()
        self.excluded = list(self.coverage.get_exclude_list())
        self.coverage.start()

    def enter(self, test: str) -> str:
        """From here on, what runs belongs to this test; the one it belonged to before."""
        before, self.current = self.current, test
        with contextlib.suppress(coverage.CoverageException):
            self.coverage.switch_context(test)
        return before

    def say_all(self, reporter: Any) -> None:
        """One fact a file: its lines and branches, run and not run; and for each line the set of tests that run it."""
        self.coverage.stop()
        if list(self.coverage.get_exclude_list()) != self.excluded:
            reporter.tell(changed=["which lines coverage leaves out"])
        numbers = {test: number for number, test in enumerate(reporter.ids)}
        for name in self.job["cover"]:
            path = str(Path(self.job["root"], name))
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    self.coverage.json_report([path], outfile=self.file, show_contexts=True)
            except coverage.CoverageException as error:
                reporter.tell(uncovered={"file": name, "why": str(error)})
            else:
                [report] = json.loads(Path(self.file).read_text(encoding="utf-8"))["files"].values()
                reporter.tell(covered={"file": name, **summarise_report(report, numbers)})


def summarise_report(report: dict[str, Any], numbers: dict[str, int]) -> dict[str, Any]:
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
