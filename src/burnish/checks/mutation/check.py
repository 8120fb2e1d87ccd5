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
    EQUIVALENT,
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
from burnish.events.checks import describe_equivalent
from burnish.text import plural

MOST_FINDINGS = 1000
UNNOTICED_BY = {"survived": "notices", "no_tests": "runs it"}
WHY = {"survived": "No test notices when", "no_tests": "No test runs this function, so none notices when"}


class OutcomeCounts(DetailRow):
    """How many mutants ended how: killed, timeout and suspicious are noticed; survived and no_tests are not.

    Equivalent ones could not be noticed: they do not count.
    """

    killed: int = 0
    timeout: int = 0
    suspicious: int = 0
    survived: int = 0
    no_tests: int = 0
    equivalent: int = 0
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
    inputs: int = 0
    """On so many inputs equivalent mutants behave as the code does."""
    equivalents: tuple[Finding, ...] = ()
    """Those mutants, with their changes; the first thousand of them."""
    notes: tuple[str, ...] = ()
    functions: tuple[FunctionMutants, ...] = ()
    outcomes: Mapping[str, str] = {}
    """mutmut's name of each mutant, and what became of it."""


class MutationCheck:
    """Do the tests notice when the code is wrong? Break it in small ways and count how often they do.

    A mutant that hangs or crashes the tests is noticed; one in code that no test runs is not. When the budget ends
    early, those tried are a random sample, and the score comes with its interval. A mutant that no test notices and no
    input tells from the code does not count. Does not see code outside functions, decorated functions, and functions
    that stand neither at the top of a module nor in a class there (mutmut makes no mutants of those).
    """

    name = "mutation"

    def __init__(self, client: MutmutClient = MUTMUT) -> None:
        self.client = client

    def judge(self, project: Project, context: CheckContext) -> Evidence:
        """Passed when the share of mutants that the tests notice is high enough; after an early stop, its best
        estimate decides. With few mutants it fails as well for each branch that no test looks at.
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
            inputs=run.inputs,
            equivalents=tuple(find_equivalent(project, run)),
            notes=tuple(run.notes),
            functions=tuple(count_by_function(run)),
            outcomes=run.outcomes,
            findings=tuple(find_unnoticed(project, run)),
        )
        return Evidence(
            check=self.name,
            verdict="passed" if run.percent >= least and not run.unwatched else "failed",
            why=_explain(run, least, project.settings.mutants) + "".join(f" Note: {note}." for note in run.notes),
            figure=run.figure(),
            threshold=f"at least {least:g} %",
            details=details.dump(),
        )


def find_unnoticed(project: Project, run: MutationRun) -> Iterator[Finding]:
    """The mutants that no test noticed, those first that fail the check by themselves, then by file and line; the first
    thousand of them.
    """
    read = cache(project.text)
    for mutant in [*dict.fromkeys([*run.unwatched, *run.unnoticed])][:MOST_FINDINGS]:
        difference, outcome = run.apart.get(mutant.key), run.outcomes[mutant.key]
        if difference:
            what = f"{difference.explain(mutant)}, and no test {UNNOTICED_BY[outcome]}"
        else:
            what = f"{WHY[outcome]} {mutant.said()}"
        diff = mutant.diff(read(Path(mutant.file)))
        yield Finding(file=mutant.file, line=mutant.changed, what=what, rule=mutant.key, diff=diff)


def find_equivalent(project: Project, run: MutationRun) -> Iterator[Finding]:
    """The mutants that do not count, by file and line; the first thousand of them."""
    read = cache(project.text)
    for mutant in run.select(EQUIVALENT)[:MOST_FINDINGS]:
        what = f"No input tells it from the code when {mutant.said()}"
        diff = mutant.diff(read(Path(mutant.file)))
        yield Finding(file=mutant.file, line=mutant.changed, what=what, rule=mutant.key, diff=diff)


def count_by_function(run: MutationRun) -> Iterator[FunctionMutants]:
    """How many mutants of each function ended how, in the order of the files."""
    counts: dict[tuple[str, int, str], Counter[str]] = defaultdict(Counter)
    for mutant in run.mutants:
        counts[mutant.file, mutant.line, mutant.name][run.outcomes[mutant.key]] += 1
    for (file, line, name), count in sorted(counts.items()):
        yield FunctionMutants(file=file, line=line, function=name, **count)


def _explain(run: MutationRun, least: float, most: int | None) -> str:
    """What a person should know, in a sentence or two."""
    said = f"T{run.describe()[1:]}"
    missed, unrun, left = run.count(*UNNOTICED), run.count("no_tests"), run.count(NOT_TRIED)
    if missed:
        said += f"; {missed} {'goes' if missed == 1 else 'go'} unnoticed"
        said += f", {unrun} of them in functions that no test runs" if unrun else ""
    said += f". {same[0].upper()}{same[1:]}" if (same := describe_equivalent(run.count(EQUIVALENT), run.inputs)) else ""
    if left:
        ended = "As many as were asked for were tried" if run.is_full(most) else "The time was up"
        said += f". {ended}; {left} were not, and the figures in brackets say where the share of all of them lies."
    else:
        said += "."
    if run.changed:
        ends = [run.outcomes[key] for key in run.changed]
        noticed, tried = sum(end in NOTICED for end in ends), sum(end in (*NOTICED, *UNNOTICED) for end in ends)
        said += f" In code that differs from the last commit, tried first: {noticed} of {tried} noticed."
    if run.unwatched and run.percent >= least:
        mutant = run.unwatched[0]
        said += f" That is enough, but {run.apart[mutant.key].explain(mutant)}, and no test notices."
    return said
