"""What a person sees of `check` and `verify`: a line a check while they run, then a table and what to type next.

Where there is no terminal, a plain line when a check has its answer. Text from code, from tools and from a folder that
is verified is shown, never obeyed.
"""

import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

from rich import box
from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from burnish.checks.verdict import CheckResults, Watcher
from burnish.events import Evidence, Outcome
from burnish.report import check_report as words
from burnish.text import join_words, one_line, plural, strip_controls

if TYPE_CHECKING:
    from burnish.commands.verify import Verified
    from burnish.evidence.claims import Answer

MOST_FINDINGS = 10
MOST_CHANGES = 20
WIDE = 120
"""Columns from which on the reasons have room in the table."""
LIKE: "dict[Answer, Outcome]" = {"holds": "passed", "does_not_hold": "failed", "not_tried": "not_run"}
"""A claim is shown as the answer of a check is."""
ANSWERS: "dict[Answer, str]" = {"holds": "holds", "does_not_hold": "does not hold", "not_tried": "not tried"}
COLOURS = {"passed": "green", "failed": "bold red", "not_run": "yellow"}
BAR_CELLS = 24


def show_checks(console: Console, checked: CheckResults, command: str, out: Path | None) -> None:
    """The table, the headline, the worst findings, and the next step."""
    wide = console.width >= WIDE
    heads = ("check", "verdict", "figure", "wanted", *(["why"] if wide else []))
    rows = []
    for item in checked.evidence:
        wanted = one_line(item.threshold, 80)
        if item.check not in checked.required:
            wanted = f"{wanted} (optional)".strip()
        row = [Text(item.check, style="bold"), _answer(item.verdict, words.VERDICTS[item.verdict])]
        row += [Text(one_line(item.figure, 60)), Text(wanted, style="dim")]
        rows.append([*row, Text(one_line(item.why, 240))] if wide else row)
    _print_table(console, heads, rows, 36)
    if not wide:  # where there is little room, the reasons go below
        console.print(Text("why", style="dim"))
        for item in checked.evidence:
            console.print(Text.assemble((f"{item.check:<13} ", "bold"), one_line(item.why, 240)), soft_wrap=True)
        console.print()
    style = "bold green" if checked.passed else "bold red"
    console.print(Text(words.render_headline(checked) + ".", style=style), soft_wrap=True)
    for remark in words.list_remarks(checked):
        console.print(Text(remark, style="yellow"), soft_wrap=True)
    found, total = words.pick_worst(checked, MOST_FINDINGS)
    lines = []
    if found:
        head = "The worst first" if total > len(found) else "Found"
        lines += [Text(""), Text(f"{head}, {plural(total, 'finding')}:", style="bold")]
    for check, finding in found:
        place, source = words.format_place(finding), words.name_source(check, finding)
        said = one_line(finding.what, 160)
        lines.append(Text.assemble("  ", (place, "cyan"), "  ", said, (f"  ({source})", "dim")))
    if found and total > len(found):
        lines.append(Text(f"  … and {total - len(found)} more", style="dim"))
    for line in (*lines, *_list_next_steps(checked, command, out)):
        console.print(line, soft_wrap=True)


def _answer(like: Outcome, word: str) -> Text:
    """The word, not the colour alone, says how it went."""
    return Text(f"{words.SYMBOLS[like]} {word}", style=COLOURS[like])


