"""`report.html`: one file that opens anywhere, without a network or a script, for someone who does not program.

What code and tools said reaches the page escaped and in no other way; the page's own policy forbids every script and
every address. Details that are not of the form that their check gives them, as another's report may have, are left out
of the page (they are in `report.json`). Below the details stands the code with what was found beside its lines: only
files in which something was found, and not without end.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from html import escape
from importlib.resources import files
from pathlib import Path

from pydantic import ValidationError

from burnish.checks.check import Finding, read_findings
from burnish.checks.coverage import CoverageDetails
from burnish.checks.dependencies.check import DependencyDetails
from burnish.checks.mutation.check import MutationDetails
from burnish.checks.performance.check import PerformanceDetails
from burnish.checks.project import Project
from burnish.checks.quality.check import QualityDetails
from burnish.checks.tests import SuiteDetails
from burnish.checks.verdict import CheckResults
from burnish.errors import SetupProblem
from burnish.events import Evidence
from burnish.events.checks import describe_equivalent
from burnish.paths import write_atomically
from burnish.report import check_report as words
from burnish.text import html_line, plural, strip_controls

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
LEGEND = (
    '<p class="small">Files in which something was found. Striped lines marked “not run” are those that no test runs; '
    "notes stand below the line they speak of.</p>"
)
FIRST, MOST, FEW, MOST_POINTS, MOST_ROWS = 6, 40, 12, 6, 200
"""Cards shown at once, and behind a click; rows that need no click; bars of one function; rows of a table."""
RANKS = {"skipped": 1, "not_run": 1, "xfailed": 2, "passed": 3}
"""The order of tests by how they ended; any other end, such as "failed", comes first."""
ENDS = {"passed": ("good", "✓ passed"), "failed": ("bad", "✗ failed"), "xfailed": ("good", "✓ as expected")}
MOST_FILES, MOST_LINES, MOST_NOTES = 25, 400, 300
"""Files shown; lines of a file shown without gaps; notes in one file."""
AROUND = 4
"""Lines before and after a marked one, in a file that is too long to be shown whole."""
MOST_LETTERS = 300
GAP = '<div class="gap">⋯</div>'
Note = tuple[str, Finding]
"""A check, and what it found."""


def render_page(checked: CheckResults, texts: Mapping[str, str]) -> str:
    """The whole page; `texts` are the files that are shown with their findings."""
    style, headline = (files("burnish.report") / "style.css").read_text("utf-8"), words.render_headline(checked)
    kind, symbol = ("good", words.SYMBOLS["passed"]) if checked.passed else ("bad", words.SYMBOLS["failed"])
    remarks = "".join(f"<p>{html_line(remark)}</p>" for remark in words.list_remarks(checked))
    lights, details = [], []
    for item in checked.evidence:
        inside = "".join(DETAILS[item.check](item)) if item.check in DETAILS else ""
        if "traceback" in item.details:
            traceback = escape(strip_controls(str(item.details["traceback"])))
            inside += f"<details><summary>Our bug, in full</summary><pre>{traceback}</pre></details>"
        lights.append(_render_light(item, item.check in checked.decisive, bool(inside)))
        name = html_line(item.check.capitalize())
        details.append(f'<h2 id="{html_line(item.check)}">{name}</h2>{inside}' if inside else "")
    code = "".join(render_files(checked, texts))
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{html_line(f'{headline} · {checked.project.name}')}</title>",
            f"<style>\n{style}</style>\n</head>\n<body>\n<main>",
            f'<p class="eyebrow">burnish check · {html_line(words.summarise(checked))}</p>',
            f'<h1 class="{kind}"><span aria-hidden="true">{symbol}</span>{html_line(headline)}.</h1>',
            f'<div class="remarks">{remarks}</div>' if remarks else "",
            '<div class="lights">',
            *lights,
            "</div>",
            *details,
            f'<h2 id="code">The code</h2>{LEGEND}{code}' if code else "",
            "<footer>Made by Burnish. Everything on this page is in this one file. A check shows what it looked for, ",
            "where it looked; code that passes all of them can still be wrong.</footer>",
            "</main>\n</body>\n</html>\n",
        ]
    )


def _render_light(item: Evidence, required: bool, more: bool) -> str:
    """One row: symbol, word, name, figure against what was wanted, and what it all means; `more` stands below."""
    name = html_line(item.check.capitalize())
    link = f'<a href="#{html_line(item.check)}">{name}</a>' if more else name
    figure = f"<strong>{html_line(item.figure, 60)}</strong>" if item.figure else ""
    wanted = f"<span>wanted: {html_line(item.threshold, 80)}</span>" if item.threshold else ""
    optional = "" if required else "<span>not required</span>"
    return (
        f'<section class="card light {item.verdict}"><div class="lamp" aria-hidden="true">'
        f"{words.SYMBOLS[item.verdict]}</div><div><h3>{link} "
        f"<em>{words.VERDICTS[item.verdict]}</em></h3><p>{html_line(item.why)}</p>"
        f'<p class="small">{escape(words.MEANING[item.check])}</p></div>'
        f'<div class="figure">{figure}{wanted}{optional}</div></section>'
    )


def _render_tests(item: Evidence) -> Iterator[str]:
    details = SuiteDetails.read(item)
    cases = sorted(details.tests, key=lambda case: RANKS.get(case.outcome, 0))
    bad = [case for case in cases if case.outcome not in RANKS or case.id in details.flaky]
    for some, title in ((bad, f"{plural(len(bad), 'test')} failed or flaky"), (cases, plural(len(cases), "test"))):
        rows = []
        for case in some:
            kind, word = ENDS.get(case.outcome, ("none", f"– {html_line(case.outcome.replace('_', ' '), 30)}"))
            result = f'<span class="{kind}">{word}</span>'
            result += ' <span class="bad">✗ flaky</span>' if case.id in details.flaky else ""
            why = f"<pre>{escape(strip_controls(case.message))}</pre>" if case.message else ""
            rows.append((f'<span translate="no">{html_line(case.id)}</span>{why}', result, f"{case.seconds:.3f}"))
        is_open = some is bad or (not bad and len(cases) <= FEW)
        yield _fold(title, _table(("test", "result", "seconds"), rows, (2,)), is_open)
    printed = escape(strip_controls(details.printed).strip())
    yield _fold("What the test run printed at its end", f"<pre>{printed}</pre>" if printed else "", not cases)


def _render_coverage(item: Evidence) -> Iterator[str]:
    rows = [
        (html_line(row.file), f"{_bar(row.percent)} {row.percent:.0f} %", plural(len(row.missing), "line"))
        for row in sorted(CoverageDetails.read(item).files, key=lambda row: row.percent)
    ]
    table = _table(("file", "lines and branches that the tests run", "never run"), rows, (2,))
    yield _fold(f"{plural(len(rows), 'file')}, least covered first", table, len(rows) <= FEW)


def _render_mutation(item: Evidence) -> Iterator[str]:
    """The changes that no test noticed as diffs, and how well each function is watched, the worst first."""
    kinds, found = {"+": "in", "-": "out", "@": "at"}, []
    for finding in (finding for finding in read_findings(item) if finding.diff):
        lines = [line for line in strip_controls(finding.diff).split("\n") if line]
        lines = [escape(line[:300]) for line in lines if not line.startswith(("--- ", "+++ "))]
        # The signs stay, so that colour is not all that tells the lines apart; none of them is escaped.
        diff = "".join(f'<div translate="no" class="{kinds.get(line[:1], "")}">{line}</div>' for line in lines[:60])
        head = f"<b translate='no'>{html_line(words.format_place(finding))}</b> "
        head += f"<span class='small'>{html_line(finding.what)}</span>"
        found.append(f'<div>{head}<div class="diff">{diff}</div></div>')
    if found:
        yield '<p class="small">Each of these changes makes the code different, and no test noticed. A test that fails '
        yield "on the change is what is missing.</p>"
    yield from _render_cards(found, "change")
    details, rows = MutationDetails.read(item), []
    same = [(html_line(words.format_place(one)), html_line(one.what)) for one in details.equivalents]
    yield _fold(describe_equivalent(len(same), details.inputs), _table(("where", "what"), same))
    for row in details.functions:
        if total := row.killed + row.survived + row.no_tests:
            share = row.killed / total
            cells = html_line(f"{row.function} · {row.file}"), f"{_bar(100 * share)} {row.killed} of {total}"
            rows.append((share, (*cells, str(row.no_tests))))
    heads = ("function", "changes that a test noticed", "in code no test runs")
    table = _table(heads, [cells for _, cells in sorted(rows, key=lambda row: row[0])], (2,))
    yield _fold(f"{plural(len(rows), 'function')}, least watched first", table)


def _render_findings(item: Evidence) -> Iterator[str]:
    """Findings as a table, for checks whose findings stand beside the code as well; empty columns are left out."""
    found = read_findings(item)
    heads = ("where", "what", "severity", "confidence", "rule")
    rows = [(words.format_place(one), one.what, one.severity, one.confidence, one.rule) for one in found]
    kept = [place for place in range(len(heads)) if any(row[place] for row in rows)]
    table = _table([heads[place] for place in kept], [[html_line(row[place]) for place in kept] for row in rows])
    yield _fold(plural(len(found), "finding"), table, len(found) <= FEW)


def _render_dependencies(item: Evidence) -> Iterator[str]:
    try:
        details = DependencyDetails.model_validate(item.details)
    except ValidationError:
        return
    unknown, rows = details.not_known, []
    for row in details.packages:
        holes = ", ".join(html_line(one.id, 60) for one in row.advisories)
        note = '<span class="bad">✗ not on the index</span>' if row.exists is False else ""
        note += f'<span class="bad">✗ looks like {html_line(row.near, 60)}</span>' if row.near else ""
        none = '<span class="good">✓ none</span>'
        if any(row.name in line for line in unknown):
            none = '<span class="none">– not known</span>'
        holes = f'<span class="bad">✗</span> {holes}' if holes else none
        name, version = f'<b translate="no">{html_line(row.name)}</b>', html_line(row.version or "?")
        rows.append((name, version, html_line(str(row.first_release or "?")), holes, note))
    if rows:
        yield f'<div class="card">{_table(("package", "version", "first release", "known holes", "note"), rows)}</div>'
    inside = "".join(f"<li>{html_line(line)}</li>" for line in unknown[:MOST_ROWS])
    yield _fold(
        f"{plural(len(unknown), 'thing')} that nobody could tell", f"<ul>{inside}</ul>" if unknown else "", True
    )


def _render_quality(item: Evidence) -> Iterator[str]:
    rows = []
    with suppress(ValidationError):
        for name, part in QualityDetails.model_validate(item.details).parts.items():
            score = "nothing to judge" if part.score is None else f"{_bar(part.score)} {part.score:.0f}"
            rows.append((html_line(name), score, html_line(part.why), html_line(part.weight)))
    if rows:
        yield f'<div class="card">{_table(("part", "score of 100", "why", "weight"), rows, (3,))}</div>'
    yield from _render_findings(item)


def _render_performance(item: Evidence) -> Iterator[str]:
    """Bars for the time of each function at each size; what could not be measured says why."""
    cards = []
    for row in PerformanceDetails.read(item).functions:
        points = pick_doubling([(size, seconds) for size, seconds, _ in row.points])
        most = max((seconds for _, seconds in points), default=0.0)
        bars = ""
        for size, seconds in points:
            units = (("s", 1.0), ("ms", 1e3), ("µs", 1e6))
            fitting = (f"{seconds * factor:.3g}\u00a0{unit}" for unit, factor in units if seconds * factor >= 1)
            time = next(fitting, f"{seconds * 1e9:.0f}\u00a0ns")
            height = 70 * seconds / most if most else 0.0
            bars += f'<div>{time}<i style="height:{height:.1f}%"></i><span>{size:,.0f}</span></div>'
        growth = f"time grows: <b>{html_line(row.growth)}</b>" if row.growth else "not measured"
        memory = f"; memory: {html_line(row.memory_growth)}" if row.memory_growth else ""
        head = f"<h3 translate='no'>{html_line(row.name)}</h3>"
        head += f"<p>{growth} with {html_line(row.argument or 'its input')}{memory}</p>"
        chart = f'<div class="points">{bars}</div>' if bars else ""
        note = f'<p class="small">{html_line(row.note)}</p>' if row.note else ""
        cards.append(f'<div class="card">{head}{chart}{note}</div>')
    yield from _render_cards(cards, "function")


def pick_doubling(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The last few points, each at least twice as large as the one before: a glance shows how the time grows."""
    few: list[tuple[float, float]] = []
    for size, seconds in sorted(points, reverse=True):
        if len(few) < MOST_POINTS and (not few or size * 2 <= few[-1][0]):
            few.append((size, seconds))
    return few[::-1]


