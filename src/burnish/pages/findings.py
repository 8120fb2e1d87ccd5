"""From what a page did to the few words that are sent back: only what matters, the heaviest first.

The rule: no figure that changes from run to run stands in a finding. The same fault reads the same each time, so that
a resumed run asks the same question, and a loop that goes nowhere is seen.
"""

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum

from burnish.events import CriterionHeld, Frozen, PageError, PageObserved
from burnish.pages.probes import HARMLESS
from burnish.pages.rubric import Case
from burnish.text import one_line

MOST_ERRORS, MOST_CONSOLE, MOST_CRITERIA = 3, 2, 3
MOST_GROWTH_BYTES = 64 << 20
"""Of the heap while a version is watched; drawing a lot leaves less behind, also before garbage is collected."""
KILLED = {
    "busy": "The page answered no more and was killed: a loop never ends. Never wait in a loop; use setInterval.",
    "memory": "The page took too much memory and was killed: something grows without end.",
    "left": "The page went to another address and was ended. Stay in the page: no location, no links, no forms.",
    "closed": "The page was closed.",
    "crashed": "The page crashed.",
    "time": "The page took too long and was ended.",
}
_DRAWS = re.compile(
    r"\b(?:canvas|draws?|drawn|drawing|paints?|painting|plots?|charts?|animat\w+|zeichn\w+|gezeichnet|malt?|leinwand)\b",
    re.IGNORECASE,
)
_MOVES = re.compile(
    r"\b(?:animat\w+|moves?|moving|bounc\w+|rotat\w+|spin\w*|falls?|falling|flies|fly|clock|per second|every second|"
    r"bewegt?|bewegen|dreht|drehen|uhr|pro sekunde)\b",
    re.IGNORECASE,
)
_WAITS = re.compile(r"\b(?:buttons?|clicks?|clicking|press\w*|keys?|starts?|knopf|taste\w*|klick\w*)\b", re.IGNORECASE)
"""What may have to happen before anything moves."""
_NO_ELEMENT = re.compile(r"\bnull\b")
_LOOKED_FOR = re.compile(r"(?:getElementById\(\s*[\"'`]|querySelector\(\s*[\"'`]#)([\w-]+)")
_DECIMALS = re.compile(r"(\d+)\.\d+")


class Trouble(IntEnum):
    """What may be wrong with a version, the heaviest first."""

    KILLED = 1
    SYNTAX = 2
    ERROR = 3
    BLANK = 4
    UNSEEN = 5
    BLOCKED = 6
    STILL = 7
    HEAP = 8
    CONSOLE = 9
    CRITERION = 10


FAILS = (Trouble.KILLED, Trouble.SYNTAX, Trouble.ERROR, Trouble.BLANK)
"""With one of these a version counts as failed."""


class Finding(Frozen):
    """One thing to put right, as it is sent back."""

    trouble: Trouble
    text: str


def find_troubles(
    sentence: str,
    code: str,
    seen: PageObserved,
    case: Case | None = None,
    held: Sequence[CriterionHeld] = (),
) -> tuple[Finding, ...]:
    """What is to be put right, the heaviest first. Nothing else is said of code that never ran."""
    if seen.killed:
        return (Finding(trouble=Trouble.KILLED, text=KILLED[seen.killed]),)
    found = sorted(_look(sentence, code, seen), key=lambda finding: finding.trouble)
    if found and found[0].trouble == Trouble.SYNTAX:
        return (found[0],)
    what = {criterion.name: criterion.what for criterion in case.criteria} if case else {}
    missed = [one for one in held if one.holds is False and one.name in what][:MOST_CRITERIA]
    return (*found, *(Finding(trouble=Trouble.CRITERION, text=_tell_missed(what[one.name], one.why)) for one in missed))


def _look(sentence: str, code: str, seen: PageObserved) -> Iterator[Finding]:
    errors = {(error.kind, error.message, error.line): error for error in seen.errors}
    thrown = [error for error in errors.values() if error.kind not in HARMLESS]
    for error in thrown[:MOST_ERRORS]:
        trouble = Trouble.SYNTAX if error.kind == "syntax" else Trouble.ERROR
        yield Finding(trouble=trouble, text=_tell_error(error, code))
    for error in [error for error in errors.values() if error.kind == "blocked"][:MOST_CONSOLE]:
        what = one_line(error.message, 160)
        yield Finding(trouble=Trouble.BLOCKED, text=f"Not allowed in the page, do without it: {what}")
    for error in [error for error in errors.values() if error.kind == "unseen"][:MOST_CONSOLE]:
        yield Finding(trouble=Trouble.UNSEEN, text=f"Cannot be seen: {one_line(error.message, 160)}.")
    if _DRAWS.search(sentence) and seen.canvas in ("blank", "none") and not thrown:
        is_there = "The canvas is blank" if seen.canvas == "blank" else "There is no canvas in the page"
        yield Finding(trouble=Trouble.BLANK, text=f"{is_there}: nothing was drawn. Was your function called?")
    if seen.canvas == "drawn" and _MOVES.search(sentence) and not _WAITS.search(sentence) and not thrown:
        yield Finding(trouble=Trouble.STILL, text="Nothing moves on the canvas: draw again in each frame or second.")
    if (seen.heap_growth_bytes or 0) > MOST_GROWTH_BYTES:
        yield Finding(
            trouble=Trouble.HEAP, text="Memory keeps growing while it runs: something is kept and never let go."
        )
    logged = dict.fromkeys(one_line(line.text, 160) for line in seen.console if line.level == "error")
    for text in [*logged][:MOST_CONSOLE]:
        yield Finding(trouble=Trouble.CONSOLE, text=f"console.error: {text}")


def _tell_error(error: PageError, code: str) -> str:
    lines, line = code.split("\n"), error.line
    is_known = line is not None and 0 < line <= len(lines)
    where = f"Line {line}, `{one_line(lines[line - 1], 80)}`: " if line is not None and is_known else ""
    hint = ""
    if _NO_ELEMENT.search(error.message):
        named = _LOOKED_FOR.search(lines[line - 1]) if line is not None and is_known else None
        which = f"nothing with the id {named[1]!r} is" if named else "only the elements dyn-ui and canvas are"
        hint = f" ({which} in the page: make it with document.createElement and append it to dyn-ui)"
    unhandled = "unhandled rejection: " if error.kind == "rejection" else ""
    return f"{where}{unhandled}{one_line(error.message, 200)}{hint}"


def _tell_missed(what: str, why: str) -> str:
    """The criterion and why it does not hold, without the decimals of what was measured."""
    seen = _DECIMALS.sub(r"\1", one_line(why, 160))
    return f"Not yet so: {what}{f' ({seen})' if seen else ''}"