def _print_table(console: Console, heads: Sequence[str], rows: Sequence[Sequence[Text]], widest: int) -> None:
    """A table between empty lines; its first two columns are never broken."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for place, name in enumerate(heads):
        table.add_column(name, overflow="fold", no_wrap=place < 2, max_width=None if name == "why" else widest)
    for row in rows:
        table.add_row(*row)
    console.print()
    console.print(table)
    console.print()


def _list_next_steps(checked: CheckResults, command: str, out: Path | None) -> Iterator[Text]:
    steps = []
    if out is not None:
        steps += [
            ("report", strip_controls(str(out / words.FILES[0]))),
            ("", f"{strip_controls(str(out / words.FILES[1]))}  {words.FILES[2]}"),
        ]
    failed = [item.check for item in checked.evidence if item.verdict == "failed"]
    if failed:
        steps.append(("again", f"{strip_controls(command)} --only {','.join(failed)}"))
    if out is None:
        steps.append(
            ("report", f"{strip_controls(command)} --out report   # the same with code, diffs and explanations")
        )
    yield Text("")
    yield from (Text.assemble((f"{label:<8} ", "bold"), text) for label, text in steps)


def show_verified(console: Console, verified: "Verified") -> None:
    """What holds and what does not, why, and the one sentence to remember."""
    if verified.claims:
        rows = []
        for claim in verified.claims:
            row = [Text(one_line(claim.what, 40), style="bold"), _answer(LIKE[claim.answer], ANSWERS[claim.answer])]
            rows.append([*row, Text(one_line(claim.said, 80)), Text(one_line(claim.found, 80))])
        _print_table(console, ("claim", "answer", "said", "found"), rows, 40)
    unseen = [(one_line(name, 60), "is not in the evidence, and was not looked at") for name in verified.unseen]
    reasons = [(one_line(claim.what, 40), one_line(claim.why, 300)) for claim in verified.claims if claim.why]
    lines = [Text.assemble((f"{what:<13} ", "bold"), why) for what, why in (*reasons, *unseen[:MOST_CHANGES])]
    lines += _count_more(len(unseen))
    lines += [Text("")] if lines else []
    changed = [one_line(change, 300) for change in verified.changed]
    lines += [Text.assemble(("changed  ", "bold red"), change) for change in changed[:MOST_CHANGES]]
    lines += _count_more(len(changed))
    style = "bold green" if verified.good else "bold red"
    for line in (*lines, Text(conclude(verified), style=style)):
        console.print(line, soft_wrap=True)


def _count_more(number: int) -> list[Text]:
    return [Text(f"… and {number - MOST_CHANGES} more", style="dim")] if number > MOST_CHANGES else []


def conclude(verified: "Verified") -> str:
    """The end of a verification, for someone who reads nothing else."""
    if verified.changed:
        return "Refused: the folder is not what its evidence speaks of, and nothing of it was run."
    named: dict[Answer, list[str]] = {answer: [] for answer in ANSWERS}
    for claim in verified.claims:
        named[claim.answer].append(one_line(claim.what, 40))
    bad, left = named["does_not_hold"], named["not_tried"]
    if bad:
        return f"It does not hold: {join_words(bad)} {'is' if len(bad) == 1 else 'are'} not as the evidence says."
    if verified.ending != "holds":
        return f"It could not be verified: {join_words(left)} could not be tried."
    if not verified.good:
        said = f"the run {verified.verdict}" if verified.verdict else "the run did not come to its end"
        return f"What the evidence says holds, and it says that {said}."
    aside = f" Not tried: {join_words(left)}." if left else ""
    return f"It holds: {verified.verdict}, {plural(len(named['holds']), 'claim')} found true again here.{aside}"


class CheckScreen(Watcher):
    """Shows which checks run and what the finished ones said."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._lock = threading.Lock()
        self._running: dict[str, tuple[float, int, int]] = {}
        self._finished: list[Text] = []
        self._spinner = Spinner("dots")
        self._live: Live | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Take the moving part away."""
        if self._live:
            self._live.stop()

    def told(self, text: str) -> None:
        """A line that stays."""
        self.console.print(Text(one_line(text, 400), style="dim"), soft_wrap=True)

    def begun(self, check: str) -> None:
        """One more line that moves."""
        with self._lock:
            self._running[check] = (time.monotonic(), 0, 0)
            if self._live is None and self.console.is_terminal:
                self._live = Live(self, console=self.console, refresh_per_second=10, transient=True)
                self._live.start()

    def moved(self, check: str, done: int, total: int) -> None:
        """How far it is."""
        with self._lock:
            if check in self._running:
                self._running[check] = (self._running[check][0], done, total)

    def finished(self, evidence: Evidence, seconds: float) -> None:
        """Its answer takes the place of its line; without a terminal it is a line of its own."""
        with self._lock:
            self._running.pop(evidence.check, None)
            self._finished.append(answer_line(evidence, seconds))
        if self._live is None:
            self.console.print(self._finished[-1], soft_wrap=True)

    def __rich__(self) -> Group:
        """Answers so far, and a line for each check that is under way."""
        with self._lock:
            running, finished = dict(self._running), list(self._finished)
        grid = Table.grid(padding=(0, 1))
        for check, (started, done, total) in running.items():
            clock = Text(f"{time.monotonic() - started:5.1f} s", style="dim")
            bar = ProgressBar(total=total, completed=min(done, total), width=BAR_CELLS) if total else Text("")
            count = Text(f"{done}/{total}" if total else str(done or ""), style="dim")
            grid.add_row(self._spinner, Text(f"{check:<12}", style="bold"), clock, bar, count)
        return Group(*finished, grid)


def answer_line(evidence: Evidence, seconds: float) -> Text:
    """One check's answer on one line."""
    colour = COLOURS[evidence.verdict]
    return Text.assemble(
        (f"{words.SYMBOLS[evidence.verdict]} ", colour),
        (f"{evidence.check:<12} ", "bold"),
        (f"{words.VERDICTS[evidence.verdict]:<7} ", colour),
        (f"{seconds:6.1f} s  ", "dim"),
        one_line(evidence.figure, 60),
    )