DETAILS: dict[str, Callable[[Evidence], Iterator[str]]] = {
    "tests": _render_tests,
    "coverage": _render_coverage,
    "mutation": _render_mutation,
    "security": _render_findings,
    "dependencies": _render_dependencies,
    "quality": _render_quality,
    "performance": _render_performance,
}


def _render_cards(cards: Sequence[str], noun: str) -> Iterator[str]:
    """The first few side by side, more of them folded away, the rest in `report.json`."""
    first, more, left = cards[:FIRST], cards[FIRST:MOST], len(cards) - MOST
    yield f'<div class="pairs">{"".join(first)}</div>' if first else ""
    beyond = f"; {left} others are in report.json" if left > 0 else ""
    inside = f'<div class="pairs">{"".join(more)}</div>' if more else ""
    yield _fold(f"{plural(len(more), f'more {noun}')}{beyond}", inside)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """A table whose cells are HTML already, empty without rows; `numbers` are the columns that stand right."""

    def render_row(cells: Sequence[str], tag: str) -> str:
        marks = [' class="number"' if place in numbers else "" for place in range(len(cells))]
        return "".join(f"<{tag}{mark}>{cell}</{tag}>" for cell, mark in zip(cells, marks, strict=True))

    body = "".join(f"<tr>{render_row(cells, 'td')}</tr>" for cells in rows[:MOST_ROWS])
    more = f'<p class="small">… and {len(rows) - MOST_ROWS} more in report.json.</p>' if len(rows) > MOST_ROWS else ""
    head = f"<thead><tr>{render_row(heads, 'th')}</tr></thead>"
    return f'<div class="wide"><table>{head}<tbody>{body}</tbody></table></div>{more}' if rows else ""


