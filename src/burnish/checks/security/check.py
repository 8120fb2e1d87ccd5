"""The security check: bandit and our own rules over the sources, nothing of which is run.

A finding that bandit and a rule both made has both names, "B602, no-shell". `Evidence.details` is a `SecurityDetails`
as plain data. What bandit says counts as it says it, every finding of every test, whatever the user's configuration:
files are named one by one and nothing is excluded, so no `.bandit` file and no `[tool.bandit]` has a say. `# nosec` is
the user's word about the user's code and is honoured; a model's word about its own code is not.
"""

import io
import json
import re
import tokenize
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.bench.project_finder import find_flaw_in
from burnish.checks.check import RANKS, Details, Finding, Severity, describe_worst
from burnish.checks.project import Project
from burnish.checks.security.rules import Rule, find_breaches, select_rules
from burnish.errors import CheckError
from burnish.events import Evidence, Outcome
from burnish.parsing import PARSE_ERRORS, parse
from burnish.text import one_line, plural

HIDDEN_CHARACTER = "no-hidden-character"
HIDDEN_CHARACTER_IN_BANDIT = frozenset({"B613"})
_NOSEC = re.compile(r"#\s*nosec:?\s*(?P<only>[\w, -]*)")
_SUSPECT = re.compile(r"[^\t\n\r\f -~\u00a0-\u00ac\u00ae-\u02ff]|(?<=[^\f])\f")
"""All but the usual: a form feed begins a page at the start of a line, and inside of one it hides an indentation."""
_TURNS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_NOT_SHOWN = {"Cc", "Cf", "Co", "Zl", "Zp"}
_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\U000e0100-\U000e01ef]")
"""Letters and marks that are drawn as nothing."""
_IN_EMOJI = re.compile(r"(?<=[\ufe0f\u2190-\u2bff\U0001f000-\U0001faff])\u200d(?=[\u2190-\u2bff\U0001f000-\U0001faff])")
FILES_AT_ONCE = 500
SECONDS = 300.0
REPEATS_SECRETS = {"B105", "B106", "B107"}
"""Tests whose sentence holds the password itself; a report may be shown to others."""
WHOLE_FUNCTION = {"B107"}
"""Tests whose line range is the function's and not that of what was found."""
_SEVERITIES: dict[str, Severity] = {"LOW": "low", "MEDIUM": "medium", "HIGH": "high"}


Scan = tuple[list[tuple[Finding, range]], dict[str, str]]
"""What bandit found, each with the lines of the code it is about; and the files it could not read, with the reason."""


class SecurityDetails(Details):
    """What the check puts into `Evidence.details`."""

    counts: dict[str, int]
    """Findings by severity."""
    unread: dict[str, str]
    """Files that could not be looked at, with the reason."""


class SecurityCheck:
    """Does the code do anything that could harm whoever runs it?"""

    name = "security"

    def judge(self, project: Project, context: CheckContext) -> Evidence:
        """Failed by a finding as severe as the settings say; in generated code, by any rule of ours that is broken."""
        least = project.settings.severity
        if not project.sources:
            return Evidence(check=self.name, verdict="not_run", why="there is no Python file to look at")
        rules = select_rules(project.generated, project.settings.network, project.named)
        findings, unread = collect_findings(project, rules, scan(project, context))
        own = {rule.name for rule in rules} if project.generated else set()
        bad = [one for one in findings if RANKS[one.severity] >= RANKS[least] or own & {*one.rule.split(", ")}]
        verdict: Outcome = "failed" if bad else "not_run" if unread else "passed"
        many, figure, why = plural(len(findings), "finding"), "no findings", []
        if findings:
            figure = f"{many}, {describe_worst(findings[0].severity, findings[0].confidence)}"
        if bad:
            worst = bad[0]
            more = f", and {len(bad) - 1} more like it" if len(bad) > 1 else ""
            why = [f"{worst.file} line {worst.line} ({worst.rule}): {one_line(worst.what, 160).rstrip('.')}{more}"]
        elif not unread:
            why = [f"{many}, all below the threshold" if findings else "nothing was found"]
        if unread:
            file = min(unread)
            more = f" and {len(unread) - 1} more" if len(unread) > 1 else ""
            why.append(f"{one_line(file)}{more} could not be read: {one_line(unread[file])}")
        counts = {severity: sum(one.severity == severity for one in findings) for severity in ("high", "medium", "low")}
        return Evidence(
            check=self.name,
            verdict=verdict,
            why="; ".join(why),
            figure=figure,
            threshold=f"none of {least} severity or above",
            details=SecurityDetails(findings=tuple(findings), counts=counts, unread=unread).dump(),
        )


def collect_findings(project: Project, rules: tuple[Rule, ...], scanned: Scan) -> tuple[list[Finding], dict[str, str]]:
    """The findings of bandit and of our rules, worst first, and the files that one of them could not read."""
    seen, unread = scanned
    unread |= {str(file): str(find_flaw_in(project.root / file)) for file in project.foreign}
    ours: list[Finding] = []
    for source in project.sources:
        try:
            text = project.text(source)
            ours += find_hidden_characters(text, str(source))
            found = find_breaches(parse(text), str(source), rules)
            ours += found if project.generated else drop_marked(found, text, rules)
        except (OSError, tokenize.TokenError, *PARSE_ERRORS) as error:
            unread.setdefault(str(source), f"{type(error).__name__}: {one_line(str(error))}")
    findings = [one for one in merge_findings(seen, ours, rules) if project.is_judged(one.file, one.line)]
    return sorted(findings, key=lambda f: (-RANKS[f.severity], -RANKS[f.confidence], f.file, f.line, f.rule)), unread


