"""Pieces of the page: tables, bars, folds and diffs. Cells of tables are HTML already; everything else is escaped here.

Details are plain data from many hands, so they are read with care: what has another form than expected is left out of
the page (it is in `report.json`).
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from burnish.text import plain

MOST_ROWS = 200
Row = Mapping[str, Any]


def rows_of(value: object) -> list[Row]:
    """A list of records, whatever else it may hold."""
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list | tuple) else []


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


def diff(text: str) -> str:
    """A change, line by line; the signs stay, so that colour is not all that tells them apart."""
    lines = [line for line in plain(text).split("\n") if not line.startswith(("--- ", "+++ ")) and line]
    kinds = {"+": "in", "-": "out", "@": "at"}
    shown = "".join(f'<div class="{kinds.get(line[:1], "")}">{escape(line[:300])}</div>' for line in lines[:60])
    return f'<div class="diff">{shown}</div>'
