"""What each check has to show beyond its row: tests one by one, files by coverage, mutants as diffs, scores as bars.

Details are plain data from many hands, so everything is read with care: what has another form than expected is left out
of the page (it is in `report.json`), and nothing is ever markup.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from burnish.checks.report import words
from burnish.events import Evidence
from burnish.text import counted, one_line, plain

MOST_ROWS, MOST_DIFFS = 200, 40
Row = Mapping[str, Any]


def sections(item: Evidence) -> Iterator[str]:
    """The HTML of one check's own part; nothing when there is nothing to show."""
    show = _SHOWN.get(item.check)
    if show:
        yield from show(item)
    if "traceback" in item.details:
        yield f"<details><summary>Our bug, in full</summary><pre>{escape(plain(str(item.details['traceback'])))}</pre>"
        yield "</details>"


def rows_of(value: object) -> list[Row]:
    """A list of records, whatever else it may hold."""
    if isinstance(value, Mapping):
        return [{"name": name, **said} for name, said in value.items() if isinstance(said, Mapping)]
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list | tuple) else []


def safe(value: object, most: int = 300) -> str:
    """Anything as one escaped line."""
    return escape(one_line(str(value), most))


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """A table whose cells are HTML already; `numbers` are the columns that stand right."""

    def row(cells: Sequence[str], tag: str) -> str:
        marks = [' class="number"' if place in numbers else "" for place in range(len(cells))]
        return "".join(f"<{tag}{mark}>{cell}</{tag}>" for cell, mark in zip(cells, marks, strict=True))

    kept = list(rows)
    body = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in kept[:MOST_ROWS])
    more = f'<p class="small">… and {len(kept) - MOST_ROWS} more in report.json.</p>' if len(kept) > MOST_ROWS else ""
    return (
        f'<div class="wide"><table><thead><tr>{row(heads, "th")}</tr></thead><tbody>{body}</tbody></table></div>{more}'
    )


def bar(percent: float, enough: float = 80.0) -> str:
    """A share of 100 as a bar; its colour says whether that is much, the number beside it says how much."""
    kind = "" if percent >= enough else " mid" if percent >= enough / 2 else " low"
    return f'<span class="bar{kind}"><i style="width:{min(100.0, max(0.0, percent)):.1f}%"></i></span>'


def number(value: object) -> float | None:
    """A number, or None for anything else."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def folded(title: str, inside: str, opened: bool = False) -> str:
    """A part that opens with a click, without a script."""
    return f'<details class="card"{" open" if opened else ""}><summary>{title}</summary>{inside}</details>'


def _tests(item: Evidence) -> Iterator[str]:
    cases = rows_of(item.details.get("cases"))
    if not cases:
        return
    order = {"failed": 0, "not_run": 1, "passed": 2}
    cases = sorted(cases, key=lambda case: order.get(str(case.get("outcome")), 0))
    lines = [_case(case) for case in cases]
    failed = sum(case.get("outcome") != "passed" for case in cases)
    said = f"{counted(len(cases), 'test')}" + (f", {failed} not passed" if failed else ", all passed")
    yield folded(said, table(("test", "result", "seconds"), lines, (2,)), opened=bool(failed) or len(cases) <= 12)


def _case(case: Row) -> tuple[str, str, str]:
    outcome = str(case.get("outcome"))
    kind, word = {"passed": ("good", "✓ passed"), "failed": ("bad", "✗ failed")}.get(outcome, ("none", "– not run"))
    message = plain(str(case.get("message") or ""))
    shown = f"<pre>{escape(message[:2000])}</pre>" if message.strip() else ""
    seconds = number(case.get("seconds"))
    timed = f"{seconds:.3f}" if seconds is not None else ""
    return f"{safe(case.get('name', ''))}{shown}", f'<span class="{kind}">{word}</span>', timed


def _mutation(item: Evidence) -> Iterator[str]:
    found = [finding for finding in words.findings(item) if finding.diff]
    if not found:
        return
    yield '<p class="small">Each of these changes makes the code different, and no test noticed. A test that fails '
    yield "on the change is what is missing.</p>"
    yield '<div class="diffs">'
    for finding in found[:MOST_DIFFS]:
        yield f"<div><b>{safe(words.place(finding))}</b> <span class='small'>{safe(finding.what)}</span>"
        yield f"{diff(finding.diff)}</div>"
    yield "</div>"
    if len(found) > MOST_DIFFS:
        yield f'<p class="small">… and {len(found) - MOST_DIFFS} more in report.json.</p>'


def diff(text: str) -> str:
    """A change, line by line; the signs stay, so that colour is not all that tells them apart."""
    lines = [line for line in plain(text).split("\n") if not line.startswith(("--- ", "+++ ")) and line]
    kinds = {"+": "in", "-": "out", "@": "at"}
    shown = "".join(f'<div class="{kinds.get(line[:1], "")}">{escape(line[:300])}</div>' for line in lines[:60])
    return f'<div class="diff">{shown}</div>'


def _found(item: Evidence) -> Iterator[str]:
    """Findings as a table, for checks whose findings stand beside the code as well."""
    found = words.findings(item)
    if not found:
        return
    lines = [
        (safe(words.place(one)), safe(one.severity or ""), safe(one.confidence or ""), safe(one.rule), safe(one.what))
        for one in found
    ]
    heads = ("where", "severity", "confidence", "rule", "what")
    yield folded(counted(len(found), "finding"), table(heads, lines), opened=len(found) <= 12)


def _dependencies(item: Evidence) -> Iterator[str]:
    packages = rows_of(item.details.get("packages"))
    lines = [
        (f"<b>{safe(row.get('name', ''))}</b>", safe(row.get("version") or "?"), *_package(row)) for row in packages
    ]
    if lines:
        yield f'<div class="card">{table(("package", "version", "first release", "known holes", "note"), lines)}</div>'
    unknown = item.details.get("not_known")
    if isinstance(unknown, list) and unknown:
        inside = "".join(f"<li>{safe(line)}</li>" for line in unknown[:MOST_ROWS])
        yield folded(f"{counted(len(unknown), 'thing')} that nobody could tell", f"<ul>{inside}</ul>", opened=True)


def _package(row: Row) -> tuple[str, str, str]:
    """Since when there is such a package, what is known against it, and whether it is what it seems."""
    holes = ", ".join(safe(one.get("id", "?"), 60) for one in rows_of(row.get("advisories")))
    note = '<span class="bad">✗ not on the index</span>' if row.get("exists") is False else ""
    note += f'<span class="bad">✗ looks like {safe(row["near"], 60)}</span>' if row.get("near") else ""
    bad = f'<span class="bad">✗</span> {holes}' if holes else '<span class="good">none</span>'
    return safe(row.get("first_release") or "?"), bad, note


_SHOWN: dict[str, Callable[[Evidence], Iterator[str]]] = {
    "tests": _tests,
    "mutation": _mutation,
    "security": _found,
    "dependencies": _dependencies,
}
