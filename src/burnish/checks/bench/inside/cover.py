"""Watches which lines of the sources run, and for which test; says it as facts when the tests are over.

Where a project is judged as its own command does it, its settings for coverage say which lines and files are left out.
"""

from __future__ import annotations

import contextlib
import json
import os
import warnings
from pathlib import Path
from typing import Any

import coverage

from .facts import EVERYBODY

NEUTRAL: dict[str, Any] = {
    "run:source": [],
    "run:source_pkgs": [],
    "run:source_dirs": [],
    "run:relative_files": False,
    "run:dynamic_context": None,
    "run:parallel": False,
    "run:patch": [],
    "report:omit": [],
    "report:include": [],
}
"""Settings that would keep us from measuring our own way. Which files are left out is asked before they are changed."""
MOST_TESTS, MOST_NUMBERS = 5000, 2_000_000
"""Tests whose lines are told apart, and numbers of tests that are told of one file: beyond, every test runs a line."""


class Cover:
    """One measurement. Lines that run while no single test does (imports, shared fixtures) belong to nobody: ""."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.job, self.current, self.tests = job, "", 0
        self.file = f"{os.environ['COVERAGE_FILE']}.json"
        warnings.filterwarnings("ignore", module="coverage")
        files = [str(Path(job["root"], name)) for name in job["cover"]]
        self.left_out: dict[str, str] = {}
        """Files that the project's settings leave out, and by which of them."""
        self.said: dict[str, Any] = {}
        """What else those settings say, or why they could not be followed."""
        ours: dict[str, Any] = {"data_file": None, "branch": True, "include": files, "messages": False}
        try:
            self.coverage = coverage.Coverage(config_file=job["own_settings"], **ours)
            if job["own_settings"]:
                self.follow_settings()
                self.coverage.get_exclude_list()  # imports what the settings name as plugins
        except (coverage.CoverageException, ImportError) as error:
            self.said["problem"] = str(error)
            self.coverage = coverage.Coverage(config_file=False, **ours)
        if job["generated"]:
            self.coverage.clear_exclude()
        self.excluded = list(self.coverage.get_exclude_list())
        self.coverage.start()

    def follow_settings(self) -> None:
        """Leave out the files that the project's settings leave out, and keep what would change our own measuring."""
        asked: Any = self.coverage.get_option
        self.said["lines_only"] = not coverage.Coverage(data_file=None).get_option("run:branch")
        omitted = make_matcher([*(asked("run:omit") or ()), *(asked("report:omit") or ())])
        is_kept = make_matcher(asked("report:include") or ["*"])
        for name in self.job["cover"]:
            path = str(Path(self.job["root"], name))
            if omitted(path) or not is_kept(path):
                self.left_out[name] = "omit"
        self.keep_sources([*(asked("run:source") or ()), *(asked("run:source_pkgs") or ())])
        for name, value in NEUTRAL.items():
            with contextlib.suppress(coverage.CoverageException):  # older ones know fewer settings
                self.coverage.set_option(name, value)

    def keep_sources(self, sources: list[str]) -> None:
        """Leave out what lies in none of these folders and packages; nothing where all would be."""
        places = [Path(source) if Path(source).exists() else Path(*source.split(".")) for source in sources]
        root = Path(self.job["root"])
        within = [top / place for top in (root, root / "src") for place in places]
        outside = [
            name
            for name in self.job["cover"]
            if not any((root / name).is_relative_to(place) or root / name == Path(f"{place}.py") for place in within)
        ]
        if len(outside) < len(self.job["cover"]):
            self.left_out = {name: by for name, by in self.left_out.items() if by != "source"}
            self.left_out = dict.fromkeys(outside, "source") | self.left_out
        elif places:
            self.said["problem"] = (
                f"none of the files lies in what `source` names ({', '.join(sources)}); mend that line"
            )

    def enter(self, test: str) -> str:
        """From here on, what runs belongs to this test; the one it belonged to before."""
        before, self.current = self.current, test
        if self.tests > MOST_TESTS:
            return before
        with contextlib.suppress(coverage.CoverageException):
            self.coverage.switch_context(test)
        return before

    def say_all(self, reporter: Any) -> None:
        """One fact a file: its lines and branches, run and not run; and for each line the set of tests that run it."""
        self.coverage.stop()
        if list(self.coverage.get_exclude_list()) != self.excluded:
            reporter.tell(changed=["which lines coverage leaves out"])
        numbers = {test: number for number, test in enumerate(reporter.ids)}
        self.said.update(left_out=self.left_out, tests_apart=self.tests <= MOST_TESTS)
        reporter.tell(cover_settings=self.said)
        for name in (name for name in self.job["cover"] if name not in self.left_out):
            path = str(Path(self.job["root"], name))
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    self.coverage.json_report([path], outfile=self.file)
            except coverage.CoverageException as error:
                reporter.tell(uncovered={"file": name, "why": str(error)})
            else:
                [report] = json.loads(Path(self.file).read_text(encoding="utf-8"))["files"].values()
                # Not by the report: it writes the whole id of each test at each line.
                contexts = self.coverage.get_data().contexts_by_lineno(path)
                reporter.tell(covered={"file": name, **summarise_report(report, contexts, numbers)})


def make_matcher(patterns: list[str]) -> Any:
    """Whether a path is one that these patterns mean, as this version of coverage reads them."""
    from coverage import files

    if not patterns:
        return lambda path: False
    kind = getattr(files, "GlobMatcher", None) or files.FnmatchMatcher  # type: ignore[attr-defined]
    return kind(files.prep_patterns(patterns)).match


def summarise_report(report: dict[str, Any], contexts: dict[int, list[str]], numbers: dict[str, int]) -> dict[str, Any]:
    """A file's report in few words: tests as numbers, and each set of them once."""
    sets: dict[tuple[int, ...], int] = {}
    lines = {}
    for line, tests in contexts.items():
        key = tuple(sorted(numbers.get(test, EVERYBODY) for test in tests))
        if len(key) * (1 + len(sets)) > MOST_NUMBERS:
            key = (EVERYBODY,)
        lines[str(line)] = sets.setdefault(key, len(sets))
    return {
        "run": report["executed_lines"],
        "missing": report["missing_lines"],
        "excluded": report["excluded_lines"],
        "branches": report.get("executed_branches", []),
        "missing_branches": report.get("missing_branches", []),
        "lines": lines,
        "sets": list(sets),
    }
