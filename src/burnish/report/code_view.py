"""The code with what was found beside its lines: only files in which something was found, and not without end."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from html import escape

from burnish.checks.check import Finding, read_findings
from burnish.checks.project import Project
from burnish.checks.verdict import CheckResults
from burnish.report.check_words import name_source
from burnish.text import html_line, plural, strip_controls

MOST_FILES, MOST_LINES, MOST_NOTES = 25, 400, 300
"""Files shown; lines of a file shown without gaps; notes in one file."""
AROUND = 4
"""Lines before and after a marked one, in a file that is too long to be shown whole."""
MOST_LETTERS = 300
Note = tuple[str, Finding]
"""A check, and what it found."""


def read_marked_files(checked: CheckResults, project: Project) -> dict[str, str]:
    """The texts of files that have marks, the most marked first; a file that cannot be read is left out."""
    notes, missed = _collect_notes(checked), _collect_missed(checked)
    names = sorted(notes.keys() | missed.keys(), key=lambda name: (-len(notes.get(name, ())), name))
    root, texts = project.root.resolve(), {}
    for name in names[:MOST_FILES]:
        path = (root / name).resolve()
        # A report from elsewhere may name any file of this machine.
        if not path.is_relative_to(root) or not path.is_file():
            continue
        try:
            texts[name] = project.text(path.relative_to(root))
        except (OSError, SyntaxError, UnicodeDecodeError, ValueError):
            continue
    return texts


def _collect_notes(checked: CheckResults) -> dict[str, list[Note]]:
    """By file: what to write beside its lines. Lines that no test runs are marked, not noted."""
    found: dict[str, list[Note]] = defaultdict(list)
    for item in checked.evidence:
        for finding in read_findings(item):
            if (item.check, finding.rule) != ("coverage", "line"):
                found[finding.file].append((item.check, finding))
    return dict(found)


def _collect_missed(checked: CheckResults) -> dict[str, set[int]]:
    """By file: the lines that no test runs."""
    rows = next((item.details.get("files") for item in checked.evidence if item.check == "coverage"), None)
    found = {}
    for row in rows if isinstance(rows, list | tuple) else ():
        lines = row.get("missing") if isinstance(row, dict) else None
        numbers = {line for line in lines if isinstance(line, int)} if isinstance(lines, list | tuple) else set()
        if numbers:
            found[str(row.get("file"))] = numbers
    return found


def render_files(checked: CheckResults, texts: Mapping[str, str]) -> Iterator[str]:
    """Every file that has marks, as HTML."""
    notes, missed = _collect_notes(checked), _collect_missed(checked)
    for place, (name, text) in enumerate(texts.items()):
        said = [plural(len(notes[name]), "finding")] if name in notes else []
        said += [f"{plural(len(missed[name]), 'line')} that no test runs"] if name in missed else []
        yield f'<details class="card file"{"" if place else " open"}><summary><b>{html_line(name, 160)}</b> '
        yield f'<span class="small">{", ".join(said)}</span></summary><div class="code">'
        yield from _render_code(text, notes.get(name, []), missed.get(name, set()))
        yield "</div></details>"
    left = len((notes.keys() | missed.keys()) - texts.keys())
    if left:
        yield f'<p class="small">{plural(left, "more file")} with findings not shown here; all are in report.json.</p>'


def _render_code(text: str, notes: list[Note], missed: set[int]) -> Iterator[str]:
    """The lines with their marks and notes; of a long file those around the marks."""
    by_line: dict[int, list[Note]] = defaultdict(list)
    for check, finding in notes[:MOST_NOTES]:
        by_line[finding.line].append((check, finding))
    yield from map(_render_note, by_line.pop(0, []))
    lines = strip_controls(text).split("\n")
    shown = list(range(1, len(lines) + 1))
    if len(lines) > MOST_LINES:
        near = {number + step for number in {*by_line, *missed} for step in range(-AROUND, AROUND + 1)}
        shown = [number for number in shown if number in near][:MOST_LINES]
    last = 0
    for number in shown:
        if number != last + 1:
            yield '<div class="gap">⋯</div>'
        last = number
        line = lines[number - 1] if len(lines[number - 1]) <= MOST_LETTERS else lines[number - 1][:MOST_LETTERS] + "…"
        kind = "line" + (" missed" if number in missed else "") + (" noted" if number in by_line else "")
        mark = '<i title="no test runs this line">not run</i>' if number in missed else "<i></i>"
        yield f'<div class="{kind}"><b>{number}</b>{mark}<code>{escape(line) or " "}</code></div>'
        yield from map(_render_note, by_line.get(number, []))
    yield '<div class="gap">⋯</div>' if last < len(lines) and lines[last:] != [""] else ""


def _render_note(note: Note) -> str:
    check, finding = note
    grade = f"{finding.severity} " if finding.severity else ""
    head = f'<span class="tag {finding.severity or "plain"}">{grade}{escape(name_source(check, finding))}</span>'
    return f'<div class="note">{head} {html_line(finding.what)}</div>'
