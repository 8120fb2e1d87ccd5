"""The answer at the end of a verification: one table, and one sentence. Text from a folder is shown, never obeyed."""

from collections.abc import Iterator

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from burnish.checks.report.words import SYMBOLS
from burnish.cli.check_screen import COLOURS
from burnish.events import Outcome
from burnish.evidence.claim import Answer, Claim
from burnish.runs.sentences import joined
from burnish.text import counted, one_line
from burnish.verbs.verify import Verified

LIKE: dict[Answer, Outcome] = {"holds": "passed", "does_not_hold": "failed", "not_tried": "not_run"}
"""Shown as the answer of a check is."""
WORDS: dict[Answer, str] = {"holds": "holds", "does_not_hold": "does not hold", "not_tried": "not tried"}
MOST_CHANGES = 20


def show(console: Console, verified: Verified) -> None:
    """What holds and what does not, and the one sentence to remember."""
    if verified.claims:
        console.print()
        console.print(table(verified))
        console.print()
    for line in (*_reasons(verified), *_changes(verified)):
        console.print(line, soft_wrap=True)
    console.print(Text(sentence(verified), style="bold green" if verified.good else "bold red"), soft_wrap=True)


def table(verified: Verified) -> Table:
    """A row a claim; the word, not the colour alone, says how it went."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in ("claim", "answer", "said", "found"):
        made.add_column(name, overflow="fold", no_wrap=name in ("claim", "answer"), max_width=40)
    for claim in verified.claims:
        like = LIKE[claim.answer]
        made.add_row(
            Text(one_line(claim.what, 40), style="bold"),
            Text(f"{SYMBOLS[like]} {WORDS[claim.answer]}", style=COLOURS[like]),
            Text(one_line(claim.said, 80)),
            Text(one_line(claim.found, 80)),
        )
    return made


def sentence(verified: Verified) -> str:
    """The end of the story, for someone who reads nothing else."""
    if verified.changed:
        return "Refused: the folder is not what its evidence speaks of, and nothing of it was run."
    bad = _named(verified, "does_not_hold")
    if bad:
        return f"It does not hold: {joined(bad)} {'is' if len(bad) == 1 else 'are'} not as the evidence says."
    left = _named(verified, "not_tried")
    if verified.ending != "holds":
        return f"It could not be verified: {joined(left)} could not be tried."
    if not verified.good:
        said = f"the run {verified.verdict}" if verified.verdict else "the run did not come to its end"
        return f"What the evidence says holds, and it says that {said}."
    aside = f" Not tried: {joined(left)}." if left else ""
    held = counted(len(_named(verified, "holds")), "claim")
    return f"It holds: {verified.verdict}, {held} found true again here.{aside}"


def _named(verified: Verified, answer: Answer) -> list[str]:
    return [one_line(claim.what, 40) for claim in verified.claims if claim.answer == answer]


def _reasons(verified: Verified) -> Iterator[Text]:
    """Why a claim does not hold, or was not tried."""
    told: list[Claim] = [claim for claim in verified.claims if claim.why]
    for claim in told:
        yield Text.assemble((f"{one_line(claim.what, 40):<13} ", "bold"), one_line(claim.why, 300))
    for name in verified.unseen[:MOST_CHANGES]:
        yield Text.assemble((f"{one_line(name, 60):<13} ", "bold"), "is not in the evidence, and was not looked at")
    if len(verified.unseen) > MOST_CHANGES:
        yield Text(f"… and {len(verified.unseen) - MOST_CHANGES} more", style="dim")
    if told or verified.unseen:
        yield Text("")


def _changes(verified: Verified) -> Iterator[Text]:
    for change in verified.changed[:MOST_CHANGES]:
        yield Text.assemble(("changed  ", "bold red"), one_line(change, 300))
    if len(verified.changed) > MOST_CHANGES:
        yield Text(f"… and {len(verified.changed) - MOST_CHANGES} more", style="dim")
