"""The coverage check: which lines and branches the tests run, and which test runs which line.

A line that runs while no single test does (at import, in a shared fixture) counts as touched by every test.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.bench.project_run import SuiteRun, has_tests, run_suite
from burnish.checks.check import DetailRow, Details, Finding
from burnish.checks.project import Project
from burnish.errors import CheckError
from burnish.events import Evidence
from burnish.text import plural

Touched = dict[str, dict[int, tuple[str, ...]]]
"""Which tests run which line of which source."""
EVERYBODY = -1


class FileCover(DetailRow):
    """What the tests run of one file."""

    file: str = ""
    percent: float = 0.0
    run: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()
    excluded: tuple[int, ...] = ()
    branches: tuple[tuple[int, int], ...] = ()
    missing_branches: tuple[tuple[int, int], ...] = ()

    @property
    def done(self) -> int:
        """Lines and branches that ran."""
        return len(self.run) + len(self.branches)

    @property
    def total(self) -> int:
        """Lines and branches that there are."""
        return self.done + len(self.missing) + len(self.missing_branches)


class UnreadFile(DetailRow):
    """A file that could not be measured."""

    file: str
    why: str


class CoverageDetails(Details):
    """What the coverage check found; findings are the longest stretch first, then branches."""

    files: tuple[FileCover, ...] = ()
    unread: tuple[UnreadFile, ...] = ()
    percent: float = 0.0
    lines: tuple[int, int] = (0, 0)
    """Run, of how many."""
    branches: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Measured:
    """One run of the tests with every line watched."""

    files: tuple[FileCover, ...] = ()
    touched: Touched = field(default_factory=dict)
    unread: tuple[UnreadFile, ...] = ()
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

    def judge(self, project: Project, context: CheckContext) -> Evidence:
        """Passed when enough lines and branches ran. Tests that fail do not stop the measuring."""
        least = project.settings.coverage
        threshold = f"at least {least:g} %"
        if not has_tests(project):
            why = "no tests were found, so nothing runs the code"
            return Evidence(check=self.name, verdict="not_run", why=why, threshold=threshold)
        measured = measure(project, context)
        if not any(file.total for file in measured.files):
            why = "the sources hold no line that could run"
            return Evidence(check=self.name, verdict="not_run", why=why, threshold=threshold)
        enough = measured.percent >= least and not measured.unread
        files = measured.files
        lines, branches = sum(len(file.run) for file in files), sum(len(file.branches) for file in files)
        details = CoverageDetails(
            findings=tuple(find_missed(files)),
            files=files,
            unread=measured.unread,
            percent=round(measured.percent, 2),
            lines=(lines, lines + sum(len(file.missing) for file in files)),
            branches=(branches, branches + sum(len(file.missing_branches) for file in files)),
        )
        return Evidence(
            check=self.name,
            verdict="passed" if enough else "failed",
            why=_explain(measured),
            figure=f"{_round_honestly(measured.percent, least)} % of lines and branches",
            threshold=threshold,
            details=details.dump(),
        )


def measure(project: Project, context: CheckContext) -> Measured:
    """Run the tests once with every line watched."""
    run = run_suite(project, context, cover=True)
    if not run.has_cover or run.is_forged:
        raise CheckError(f"coverage could not be measured: {run.problem}")
    if not run.tests and not run.broken:
        raise CheckError("no tests were found, so nothing runs the code")
    return read_measured(run)


def read_measured(run: SuiteRun) -> Measured:
    """What the run's facts say."""
    tests = tuple(run.plan)
    return Measured(
        files=tuple(_read_file(fact) for fact in run.covered),
        touched={fact["file"]: _read_lines(fact, tests) for fact in run.covered},
        unread=tuple(UnreadFile(**fact) for fact in run.uncovered),
        problem=run.problem,
    )


def _read_file(fact: dict[str, Any]) -> FileCover:
    cover = FileCover.model_validate(fact)
    percent = round(100 * cover.done / cover.total, 1) if cover.total else 100.0
    return cover.model_copy(update={"percent": percent})


def _read_lines(fact: dict[str, Any], tests: tuple[str, ...]) -> dict[int, tuple[str, ...]]:
    """The tests of each line; lines with the same tests share one tuple."""
    sets = [tests if EVERYBODY in numbers else tuple(tests[n] for n in numbers) for numbers in fact["sets"]]
    return {int(line): sets[number] for line, number in fact["lines"].items()}


def _round_honestly(percent: float, least: float) -> str:
    """A whole number that does not claim what is not there: 79.8 is not "80" where 80 is asked for."""
    whole = round(percent)
    honest = (whole >= least) == (percent >= least) and (whole < 100 or percent == 100)
    return str(whole) if honest else f"{int(percent * 10) / 10:.1f}"


def _explain(measured: Measured) -> str:
    if measured.unread:
        first = measured.unread[0]
        return f"{first.file} could not be measured: {first.why}"
    lines = sum(len(file.missing) for file in measured.files)
    branches = sum(len(file.missing_branches) for file in measured.files)
    missed = f"{plural(lines, 'line')} and {branches} {'branch' if branches == 1 else 'branches'}"
    said = f"{missed} never run" if lines or branches else "every line and branch is run"
    return f"{said}; in that run {measured.problem}" if measured.problem else said


def find_missed(files: Sequence[FileCover]) -> list[Finding]:
    """One for each stretch of lines that nobody runs, longest first; then one for each branch never taken."""
    stretches = [(file.file, stretch) for file in files for stretch in runs_of(file.missing, file.run)]
    found = []
    for name, stretch in sorted(stretches, key=lambda found: -len(found[1])):
        lines = f"lines {stretch[0]}-{stretch[-1]} are" if len(stretch) > 1 else f"line {stretch[0]} is"
        found.append(Finding(file=name, line=stretch[0], what=f"{lines} never run", rule="line"))
    for file in files:
        for start, end in file.missing_branches:
            if start not in file.missing:
                what = f"line {start} never goes on to {f'line {end}' if end > 0 else 'the end'}"
                found.append(Finding(file=file.file, line=start, what=what, rule="branch"))
    return found


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
