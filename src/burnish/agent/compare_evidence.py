"""Compares two answers of one check: is the second better, is it worse? And is one reason to ask the model?

The rule: evidence that was not run is never better than anything, and a check that ran and no longer does is worse.
"""

from collections.abc import Mapping
from typing import Any

from burnish.checks.coverage import CoverageDetails
from burnish.checks.mutation.check import MutationDetails
from burnish.checks.performance.check import PerformanceDetails
from burnish.checks.performance.growth import ORDER, FunctionGrowth
from burnish.events import Evidence
from burnish.text import one_line

LEVELS = dict(zip(ORDER, (0, 0, 1, 1, 2, 3), strict=True))
"""Growths that a busy machine can mistake for each other are on one level."""
QUADRATIC = LEVELS["quadratic"]
SLOWER, NOTICEABLE_SECONDS = 3.0, 0.001
"""How many times slower, and by how much, a call of the same size must be before that is no noise."""
QUALITY_POINTS = 1.0
"""Points of 100 in quality that a few lines more may cost; the verdict must stay."""
MUTATION_POINTS = 5.0
"""Percent, or one mutant's share where that is more: another code has other mutants."""
COVERAGE_POINTS = 5.0
"""Percent of lines and branches: shorter code has fewer to run, and each weighs more."""
MOST_FINDINGS, LONGEST_FINDING = 3, 160
GROWTHS = {"quadratic": "with the square of", "worse": "faster than with the square of"}
HINT = "Each step should take about the same time however long the input is"


def is_better(before: Evidence, after: Evidence) -> bool:
    """Whether the figure of security, performance or quality has improved, beyond what noise can do."""
    if "not_run" in (before.verdict, after.verdict) or (before.verdict, after.verdict) == ("passed", "failed"):
        return False
    if before.check == "security":
        return _count_severities(after) < _count_severities(before)
    if before.check == "performance":
        return _worst_growth(after) < _worst_growth(before) and not _is_slower(before, after)
    return _score(after) > _score(before)


def is_worse(before: Evidence, after: Evidence) -> bool:
    """Whether a check would rather have the code as it was."""
    if after.verdict == "not_run":
        return before.verdict != "not_run"
    if after.verdict == "failed" and before.verdict != "failed":
        return True
    if before.verdict == "not_run":
        return False
    match before.check:
        case "security":
            return _count_severities(after) > _count_severities(before)
        case "performance":
            return _is_slower(before, after)
        case "mutation":
            tried = [MutationDetails.read(one).tried for one in (before, after)]
            # Of few mutants each one weighs much, and other code has others.
            shares = [100.0 / number for number in tried if number]
            return _score(after) < _score(before) - max(MUTATION_POINTS, *shares)
        case "coverage":
            (missed_before, percent_before), (missed, percent) = map(_measure_coverage, (before, after))
            return missed > missed_before and percent < percent_before - COVERAGE_POINTS
    return _score(after) < _score(before) - QUALITY_POINTS


def needs_question(evidence: Evidence) -> bool:
    """Whether the model is asked: for what fails the check, or grows with the square of its input, which passes."""
    return evidence.verdict == "failed" or (
        evidence.check == "performance" and evidence.verdict != "not_run" and _worst_growth(evidence) >= QUADRATIC
    )


def describe_findings(evidence: Evidence, code: str) -> str:
    """The worst findings with their lines, for a model. No times: a resumed run must ask the same question."""
    if evidence.check == "performance":
        slow = [
            f"the time of `{one.name}` grows {GROWTHS[one.growth]} its input `{one.argument}`"
            for one in _list_measured_functions(evidence)
            if LEVELS[one.growth] >= QUADRATIC
        ]
        return f"{'; '.join(slow[:MOST_FINDINGS])}. {HINT}."
    lines, sentences = code.split("\n"), []
    for finding in _rows(evidence, "findings")[:MOST_FINDINGS]:
        line = finding.get("line")
        shown = lines[line - 1].strip() if isinstance(line, int) and 0 < line <= len(lines) else ""
        sentence = one_line(str(finding.get("what")), LONGEST_FINDING).rstrip(".") + "."
        sentences.append(f"`{one_line(shown, 80)}`: {sentence}" if shown else sentence)
    return " ".join(sentences) or one_line(evidence.why, LONGEST_FINDING)


def _rows(evidence: Evidence, key: str) -> list[Mapping[str, Any]]:
    """A list in the check's details, worst first, as plain data."""
    rows = evidence.details.get(key)
    return [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []


def _list_measured_functions(evidence: Evidence) -> list[FunctionGrowth]:
    """The functions whose growth could be named."""
    return [one for one in PerformanceDetails.read(evidence).functions if one.growth]


def _count_severities(evidence: Evidence) -> tuple[int, ...]:
    """The larger, the worse: one severe finding weighs more than any number of slight ones."""
    severities = [finding.get("severity") for finding in _rows(evidence, "findings")]
    return (evidence.verdict == "failed", *(severities.count(severity) for severity in ("high", "medium", "low")))


def _worst_growth(evidence: Evidence) -> int:
    return max((LEVELS[one.growth] for one in _list_measured_functions(evidence)), default=0)


def _is_slower(before: Evidence, after: Evidence) -> bool:
    """Whether a function grows faster, takes far longer at the same size, or can no longer be measured."""
    now = {one.name: one for one in _list_measured_functions(after)}
    if _worst_growth(after) > _worst_growth(before):
        return True
    for one in _list_measured_functions(before):
        other = now.get(one.name)
        if other is None or LEVELS[other.growth] > LEVELS[one.growth]:
            return True
        if LEVELS[other.growth] < LEVELS[one.growth] or one.argument != other.argument:
            continue
        old, new = ({size: seconds for size, seconds, _ in each.points} for each in (one, other))
        # Small inputs take microseconds, which say nothing on a busy machine.
        largest = max(old.keys() & new.keys(), default=None)
        if largest is None:
            continue
        if new[largest] > SLOWER * old[largest] and new[largest] - old[largest] > NOTICEABLE_SECONDS:
            return True
    return False


def _score(evidence: Evidence) -> float:
    score = evidence.details.get("score")
    return float(score) if isinstance(score, int | float) else 0.0


def _measure_coverage(evidence: Evidence) -> tuple[int, float]:
    """Lines and branches that no test runs, and the percentage of the file that its tests run least of."""
    files = CoverageDetails.read(evidence).files
    missed = sum(len(one.missing) + len(one.missing_branches) for one in files)
    return missed, min((one.percent for one in files), default=100.0)
