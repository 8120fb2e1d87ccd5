"""The report: what was asked, what was proven, what was not, and what it cost. Derived from the run alone."""

import math
import re
from collections.abc import Callable, Mapping, Sequence

from pydantic import ValidationError

from burnish.checks.report.words import findings
from burnish.checks.settings import CHECKS
from burnish.checks.suite import Suite
from burnish.checks.tests import sharing
from burnish.costs import cost, costs_table
from burnish.errors import SetupProblem
from burnish.events import (
    Compared,
    Decided,
    Evidence,
    Measured,
    Mutated,
    NewTest,
    PackagesAdded,
    Refined,
    Refused,
    Resumed,
    Reviewed,
    Strengthened,
    Survivor,
    TestsFrozen,
    Tweaked,
)
from burnish.model_choice import explain_who_answered
from burnish.redact import redact
from burnish.runs.gains import left_of, paid, rows
from burnish.runs.run import Run, Version
from burnish.runs.sentences import names_of, sentence_of
from burnish.tasks.task import Task
from burnish.tasks.test_file import name_in_file
from burnish.text import fenced, one_line, plain

HEADLINES = {
    "proven": "Proven: your examples, and every undisputed test, pass.",
    "plausible": "Plausible: its tests pass, which does not prove it.",
    "failed": "Failed: the evidence is not in.",
}

ROAD = (TestsFrozen, Decided, Tweaked, Compared, Refused, Resumed, Mutated, Strengthened, Refined, PackagesAdded)
"""Events that tell how the result came about."""
MOST_FINDINGS = 3
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


def task_of(run: Run) -> Task:
    """The task of a run, without what only scores it; of an old record, what there is."""
    found = run.started.settings.get("task")
    known = (
        {name: value for name, value in found.items() if name in Task.model_fields} if isinstance(found, dict) else {}
    )
    try:
        return Task.model_validate({"id": run.id, "prompt": run.started.prompt, **known})
    except ValidationError as error:
        raise SetupProblem(
            f"The record of run {run.id!r} has been altered: its task cannot be read ({error.errors()[0]['msg']}). "
            f"See the rest of it with: burnish show {run.id} --json"
        ) from error


def suite_of(run: Run) -> Suite:
    """The tests of a run as one suite."""
    return Suite.for_task(task_of(run), run.spec, run.model_tests, run.added_tests, run.pinned_tests)


def module_of(run: Run) -> str:
    """What the module is called where it is delivered."""
    return task_of(run).module or "solution"


def tests_file(run: Run) -> str:
    """The text of the test file that is delivered."""
    return file_of(suite_of(run), run.disputed, module_of(run))


def file_of(suite: Suite, disputed: tuple[str, ...], module: str) -> str:
    """A suite as the file that is delivered beside its module."""
    own = re.sub(r"(\b(?:from|import)\s+)solution\b(\s+as\s+\w+)?", _named(module), suite.file)
    return suite.model_copy(update={"file": own}).render(disputed, module)


def _named(module: str) -> Callable[[re.Match[str]], str]:
    """Gives an import of `solution` the module's own name again."""

    def put(match: re.Match[str]) -> str:
        alias = match[2] or ""
        return match[1] + module + ("" if alias.split()[-1:] == [module] else alias)

    return put


def report(run: Run) -> str:
    """The text of `report.md`."""
    parts = [
        f"# {_bare(run.started.prompt, 80)}",
        f"**{HEADLINES.get(run.state, run.state.capitalize())}**",
        _words(run.why[:1].upper() + run.why[1:], 400).rstrip(".") + ".",
        "## Task",
        fenced(plain(run.started.prompt), "text"),
    ]
    if run.spec and run.spec.assumptions:
        parts += ["## Assumed", "\n".join(f"- {_words(point)}" for point in run.spec.assumptions)]
    if run.code:
        parts += ["## Code", fenced(plain(run.code), "python")]
    parts += ["## Evidence", _evidence(run), "## Tests", _tests(run)]
    if packages := run.last(PackagesAdded):
        parts += ["## Packages", _packages(packages, run)]
    for title, text in (("What iterating brought", _iterating(run)), ("What a person said", _reviews(run))):
        parts += [f"## {title}", text] if text else []
    parts += ["## Versions", _versions(run), "## How it came about", _road(run)]
    who = "\n".join(f"- {_words(line, 900)}" for line in explain_who_answered(run))
    parts += ["## Who answered", who] if who else []
    parts += ["## Cost", cost(run), *filter(None, [costs_table(run)])]
    parts += ["## What this does not say", _limits_of_this(run)]
    return "\n\n".join(parts) + "\n"


def _evidence(run: Run) -> str:
    rows = ["| check | answer | figure | why |", "|---|---|---|---|"]
    rows += [
        f"| {item.check} | {item.verdict.replace('_', ' ')} | {_cell(item.figure)} | {_cell(_said(item))} |"
        for item in run.evidence
    ]
    return "\n".join([*rows, *_found(run)] if run.evidence else ["No check was run."])


def _packages(event: PackagesAdded, run: Run) -> str:
    """What the code could import, with versions, and what the audit says of it."""
    asked = names_of(event)
    rows = [f"| {_cell(name)} | {_cell(version)} | {_by(name, asked)} |" for name, version in event.packages]
    audit = next((item for item in run.evidence if item.check == "dependencies"), None)
    told = f"{audit.verdict.replace('_', ' ')}: {audit.why.removeprefix('not known: ')}" if audit else "not run"
    return "\n".join(["| package | version | asked for |", "|---|---|---|", *rows, "", f"Audit: {_words(told, 300)}."])


def _by(name: str, asked: set[str]) -> str:
    return "yes" if name in asked else "needed by another"


