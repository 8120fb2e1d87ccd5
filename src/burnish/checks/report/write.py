"""Puts the reports into a folder. They are derived: written again they replace themselves, and touch nothing else."""

from collections.abc import Mapping
from pathlib import Path

from burnish.checks.project import Project
from burnish.checks.report.as_html import report_html
from burnish.checks.report.as_json import report_json
from burnish.checks.report.as_md import report_md
from burnish.checks.report.code import texts_to_show
from burnish.checks.verdict import Checked
from burnish.errors import SetupProblem
from burnish.paths import write_atomically

NAMES = ("report.html", "report.json", "report.md")


def write_reports(checked: Checked, project: Project, folder: Path) -> None:
    """Write `report.html`, `report.json` and `report.md`; the folder is made if it is not there."""
    texts = texts_to_show(checked, project)
    pages = (report_html(checked, texts), report_json(checked), report_md(checked))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in _named(pages).items():
            write_atomically(folder / name, text.encode("utf-8", "replace"))
    except OSError as error:
        raise unwritable(folder, error) from error


def unwritable(folder: Path, error: OSError) -> SetupProblem:
    """What to say of a place that cannot be written."""
    return SetupProblem(
        f"The reports cannot be written to {str(folder)!r} ({error.strerror}). Choose another place: --out DIR"
    )


def _named(pages: tuple[str, ...]) -> Mapping[str, str]:
    return dict(zip(NAMES, pages, strict=True))
