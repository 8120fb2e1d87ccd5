"""What bandit says about a project, as it says it: every finding of every test, whatever the user's configuration.

Files are named one by one and nothing is excluded, so no `.bandit` file and no `[tool.bandit]` has a say. `# nosec` is
the user's word about the user's code and is honoured; a model's word about its own code is not.
"""

import json
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from pydantic import BaseModel, Field, ValidationError

from burnish.checks.finding import Finding, Severity
from burnish.checks.lab import Lab
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


class Seen(NamedTuple):
    """A finding and the lines of the code it is about."""

    finding: Finding
    lines: range


class Scan(NamedTuple):
    """Everything bandit saw, and the files it could not read with the reason."""

    seen: list[Seen]
    unread: dict[str, str]


def scan(project: Project, lab: Lab) -> Scan:
    """Run bandit over the sources. Raises CheckError when it crashed or did not answer for every file."""
    seen: list[Seen] = []
    unread: dict[str, str] = {}
    for sources in _in_turn([str(source) for source in project.sources]):
        report = _report(_ask(sources, project, lab))
        unread |= {_path(problem.filename): problem.reason for problem in report.errors}
        missing = set(map(_path, sources)) - {_path(name) for name in report.metrics} - set(unread)
        if missing:
            raise CheckError(f"bandit said nothing about {min(missing)!r}")
        seen += [_seen(result) for result in report.results]
    return Scan(seen, unread)


def _in_turn(sources: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(sources), FILES_AT_ONCE):
        yield sources[start : start + FILES_AT_ONCE]


def _ask(sources: list[str], project: Project, lab: Lab) -> str:
    nosec = ["--ignore-nosec"] if project.generated else []
    arguments = ["-q", "-f", "json", "-x", "", *nosec, "--", *sources]
    return lab.tool("bandit", *arguments, timeout_seconds=SECONDS, cwd=project.root)


def _report(said: str) -> _Report:
    try:
        return _Report.model_validate(json.loads(said))
    except (ValueError, ValidationError) as error:
        raise CheckError(f"bandit did not answer with a report: {said.strip()[:200] or 'it said nothing'!r}") from error


def _seen(result: _Result) -> Seen:
    finding = Finding(
        file=_path(result.filename),
        line=result.line_number,
        what=result.issue_text if result.test_id not in REPEATS_SECRETS else "Possible hardcoded password.",
        rule=result.test_id,
        severity=_SEVERITIES.get(result.issue_severity, ""),
        confidence=_SEVERITIES.get(result.issue_confidence, ""),
    )
    lines = [result.line_number, *(result.line_range if result.test_id not in WHOLE_FUNCTION else ())]
    return Seen(finding, range(min(lines), max(lines) + 1))


def _path(name: str) -> str:
    return str(PurePosixPath(name))