def _found(run: Run) -> list[str]:
    """The worst of what the checks saw in the code."""
    lines = []
    for item in run.evidence:
        for finding in findings(item)[:MOST_FINDINGS]:
            where = f"line {finding.line}: " if finding.line else ""
            lines.append(f"- {item.check}: {where}{_words(finding.what)}")
    return ["", *lines] if lines else []


def _said(item: Evidence) -> str:
    is_older = item.details.get("separated") is False and "shared" not in item.details
    return item.why + (sharing(1, 1) if is_older else "")


def _tests(run: Run) -> str:
    suite = suite_of(run)
    final = run.final
    outcomes = suite.outcomes(final.graded) if final and final.graded else {}
    made = {new.test: new for event in run.all(Strengthened) for new in event.tests}
    lines = ["| test | from | result |", "|---|---|---|"]
    for body in suite.names.values():
        source = _cell(_source(body, suite, made))
        said = "disputed, set aside" if body in run.disputed else outcomes.get(body, "not_run").replace("_", " ")
        lines.append(f"| {_cell(name_in_file(body) or body, code=True)} | {source} | {said} |")
    kinds = {made[body].origin for body in (*suite.added, *suite.pinned) if body in made}
    notes = [f"- {note}" for origin, note in NOTES.items() if origin in kinds]
    return "\n".join([*lines, *([""] if notes else []), *notes] if suite.names else ["There is no test."])


def _source(body: str, suite: Suite, made: Mapping[str, NewTest]) -> str:
    """Who says that this is right."""
    kinds = {"you": suite.given, "the project": suite.project, "the model": suite.model}
    found = next((words for words, tests in kinds.items() if body in tests), "")
    if found or body not in made:
        return found or "added"
    new = made[body]
    return f"{new.origin} ({new.why})" if new.why else new.origin


def _iterating(run: Run) -> str:
    """The table of rows, what each kind of step was worth, and which small changes still go unnoticed."""
    found, left = rows(run), left_of(run)
    table = ["| after | version | tests passed | small changes noticed | maintainability | lines | seconds | tokens |"]
    table += ["|---|---|---|---|---|---|---|---|", *map(_row, found)]
    changes = {
        "Small changes that still go unnoticed:": left.unnoticed,
        "Noticed by pinned tests alone:": left.pinned,
        "No input told these from the code (probably equivalent):": left.alike,
    }
    told = [f"{title}\n\n{_changes(these)}" for title, these in changes.items() if these]
    worth = "\n".join(f"- {_words(line, 400)}" for line in paid(run))
    return "\n\n".join(filter(None, ["\n".join(table) if found else "", worth, *told]))


def _row(row: Measured) -> str:
    mutation = "" if row.mutation is None else f"{math.floor(row.mutation)} %"
    quality = "" if row.quality is None else f"{row.quality:.0f}"
    cells = [_cell(row.after), str(row.version), f"{row.passed} of {row.tests}", mutation, quality]
    return f"| {' | '.join([*cells, str(row.lines), f'{row.seconds:.1f}', str(row.tokens)])} |"


def _changes(these: Sequence[Survivor]) -> str:
    lines = [f"- line {one.line}: {_words(one.said)}" for one in these[:MOST_CHANGES]]
    more = len(these) - MOST_CHANGES
    return "\n".join([*lines, *([f"- and {more} more"] if more > 0 else [])])


def _reviews(run: Run) -> str:
    return "\n".join(f"- {_words(sentence_of(event), 500)}" for event in run.all(Reviewed))


def _versions(run: Run) -> str:
    lines = [f"- Version {version.number} ({version.by}): {_words(said_of(version))}" for version in run.versions]
    return "\n".join(lines) if run.versions else "There is no version."


def _road(run: Run) -> str:
    """What was decided and why, which edits were tried, which versions behave alike, what was refused."""
    told = [sentence_of(event) for event in run.events if isinstance(event, ROAD)]
    return "\n".join(f"- {_words(line, 300)}" for line in told) or "Nothing had to be decided."


def said_of(version: Version) -> str:
    """What the tests said about one version, in a few words."""
    if version.problem:
        return one_line(version.problem)
    if version.graded is None:
        return "not run"
    failed = len(version.graded.cases) - version.graded.passed
    said = f"{version.graded.passed} passed, {failed} failed"
    return f"{said}; {one_line(version.graded.problem)}" if version.graded.problem else said


def _limits_of_this(run: Run) -> str:
    return (
        "Tests show that the code is right where they look, not elsewhere. Tests that the model wrote may share its "
        f"misunderstandings. The code ran in: {redact(run.started.sandbox) or 'no sandbox'}. "
        f"{_not_checked(run)}Burnish {run.started.burnish}, run {run.id}."
    )


def _not_checked(run: Run) -> str:
    """The checks whose answer is missing, in a sentence; empty when all have answered."""
    answered = {item.check for item in run.evidence if item.verdict != "not_run"}
    missing = [name for name in CHECKS if name not in answered]
    return f"Not checked: {', '.join(missing)}. " if missing else ""


def _cell(text: str, code: bool = False) -> str:
    flat = "`" + one_line(text, 160).replace("`", "'") + "`" if code else _words(text)
    return flat.replace("|", "\\|")


def _words(text: str, most: int = 160) -> str:
    """One line in which nothing is markup, and that names no place of this machine: the report goes to others."""
    return _bare(redact(text), most)


def _bare(text: str, most: int) -> str:
    """One line in which nothing is markup: what it says may be a model's words."""
    flat = one_line(text, most).replace("<", "&lt;").replace("`", "'")
    return flat.replace("[", "\\[").replace("*", "\\*")
