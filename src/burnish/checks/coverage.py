"""The coverage check: which lines and branches the tests run, and which test runs which line.

Details: `files` (for each: run, missing, excluded, branches, missing_branches, percent), `unread` (files that could not
be measured, with the reason), `lines` and `branches` (run, of how many), `findings`: longest stretch first, then
branches. A line that runs while no single test does (at import, in a shared fixture) counts as touched by every test.
"""

from dataclasses import dataclass, field
from typing import Any

from burnish.checks.finding import Finding
from burnish.checks.lab import Lab
from burnish.checks.project import Project
from burnish.checks.project_run import Ran, has_tests, run_suite
from burnish.errors import CheckError
from burnish.events import Evidence
from burnish.text import plural

Touched = dict[str, dict[int, tuple[str, ...]]]
"""Which tests run which line of which source."""
EVERYBODY = -1


@dataclass(frozen=True)
class FileCover:
    """What the tests run of one file."""

    file: str
    run: tuple[int, ...]
    missing: tuple[int, ...]
    excluded: tuple[int, ...]
    branches: tuple[tuple[int, int], ...]
    missing_branches: tuple[tuple[int, int], ...]

    @property
    def done(self) -> int:
        """Lines and branches that ran."""
        return len(self.run) + len(self.branches)

    @property
    def total(self) -> int:
        """Lines and branches that there are."""
        return self.done + len(self.missing) + len(self.missing_branches)


@dataclass
class Measured:
    """One run of the tests with every line watched."""

    files: list[FileCover] = field(default_factory=list)
    touched: Touched = field(default_factory=dict)
    unread: list[dict[str, str]] = field(default_factory=list)
    tests: tuple[str, ...] = ()
    problem: str = ""
    """What was wrong with that run; the figure still holds."""

    @property
    def percent(self) -> float:
        """Of all lines and branches; files that could not be read are not among them."""
        total = sum(file.total for file in self.files)
        return 100 * sum(file.done for file in self.files) / total if total else 0.0


class CoverageCheck:
    """Do the tests run the code at all? Every line, every way an `if` can go."""

    name = "coverage"

    def judge(self, project: Project, lab: Lab) -> Evidence:
        """Passed when enough lines and branches ran. Tests that fail do not stop the measuring."""
        least = project.settings.coverage
        threshold = f"at least {least:g} %"
        if not has_tests(project):
            why = "no tests were found, so nothing runs the code"
            return Evidence(check=self.name, verdict="not_run", why=why, threshold=threshold)
        measured = measure(project, lab)
        if not any(file.total for file in measured.files):
            why = "the sources hold no line that could run"
            return Evidence(check=self.name, verdict="not_run", why=why, threshold=threshold)
        enough = measured.percent >= least and not measured.unread
        return Evidence(
            check=self.name,
            verdict="passed" if enough else "failed",
            why=_why(measured),
            figure=f"{_rounded(measured.percent, least)} % of lines and branches",
            threshold=threshold,
            details=_details(measured),
        )


def measure(project: Project, lab: Lab) -> Measured:
    """Run the tests once with every line watched; the answer is kept in the lab."""
    if lab.measured is None:
        ran = run_suite(project, lab, cover=True)
        if not ran.has_cover or ran.is_forged:
            raise CheckError(f"coverage could not be measured: {ran.problem}")
        if not ran.tests and not ran.broken:
            raise CheckError("no tests were found, so nothing runs the code")
        lab.measured = read_measured(ran)
    lab.touched = lab.measured.touched
    return lab.measured


def touching(project: Project, lab: Lab) -> Touched:
    """Which tests run which line: file → line → test ids. Measured now if nobody has yet."""
    return lab.touched if lab.touched is not None else measure(project, lab).touched


def read_measured(ran: Ran) -> Measured:
    """What the run's facts say."""
    tests = tuple(ran.plan)
    measured = Measured(tests=tests, problem=ran.problem, unread=ran.uncovered)
    for fact in ran.covered:
        measured.files.append(_file(fact))
        measured.touched[fact["file"]] = _lines(fact, tests)
    return measured


