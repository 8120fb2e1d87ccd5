"""The coverage check: which lines and branches the tests run, and which test runs which line.

A line that runs while no single test does (at import, in a shared fixture) counts as touched by every test.
"""

from collections.abc import Sequence

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.bench.inside.facts import EVERYBODY
from burnish.checks.bench.project_run import SuiteRun, has_tests, run_suite
from burnish.checks.check import DetailRow, Details, Finding
from burnish.checks.project import Project
from burnish.errors import CheckError
from burnish.events import Evidence
from burnish.text import join_words, one_line, plural

MOST_NAMED = 3
NO_TESTS = "no tests were found, so nothing runs the code"


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


class LeftOutFile(DetailRow):
    """A file that the project's own settings do not measure."""

    file: str
    by: str
    """The setting: omit, or source."""


class CoverageDetails(Details):
    """What the coverage check found; findings are the longest stretch first, then branches."""

    files: tuple[FileCover, ...] = ()
    unread: tuple[UnreadFile, ...] = ()
    left_out: tuple[LeftOutFile, ...] = ()
    tests_apart: bool = True
    """Whether it is known which test runs which line."""
    percent: float = 0.0
    lines: tuple[int, int] = (0, 0)
    """Run, of how many."""
    branches: tuple[int, int] = (0, 0)


class CoverageCheck:
    """Do the tests run the code at all? Every line, every way an `if` can go."""

    name = "coverage"

    def judge(self, project: Project, context: CheckContext) -> Evidence:
        """Passed when enough lines and branches ran. Tests that fail do not stop the measuring."""
        least = project.settings.coverage
        threshold = f"at least {least:g} %"
        run = measure(project, context) if has_tests(project) else SuiteRun()
        files = tuple(keep_judged(file, project) for file in read_files(run))
        total = sum(file.total for file in files)
        if not total:
            why = "the sources hold no line that could run" if has_tests(project) else NO_TESTS
            return Evidence(check=self.name, verdict="not_run", why=why, threshold=threshold)
        percent = 100 * sum(file.done for file in files) / total
        unread = tuple(UnreadFile(**fact) for fact in run.uncovered)
        lines, missed = sum(len(file.run) for file in files), sum(len(file.missing) for file in files)
        taken, left = sum(len(file.branches) for file in files), sum(len(file.missing_branches) for file in files)
        why = "every line and branch is run"
        if missed or left:
            why = f"{plural(missed, 'line')} and {left} {'branch' if left == 1 else 'branches'} never run"
        said = run.cover_settings
        left_out = tuple(LeftOutFile(file=file, by=by) for file, by in said.get("left_out", {}).items())
        if said.get("lines_only"):
            why += (
                f"; of lines alone, as the project counts them, {_round_honestly(100 * lines / (lines + missed), 0)} %"
            )
        if left_out:
            more = [f"{len(left_out) - MOST_NAMED} more"] if len(left_out) > MOST_NAMED else []
            named = join_words([*(file.file for file in left_out[:MOST_NAMED]), *more])
            why += f"; the project's own settings leave out {plural(len(left_out), 'file')}: {named}"
        if not said.get("tests_apart", True):
            why += f"; there are {len(run.plan):,} tests, so it was not noted which of them runs which line"
        if said.get("problem"):
            why += f"; the project's settings for coverage could not be followed: {one_line(str(said['problem']), 200)}"
        why += f"; in that run {run.problem}" if run.problem else ""
        details = CoverageDetails(
            findings=tuple(find_missed(files)),
            files=files,
            unread=unread,
            left_out=left_out,
            tests_apart=bool(said.get("tests_apart", True)),
            percent=round(percent, 2),
            lines=(lines, lines + missed),
            branches=(taken, taken + left),
        )
        return Evidence(
            check=self.name,
            verdict="passed" if percent >= least and not unread else "failed",
            why=f"{unread[0].file} could not be measured: {unread[0].why}" if unread else why,
            figure=f"{_round_honestly(percent, least)} % of lines and branches",
            threshold=threshold,
            details=details.dump(),
        )


def measure(project: Project, context: CheckContext) -> SuiteRun:
    """Run the tests once with every line watched. Raises CheckError where that says nothing about the code."""
    run = run_suite(project, context, cover=True)
    if not run.has_cover or run.is_forged:
        raise CheckError(f"coverage could not be measured: {run.problem}")
    if not run.tests and not run.broken:
        raise CheckError(NO_TESTS)
    return run


def read_files(run: SuiteRun) -> tuple[FileCover, ...]:
    """What the tests ran of each file that could be measured."""
    files = [FileCover.model_validate(fact) for fact in run.covered]
    percents = [round(100 * file.done / file.total, 1) if file.total else 100.0 for file in files]
    return tuple(file.model_copy(update={"percent": each}) for file, each in zip(files, percents, strict=True))


def keep_judged(file: FileCover, project: Project) -> FileCover:
    """What the tests run of those lines that are judged."""
    if not project.functions:
        return file
    kept: dict[str, object] = {
        name: tuple(line for line in getattr(file, name) if project.is_judged(file.file, line))
        for name in ("run", "missing", "excluded")
    }
    kept |= {
        name: tuple(ends for ends in getattr(file, name) if project.is_judged(file.file, ends[0]))
        for name in ("branches", "missing_branches")
    }
    return file.model_copy(update=kept)


def read_touched(run: SuiteRun, file: str) -> dict[int, tuple[str, ...]]:
    """The tests that run each line of a file; lines with the same tests share one tuple."""
    found: dict[int, tuple[str, ...]] = {}
    for fact in (fact for fact in run.covered if fact["file"] == file):
        sets = [tuple(run.plan if EVERYBODY in them else (run.plan[n] for n in them)) for them in fact["sets"]]
        found = {int(line): sets[number] for line, number in fact["lines"].items()}
    return found


def _round_honestly(percent: float, least: float) -> str:
    """A whole number that does not claim what is not there: 79.8 is not "80" where 80 is asked for."""
    whole = round(percent)
    honest = (whole >= least) == (percent >= least) and (whole < 100 or percent == 100)
    return str(whole) if honest else f"{int(percent * 10) / 10:.1f}"


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
