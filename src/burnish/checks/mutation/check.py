"""The mutation check: do the tests notice when the code is wrong?"""

from collections import Counter
from collections.abc import Iterator, Mapping

from pydantic import model_serializer

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.check import DetailRow, Details, Finding
from burnish.checks.mutation.mutate_project import (
    INVALID,
    NOT_TRIED,
    NOTICED,
    OUTCOMES,
    UNNOTICED,
    MutationRun,
    MutationScore,
    mutate_project,
)
from burnish.checks.mutation.mutmut_client import MUTMUT, MutmutClient
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
        run = mutate_project(project, context, self.client)
        if why := run.problem:
            return Evidence(check=self.name, verdict="not_run", why=f"{why[0].upper()}{why[1:].rstrip('.')}.")
        score, least = run.score, project.settings.mutation
        skipped = [f"{plural(run.skipped_files, 'file')} not reached"] if run.skipped_files else []
        uncompiled = [f"{plural(score.of(INVALID), 'mutant')} could not be compiled"] if score.of(INVALID) else []
        notes = (*run.notes, *skipped, *uncompiled)
        details = MutationDetails(
            **{outcome: score.of(outcome) for outcome in OUTCOMES},
            mutants=len(run.mutants),
            tried=score.tried,
            score=round(score.percent, 2),
            interval=(round(score.interval[0], 2), round(score.interval[1], 2)),
            seconds=round(run.seconds, 3),
            per_second=round(score.tried / run.trying_seconds, 1),
            tests=run.tests,
            notes=notes,
            functions=tuple(count_by_function(run)),
            outcomes=run.outcomes,
            findings=tuple(find_unnoticed(project, run)),
        )
        return Evidence(
            check=self.name,
            verdict="passed" if score.percent >= least else "failed",
            why=_explain(score) + "".join(f" Note: {note}." for note in notes),
            figure=score.figure(),
            threshold=f"at least {least:g} %",
            details=details.dump(),
        )


def find_unnoticed(project: Project, run: MutationRun) -> Iterator[Finding]:
    """The mutants that no test noticed, by file and line; the first thousand of them."""
    texts: dict[str, str] = {}
    for mutant in run.unnoticed[:MOST_FINDINGS]:
        if mutant.file not in texts:
            texts[mutant.file] = next(project.text(path) for path in project.sources if str(path) == mutant.file)
        yield mutant.finding(texts[mutant.file], WHY[run.outcomes[mutant.key]])


def count_by_function(run: MutationRun) -> Iterator[FunctionMutants]:
    """How many mutants of each function ended how, in the order of the files."""
    counts: dict[tuple[str, int, str], Counter[str]] = {}
    for mutant in run.mutants:
        counts.setdefault((mutant.file, mutant.line, mutant.name), Counter())[run.outcomes[mutant.key]] += 1
    for (file, line, name), count in sorted(counts.items()):
        yield FunctionMutants(file=file, line=line, function=name, **count)


def _explain(score: MutationScore) -> str:
    """What a person should know, in a sentence or two."""
    said = f"The tests notice {score.of(*NOTICED)} of {plural(score.tried, 'small change')} to the code"
    missed, unrun = score.of(*UNNOTICED), score.of("no_tests")
    if missed:
        said += f"; {missed} {'goes' if missed == 1 else 'go'} unnoticed"
        said += f", {unrun} of them in functions that no test runs" if unrun else ""
    if score.of(NOT_TRIED):
        said += f". The time was up; {score.of(NOT_TRIED)} were not tried"
    return f"{said}."
