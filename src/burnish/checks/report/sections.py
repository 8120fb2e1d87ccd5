"""What each check has to show beyond its row: tests one by one, files by coverage, mutants as diffs, scores as bars."""

from collections.abc import Callable, Iterator, Sequence
from html import escape

from burnish.checks.finding import Finding
from burnish.checks.report import words
from burnish.checks.report.parts import MOST_ROWS, Row, bar, diff, folded, number, rows_of, table
from burnish.events import Evidence
from burnish.text import counted, html_line, plain

FIRST, MOST, FEW, MOST_POINTS = 6, 40, 12, 6
"""Cards shown at once, and behind a click; rows that need no click; bars of one function."""
COUNTS = ("killed", "survived", "no_tests")


def sections(item: Evidence) -> Iterator[str]:
    """The HTML of one check's own part; nothing when there is nothing to show."""
    show = _SHOWN.get(item.check)
    if show:
        yield from show(item)
    if "traceback" in item.details:
        yield f"<details><summary>Our bug, in full</summary><pre>{escape(plain(str(item.details['traceback'])))}</pre>"
        yield "</details>"


def _tests(item: Evidence) -> Iterator[str]:
    cases = sorted(rows_of(item.details.get("tests")), key=lambda case: RANKS.get(str(case.get("outcome")), 0))
    reasons, told = _reasons(item), item.details.get("flaky")
    flaky = told if isinstance(told, list) else []
    bad = [case for case in cases if str(case.get("outcome")) not in RANKS or case.get("id") in flaky]
    for some, said in ((bad, f"{counted(len(bad), 'test')} failed or flaky"), (cases, counted(len(cases), "test"))):
        lines = [_case(case, reasons, flaky) for case in some]
        shown = table(("test", "result", "seconds"), lines, (2,))
        yield folded(said, shown, opened=some is bad or (not bad and len(cases) <= FEW)) if some else ""
    printed = plain(str(item.details.get("printed") or "")).strip()
    if printed:
        yield folded("What the test run printed at its end", f"<pre>{escape(printed)}</pre>", opened=not cases)


RANKS = {"skipped": 1, "not_run": 1, "xfailed": 2, "passed": 3}
"""The order of tests by how they ended; any other end, such as "failed", comes first."""


def _reasons(item: Evidence) -> dict[str, str]:
    """Why a test failed, by its id: findings say it as "ID failed: why"."""
    split = (finding.what.partition(" failed: ") for finding in words.findings(item))
    return {name: why for name, _, why in split}


def _case(case: Row, reasons: dict[str, str], flaky: Sequence[object]) -> tuple[str, str, str]:
    name, outcome = str(case.get("id", "")), str(case.get("outcome"))
    kind, word = {
        "passed": ("good", "✓ passed"),
        "failed": ("bad", "✗ failed"),
        "xfailed": ("good", "✓ as expected"),
    }.get(outcome, ("none", f"– {html_line(outcome.replace('_', ' '), 30)}"))
    result = f'<span class="{kind}">{word}</span>' + (' <span class="bad">✗ flaky</span>' if name in flaky else "")
    why = f"<pre>{escape(plain(reasons[name]))}</pre>" if reasons.get(name) else ""
    seconds = number(case.get("seconds"))
    return f"{html_line(name)}{why}", result, f"{seconds:.3f}" if seconds is not None else ""


def _coverage(item: Evidence) -> Iterator[str]:
    rows = rows_of(item.details.get("files"))
    lines = []
    for row in sorted(rows, key=lambda row: number(row.get("percent")) or 0.0):
        percent, missing = number(row.get("percent")), row.get("missing")
        count = len(missing) if isinstance(missing, list) else 0
        if percent is not None:
            lines.append((html_line(row.get("file", "")), f"{bar(percent)} {percent:.0f} %", counted(count, "line")))
    if lines:
        shown = table(("file", "lines and branches that the tests run", "never run"), lines, (2,))
        yield folded(f"{counted(len(lines), 'file')}, least covered first", shown, opened=len(lines) <= FEW)


def _mutation(item: Evidence) -> Iterator[str]:
    found = [_mutant(finding) for finding in words.findings(item) if finding.diff]
    if found:
        yield '<p class="small">Each of these changes makes the code different, and no test noticed. A test that fails '
        yield "on the change is what is missing.</p>"
    yield from _in_pairs(found, "change")
    yield from _functions(item)


def _in_pairs(cards: Sequence[str], noun: str) -> Iterator[str]:
    """The first few side by side, more of them folded away, the rest in `report.json`."""
    first, more, left = cards[:FIRST], cards[FIRST:MOST], len(cards) - MOST
    yield f'<div class="pairs">{"".join(first)}</div>' if first else ""
    beyond = f"; {left} others are in report.json" if left > 0 else ""
    said = f"{counted(len(more), f'more {noun}')}{beyond}"
    yield folded(said, f'<div class="pairs">{"".join(more)}</div>') if more else ""


def _mutant(finding: Finding) -> str:
    head = f"<b>{html_line(words.place(finding))}</b> <span class='small'>{html_line(finding.what)}</span>"
    return f"<div>{head}{diff(finding.diff)}</div>"


