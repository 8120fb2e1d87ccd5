"""What a person sees of `check`, `verify` and `strengthen`: a line a check while they run, then what came of it.

Where there is no terminal, a plain line when a check has its answer. Text from code, from tools and from a folder that
is verified is shown, never obeyed.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

from rich import box
from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn
from rich.table import Table
from rich.text import Text

from burnish.checks.verdict import CheckResults, Watcher
from burnish.cli.io import is_narrow, print_table, show_diff
from burnish.events import Decided, Evidence, FilesWritten, Outcome, Strengthened
from burnish.report import check_report as words
from burnish.text import join_words, one_line, plural, strip_controls

if TYPE_CHECKING:
    from burnish.commands.verify import Verified
    from burnish.evidence.claims import Answer
    from burnish.runs import Run

MOST_FINDINGS = 10
MOST_CHANGES = 20
MOST_REASONS = 8
WIDE = 120
"""Columns from which on the reasons have room in the table."""
ANSWERS: "dict[Answer, tuple[Outcome, str]]" = {
    "holds": ("passed", "holds"),
    "does_not_hold": ("failed", "does not hold"),
    "not_tried": ("not_run", "not tried"),
}
"""A claim is shown as the answer of a check is."""
COLOURS = {"passed": "green", "failed": "bold red", "not_run": "yellow"}


def open_check_screen(as_json: bool) -> "CheckScreen":
    """The screen; where a program reads standard output, it goes to the other stream."""
    return CheckScreen(Console(highlight=False, stderr=as_json))


class CheckScreen(Watcher):
    """Shows which checks run and what the finished ones said; on a terminal it leaves nothing behind."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._finished: list[Text] = []
        self._tasks: dict[str, TaskID] = {}
        name, clock = TextColumn("{task.description:<12}", style="bold"), TextColumn("{task.elapsed:5.1f} s", "dim")
        count = TextColumn("{task.fields[count]}", style="dim")
        self._running = Progress(SpinnerColumn(), name, clock, BarColumn(bar_width=24), count, console=console)
        self._live = Live(self, console=console, refresh_per_second=10, transient=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def notice(self, text: str) -> None:
        """Print a line that stays."""
        self.console.print(Text(one_line(text, 400), style="dim"), soft_wrap=True)

    def begin(self, check: str) -> None:
        """Add a line that moves."""
        self._tasks[check] = self._running.add_task(check, total=None, count="")
        if self.console.is_terminal:
            self._live.start()

    def advance(self, check: str, done: int, total: int) -> None:
        """Say how far it is."""
        if check in self._tasks:
            count = f"{done}/{total}" if total else str(done or "")
            self._running.update(self._tasks[check], completed=done, total=total or None, count=count)

    def finish(self, evidence: Evidence, seconds: float) -> None:
        """Put the answer in the place of its line; without a terminal print it."""
        line = _answer_line(evidence, seconds)
        self._running.remove_task(self._tasks.pop(evidence.check))
        if self.console.is_terminal:
            self._finished.append(line)
        else:
            self.console.print(line, soft_wrap=True)

    def __rich__(self) -> Group:
        """Answers so far, and a line for each check that is under way."""
        return Group(*self._finished, self._running)


def _answer_line(evidence: Evidence, seconds: float) -> Text:
    colour = COLOURS[evidence.verdict]
    return Text.assemble(
        (f"{words.SYMBOLS[evidence.verdict]} ", colour),
        (f"{evidence.check:<12} ", "bold"),
        (f"{words.VERDICTS[evidence.verdict]:<7} ", colour),
        (f"{seconds:6.1f} s  ", "dim"),
        one_line(evidence.figure, 60),
    )


def show_checks(console: Console, checked: CheckResults, command: str, out: Path | None) -> None:
    """The table, the headline, the worst findings, and the next step."""
    wide = console.width >= WIDE
    rows: list[Sequence[str | Text]] = []
    for item in checked.evidence:
        optional = "" if item.check in checked.decisive else " (optional)"
        wanted, why = f"{one_line(item.threshold, 80)}{optional}".strip(), one_line(item.why, 240)
        row = (item.check, _answer(item.verdict, words.VERDICTS[item.verdict]), one_line(item.figure, 60))
        rows.append((*row, Text(wanted, style="dim"), *([why] if wide else [])))
    _print_table(console, ("check", "verdict", "figure", "wanted", *(["why"] if wide else [])), rows, 36)
    lines: list[Text] = []
    if not wide:  # where there is little room, the reasons go below
        reasons = [Text.assemble((f"{item.check:<13} ", "bold"), one_line(item.why, 240)) for item in checked.evidence]
        lines = [Text("why", style="dim"), *reasons, Text("")]
    lines.append(Text(f"{words.render_headline(checked)}.", style="bold green" if checked.passed else "bold red"))
    lines += [Text(remark, style="yellow") for remark in words.list_remarks(checked)]
    found, total = words.pick_worst(checked, MOST_FINDINGS)
    more = total - len(found)
    if found:
        lines.append(Text(f"\n{'The worst first' if more else 'Found'}, {plural(total, 'finding')}:", style="bold"))
    for check, finding in found:
        place, source = words.format_place(finding), words.name_source(check, finding)
        lines.append(Text.assemble("  ", (place, "cyan"), f"  {one_line(finding.what, 160)}", (f"  ({source})", "dim")))
    if more:
        lines.append(Text(f"  … and {more} more", style="dim"))
    _print_lines(console, (*lines, Text(""), *_list_next_steps(checked, strip_controls(command), out)))


def _list_next_steps(checked: CheckResults, command: str, out: Path | None) -> list[Text]:
    steps = []
    page, data, text = words.FILES
    if out is not None:
        place = strip_controls(str(out))
        steps = [("report", f"{Path(place) / page}"), ("", f"{Path(place) / data}  {text}")]
    if failed := [item.check for item in checked.evidence if item.verdict == "failed"]:
        steps.append(("again", f"{command} --only {','.join(failed)}"))
    if out is None:
        steps.append(("report", f"{command} --out report   # the same with code, diffs and explanations"))
    return [Text.assemble((f"{label:<8} ", "bold"), step) for label, step in steps]


def _answer(like: Outcome, word: str) -> Text:
    """The word, not the colour alone, says how it went."""
    return Text(f"{words.SYMBOLS[like]} {word}", style=COLOURS[like])


def _print_table(console: Console, heads: Sequence[str], rows: Sequence[Sequence[str | Text]], widest: int) -> None:
    """A table between empty lines; its first two columns are never broken."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for place, name in enumerate(heads):
        style = "" if place else "bold"
        table.add_column(
            name, style=style, overflow="fold", no_wrap=place < 2, max_width=None if name == "why" else widest
        )
    for row in rows:
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    console.print()
    print_table(console, table)
    console.print()


def _print_lines(console: Console, lines: Iterable[Text]) -> None:
    for line in lines:
        console.print(line, soft_wrap=not is_narrow(console))


def show_verified(console: Console, verified: "Verified") -> None:
    """What holds and what does not, why, and the one sentence to remember."""
    if verified.claims:
        rows: list[Sequence[str | Text]] = [
            (one_line(one.what, 40), _answer(*ANSWERS[one.answer]), one_line(one.said, 80), one_line(one.found, 80))
            for one in verified.claims
        ]
        _print_table(console, ("claim", "answer", "said", "found"), rows, 40)
    unseen = [(one_line(name, 60), "is not in the evidence, and was not looked at") for name in verified.unseen]
    reasons = [(one_line(claim.what, 40), one_line(claim.why, 300)) for claim in verified.claims if claim.why]
    lines = [Text.assemble((f"{what:<13} ", "bold"), why) for what, why in (*reasons, *unseen[:MOST_CHANGES])]
    lines += _count_more(len(unseen))
    lines += [Text("")] if lines else []
    changed = [one_line(change, 300) for change in verified.changed]
    lines += [Text.assemble(("changed  ", "bold red"), change) for change in changed[:MOST_CHANGES]]
    lines += _count_more(len(changed))
    _print_lines(console, (*lines, Text(conclude(verified), style="bold green" if verified.good else "bold red")))


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


def show_strengthened(console: Console, run: "Run") -> None:
    """The diff of the new tests, what was found, and where it is."""
    from burnish.commands.strengthen import read_new_tests, render_diff
    from burnish.strengthening.pipeline import PASS_OVER, REPAIR

    files, done, written = read_new_tests(run), run.last(Strengthened), run.last(FilesWritten)
    show_diff(render_diff(files), console)
    decided = run.all(Decided)
    passed_over = [event.reason for event in decided if event.choice == PASS_OVER]
    repairs = [event.reason for event in decided if event.choice == REPAIR]
    lines = [("", "")]
    lines += [(f"passed over {reason}", "dim") for reason in passed_over[:MOST_REASONS]]
    lines += [(f"found: {sentence}", "bold red") for sentence in (done.exposing if done else ())]
    lines += [(reason, "red") for reason in repairs[:MOST_REASONS]]
    lines += [(f"{run.why}.", "bold green" if run.verdict == "proven" else "bold red")]
    if written:
        lines += [(f"written {', '.join(written.files)}", "")]
    elif files:
        lines += [(f"nothing is written yet; to put it in place: burnish apply {run.id}", "")]
    lines += [(f"see also: burnish explain {run.id}", "dim")]
    _print_lines(console, (Text(strip_controls(text), style=style) for text, style in lines))