def find_hidden_characters(text: str, file: str) -> Iterator[Finding]:
    """One finding for each line that holds a character that makes it look other than it is: not shown, turning the
    text around, or ending a line for some. Lines are counted as Python does.
    """
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        joiners = {found.start() for found in _IN_EMOJI.finditer(line)}
        suspects = [found[0] for found in _SUSPECT.finditer(line) if found.start() not in joiners]
        hidden = [char for char in suspects if unicodedata.category(char) in _NOT_SHOWN or _BLANK.match(char)]
        if hidden:
            char = next(filter(_TURNS.match, hidden), hidden[0])
            turns = _TURNS.match(char) is not None
            does = "turns the text around" if turns else "is not shown"
            called = f"U+{ord(char):04X} ({unicodedata.name(char, 'a control character').lower()})"
            yield Finding(
                file=file,
                line=number,
                what=f"{called} {does}, so the line is not what it looks like; write it as an escape.",
                rule=HIDDEN_CHARACTER,
                severity="high" if turns else "medium",
                confidence="high",
            )


def drop_marked(findings: Iterable[Finding], text: str, rules: tuple[Rule, ...]) -> Iterator[Finding]:
    """The findings at lines without `# nosec`, bandit's mark for "looked at", which counts for our rules too.

    One that lists tests (`# nosec B602`) speaks for those alone.
    """
    also = {rule.name: {rule.name, *rule.also} for rule in rules}
    marks: dict[int, set[str]] = {}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and (found := _NOSEC.search(token.string)):
            marks[token.start[0]] = set(re.findall(r"B\d+|no-[a-z-]+", found["only"]))
    for finding in findings:
        only = marks.get(finding.line)
        if only is None or (only and not only & also[finding.rule]):
            yield finding


def merge_findings(seen: list[tuple[Finding, range]], ours: list[Finding], rules: tuple[Rule, ...]) -> list[Finding]:
    """All findings; where a rule and bandit mean the same thing at the same place, one with both names."""
    also = {rule.name: rule.also for rule in rules} | {HIDDEN_CHARACTER: HIDDEN_CHARACTER_IN_BANDIT}
    left, findings = list(ours), []
    for theirs, lines in seen:
        same = [one for one in left if one.file == theirs.file and one.line in lines and theirs.rule in also[one.rule]]
        left = [one for one in left if one not in same]
        if same:
            names = ", ".join([theirs.rule, *dict.fromkeys(one.rule for one in same)])
            severity = max((theirs.severity, *(one.severity for one in same)), key=RANKS.__getitem__)
            update = {"what": same[0].what, "rule": names, "severity": severity, "confidence": "high"}
            theirs = theirs.model_copy(update=update)
        findings.append(theirs)
    return findings + left


def scan(project: Project, context: CheckContext) -> Scan:
    """Run bandit over the sources. Raises CheckError when it crashed or did not answer for every file."""
    seen: list[tuple[Finding, range]] = []
    unread: dict[str, str] = {}
    names = [str(source) for source in project.sources]
    options = ["-q", "-f", "json", "-x", "", *(["--ignore-nosec"] if project.generated else []), "--"]
    for start in range(0, len(names), FILES_AT_ONCE):
        sources = names[start : start + FILES_AT_ONCE]
        said = context.tool("bandit", *options, *sources, timeout_seconds=SECONDS, cwd=project.root)
        try:
            report = json.loads(said)
            seen += map(_read_result, report["results"])
            unread |= {_normalise(one["filename"]): str(one["reason"]) for one in report["errors"]}
            missing = {*map(_normalise, sources)} - {*map(_normalise, report["metrics"])} - {*unread}
        except (ValueError, KeyError, TypeError) as error:
            shown = said.strip()[:200] or "it said nothing"
            raise CheckError(f"bandit did not answer with a report: {shown!r}") from error
        if missing:
            raise CheckError(f"bandit said nothing about {min(missing)!r}")
    return seen, unread


def _read_result(result: dict[str, Any]) -> tuple[Finding, range]:
    """One finding of bandit's, and the lines it is about."""
    test, line = result["test_id"], result["line_number"]
    finding = Finding(
        file=_normalise(result["filename"]),
        line=line,
        what=result["issue_text"] if test not in REPEATS_SECRETS else "Possible hardcoded password.",
        rule=test,
        severity=_SEVERITIES.get(result["issue_severity"], ""),
        confidence=_SEVERITIES.get(result["issue_confidence"], ""),
    )
    lines = [line, *(result.get("line_range", ()) if test not in WHOLE_FUNCTION else ())]
    return finding, range(min(lines), max(lines) + 1)


def _normalise(name: str) -> str:
    return str(PurePosixPath(name))
