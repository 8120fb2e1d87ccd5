"""What ruff says, with rules of our choice whatever the project has configured: none is about layout.

Rules that layout moves were found by comparing copies of real files and left out; docs/checks.md has the figures.
`# noqa` has no say, since a comment is layout.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, TypeAdapter, ValidationError

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.check import Finding
from burnish.checks.project import Project
from burnish.checks.quality.module import Module, Part, score_points
from burnish.errors import CheckError
from burnish.text import plural

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
DEAD = ("F401", "F811", "F841")
"""Unused imports, definitions and variables: the part for dead code counts these."""
SERIOUS = ("F5", "F6", "F7", "F82", "PLE", "B0", "E72", "syntax")
FILES_AT_ONCE = 500


class _Place(BaseModel):
    row: int


class _Message(BaseModel):
    code: str | None
    filename: str
    message: str
    location: _Place


_MESSAGES = TypeAdapter(list[_Message])


def ask_ruff(project: Project, lab: CheckContext) -> list[Finding]:
    """Every finding of ruff. Raises CheckError when it crashed or did not answer with a report."""
    findings: list[Finding] = []
    names = [str(source) for source in project.sources]
    for start in range(0, len(names), FILES_AT_ONCE):
        said = lab.tool("ruff", *OPTIONS, "--", *names[start : start + FILES_AT_ONCE], cwd=project.root)
        try:
            messages = _MESSAGES.validate_python(json.loads(said))
        except (ValueError, ValidationError) as error:
            shown = said.strip()[:200] or "it said nothing"
            raise CheckError(f"ruff did not answer with a report: {shown!r}") from error
        findings += [_to_finding(message, project) for message in messages]
    return findings


def _to_finding(message: _Message, project: Project) -> Finding:
    """A message of ruff's, which names files by their whole path, as the project's root sees it."""
    rule = message.code if message.code and message.code != "invalid-syntax" else "syntax"
    file = Path(message.filename)
    roots = (project.root, project.root.resolve(), project.root.absolute())
    root = next((root for root in roots if file.is_relative_to(root)), None)
    return Finding(
        file=str(file.relative_to(root) if root else file),
        line=message.location.row,
        what=message.message,
        rule=rule,
        severity="medium" if is_serious(rule) else "low",
    )


def score_lint(findings: Sequence[Finding], modules: Sequence[Module]) -> Part:
    """The part for ruff: a serious finding counts three times."""
    rules = [finding.rule for finding in findings if finding.rule not in DEAD]
    serious = sum(map(is_serious, rules))
    why = f"{plural(len(rules), 'finding')} of ruff, {serious} of them serious" if rules else "ruff is content"
    return Part("lint", score_points(len(rules) + 2 * serious, modules), why, tuple(findings))


def is_serious(rule: str) -> bool:
    """Whether the rule is about something that goes wrong, not something that could be said better."""
    return rule.startswith(SERIOUS)
