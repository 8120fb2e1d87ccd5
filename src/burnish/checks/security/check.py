"""The security check: bandit and our own rules over the sources, nothing of which is run.

`details`: "findings" (worst first; one that bandit and a rule both made has both names, "B602, no-shell"), "counts" of
findings by severity, and "unread", the files that could not be looked at, with the reason.
"""

from tokenize import TokenError

from burnish.checks.finding import Finding
from burnish.checks.lab import Lab
from burnish.checks.project import Project
from burnish.checks.python_files import flaw_of
from burnish.checks.security import characters
from burnish.checks.security.bandit import Scan, Seen, scan
from burnish.checks.security.nosec import unmarked
from burnish.checks.security.rules import Rule, breaches, rules_for
from burnish.events import Evidence, Outcome
from burnish.parsing import parse
from burnish.text import counted, one_line

RANKS = {"": 0, "low": 1, "medium": 2, "high": 3}
UNREADABLE = (OSError, SyntaxError, ValueError, RecursionError, MemoryError, TokenError)
"""What reading and parsing a file may raise."""


class SecurityCheck:
    """Does the code do anything that could harm whoever runs it?"""

    name = "security"

    def judge(self, project: Project, lab: Lab) -> Evidence:
        """Failed by a finding as severe as the settings say; in generated code, by any rule of ours that is broken."""
        least = RANKS[project.settings.severity]
        if not project.sources:
            return Evidence(check=self.name, verdict="not_run", why="there is no Python file to look at")
        rules = rules_for(project.generated, project.settings.network, project.named)
        scanned = scan(project, lab)
        findings, unread = look(project, rules, scanned)
        bad = [f for f in findings if RANKS[f.severity] >= least or (project.generated and broken(f, rules))]
        return Evidence(
            check=self.name,
            verdict=_verdict(bad, unread),
            why=_why(findings, bad, unread),
            figure=_figure(findings),
            threshold=f"none of {project.settings.severity} severity or above",
            details=_details(findings, unread),
        )


def look(project: Project, rules: tuple[Rule, ...], scanned: Scan) -> tuple[list[Finding], dict[str, str]]:
    """The findings of bandit and of our rules, worst first, and the files that one of them could not read."""
    unread = dict(scanned.unread) | {str(file): str(flaw_of(project.root / file)) for file in project.foreign}
    ours: list[Finding] = []
    for source in project.sources:
        try:
            text = project.text(source)
            ours += characters.hidden_characters(text, str(source))
            found = breaches(parse(text), str(source), rules)
            ours += found if project.generated else unmarked(found, text, rules)
        except UNREADABLE as error:
            unread.setdefault(str(source), f"{type(error).__name__}: {one_line(str(error))}")
    findings = joined(scanned.seen, ours, rules)
    return sorted(findings, key=lambda f: (-RANKS[f.severity], -RANKS[f.confidence], f.file, f.line, f.rule)), unread


def joined(seen: list[Seen], ours: list[Finding], rules: tuple[Rule, ...]) -> list[Finding]:
    """All findings; where a rule and bandit mean the same thing at the same place, one with both names."""
    also = {rule.name: rule.also for rule in rules} | {characters.RULE: characters.SAME}
    left, findings = list(ours), []
    for theirs, lines in seen:
        same = [o for o in left if o.file == theirs.file and o.line in lines and theirs.rule in also[o.rule]]
        left = [one for one in left if one not in same]
        findings.append(_together(theirs, same))
    return findings + left


def broken(finding: Finding, rules: tuple[Rule, ...]) -> bool:
    """Whether one of our rules made this finding."""
    return any(rule.name in finding.rule.split(", ") for rule in rules)


def _together(theirs: Finding, ours: list[Finding]) -> Finding:
    if not ours:
        return theirs
    names = ", ".join([theirs.rule, *dict.fromkeys(one.rule for one in ours)])
    severity = max((theirs.severity, *(one.severity for one in ours)), key=RANKS.__getitem__)
    return theirs.model_copy(update={"what": ours[0].what, "rule": names, "severity": severity, "confidence": "high"})


def _verdict(bad: list[Finding], unread: dict[str, str]) -> Outcome:
    return "failed" if bad else "not_run" if unread else "passed"


def _why(findings: list[Finding], bad: list[Finding], unread: dict[str, str]) -> str:
    said = []
    if bad:
        worst = bad[0]
        more = f", and {len(bad) - 1} more like it" if len(bad) > 1 else ""
        said.append(f"{worst.file} line {worst.line} ({worst.rule}): {one_line(worst.what, 160).rstrip('.')}{more}")
    elif not unread:
        small = counted(len(findings), "finding")
        said.append(f"{small}, all below the threshold" if findings else "nothing was found")
    if unread:
        file = min(unread)
        more = f" and {len(unread) - 1} more" if len(unread) > 1 else ""
        said.append(f"{one_line(file)}{more} could not be read: {one_line(unread[file])}")
    return "; ".join(said)


def _figure(findings: list[Finding]) -> str:
    if not findings:
        return "no findings"
    worst = findings[0]
    return f"{counted(len(findings), 'finding')}, worst {worst.severity}/{worst.confidence}"


def _details(findings: list[Finding], unread: dict[str, str]) -> dict[str, object]:
    counts = {severity: sum(f.severity == severity for f in findings) for severity in ("high", "medium", "low")}
    return {"findings": [f.model_dump() for f in findings], "counts": counts, "unread": unread}
