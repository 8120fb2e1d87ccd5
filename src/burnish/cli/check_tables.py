"""How `check` and `verify` end at the command line: with a table, one sentence, reasons, and what to type next.

Text from code, from tools and from a folder that is verified is shown, never obeyed.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from burnish.cli.check_screen import COLOURS
from burnish.events import Outcome
from burnish.report import check_words as words
from burnish.report.check_report import FILES
from burnish.text import join_words, one_line, plural, strip_controls

if TYPE_CHECKING:
    from burnish.checks.verdict import CheckResults
    from burnish.commands.verify import Verified
    from burnish.evidence.claims import Answer

MOST_FINDINGS = 10
MOST_CHANGES = 20
WIDE = 120
"""Columns from which on the reasons have room in the table."""
LIKE: "dict[Answer, Outcome]" = {"holds": "passed", "does_not_hold": "failed", "not_tried": "not_run"}
"""A claim is shown as the answer of a check is."""
ANSWERS: "dict[Answer, str]" = {"holds": "holds", "does_not_hold": "does not hold", "not_tried": "not tried"}


def show_checks(console: Console, checked: "CheckResults", command: str, out: Path | None) -> None:
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
    for line in (*_list_findings(checked), *_list_next_steps(checked, command, out)):
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


def _list_findings(checked: "CheckResults") -> Iterator[Text]:
    rows, total = words.pick_worst(checked, MOST_FINDINGS)
    if not rows:
        return
    yield Text("")
    head = "The worst first" if total > len(rows) else "Found"
    yield Text(f"{head}, {plural(total, 'finding')}:", style="bold")
    for check, finding in rows:
        place, source = words.format_place(finding), words.name_source(check, finding)
        yield Text.assemble("  ", (place, "cyan"), "  ", one_line(finding.what, 160), (f"  ({source})", "dim"))
    if total > len(rows):
        yield Text(f"  … and {total - len(rows)} more", style="dim")


def _list_next_steps(checked: "CheckResults", command: str, out: Path | None) -> Iterator[Text]:
    steps = []
    if out is not None:
        steps += [
            ("report", strip_controls(str(out / FILES[0]))),
            ("", f"{strip_controls(str(out / FILES[1]))}  {FILES[2]}"),
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