def _file(fact: dict[str, Any]) -> FileCover:
    return FileCover(
        file=fact["file"],
        run=tuple(fact["run"]),
        missing=tuple(fact["missing"]),
        excluded=tuple(fact["excluded"]),
        branches=tuple((start, end) for start, end in fact["branches"]),
        missing_branches=tuple((start, end) for start, end in fact["missing_branches"]),
    )


def _lines(fact: dict[str, Any], tests: tuple[str, ...]) -> dict[int, tuple[str, ...]]:
    """The tests of each line; lines with the same tests share one tuple."""
    sets = [tests if EVERYBODY in numbers else tuple(tests[n] for n in numbers) for numbers in fact["sets"]]
    return {int(line): sets[number] for line, number in fact["lines"].items()}


def _rounded(percent: float, least: float) -> str:
    """A whole number that does not claim what is not there: 79.8 is not "80" where 80 is asked for."""
    whole = round(percent)
    honest = (whole >= least) == (percent >= least) and (whole < 100 or percent == 100)
    return str(whole) if honest else f"{int(percent * 10) / 10:.1f}"


def _why(measured: Measured) -> str:
    if measured.unread:
        first = measured.unread[0]
        return f"{first['file']} could not be measured: {first['why']}"
    lines = sum(len(file.missing) for file in measured.files)
    branches = sum(len(file.missing_branches) for file in measured.files)
    missed = f"{plural(lines, 'line')} and {branches} {'branch' if branches == 1 else 'branches'}"
    said = f"{missed} never run" if lines or branches else "every line and branch is run"
    return f"{said}; in that run {measured.problem}" if measured.problem else said


def _details(measured: Measured) -> dict[str, object]:
    files = measured.files
    return {
        "findings": [finding.model_dump() for finding in findings(files)],
        "files": [
            {
                "file": file.file,
                "percent": round(100 * file.done / file.total, 1) if file.total else 100.0,
                "run": list(file.run),
                "missing": list(file.missing),
                "excluded": list(file.excluded),
                "branches": [list(branch) for branch in file.branches],
                "missing_branches": [list(branch) for branch in file.missing_branches],
            }
            for file in files
        ],
        "unread": measured.unread,
        "percent": round(measured.percent, 2),
        "lines": [sum(len(file.run) for file in files), sum(len(file.run) + len(file.missing) for file in files)],
        "branches": [
            sum(len(file.branches) for file in files),
            sum(len(file.branches) + len(file.missing_branches) for file in files),
        ],
    }


def findings(files: list[FileCover]) -> list[Finding]:
    """One for each stretch of lines that nobody runs, longest first; then one for each branch never taken."""
    stretches = [(file.file, stretch) for file in files for stretch in runs_of(file.missing, file.run)]
    stretches.sort(key=lambda found: -len(found[1]))
    branches = [
        Finding(file=file.file, line=start, what=_branch(start, end), rule="branch")
        for file in files
        for start, end in file.missing_branches
        if start not in file.missing
    ]
    return [
        Finding(file=name, line=stretch[0], what=_stretch(stretch), rule="line") for name, stretch in stretches
    ] + branches


def runs_of(missing: tuple[int, ...], run: tuple[int, ...]) -> list[list[int]]:
    """Missing lines, joined where no line between them ran."""
    ran = set(run)
    found: list[list[int]] = []
    for line in sorted(missing):
        if found and not any(between in ran for between in range(found[-1][-1], line)):
            found[-1].append(line)
        else:
            found.append([line])
    return found


def _stretch(lines: list[int]) -> str:
    return f"lines {lines[0]}-{lines[-1]} are never run" if len(lines) > 1 else f"line {lines[0]} is never run"


def _branch(start: int, end: int) -> str:
    return f"line {start} never goes on to {f'line {end}' if end > 0 else 'the end'}"