def _functions(item: Evidence) -> Iterator[str]:
    """How well each function is watched by its tests, the worst first."""
    counts = [[number(row.get(key)) or 0 for key in COUNTS] for row in rows_of(item.details.get("functions"))]
    names = [f"{row.get('function', '')} · {row.get('file', '')}" for row in rows_of(item.details.get("functions"))]
    rows = [(name, count, sum(count)) for name, count in zip(names, counts, strict=True) if sum(count)]
    rows.sort(key=lambda row: row[1][0] / row[2])
    lines = [
        (html_line(name), f"{bar(100 * count[0] / total)} {count[0]:.0f} of {total:.0f}", f"{count[2]:.0f}")
        for name, count, total in rows
    ]
    if lines:
        shown = table(("function", "changes that a test noticed", "in code no test runs"), lines, (2,))
        yield folded(f"{counted(len(lines), 'function')}, least watched first", shown)


def _found(item: Evidence) -> Iterator[str]:
    """Findings as a table, for checks whose findings stand beside the code as well."""
    found = words.findings(item)
    if not found:
        return
    rows = [[words.place(one), one.what, one.severity, one.confidence, one.rule] for one in found]
    kept = [place for place in range(5) if any(row[place] for row in rows)]
    heads = [("where", "what", "severity", "confidence", "rule")[place] for place in kept]
    lines = [[html_line(row[place]) for place in kept] for row in rows]
    yield folded(counted(len(found), "finding"), table(heads, lines), opened=len(found) <= FEW)


def _dependencies(item: Evidence) -> Iterator[str]:
    told = item.details.get("not_known")
    unknown = [str(line) for line in told] if isinstance(told, list) else []
    rows = rows_of(item.details.get("packages"))
    lines = [
        (f"<b>{html_line(row.get('name', ''))}</b>", html_line(row.get("version") or "?"), *_package(row, unknown))
        for row in rows
    ]
    if lines:
        yield f'<div class="card">{table(("package", "version", "first release", "known holes", "note"), lines)}</div>'
    if unknown:
        inside = "".join(f"<li>{html_line(line)}</li>" for line in unknown[:MOST_ROWS])
        yield folded(f"{counted(len(unknown), 'thing')} that nobody could tell", f"<ul>{inside}</ul>", opened=True)


def _package(row: Row, unknown: Sequence[str]) -> tuple[str, str, str]:
    """Since when there is such a package, what is known against it, and whether it is what it seems."""
    holes = ", ".join(html_line(one.get("id", "?"), 60) for one in rows_of(row.get("advisories")))
    note = '<span class="bad">✗ not on the index</span>' if row.get("exists") is False else ""
    note += f'<span class="bad">✗ looks like {html_line(row["near"], 60)}</span>' if row.get("near") else ""
    asked = not any(str(row.get("name")) in line for line in unknown)
    none = '<span class="good">✓ none</span>' if asked else '<span class="none">– not known</span>'
    return html_line(row.get("first_release") or "?"), f'<span class="bad">✗</span> {holes}' if holes else none, note


def _performance(item: Evidence) -> Iterator[str]:
    yield from _in_pairs([_function(row) for row in rows_of(item.details.get("functions"))], "function")


def _function(row: Row) -> str:
    """Bars for the time at each size; what could not be measured says why."""
    told = row.get("points")
    points = [one for one in told if isinstance(one, list) and len(one) >= 2] if isinstance(told, list) else []
    few = doubling([(number(point[0]) or 0.0, number(point[1]) or 0.0) for point in points])
    most = max((seconds for _, seconds in few), default=0.0)
    bars = "".join(_point(size, seconds, most) for size, seconds in few)
    growth = f"time grows: <b>{html_line(row['growth'])}</b>" if row.get("growth") else "not measured"
    memory = f"; memory: {html_line(row['memory_growth'])}" if row.get("memory_growth") else ""
    note = f'<p class="small">{html_line(row["note"])}</p>' if row.get("note") else ""
    name, argument = html_line(row.get("name", "")), html_line(row.get("argument") or "its input")
    head = f"<h3>{name}</h3><p>{growth} with {argument}{memory}</p>"
    return (
        f'<div class="card">{head}<div class="points">{bars}</div>{note}</div>'
        if bars
        else (f'<div class="card">{head}{note}</div>')
    )


def doubling(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The last few points, each at least twice as large as the one before: a glance shows how the time grows."""
    few: list[tuple[float, float]] = []
    for size, seconds in sorted(points, reverse=True):
        if len(few) < MOST_POINTS and (not few or size * 2 <= few[-1][0]):
            few.append((size, seconds))
    return few[::-1]


def _point(size: float, seconds: float, most: float) -> str:
    height = 70 * seconds / most if most else 0.0
    return f'<div>{_time(seconds)}<i style="height:{height:.1f}%"></i><span>{size:,.0f}</span></div>'


def _time(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g}\u00a0{unit}"
    return f"{seconds * 1e9:.0f}\u00a0ns"


def _quality(item: Evidence) -> Iterator[str]:
    lines = []
    parts = item.details.get("parts")
    for name, row in parts.items() if isinstance(parts, dict) else ():
        if isinstance(row, dict):
            score = number(row.get("score"))
            shown = f"{bar(score)} {score:.0f}" if score is not None else "nothing to judge"
            lines.append((html_line(name), shown, html_line(row.get("why") or ""), html_line(row.get("weight", ""))))
    if lines:
        yield f'<div class="card">{table(("part", "score of 100", "why", "weight"), lines, (3,))}</div>'
    yield from _found(item)


_SHOWN: dict[str, Callable[[Evidence], Iterator[str]]] = {
    "tests": _tests,
    "coverage": _coverage,
    "mutation": _mutation,
    "security": _found,
    "dependencies": _dependencies,
    "quality": _quality,
    "performance": _performance,
}
