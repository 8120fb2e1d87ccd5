"""`report.md` of a run: what was asked, what was proven, what was not, and what it cost. Derived from the run alone."""

import difflib
import math
from collections.abc import Iterable

from burnish.checks.check import read_findings
from burnish.checks.project import CHECKS
from burnish.checks.tests import SuiteDetails, describe_sharing
from burnish.events import (
    Compared,
    Decided,
    Mutated,
    PackagesAdded,
    PlaceChosen,
    QuestionAnswered,
    QuestionAsked,
    Refined,
    Refused,
    Resumed,
    Reviewed,
    RunFinished,
    Strengthened,
    TestsFrozen,
    Tweaked,
)
from burnish.events.history import Run, Version
from burnish.redact import redact
from burnish.report.costs import describe_cost, explain_who_answered, render_cost_table
from burnish.report.deliverables import list_open_questions, list_tests, read_task
from burnish.report.improvement import explain_improvement, list_steps, sort_unnoticed
from burnish.report.narrate import add_confidence, asked_names, count_results, describe, describe_place
from burnish.tasks.source import split_lines
from burnish.tasks.test_file import name_in_file
from burnish.text import fence_code, one_line, strip_controls

HEADLINES = {
    "proven": ": your examples, and every undisputed test, pass.",
    "plausible": ": its tests pass, and that is not enough to be sure.",
    "failed": ": the evidence is not in.",
}
HISTORY = (
    *(TestsFrozen, Decided, PlaceChosen, Tweaked, Compared, QuestionAsked, QuestionAnswered, Refused, Resumed, Mutated),
    *(Strengthened, Refined, PackagesAdded),
)
"""Events that tell how the result came about."""
MOST_FINDINGS, MOST_PLACES = 3, 5
"""Of one check; the rest is in the record."""
MOST_CHANGES = 12
"""Small changes that are listed one by one, of each kind."""
NOTES = {
    "agreed": "Agreed: versions of the code that were written independently say so.",
    "spec": "Spec: the words of the task say so.",
    "pinned": "Pinned: it says what the code does now. It proves nothing about what the code should do, and it counts "
    "in no verdict and in no figure.",
}
"""What it means where a test comes from, of those that were added."""


def render_report(run: Run) -> str:
    """The text of `report.md`."""
    headline, basis = add_confidence(run.state.capitalize(), run.ending(RunFinished))
    parts = [
        f"# {_escape(run.started.prompt, 80)}",
        f"**{headline}{HEADLINES.get(run.state, '')}**",
        escape_words(run.why[:1].upper() + run.why[1:], 400).rstrip(".") + ".",
        *([f"The confidence {escape_words(basis, 400).rstrip('.')}."] if basis else []),
    ]
    answered = {item.check for item in run.evidence if item.verdict != "not_run"}
    missing = ", ".join(name for name in CHECKS if name not in answered)
    sections = {
        "Task": fence_code(strip_controls(run.started.prompt), "text"),
        "Assumed": render_bullets(run.spec.assumptions) if run.spec else "",
        "Open questions": render_bullets(list_open_questions(run), 500),
        "Where the fault may be": _places(run),
        "Read from the project": _guidance(run),
        "Change": _change(run),
        "Code": fence_code(strip_controls(run.code), "python") if run.code and not run.settings.fix else "",
        "Evidence": _evidence(run),
        "Tests": _tests(run),
        "Packages": _packages(run),
        "What iterating brought": _improvement(run),
        "What a person said": render_bullets(
            map(describe, [*run.all(Reviewed), *(given for given in run.feedback if given.given_in == "rate")]), 500
        ),
        "Versions": _versions(run.versions),
        "How it came about": render_bullets(
            (describe(event) for event in run.events if isinstance(event, HISTORY)), 300
        )
        or "Nothing had to be decided.",
        "Who answered": render_bullets(explain_who_answered(run), 900),
        "Cost": "\n\n".join(filter(None, [describe_cost(run), render_cost_table(run)])),
        "What this does not say": "Tests show that the code is right where they look, not elsewhere. Tests that the "
        f"model wrote may share its misunderstandings. The code ran in: {redact(run.sandbox) or 'no sandbox'}. "
        f"{f'Not checked: {missing}. ' if missing else ''}Burnish {run.started.burnish}, run {run.id}.",
    }
    parts += [f"## {title}\n\n{text}" for title, text in sections.items() if text]
    return "\n\n".join(parts) + "\n"


def _change(run: Run) -> str:
    """Of a repair, what it changed in the file."""
    facts = run.settings.fix
    if facts is None or not run.code:
        return ""
    before, after = (split_lines(strip_controls(text)) for text in (read_task(run).base_code, run.code))
    lines = difflib.unified_diff(before, after, f"a/{facts.name}", f"b/{facts.name}")
    return fence_code("".join(line if line.endswith("\n") else f"{line}\n" for line in lines), "diff")


def _places(run: Run) -> str:
    """The places that were suspected, in order, and how to have another one repaired."""
    facts = run.settings.fix
    shown = facts.places[:MOST_PLACES] if facts else ()
    if not shown or facts is None:
        return ""
    rows = [f"{number}. {escape_words(describe_place(place), 300)}" for number, place in enumerate(shown, 1)]
    other = next((place for place in shown if run.spec and place.function != run.spec.entry_point), shown[0])
    steer = f"burnish fix {other.file} --function {other.function}"
    return "\n".join([*rows, "", f"To have another one repaired, name it: {escape_words(steer, 300)}"])


