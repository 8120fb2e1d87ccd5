"""Two answers of one check, weighed against each other: is the second better, is it worse?

The rule: what was not run is never better than anything, and what was run and no longer is has become worse.
"""

from collections.abc import Mapping
from typing import Any

from burnish.checks.performance.growth import ORDER
from burnish.events import Evidence

LEVELS = dict(zip(ORDER, (0, 0, 1, 1, 2, 3), strict=True))
"""Growths that a busy machine can mistake for each other are on one level."""
QUADRATIC = LEVELS["quadratic"]
SLOWER, NOTICEABLE_SECONDS = 3.0, 0.001
"""How many times slower, and by how much, a call of the same size must be before that is no noise."""
A_LITTLE = 1.0
"""Points of 100 in quality that a few lines more may cost; the verdict must stay."""
MUTATION_POINTS = 5.0
"""Percent, or one mutant's share where that is more: another code has other mutants."""
COVERAGE_POINTS = 5.0
"""Percent of lines and branches: shorter code has fewer to run, and each weighs more."""
SAID_OF_SIGNATURES = ("types", "docstring", "complexity", "duplication")
"""Findings of quality that no small rewrite mends; alone they are no reason to begin a round."""


def better(before: Evidence, after: Evidence) -> bool:
    """Whether a check's figure has improved, beyond what noise can do."""
    if "not_run" in (before.verdict, after.verdict) or (before.verdict, after.verdict) == ("passed", "failed"):
        return False
    match before.check:
        case "security":
            return _severities(after) < _severities(before)
        case "performance":
            return _worst(after) < _worst(before) and not _slower(before, after)
        case "mutation":
            return _score(after) > _score(before) + _mutation_noise(before, after)
    return _score(after) > _score(before)


def worse(before: Evidence, after: Evidence) -> bool:
    """Whether a check would rather have the code as it was."""
    if after.verdict == "not_run":
        return before.verdict != "not_run"
    if after.verdict == "failed" and before.verdict != "failed":
        return True
    if before.verdict == "not_run":
        return False
    match before.check:
        case "security":
            return _severities(after) > _severities(before)
        case "performance":
            return _slower(before, after)
        case "mutation":
            return _score(after) < _score(before) - _mutation_noise(before, after)
        case "coverage":
            return _missing(after) > _missing(before) and _covered(after) < _covered(before) - COVERAGE_POINTS
    return _score(after) < _score(before) - A_LITTLE


def found(evidence: Evidence) -> bool:
    """Whether there is something to mend. A quadratic growth is allowed, and yet worth a round."""
    if evidence.verdict == "not_run":
        return False
    if evidence.check == "performance":
        return _worst(evidence) >= QUADRATIC
    rules = {str(finding.get("rule")) for finding in findings(evidence)}
    if evidence.check == "quality":
        return evidence.verdict == "failed" or bool(rules - {*SAID_OF_SIGNATURES})
    return bool(rules)


def worth_asking(evidence: Evidence) -> bool:
    """Whether a model is asked where nothing else helps: for what fails the check, or grows too fast."""
    return evidence.verdict == "failed" or (evidence.check == "performance" and found(evidence))


def findings(evidence: Evidence) -> list[Mapping[str, Any]]:
    """What the check saw, worst first, as plain data."""
    seen = evidence.details.get("findings", [])
    return [one for one in seen if isinstance(one, Mapping)] if isinstance(seen, list) else []


def functions(evidence: Evidence) -> list[Mapping[str, Any]]:
    """The functions whose growth could be named, worst first."""
    seen = evidence.details.get("functions", [])
    return [one for one in seen if isinstance(one, Mapping) and one.get("growth")] if isinstance(seen, list) else []


def _severities(evidence: Evidence) -> tuple[int, ...]:
    """The larger, the worse: one severe finding weighs more than any number of slight ones."""
    all_of_them = [finding.get("severity") for finding in findings(evidence)]
    return (evidence.verdict == "failed", *(all_of_them.count(severity) for severity in ("high", "medium", "low")))


def _worst(evidence: Evidence) -> int:
    return max((LEVELS[str(one["growth"])] for one in functions(evidence)), default=0)


def _slower(before: Evidence, after: Evidence) -> bool:
    """Whether a function grows faster, takes far longer at the same size, or can no longer be measured."""
    now = {one["name"]: one for one in functions(after)}
    if _worst(after) > _worst(before):
        return True
    return any(one["name"] not in now or _slower_one(one, now[one["name"]]) for one in functions(before))


def _slower_one(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    if LEVELS[after["growth"]] != LEVELS[before["growth"]]:
        return LEVELS[after["growth"]] > LEVELS[before["growth"]]
    was, now = ({size: seconds for size, seconds, _ in one["points"]} for one in (before, after))
    largest = max(was.keys() & now.keys(), default=None)
    if largest is None or before.get("argument") != after.get("argument"):
        return False
    return bool(now[largest] > SLOWER * was[largest] and now[largest] - was[largest] > NOTICEABLE_SECONDS)


def _score(evidence: Evidence) -> float:
    score = evidence.details.get("score")
    return float(score) if isinstance(score, int | float) else 0.0


def _covered(evidence: Evidence) -> float:
    """The share of the file that its tests run least of."""
    return min((float(one["percent"]) for one in _files(evidence)), default=100.0)


def _missing(evidence: Evidence) -> int:
    return sum(len(one["missing"]) + len(one["missing_branches"]) for one in _files(evidence))


def _files(evidence: Evidence) -> list[Mapping[str, Any]]:
    seen = evidence.details.get("files")
    return [one for one in seen if isinstance(one, Mapping)] if isinstance(seen, list) else []


def _mutation_noise(*answers: Evidence) -> float:
    tried = [answer.details.get("tried") for answer in answers]
    shares = [100.0 / number for number in tried if isinstance(number, int) and number]
    return max(MUTATION_POINTS, *shares)
