"""The mutation check: do the tests notice when the code is wrong?"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from pydantic import model_serializer

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.check import DetailRow, Details, Finding
from burnish.checks.mutation.mutant import MUTMUT, MutmutClient
from burnish.checks.mutation.mutate_project import (
    INVALID,
    NOT_TRIED,
    NOTICED,
    OUTCOMES,
    UNNOTICED,
    MutationRun,
    mutate_project,
)
from burnish.checks.project import Project
from burnish.events import Evidence
from burnish.text import plural

MOST_FINDINGS = 1000
WHY = {"survived": "No test notices when", "no_tests": "No test runs this function, so none notices when"}


class OutcomeCounts(DetailRow):
    """How many mutants ended how: killed, timeout and suspicious are noticed; survived and no_tests are not."""

    killed: int = 0
    timeout: int = 0
    suspicious: int = 0
    survived: int = 0
    no_tests: int = 0
    invalid: int = 0
    not_tried: int = 0


class FunctionMutants(OutcomeCounts):
    """What became of the mutants of one function."""

    file: str
    line: int
    function: str

    @model_serializer
    def _dump_without_zeros(self) -> dict[str, object]:
        place = {"file": self.file, "line": self.line, "function": self.function}
        return place | {name: count for name in OUTCOMES if (count := getattr(self, name))}


class MutationDetails(OutcomeCounts, Details):
    """What the mutation check found."""

    mutants: int = 0
    tried: int | None = None
    score: float | None = None
    interval: tuple[float, float] | None = None
    seconds: float = 0.0
    per_second: float = 0.0
    """Mutants tried in a second, once the tests had run without any."""
    tests: int = 0
    notes: tuple[str, ...] = ()
    functions: tuple[FunctionMutants, ...] = ()
    outcomes: Mapping[str, str] = {}
    """mutmut's name of each mutant, and what became of it."""


class MutationCheck:
    """Do the tests notice when the code is wrong? Break it in small ways and count how often they do.

    A mutant that hangs or crashes the tests is noticed; one in code that no test runs is not. When the budget ends
    early, those tried are a random sample, and the score comes with its interval. Does not see code outside functions,
    decorated functions, and functions that stand neither at the top of a module nor in a class there (mutmut makes no
    mutants of those).
    """

    name = "mutation"

    def __init__(self, client: MutmutClient = MUTMUT) -> None:
        self.client = client

    def judge(self, project: Project, context: CheckContext) -> Evidence:
        """Passed when the share of mutants that the tests notice is high enough; after an early stop, its best
        estimate decides.
        """
        run, least = mutate_project(project, context, self.client), project.settings.mutation
        if why := run.problem:
            return Evidence(check=self.name, verdict="not_run", why=f"{why[0].upper()}{why[1:].rstrip('.')}.")
        if invalid := run.count(INVALID):
            run.notes.append(f"{plural(invalid, 'mutant')} could not be compiled")
        details = MutationDetails(
            **{outcome: run.count(outcome) for outcome in OUTCOMES},
            mutants=len(run.mutants),
            tried=run.tried,
            score=round(run.percent, 2),
            interval=(round(run.interval[0], 2), round(run.interval[1], 2)),
            seconds=round(run.seconds, 3),
            per_second=round(run.tried / run.trying_seconds, 1),
            tests=run.tests,
            notes=tuple(run.notes),
            functions=tuple(count_by_function(run)),
            outcomes=run.outcomes,
            findings=tuple(find_unnoticed(project, run)),
        )
        return Evidence(
            check=self.name,
            verdict="passed" if run.percent >= least else "failed",
            why=_explain(run) + "".join(f" Note: {note}." for note in run.notes),
            figure=run.figure(),
            threshold=f"at least {least:g} %",
            details=details.dump(),
        )


def find_unnoticed(project: Project, run: MutationRun) -> Iterator[Finding]:
    """The mutants that no test noticed, by file and line; the first thousand of them."""
    read = cache(project.text)
    for mutant in run.unnoticed[:MOST_FINDINGS]:
        what = f"{WHY[run.outcomes[mutant.key]]} {mutant.said()}"
        diff = mutant.diff(read(Path(mutant.file)))
        yield Finding(file=mutant.file, line=mutant.changed, what=what, rule=mutant.key, diff=diff)


def count_by_function(run: MutationRun) -> Iterator[FunctionMutants]:
    """How many mutants of each function ended how, in the order of the files."""
    counts: dict[tuple[str, int, str], Counter[str]] = defaultdict(Counter)
    for mutant in run.mutants:
        counts[mutant.file, mutant.line, mutant.name][run.outcomes[mutant.key]] += 1
    for (file, line, name), count in sorted(counts.items()):
        yield FunctionMutants(file=file, line=line, function=name, **count)


def _explain(run: MutationRun) -> str:
    """What a person should know, in a sentence or two."""
    said = f"The tests notice {run.count(*NOTICED)} of {plural(run.tried, 'small change')} to the code"
    missed, unrun, left = run.count(*UNNOTICED), run.count("no_tests"), run.count(NOT_TRIED)
    if missed:
        said += f"; {missed} {'goes' if missed == 1 else 'go'} unnoticed"
        said += f", {unrun} of them in functions that no test runs" if unrun else ""
    return f"{said}. The time was up; {left} were not tried." if left else f"{said}."
