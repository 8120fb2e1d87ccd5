"""Do the tests notice when the code is wrong?

`Evidence.details`: killed, timeout, suspicious (noticed); survived, no_tests (not noticed); not_tried, invalid;
mutants, tried, score, interval; seconds, per_second (mutants tried in a second, once the tests had run without any),
tests; functions (the same counts for each), outcomes (mutmut's name of each mutant and what became of it), notes.
"""

from collections.abc import Iterator

from burnish.checks.lab import Lab
from burnish.checks.mutation.maker import MAKER, Maker
from burnish.checks.mutation.score import INVALID, NOT_TRIED, NOTICED, OUTCOMES, UNNOTICED, Score, by_function
from burnish.checks.mutation.survey import Survey, survey
from burnish.checks.project import Project
from burnish.events import Evidence
from burnish.text import plural

MOST_FINDINGS = 1000
WHY = {"survived": "No test notices when", "no_tests": "No test runs this function, so none notices when"}


class MutationCheck:
    """Do the tests notice when the code is wrong? Break it in small ways and count how often they do.

    A mutant that hangs or crashes the tests is noticed; one in code that no test runs is not. When the budget ends
    early, those tried are a random sample, and the score comes with its interval. Does not see code outside functions,
    decorated functions, and functions that stand neither at the top of a module nor in a class there (mutmut makes no
    mutants of those).
    """

    name = "mutation"

    def __init__(self, maker: Maker = MAKER) -> None:
        self.maker = maker

    def judge(self, project: Project, lab: Lab) -> Evidence:
        """The share of mutants that the tests notice, and each that they do not."""
        found = survey(project, lab, self.maker)
        return self._not_run(found.problem) if found.problem else self._verdict(project, found)

    def _verdict(self, project: Project, found: Survey) -> Evidence:
        """Passed when the score is high enough; after an early stop, its best estimate decides."""
        score, trial, mutants, skipped = found.score, found.trial, found.mutants, found.skipped
        notes = [*trial.notes, *([f"{plural(skipped, 'file')} not reached"] if skipped else [])]
        details: dict[str, object] = {
            **{outcome: score.of(outcome) for outcome in OUTCOMES},
            "mutants": len(mutants),
            "tried": score.tried,
            "score": round(score.percent, 2),
            "interval": [round(end, 2) for end in score.interval],
            "seconds": round(found.seconds, 3),
            "per_second": round(score.tried / (trial.trying_seconds or trial.seconds), 1),
            "tests": trial.tests,
            "notes": notes,
            "functions": by_function(mutants, trial.outcomes),
            "outcomes": trial.outcomes,
            "findings": list(findings(project, found)),
        }
        return Evidence(
            check=self.name,
            verdict="passed" if score.percent >= project.settings.mutation else "failed",
            why=sentence(score, notes),
            figure=score.figure(),
            threshold=f"at least {project.settings.mutation:g} %",
            details=details,
        )

    def _not_run(self, why: str) -> Evidence:
        return Evidence(check=self.name, verdict="not_run", why=f"{why[0].upper()}{why[1:].rstrip('.')}.")


def findings(project: Project, found: Survey) -> Iterator[dict[str, object]]:
    """The mutants that no test noticed, by file and line; the first thousand of them."""
    texts: dict[str, str] = {}
    for mutant in found.unnoticed[:MOST_FINDINGS]:
        if mutant.file not in texts:
            texts[mutant.file] = next(project.text(path) for path in project.sources if str(path) == mutant.file)
        yield mutant.finding(texts[mutant.file], WHY[found.trial.outcomes[mutant.key]]).model_dump()


def sentence(score: Score, notes: list[str]) -> str:
    """What a person should know, in a sentence or two."""
    said = f"The tests notice {score.of(*NOTICED)} of {plural(score.tried, 'small change')} to the code"
    missed, unrun = score.of(*UNNOTICED), score.of("no_tests")
    if missed:
        said += f"; {missed} {'goes' if missed == 1 else 'go'} unnoticed"
        said += f", {unrun} of them in functions that no test runs" if unrun else ""
    if score.of(NOT_TRIED):
        said += f". The time was up; {score.of(NOT_TRIED)} were not tried"
    if score.of(INVALID):
        notes.append(f"{plural(score.of(INVALID), 'mutant')} could not be compiled")
    return f"{said}." + "".join(f" Note: {note}." for note in notes)
