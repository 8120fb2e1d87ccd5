"""The reports that `burnish check` leaves in a folder: a page for people, data for machines, and a text for mails.

They say the same. `check_page` makes the page.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from burnish.checks.check import read_findings
from burnish.checks.project import Project
from burnish.checks.verdict import CheckResults
from burnish.errors import SetupProblem
from burnish.events import Evidence
from burnish.paths import write_atomically
from burnish.report.check_page import render_page
from burnish.report.check_words import (
    MEANING,
    VERDICTS,
    format_place,
    list_remarks,
    name_source,
    render_headline,
    summarise,
)
from burnish.report.code_view import read_marked_files
from burnish.text import fence_code, one_line, strip_controls

FILES = ("report.html", "report.json", "report.md")
MOST_LISTED = 50
"""Findings of a check in `report.md`."""


def write_reports(checked: CheckResults, project: Project, folder: Path) -> None:
    """Write the three reports; the folder is made if it is not there.

    They are derived: written again they replace themselves, and touch nothing else.
    """
    page = render_page(checked, read_marked_files(checked, project))
    texts = (page, render_json(checked), render_markdown(checked))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in zip(FILES, texts, strict=True):
            write_atomically(folder / name, text.encode("utf-8", "replace"))
    except OSError as error:
        raise unwritable_folder(folder, error) from error


def unwritable_folder(folder: Path, error: OSError) -> SetupProblem:
    """What to say of a place that cannot be written."""
    return SetupProblem(
        f"The reports cannot be written to {str(folder)!r} ({error.strerror}). Choose another place: --out DIR"
    )


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
    for item in checked.evidence:
        verdict = VERDICTS[item.verdict] + ("" if item.check in checked.required else " (not required)")
        cells = (item.check, verdict, item.figure, item.threshold, item.why)
        rows.append(f"| {' | '.join(map(_escape, cells))} |")
    parts = [f"# {_escape(render_headline(checked))}", _escape(summarise(checked)) + "."]
    parts += [_escape(remark) for remark in list_remarks(checked)]
    parts += ["\n".join(rows), *(part for item in checked.evidence for part in _list_findings(item))]
    meanings = "\n".join(f"- **{item.check}**: {MEANING[item.check]}" for item in checked.evidence)
    return "\n\n".join([*parts, "## What the checks mean", meanings]) + "\n"


def _list_findings(item: Evidence) -> Iterator[str]:
    found = read_findings(item)
    if found:
        yield f"## Found by {item.check}"
    for finding in found[:MOST_LISTED]:
        by = _escape(name_source(item.check, finding))
        yield f"- `{format_place(finding).replace('`', chr(39))}` {_escape(finding.what)} ({by})"
        if finding.diff:
            yield fence_code(strip_controls(finding.diff), "diff")
    if len(found) > MOST_LISTED:
        yield f"… and {len(found) - MOST_LISTED} more; see report.json."


def _escape(text: str) -> str:
    """One line in which nothing is markup: what it says may be anybody's words."""
    flat = one_line(text, 400).replace("&", "&amp;").replace("<", "&lt;").replace("`", "'")
    for char in "\\[]*_|#":
        flat = flat.replace(char, f"\\{char}")
    return flat
