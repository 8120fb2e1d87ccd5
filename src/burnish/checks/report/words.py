"""How we speak of checks: what each means and what its answer was. Shared by screen, page and text."""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress

from pydantic import ValidationError

from burnish.checks.finding import Finding
from burnish.checks.tests import sharing
from burnish.checks.verdict import Checked
from burnish.events import Evidence, Outcome
from burnish.text import counted, one_line

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


def headline(checked: Checked) -> str:
    """One sentence with the verdict."""
    named = _by_verdict(checked, checked.required)
    if checked.passed and not checked.required:
        return "Nothing is required here, so nothing could fail"
    if checked.passed:
        every = "The one check that is required" if len(checked.required) == 1 else "Every required check"
        tests = next((item for item in checked.evidence if item.check == "tests"), None)
        is_shared = tests is not None and tests.details.get("separated") is False
        return f"{every} passed: {_listed(named['passed'])}{sharing(is_shared, 1, 'the tests')}"
    said = [f"{_listed(named['failed'])} failed"] if named["failed"] else []
    said += [f"{_listed(named['not_run'])} {_was(named['not_run'])} not run"] if named["not_run"] else []
    text = " and ".join(said)
    return f"Not good enough yet: {text}"


def remarks(checked: Checked) -> Iterator[str]:
    """What the headline leaves out: checks that are not required and did not pass, and what that means."""
    others = [item.check for item in checked.evidence if item.check not in checked.required]
    named = _by_verdict(checked, others)
    if named["failed"]:
        yield f"Not required, but failed: {_listed(named['failed'])}."
    if named["not_run"]:
        yield f"Not required, and not run: {_listed(named['not_run'])}."
    if _by_verdict(checked, checked.required)["not_run"]:
        yield "A required check that was not run does not count as passed."
    own = checked.project.settings.model_dump(mode="json", exclude_defaults=True)
    if own and not checked.project.generated:
        said = one_line("; ".join(f"{key} = {json.dumps(value)}" for key, value in own.items()), 300)
        yield f"What is enough here the project itself has set, in [tool.burnish] of its pyproject.toml: {said}."


def why(item: Evidence, most: int = 400) -> str:
    """The reason, on one line."""
    return one_line(item.why, most)


def findings(item: Evidence) -> list[Finding]:
    """What a check found at places in the code, worst first. Anything that is not a finding is passed over."""
    rows = item.details.get("findings")
    found = []
    for row in rows if isinstance(rows, list) else ():
        with suppress(ValidationError):
            found.append(Finding.model_validate(row))
    return found


def worst(checked: Checked, most: int) -> tuple[list[tuple[str, Finding]], int]:
    """The findings to show first and how many there are in all: those of failed checks, by turns, then the others."""
    failed = [item for item in checked.evidence if item.verdict == "failed"]
    others = [item for item in checked.evidence if item.verdict != "failed"]
    turns = [*_by_turns(failed, most), *_by_turns(others, most)]
    return turns[:most], sum(len(findings(item)) for item in checked.evidence)


def _by_turns(items: Sequence[Evidence], most: int) -> list[tuple[str, Finding]]:
    """The first finding of each check, then the second of each, and so on."""
    queues = [[(item.check, finding) for finding in findings(item)] for item in items]
    return [row for place in range(most) for queue in queues for row in queue[place : place + 1]]


def source(check: str, finding: Finding) -> str:
    """Who says so: the check, and the tool's own name for it. A mutant's name means nothing to anybody."""
    return f"{check} {one_line(finding.rule, 40)}" if finding.rule and check != "mutation" else check


def place(finding: Finding) -> str:
    """Where it is, as editors and terminals know it."""
    name = one_line(finding.file, 120)
    return f"{name}:{finding.line}" if finding.line else name


def measured(checked: Checked) -> str:
    """What was checked, and how long that took."""
    project = checked.project
    seconds = sum(checked.seconds.values())
    tests = counted(len(project.tests), "place") + " with tests" if project.tests else "no test files"
    return f"{one_line(project.name)}: {counted(len(project.sources), 'file')}, {tests}, {seconds:.1f} s of checking"


def _by_verdict(checked: Checked, names: Sequence[str]) -> dict[str, list[str]]:
    verdicts = {item.check: item.verdict for item in checked.evidence}
    return {key: [name for name in names if verdicts.get(name, "not_run") == key] for key in VERDICTS}


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "nothing"


def _was(names: Sequence[str]) -> str:
    return "was" if len(names) == 1 else "were"