def _guidance(run: Run) -> str:
    """Which files of the project said how its code should be, and what of them the model was told."""
    facts, said = run.settings.fix, read_task(run).guidance
    if facts is None or not facts.guidance:
        return ""
    told = f"The model was told: {escape_words(said, 500)}" if said else "Nothing of it was told to the model."
    return f"{escape_words(', '.join(facts.guidance), 300)}. {told}"


def _evidence(run: Run) -> str:
    """A row a check, and below the worst of what the checks saw in the code."""
    if not run.evidence:
        return "No check was run."
    rows, found = ["| check | answer | figure | why |", "|---|---|---|---|"], []
    for item in run.evidence:
        # Older records say that tests shared a process with the code, and not how many of them.
        details = SuiteDetails.read(item)
        is_older = not details.separated and details.shared is None
        why = item.why + (describe_sharing(1, 1) if is_older else "")
        rows.append(
            f"| {item.check} | {item.verdict.replace('_', ' ')} | {escape_cell(item.figure)} | {escape_cell(why)} |"
        )
        for finding in read_findings(item)[:MOST_FINDINGS]:
            where = f"line {finding.line}: " if finding.line else ""
            found.append(f"- {item.check}: {where}{escape_words(finding.what)}")
    return "\n".join([*rows, "", *found] if found else rows)


def _tests(run: Run) -> str:
    """A row a test, with who says that it is right, and what it said of the result."""
    rows = list_tests(run, run.final)
    if not rows:
        return "There is no test."
    names = {"given": "you", "project": "the project", "model": "the model"}
    lines = ["| test | from | result |", "|---|---|---|"]
    for row in rows:
        source = f"your words: “{one_line(row.note, 80)}”" if row.source == "worded" else names.get(row.source, "")
        source = source or (f"{row.source} ({row.note})" if row.note else row.source)
        said = "disputed, set aside" if row.outcome == "disputed" else row.outcome.replace("_", " ")
        name = one_line(name_in_file(row.test) or row.test, 160).replace("`", "'").replace("|", "\\|")
        lines.append(f"| `{name}` | {escape_cell(source)} | {said} |")
    notes = [f"- {note}" for origin, note in NOTES.items() if any(row.source == origin for row in rows)]
    return "\n".join([*lines, "", *notes] if notes else lines)


def _packages(run: Run) -> str:
    """What the code could import, with versions, and what the audit says of it; empty where that was nothing."""
    event = run.last(PackagesAdded)
    if event is None:
        return ""
    asked = asked_names(event)
    rows = ["| package | version | asked for |", "|---|---|---|"]
    for name, version in event.packages:
        rows.append(
            f"| {escape_cell(name)} | {escape_cell(version)} | {'yes' if name in asked else 'needed by another'} |"
        )
    audit = next((item for item in run.evidence if item.check == "dependencies"), None)
    said = f"{audit.verdict.replace('_', ' ')}: {audit.why.removeprefix('not known: ')}" if audit else "not run"
    return "\n".join([*rows, "", f"Audit: {escape_words(said, 300)}."])


def _improvement(run: Run) -> str:
    """The table of steps, what each kind of step was worth, and which small changes still go unnoticed."""
    table = []
    for row in list_steps(run):
        mutation = "" if row.mutation is None else f"{math.floor(row.mutation)} %"
        quality = "" if row.quality is None else f"{row.quality:.0f}"
        cells = [escape_cell(row.after), str(row.version), f"{row.passed} of {row.tests}", mutation, quality]
        table.append(f"| {' | '.join([*cells, str(row.lines), f'{row.seconds:.1f}', str(row.tokens)])} |")
    if table:
        head = "| after | version | tests passed | small changes noticed | maintainability | lines | seconds | tokens |"
        table[:0] = [head, "|---|---|---|---|---|---|---|---|"]
    left, lists = sort_unnoticed(run), []
    changes = {
        "Small changes that still go unnoticed:": left.unnoticed,
        "Noticed by pinned tests alone:": left.pinned,
        "No input told these from the code (probably equivalent):": left.alike,
    }
    for title, these in changes.items():
        if these:
            lines = [f"- line {one.line}: {escape_words(one.said)}" for one in these[:MOST_CHANGES]]
            lines += [f"- and {len(these) - MOST_CHANGES} more"] if len(these) > MOST_CHANGES else []
            lists.append(f"{title}\n\n" + "\n".join(lines))
    return "\n\n".join(filter(None, ["\n".join(table), render_bullets(explain_improvement(run), 400), *lists]))


def _versions(versions: Iterable[Version]) -> str:
    """What the tests said about each version, in a few words."""
    lines = []
    for version in versions:
        said = one_line(version.problem) or "not run"
        if not version.problem and (graded := version.graded):
            said = count_results(graded.passed, len(graded.cases))
            said += f"; {one_line(graded.problem)}" if graded.problem else ""
        lines.append(f"- Version {version.number} ({version.by}): {escape_words(said)}")
    return "\n".join(lines) or "There is no version."


def render_bullets(items: Iterable[str], most: int = 160) -> str:
    """A line a text; what is empty is left out."""
    return "\n".join(f"- {escape_words(item, most)}" for item in items if item)


def escape_cell(text: str) -> str:
    """The same for a cell of a table."""
    return escape_words(text).replace("|", "\\|")


def escape_words(text: str, most: int = 160) -> str:
    """One line in which nothing is markup, and that names no place of this machine: the report goes to others."""
    return _escape(redact(text), most)


def _escape(text: str, most: int) -> str:
    """One line in which nothing is markup: what it says may be a model's words."""
    flat = one_line(text, most).replace("<", "&lt;").replace("`", "'")
    return flat.replace("[", "\\[").replace("*", "\\*")