def _bar(percent: float, enough: float = 80.0) -> str:
    """A share of 100 as a bar; its colour says whether that is much, the number beside it says how much."""
    kind = "" if percent >= enough else " mid" if percent >= enough / 2 else " low"
    return f'<span class="bar{kind}"><i style="width:{min(100.0, max(0.0, percent)):.1f}%"></i></span>'


def _fold(title: str, inside: str, is_open: bool = False) -> str:
    """A part that opens with a click, without a script; nothing where there is nothing inside."""
    return (
        f'<details class="card"{" open" if is_open else ""}><summary>{title}</summary>{inside}</details>'
        if inside
        else ""
    )


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
    for note in ((item.check, finding) for item in checked.evidence for finding in read_findings(item)):
        if (note[0], note[1].rule) != ("coverage", "line"):
            found[note[1].file].append(note)
    return dict(found)


def _collect_missed(checked: CheckResults) -> dict[str, set[int]]:
    """By file: the lines that no test runs."""
    details = [CoverageDetails.read(item) for item in checked.evidence if item.check == "coverage"]
    return {row.file: {*row.missing} for one in details for row in one.files if row.missing}


def render_files(checked: CheckResults, texts: Mapping[str, str]) -> Iterator[str]:
    """Every file that has marks, as HTML."""
    notes, missed = _collect_notes(checked), _collect_missed(checked)
    for place, (name, text) in enumerate(texts.items()):
        said = [plural(len(notes[name]), "finding")] if name in notes else []
        said += [f"{plural(len(missed[name]), 'line')} that no test runs"] if name in missed else []
        yield f'<details class="card file"{"" if place else " open"}><summary>'
        yield f'<b translate="no">{html_line(name, 160)}</b> <span class="small">{", ".join(said)}</span></summary>'
        yield '<div class="code">'
        unrun = missed.get(name, set())
        by_line: dict[int, list[Note]] = defaultdict(list)
        for check, finding in notes.get(name, [])[:MOST_NOTES]:
            by_line[finding.line].append((check, finding))
        yield from map(_render_note, by_line.pop(0, []))
        lines = strip_controls(text).split("\n")
        shown = list(range(1, len(lines) + 1))
        if len(lines) > MOST_LINES:
            near = {number + step for number in {*by_line, *unrun} for step in range(-AROUND, AROUND + 1)}
            shown = [number for number in shown if number in near][:MOST_LINES]
        last = 0
        for number in shown:
            yield GAP if number != last + 1 else ""
            last, line = number, lines[number - 1]
            cut = line if len(line) <= MOST_LETTERS else line[:MOST_LETTERS] + "…"
            kind = "line" + (" missed" if number in unrun else "") + (" noted" if number in by_line else "")
            mark = '<i title="no test runs this line">not run</i>' if number in unrun else "<i></i>"
            yield f'<div class="{kind}"><b>{number}</b>{mark}<code>{escape(cut) or " "}</code></div>'
            yield from map(_render_note, by_line.get(number, []))
        yield GAP if last < len(lines) and lines[last:] != [""] else ""
        yield "</div></details>"
    left = len((notes.keys() | missed.keys()) - texts.keys())
    if left:
        yield f'<p class="small">{plural(left, "more file")} with findings not shown here; all are in report.json.</p>'


def _render_note(note: Note) -> str:
    check, finding = note
    grade = f"{finding.severity} " if finding.severity else ""
    head = f'<span class="tag {finding.severity or "plain"}">{grade}{escape(words.name_source(check, finding))}</span>'
    return f'<div class="note">{head} {html_line(finding.what)}</div>'


def write_reports(checked: CheckResults, project: Project, folder: Path) -> None:
    """Write the three reports; the folder is made if it is not there.

    They are derived: written again they replace themselves, and touch nothing else.
    """
    page = render_page(checked, read_marked_files(checked, project))
    texts = (page, words.render_json(checked), words.render_markdown(checked))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in zip(words.FILES, texts, strict=True):
            write_atomically(folder / name, text.encode("utf-8", "replace"))
    except OSError as error:
        raise unwritable_folder(folder, error) from error


def unwritable_folder(folder: Path, error: OSError) -> SetupProblem:
    """What to say of a place that cannot be written."""
    return SetupProblem(
        f"The reports cannot be written to {str(folder)!r} ({error.strerror}). Choose another place: --out DIR"
    )
