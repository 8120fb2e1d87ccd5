"""The quality check: seven parts, one score. It looks at the tree of the code, so reformatting does not move it.

The score is the mean of the parts that have one, by weight. `Evidence.details` is a `QualityDetails` as plain data.
Ruff is asked with rules of our choice whatever the project has configured: none is about layout. Rules that layout
moves were found by comparing copies of real files and left out; docs/checks.md has the figures. `# noqa` has no say,
since a comment is layout.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.check import RANKS, Finding, Severity
from burnish.checks.project import Project
from burnish.checks.quality.metrics import (
    DEAD,
    Module,
    Part,
    read_modules,
    score_complexity,
    score_dead_code,
    score_docstrings,
    score_duplication,
    score_maintainability,
    score_points,
    score_types,
)
from burnish.errors import CheckError, blame
from burnish.events import Evidence, Frozen, Outcome
from burnish.text import plural

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
FULL = 99.95
"""From here on a part is not worth naming as the weakest."""
SELECT = (
    *("F", "E71", "E72", "E73", "E74", "B", "C4", "PIE", "PERF", "PLE", "PLW0", "A001", "A002"),
    *("RET501", "RET502", "RET503", "RET504", "N801", "N802", "N804", "N805", "N807"),
    *("SIM101", "SIM102", "SIM103", "SIM107", "SIM109", "SIM110", "SIM115", "SIM117", "SIM118", "SIM2", "SIM300"),
    *("SIM401", "SIM910", "SIM911", "PLR0124", "PLR0133", "PLR1704", "PLR1711", "PLR1714"),
)
"""Mistakes, traps, detours and names; not taste, not layout, and nothing that bandit or another part judges."""
IGNORE = ("B008", "B026", "B028", "B905", "C408", "PLW0603")
"""Layout (B026), or taste that good projects differ in."""
TARGET = "py311"
OPTIONS = (
    *("check", "--isolated", "--no-cache", "--ignore-noqa", "--quiet", "--output-format", "json"),
    *("--target-version", TARGET, "--line-length", "320", "--per-file-ignores", "__init__.py:F401"),
    *("--select", ",".join(SELECT), "--ignore", ",".join(IGNORE)),
)
SERIOUS = ("F5", "F6", "F7", "F82", "PLE", "B0", "E72", "syntax")
FILES_AT_ONCE = 500


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

    def judge(self, project: Project, context: CheckContext) -> Evidence:
        """Passed when the score is what the settings ask for. Raises CheckError for code that cannot be parsed."""
        modules = read_modules(project)
        if not any(module.statements for module in modules):
            raise CheckError("there is no code to judge")
        ruff = [one for one in ask_ruff(project, context) if project.is_judged(one.file, one.line)]
        with blame(CheckError, "measuring quality"):
            parts = [
                score_lint(ruff, modules),
                score_complexity(modules),
                score_maintainability(modules),
                score_types(modules),
                score_docstrings(modules),
                score_dead_code(modules, ruff),
                score_duplication(modules),
            ]
        scored = [(part.score, part) for part in parts if part.score is not None]
        total = round(fmean([value for value, _ in scored], [WEIGHTS[part.name] for _, part in scored]), 1)
        verdict: Outcome = "passed" if total >= project.settings.quality else "failed"
        lowest, weakest = max(scored, key=lambda one: WEIGHTS[one[1].name] * (100 - one[0]))
        why = f"weakest part: {weakest.name} with {lowest:.0f} of 100 ({weakest.why})"
        shown = {}
        for part in parts:
            rounded = None if part.score is None else round(part.score, 1)
            shown[part.name] = PartScore(score=rounded, weight=WEIGHTS[part.name], why=part.why)
        findings = [finding for part in parts for finding in part.findings]
        findings.sort(key=lambda finding: (-RANKS[finding.severity], finding.file, finding.line, finding.rule))
        return Evidence(
            check=self.name,
            verdict=verdict,
            why=why if lowest < FULL else "every part is at its best",
            figure=f"{total:g} of 100",
            threshold=f"at least {project.settings.quality:g}",
            details=QualityDetails(score=total, parts=shown, findings=findings).model_dump(),
        )


def ask_ruff(project: Project, context: CheckContext) -> list[Finding]:
    """Every finding of ruff. Raises CheckError when it crashed or did not answer with a report."""
    findings: list[Finding] = []
    names = [str(source) for source in project.sources]
    for start in range(0, len(names), FILES_AT_ONCE):
        said = context.tool("ruff", *OPTIONS, "--", *names[start : start + FILES_AT_ONCE], cwd=project.root)
        try:
            messages = json.loads(said)
            if not isinstance(messages, list):
                raise ValueError("no list")
            findings += [_read_message(message, project.root) for message in messages]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            shown = said.strip()[:200] or "it said nothing"
            raise CheckError(f"ruff did not answer with a report: {shown!r}") from error
    return findings


def _read_message(message: dict[str, Any], root: Path) -> Finding:
    """One finding of ruff's. It names files by their whole path, whichever way that leads to the root."""
    rule = message["code"] if message["code"] not in (None, "invalid-syntax") else "syntax"
    severity: Severity = "medium" if is_serious(rule) else "low"
    file = Path(message["filename"])
    above = next((one for one in (root, root.resolve(), root.absolute()) if file.is_relative_to(one)), Path())
    name, line = str(file.relative_to(above) if above != Path() else file), message["location"]["row"]
    return Finding(file=name, line=line, what=message["message"], rule=rule, severity=severity)


def score_lint(findings: Sequence[Finding], modules: Sequence[Module]) -> Part:
    """The part for ruff: a serious finding counts three times."""
    rules = [finding.rule for finding in findings if finding.rule not in DEAD]
    serious = sum(map(is_serious, rules))
    why = f"{plural(len(rules), 'finding')} of ruff, {serious} of them serious" if rules else "ruff is content"
    return Part("lint", score_points(len(rules) + 2 * serious, modules), why, tuple(findings))


def is_serious(rule: str) -> bool:
    """Whether the rule is about something that goes wrong, not something that could be said better."""
    return rule.startswith(SERIOUS)
