"""All reports of an evaluation, written from the attempts on disk. They may be deleted at any time and made anew."""

from pathlib import Path
from typing import Protocol

from burnish.evals.plots import plots
from burnish.evals.report_html import report_html
from burnish.evals.report_md import report_md
from burnish.evals.results import FILE, Evaluated, Results, results
from burnish.evals.whole import writable
from burnish.paths import PRIVATE_MODE, write_atomically


class Kept(Evaluated, Protocol):
    """An evaluation that has a folder."""

    @property
    def path(self) -> Path: ...  # noqa: D102


def write_reports(folder: Kept) -> Results:
    """Write `results.json`, `report.md`, `report.html` and `plots/*.svg`; the results come back."""
    found = results(folder)
    with writable(folder.path):
        write_atomically(folder.path / FILE, found.text().encode(), PRIVATE_MODE)
        (folder.path / "plots").mkdir(exist_ok=True)
        for name, svg in plots(found).items():
            write_atomically(folder.path / "plots" / f"{name}.svg", svg.encode(), PRIVATE_MODE)
        write_atomically(folder.path / "report.md", report_md(found).encode("utf-8", "replace"), PRIVATE_MODE)
        page = report_html(found, folder, plots(found, captioned=False))
        write_atomically(folder.path / "report.html", page.encode("utf-8", "replace"), PRIVATE_MODE)
    return found
