"""The verdict at the end of a check: one table, one sentence, the worst findings, and what to type next."""

from collections.abc import Iterator
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from burnish.checks.report import words
from burnish.checks.report.write import NAMES
from burnish.checks.verdict import Checked
from burnish.cli.check_screen import COLOURS
from burnish.events import Evidence
from burnish.text import counted, one_line, plain

MOST_FINDINGS = 10
WIDE = 120
"""Columns from which on the reasons have room in the table."""


def show(console: Console, checked: Checked, command: str, out: Path | None) -> None:
    """The table, the headline, the worst findings, and the next step."""
    console.print()
    wide = console.width >= WIDE
    console.print(table(checked, wide))
    console.print()
    for line in () if wide else (Text("why", style="dim"), *reasons(checked), Text("")):
        console.print(line, soft_wrap=True)
    style = "bold green" if checked.passed else "bold red"
    console.print(Text(words.headline(checked) + ".", style=style), soft_wrap=True)
    for remark in words.remarks(checked):
        console.print(Text(remark, style="yellow"), soft_wrap=True)
    for line in (*_findings(checked), *_next(checked, command, out)):
        console.print(line, soft_wrap=True)


def table(checked: Checked, wide: bool) -> Table:
    """A row a check; the word, not the colour alone, says how it went. Where there is little room, why goes below."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in ("check", "verdict", "figure", "wanted", *(["why"] if wide else [])):
        made.add_column(
            name, overflow="fold", no_wrap=name in ("check", "verdict"), max_width=None if name == "why" else 36
        )
    for item in checked.evidence:
        why = Text(words.why(item, 240))
        made.add_row(
            Text(item.check, style="bold"),
            Text(f"{words.SYMBOLS[item.verdict]} {words.VERDICTS[item.verdict]}", style=COLOURS[item.verdict]),
            Text(one_line(item.figure, 60)),
            Text(_wanted(item, item.check in checked.required), style="dim"),
            *([why] if wide else []),
        )
    return made


def _wanted(item: Evidence, required: bool) -> str:
    wanted = one_line(item.threshold, 80)
    return wanted if required else f"{wanted} (optional)" if wanted else "(optional)"


def reasons(checked: Checked) -> Iterator[Text]:
    """Why each check said what it said, a line each."""
    for item in checked.evidence:
        yield Text.assemble((f"{item.check:<13} ", "bold"), words.why(item, 240))


def _findings(checked: Checked) -> Iterator[Text]:
    rows, total = words.worst(checked, MOST_FINDINGS)
    if not rows:
        return
    yield Text("")
    head = "The worst first" if total > len(rows) else "Found"
    yield Text(f"{head}, {counted(total, 'finding')}:", style="bold")
    for check, finding in rows:
        yield Text.assemble(
            "  ",
            (words.place(finding), "cyan"),
            "  ",
            one_line(finding.what, 160),
            (f"  ({words.source(check, finding)})", "dim"),
        )
    if total > len(rows):
        yield Text(f"  … and {total - len(rows)} more", style="dim")


def _next(checked: Checked, command: str, out: Path | None) -> Iterator[Text]:
    yield Text("")
    if out is not None:
        yield _step("report", plain(str(out / NAMES[0])))
        yield _step("", f"{plain(str(out / NAMES[1]))}  {NAMES[2]}")
    failed = [item.check for item in checked.evidence if item.verdict == "failed"]
    if failed:
        yield _step("again", f"{plain(command)} --only {','.join(failed)}")
    if out is None:
        yield _step("report", f"{plain(command)} --out report   # the same with code, diffs and explanations")


def _step(label: str, text: str) -> Text:
    return Text.assemble((f"{label:<8} ", "bold"), text)
