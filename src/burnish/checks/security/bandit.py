"""What bandit says about a project, as it says it: every finding of every test, whatever the user's configuration.

Files are named one by one and nothing is excluded, so no `.bandit` file and no `[tool.bandit]` has a say. `# nosec` is
the user's word about the user's code and is honoured; a model's word about its own code is not.
"""

import json
from pathlib import PurePosixPath
from typing import NamedTuple

from pydantic import BaseModel, Field, ValidationError

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.check import Finding, Severity
from burnish.checks.project import Project
from burnish.errors import CheckError

FILES_AT_ONCE = 500
SECONDS = 300.0
REPEATS_SECRETS = {"B105", "B106", "B107"}
"""Tests whose sentence holds the password itself; a report may be shown to others."""
WHOLE_FUNCTION = {"B107"}
"""Tests whose line range is the function's and not that of what was found."""
_SEVERITIES: dict[str, Severity] = {"LOW": "low", "MEDIUM": "medium", "HIGH": "high"}


class _Result(BaseModel):
    filename: str
    line_number: int
    line_range: list[int] = Field(default_factory=list)
    issue_text: str
    issue_severity: str
    issue_confidence: str
    test_id: str


class _Problem(BaseModel):
    filename: str
    reason: str


class _Report(BaseModel):
    results: list[_Result]
    errors: list[_Problem]
    metrics: dict[str, object]


class BanditScan(NamedTuple):
    """Everything bandit saw, and the files it could not read with the reason."""

    seen: list[tuple[Finding, range]]
    """Each finding with the lines of the code it is about."""
    unread: dict[str, str]


def scan(project: Project, lab: CheckContext) -> BanditScan:
    """Run bandit over the sources. Raises CheckError when it crashed or did not answer for every file."""
    found = BanditScan([], {})
    names = [str(source) for source in project.sources]
    options = ["-q", "-f", "json", "-x", "", *(["--ignore-nosec"] if project.generated else []), "--"]
    for start in range(0, len(names), FILES_AT_ONCE):
        sources = names[start : start + FILES_AT_ONCE]
        said = lab.tool("bandit", *options, *sources, timeout_seconds=SECONDS, cwd=project.root)
        try:
            report = _Report.model_validate(json.loads(said))  # pydantic's own parser refuses lone surrogates
        except (ValueError, ValidationError) as error:
            shown = said.strip()[:200] or "it said nothing"
            raise CheckError(f"bandit did not answer with a report: {shown!r}") from error
        found.unread.update((_normalise(problem.filename), problem.reason) for problem in report.errors)
        missing = {*map(_normalise, sources)} - {*map(_normalise, report.metrics)} - {*found.unread}
        if missing:
            raise CheckError(f"bandit said nothing about {min(missing)!r}")
        found.seen.extend(map(_to_finding, report.results))
    return found


def _to_finding(result: _Result) -> tuple[Finding, range]:
    finding = Finding(
        file=_normalise(result.filename),
        line=result.line_number,
        what=result.issue_text if result.test_id not in REPEATS_SECRETS else "Possible hardcoded password.",
        rule=result.test_id,
        severity=_SEVERITIES.get(result.issue_severity, ""),
        confidence=_SEVERITIES.get(result.issue_confidence, ""),
    )
    lines = [result.line_number, *(result.line_range if result.test_id not in WHOLE_FUNCTION else ())]
    return finding, range(min(lines), max(lines) + 1)


def _normalise(name: str) -> str:
    return str(PurePosixPath(name))
