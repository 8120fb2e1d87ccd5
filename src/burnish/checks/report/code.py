"""The code with what was found beside its lines: only files in which something was found, and not without end."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from html import escape

from burnish.checks.finding import Finding
from burnish.checks.project import Project
from burnish.checks.report.parts import rows_of
from burnish.checks.report.words import findings, source
from burnish.checks.verdict import Checked
from burnish.events import Evidence
from burnish.text import counted, html_line, plain

MOST_FILES, MOST_LINES, MOST_NOTES = 25, 400, 300
"""Files shown; lines of a file shown without gaps; notes in one file."""
AROUND = 4
"""Lines before and after a marked one, in a file that is too long to be shown whole."""
MOST_LETTERS = 300


def texts_to_show(checked: Checked, project: Project) -> dict[str, str]:
    """The texts of files that have marks, the most marked first; a file that cannot be read is left out."""
    notes, missed = noted(checked), uncovered(checked)
    names = sorted(notes.keys() | missed.keys(), key=lambda name: (-len(notes.get(name, ())), name))
    texts = {}
    for name in names[:MOST_FILES]:
        path = (project.root / name).resolve()
        if not path.is_relative_to(project.root.resolve()) or not path.is_file():
            continue
        try:
            texts[name] = project.text(path.relative_to(project.root.resolve()))
        except (OSError, SyntaxError, UnicodeDecodeError, ValueError):
            continue
    return texts


def noted(checked: Checked) -> dict[str, list[tuple[str, Finding]]]:
    """By file: what to write beside its lines. Lines that no test runs are marked, not noted."""
    found: dict[str, list[tuple[str, Finding]]] = defaultdict(list)
    for item in checked.evidence:
        for finding in findings(item):
            if (item.check, finding.rule) != ("coverage", "line"):
                found[finding.file].append((item.check, finding))
    return dict(found)


def uncovered(checked: Checked) -> dict[str, set[int]]:
    """By file: the lines that no test runs."""
    item = next((item for item in checked.evidence if item.check == "coverage"), None)
    return {name: lines for name, lines in _missing(item) if lines} if item else {}


def _missing(item: Evidence) -> Iterator[tuple[str, set[int]]]:
    for row in rows_of(item.details.get("files")):
        lines = row.get("missing")
        if isinstance(lines, list | tuple):
            yield str(row.get("file")), {line for line in lines if isinstance(line, int)}


def code_view(checked: Checked, texts: Mapping[str, str]) -> Iterator[str]:
    """Every file that has marks, as HTML."""
    notes, missed = noted(checked), uncovered(checked)
    for place, (name, text) in enumerate(texts.items()):
        yield from _file(name, text, notes.get(name, []), missed.get(name, set()), place == 0)
    left = len((notes.keys() | missed.keys()) - texts.keys())
    if left:
        yield f'<p class="small">{counted(left, "more file")} with findings not shown here; all are in report.json.</p>'


def _file(name: str, text: str, notes: list[tuple[str, Finding]], missed: set[int], first: bool) -> Iterator[str]:
    said = [counted(len(notes), "finding")] if notes else []
    said += [f"{counted(len(missed), 'line')} that no test runs"] if missed else []
    opened = " open" if first else ""
    yield f'<details class="card file"{opened}><summary><b>{html_line(name, 160)}</b> '
    yield f'<span class="small">{", ".join(said)}</span></summary><div class="code">'
    by_line: dict[int, list[tuple[str, Finding]]] = defaultdict(list)
    for check, finding in notes[:MOST_NOTES]:
        by_line[finding.line].append((check, finding))
    yield from map(_note, by_line.pop(0, []))
    lines = plain(text).split("\n")
    last = 0
    for number in _shown(len(lines), set(by_line) | missed):
        if number != last + 1:
            yield '<div class="gap">⋯</div>'
        last = number
        yield _line(number, lines[number - 1], number in missed, bool(by_line.get(number)))
        yield from map(_note, by_line.get(number, []))
    yield '<div class="gap">⋯</div>' if last < len(lines) and lines[last:] != [""] else ""
    yield "</div></details>"


def _shown(total: int, marked: set[int]) -> list[int]:
    """The numbers of the lines to show."""
    if total <= MOST_LINES:
        return list(range(1, total + 1))
    near = {number + step for number in marked for step in range(-AROUND, AROUND + 1)}
    return sorted(number for number in near if 1 <= number <= total)[:MOST_LINES]


def _line(number: int, text: str, missed: bool, noted_here: bool) -> str:
    kind = " ".join(filter(None, ("line", "missed" if missed else "", "noted" if noted_here else "")))
    mark = '<i title="no test runs this line">not run</i>' if missed else "<i></i>"
    cut = text if len(text) <= MOST_LETTERS else text[:MOST_LETTERS] + "…"
    return f'<div class="{kind}"><b>{number}</b>{mark}<code>{escape(cut) or " "}</code></div>'


def _note(row: tuple[str, Finding]) -> str:
    check, finding = row
    grade = f"{finding.severity} " if finding.severity else ""
    head = f'<span class="tag {finding.severity or "plain"}">{grade}{escape(source(check, finding))}</span>'
    return f'<div class="note">{head} {html_line(finding.what)}</div>'
