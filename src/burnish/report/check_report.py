"""How we speak of checks, shared by screen, page and text; and `report.json` and `report.md`, which say the same.

`check_page` makes the page.
"""

import json
import re
from collections.abc import Iterator, Sequence

from burnish.checks.check import Finding, read_findings
from burnish.checks.tests import SuiteDetails, describe_sharing
from burnish.checks.verdict import CheckResults
from burnish.events import Outcome
from burnish.text import fence_code, join_words, one_line, plural, strip_controls

MEANING = {
    "tests": "Does the code do what its tests say? They run three times in different orders, so that a test which "
    "passes only sometimes is found.",
    "coverage": "How much of the code do the tests run at all? What they never run, they cannot judge.",
    "mutation": "Would the tests notice if the code were wrong? It is broken on purpose in small ways, and each change "
    "that no test notices is shown.",
    "security": "Does the code do things that attackers like: run text as code, pass input to a shell, hold a "
    "password, open connections?",
    "dependencies": "Are the packages it builds on real, not brand new, not look-alikes of a famous name, and free of "
    "known holes?",
    "quality": "Is the code easy to read and to change? One score from 0 to 100, made of the parts that are shown.",
    "performance": "How does the time grow when the input grows? Twice the input should not take a hundred times "
    "as long.",
}
"""For someone who does not program."""
VERDICTS: dict[Outcome, str] = {"passed": "passed", "failed": "failed", "not_run": "not run"}
SYMBOLS: dict[Outcome, str] = {"passed": "✓", "failed": "✗", "not_run": "–"}
FILES = ("report.html", "report.json", "report.md")
MOST_LISTED = 50
"""Findings of a check in `report.md`."""


def render_headline(checked: CheckResults) -> str:
    """One sentence with the verdict, without its full stop."""
    named = _by_verdict(checked, checked.decisive)
    if checked.passed and not checked.required:
        return "Nothing is required here, so nothing could fail"
    if checked.passed:
        every = "The one check that is required" if len(checked.required) == 1 else "Every required check"
        tests = next((item for item in checked.evidence if item.check == "tests"), None)
        is_shared = tests is not None and not SuiteDetails.read(tests).separated
        return f"{every} passed: {join_words(named['passed'])}{describe_sharing(is_shared, 1, 'the tests')}"
    said = [f"{join_words(named['failed'])} failed"] if named["failed"] else []
    if left := named["not_run"]:
        said.append(f"{join_words(left)} {'was' if len(left) == 1 else 'were'} not run")
    return f"Not good enough yet: {' and '.join(said)}"


def list_remarks(checked: CheckResults) -> Iterator[str]:
    """What the headline leaves out: checks that are not required and did not pass, and what that means."""
    others = [item.check for item in checked.evidence if item.check not in checked.decisive]
    named = _by_verdict(checked, others)
    if named["failed"]:
        yield f"Not required, but failed: {join_words(named['failed'])}."
    if named["not_run"]:
        yield f"Not required, and not run: {join_words(named['not_run'])}."
    if _by_verdict(checked, checked.required)["not_run"]:
        yield "A required check that was not run does not count as passed."
    own = checked.project.settings.model_dump(mode="json", exclude_defaults=True)
    if own and not checked.project.generated:
        said = one_line("; ".join(f"{key} = {json.dumps(value)}" for key, value in own.items()), 300)
        yield f"What is enough here the project itself has set, in [tool.burnish] of its pyproject.toml: {said}."


def _by_verdict(checked: CheckResults, names: Sequence[str]) -> dict[str, list[str]]:
    verdicts = {item.check: item.verdict for item in checked.evidence}
    return {key: [name for name in names if verdicts.get(name, "not_run") == key] for key in VERDICTS}


def pick_worst(checked: CheckResults, most: int) -> tuple[list[tuple[str, Finding]], int]:
    """The findings to show first and how many there are in all.

    Those of failed checks come first: the worst of each check, then the second of each, and so on.
    """
    failed = [item for item in checked.evidence if item.verdict == "failed"]
    others = [item for item in checked.evidence if item.verdict != "failed"]
    found = []
    for items in (failed, others):
        queues = [[(item.check, finding) for finding in read_findings(item)] for item in items]
        found += [row for place in range(most) for queue in queues for row in queue[place : place + 1]]
    return found[:most], sum(len(read_findings(item)) for item in checked.evidence)


def name_source(check: str, finding: Finding) -> str:
    """Who says so: the check, and the tool's own name for it. A mutant's name means nothing to anybody."""
    return f"{check} {one_line(finding.rule, 40)}" if finding.rule and check != "mutation" else check


def format_place(finding: Finding) -> str:
    """Where it is, as editors and terminals know it."""
    name = one_line(finding.file, 120)
    return f"{name}:{finding.line}" if finding.line else name


def summarise(checked: CheckResults) -> str:
    """What was checked, and how long that took."""
    project = checked.project
    seconds = sum(checked.seconds.values())
    tests = plural(len(project.tests), "place") + " with tests" if project.tests else "no test files"
    return f"{one_line(project.name)}: {plural(len(project.sources), 'file')}, {tests}, {seconds:.1f} s of checking"


def render_json(checked: CheckResults) -> str:
    """`report.json`: everything that was found. The same `Checked` gives the same bytes.

    `passed` and `headline` are derived, and stand in front.
    """
    data = checked.model_dump(mode="json")
    head = {"version": data.pop("version"), "passed": checked.passed, "headline": render_headline(checked)}
    return json.dumps(head | data, indent=2, ensure_ascii=True) + "\n"


def render_markdown(checked: CheckResults) -> str:
    """`report.md`: the table and the findings as text."""
    rows = ["| check | verdict | figure | wanted | why |", "|---|---|---|---|---|"]
    listed = []
    for item in checked.evidence:
        verdict = VERDICTS[item.verdict] + ("" if item.check in checked.decisive else " (not required)")
        cells = (item.check, verdict, item.figure, item.threshold, item.why)
        rows.append(f"| {' | '.join(map(_escape, cells))} |")
        found = read_findings(item)
        listed += [f"## Found by {item.check}"] if found else []
        for finding in found[:MOST_LISTED]:
            by = _escape(name_source(item.check, finding))
            listed.append(f"- `{format_place(finding).replace('`', chr(39))}` {_escape(finding.what)} ({by})")
            listed += [fence_code(strip_controls(finding.diff), "diff")] if finding.diff else []
        if len(found) > MOST_LISTED:
            listed.append(f"… and {len(found) - MOST_LISTED} more; see report.json.")
    parts = [f"# {_escape(render_headline(checked))}", _escape(summarise(checked)) + "."]
    parts += [_escape(remark) for remark in list_remarks(checked)]
    meanings = "\n".join(f"- **{item.check}**: {MEANING[item.check]}" for item in checked.evidence)
    return "\n\n".join([*parts, "\n".join(rows), *listed, "## What the checks mean", meanings]) + "\n"


def _escape(text: str) -> str:
    """One line in which nothing is markup: what it says may be anybody's words."""
    flat = one_line(text, 400).replace("&", "&amp;").replace("<", "&lt;").replace("`", "'")
    return re.sub(r"[\\\[\]*_|#]", r"\\\g<0>", flat)
