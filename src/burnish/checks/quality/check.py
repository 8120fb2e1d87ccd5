"""The quality check: seven parts, one score. It looks at the tree of the code, so reformatting does not move it.

The score is the mean of the parts that have one, by weight. `Evidence.details` is a `QualityDetails` as plain data.
"""

from collections.abc import Sequence
from statistics import fmean

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.check import Finding
from burnish.checks.project import Project
from burnish.checks.quality.lint import ask_ruff, score_lint
from burnish.checks.quality.metrics import score_complexity, score_docstrings, score_maintainability, score_types
from burnish.checks.quality.module import Module, Part, read_modules
from burnish.checks.quality.redundancy import score_dead_code, score_duplication
from burnish.errors import CheckError, blame
from burnish.events import Evidence, Frozen, Outcome

WEIGHTS = {
    "lint": 25,
    "complexity": 20,
    "maintainability": 10,
    "types": 15,
    "docstrings": 10,
    "dead code": 10,
    "duplication": 10,
}
"""Mistakes count most, then how hard it is to follow, then what it says about itself, then ballast."""
ORDER = {"high": 0, "medium": 1, "low": 2, "": 3}
FULL = 99.95
"""From here on a part is not worth naming as the weakest."""


class PartScore(Frozen):
    """What one part of the score came to."""

    score: float | None
    """None where it had nothing to judge."""
    weight: int
    why: str


class QualityDetails(Frozen):
    """What the check puts into `Evidence.details`."""

    score: float
    parts: dict[str, PartScore]
    findings: list[Finding]
    """Worst first. A list, as plain data of details has no tuples."""


class QualityCheck:
    """Would somebody be glad to take this code over? One score, and the parts it comes from."""

    name = "quality"

    def judge(self, project: Project, lab: CheckContext) -> Evidence:
        """Passed when the score is what the settings ask for. Code that cannot be parsed is not run, and named."""
        try:
            modules = read_modules(project)
        except CheckError as error:
            return Evidence(check=self.name, verdict="not_run", why=str(error))
        if not any(module.statements for module in modules):
            return Evidence(check=self.name, verdict="not_run", why="there is no code to judge")
        parts = measure(modules, ask_ruff(project, lab))
        total = score(parts)
        verdict: Outcome = "passed" if total >= project.settings.quality else "failed"
        return Evidence(
            check=self.name,
            verdict=verdict,
            why=_name_weakest(parts),
            figure=f"{total:g} of 100",
            threshold=f"at least {project.settings.quality:g}",
            details=_collect_details(parts, total).model_dump(),
        )


def measure(modules: Sequence[Module], ruff: Sequence[Finding]) -> list[Part]:
    """Every part, in the order of the weights."""
    with blame(CheckError, "measuring quality"):
        return [
            score_lint(ruff, modules),
            score_complexity(modules),
            score_maintainability(modules),
            score_types(modules),
            score_docstrings(modules),
            score_dead_code(modules, ruff),
            score_duplication(modules),
        ]


def score(parts: Sequence[Part]) -> float:
    """The mean of the parts that had something to judge, by weight."""
    counting = [(part.score, WEIGHTS[part.name]) for part in parts if part.score is not None]
    return round(fmean([value for value, _ in counting], [weight for _, weight in counting]), 1)


def _name_weakest(parts: Sequence[Part]) -> str:
    scored = [(WEIGHTS[part.name] * (100 - part.score), part) for part in parts if part.score is not None]
    _, weakest = max(scored, key=lambda one: one[0])
    if (weakest.score or 0) >= FULL:
        return "every part is at its best"
    return f"weakest part: {weakest.name} with {weakest.score:.0f} of 100 ({weakest.why})"


def _collect_details(parts: Sequence[Part], total: float) -> QualityDetails:
    findings = sorted(
        (finding for part in parts for finding in part.findings),
        key=lambda finding: (ORDER[finding.severity], finding.file, finding.line, finding.rule),
    )
    shown = {}
    for part in parts:
        rounded = None if part.score is None else round(part.score, 1)
        shown[part.name] = PartScore(score=rounded, weight=WEIGHTS[part.name], why=part.why)
    return QualityDetails(score=total, parts=shown, findings=findings)
