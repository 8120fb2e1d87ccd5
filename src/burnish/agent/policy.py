"""Which questions make up a round, and how many: small tables, chosen on MBPP 511-600 and bugs planted in them.

How and with which figures: docs/design/agent.md.
"""

import re
from collections.abc import Iterable
from typing import Literal

from burnish.agent.work import GIVEN, TWEAK, Work
from burnish.events import Move
from burnish.runs.run import Version

Strength = Literal["small", "middle", "strong"]
Case = Literal["write", "repair", "repair without words"]

WIDTHS: dict[Strength, tuple[int, ...]] = {"small": (1, 2, 3, 4), "middle": (1, 2, 3, 4), "strong": (1, 1, 2)}
"""Questions in each round, the last number for all later ones: the first answer is often enough, so it stands alone."""

FIRST: dict[tuple[Strength, Case], str] = {
    ("small", "repair"): "draft",
    ("small", "repair without words"): "repair",
    ("middle", "repair"): "repair",
    ("middle", "repair without words"): "repair",
    ("strong", "repair"): "repair",
    ("strong", "repair without words"): "repair",
}
"""What is asked first, greedily; where nothing is broken, the draft. The smallest write better than they repair."""

LATER: dict[tuple[Strength, Case], tuple[str, ...]] = {
    ("small", "write"): ("rewrite", "rewrite", "reflect"),
    ("small", "repair"): ("repair", "rewrite", "rewrite", "repair", "rewrite", "reflect"),
    ("small", "repair without words"): ("repair", "rewrite", "repair"),
    ("middle", "write"): ("rewrite", "rewrite", "reflect"),
    ("middle", "repair"): ("rewrite", "repair"),
    ("middle", "repair without words"): ("repair", "rewrite", "repair"),
    ("strong", "write"): ("reflect", "rewrite"),
    ("strong", "repair"): ("reflect", "rewrite", "repair"),
    ("strong", "repair without words"): ("reflect", "repair"),
}
"""What is asked in later rounds, in turn."""

COLDEST, STEP, WARMEST = 0.7, 0.05, 1.0
"""Temperatures after the first, greedy answer: each round is a little warmer."""
JUMP = 0.1
"""How much warmer a round is that is to lead out of a circle."""

EDIT_VOTE = 0.5
"""What small edits count for beside the model's answers, of which each counts 1: they are no independent opinions, so
many that behave alike count as one."""
PATIENCE = 3
"""Answers after which a behaviour is taken that passes all that counts and that nobody has anything to set against."""
NO_HELP = 8
"""Answers after which a model that never passed what was given is no longer asked to choose between edits that do."""
NEEDED, NEEDED_WITH_ONE_TEST, MANY_TESTS = 1.0, 1.4, 10
"""Votes for a behaviour that are enough; one test alone leaves much open, so a second voice is asked for. Where many
given tests were passed in one way only, nobody's word is needed."""

PARTS = ("tweak", "rewrite", "repair", "reflect", "mending", "portfolio", "agreement", "warmth")
"""What an evaluation may leave out; "mending" is syntax and repeat, "warmth" the temperatures that rise."""

_BILLIONS = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)[bB](?![a-zA-Z])")


def strength(model: str) -> Strength:
    """How much a model can be trusted with, from the size in its name; one that names no size is a large one."""
    found = _BILLIONS.search(model.rpartition("/")[2])
    if found is None:
        return "middle" if model.startswith("local:") else "strong"
    billions = float(found[1])
    return "small" if billions < 1 else "middle" if billions < 7 else "strong"


def case_of(work: Work) -> Case:
    """What kind of task this is, as the tables name it."""
    if not work.broken:
        return "write"
    return "repair" if work.task.described else "repair without words"


def temperature(round_: int, rises: bool = True, stuck: bool = False) -> float:
    """Zero for the first answer, then warmer with each round, so that asking again can say something new."""
    if not rises:
        return COLDEST
    return 0.0 if round_ == 0 else round(min(COLDEST + STEP * (round_ - 1) + JUMP * stuck, WARMEST), 2)


def support(versions: Iterable[Version]) -> float:
    """The votes for one behaviour."""
    made_by = [version.by for version in versions]
    answers = sum(by not in (GIVEN, TWEAK) for by in made_by)
    return answers + (EDIT_VOTE if TWEAK in made_by else 0)


def settled(work: Work) -> bool:
    """Whether the best version passes all that counts, and enough speaks for it beyond the tests."""
    if not work.holds or work.best is None or work.is_unchanged:
        return False
    if work.was_content:
        return True
    tests = len(work.deciding)
    if len(work.groups) < 2 and (tests >= MANY_TESTS or len(work.answers) >= PATIENCE):
        return True
    if len(work.answers) >= NO_HELP and all(version.by == TWEAK for version in work.rivals):
        return True
    needed = NEEDED_WITH_ONE_TEST if tests == 1 and work.broken else NEEDED
    return support(work.version(number) for number in work.group_of(work.best)) >= needed


def moves(
    work: Work,
    model: str,
    most: int,
    level: int = 0,
    without: frozenset[str] = frozenset(),
    stuck: bool = False,
) -> tuple[Move, ...]:
    """The next round: at most `most` questions, to the model at `level`, for what was seen in this run so far.

    Where the work is `stuck` it is asked in a warmer way than in the last round; where that is not possible, in ways
    that the last round did not try, if there are any.
    """
    round_ = work.round + 1 if work.answers else 0
    warmth = temperature(round_, "warmth" not in without, stuck)
    strong, case = strength(model), case_of(work)
    widths = WIDTHS[strong] if "portfolio" not in without else (1,)
    width = min(widths[min(round_, len(widths) - 1)], most)
    if work.answers:
        called = [] if "mending" in without else _called_for(work)
        tried = _last_kinds(work) if stuck and warmth <= last_warmth(work) else set()
        kinds = [*called, *_in_turn(work, LATER[strong, case], without, tried)]
    else:
        first = FIRST.get((strong, case), "draft")
        kinds = ["draft" if first in without else first]
    return tuple(
        Move(
            kind=kind,
            version=work.next_version + place,
            round=round_,
            temperature=warmth,
            model=level,
            base=base_of(kind, work),
        )
        for place, kind in enumerate(kinds[:width])
    )


def base_of(kind: str, work: Work) -> int | None:
    """The version that a question shows: the given code for repairs, the best for reflection, none for writing."""
    if kind == "repair":
        return 0 if work.broken else work.best.number if work.best else None
    if kind == "syntax":
        return work.latest_broken.number if work.latest_broken else None
    if kind in ("reflect", "repeat"):
        return work.best.number if work.best else None
    return None


def _called_for(work: Work) -> list[str]:
    """What the last round asks for by itself: code that does not parse is mended, a repetition is named as one."""
    if work.latest_broken and not work.best:
        return ["syntax"]
    return ["repeat"] if work.repeats and work.best and not would_bend("repeat", work) else []


def _in_turn(work: Work, table: tuple[str, ...], without: frozenset[str], tried: set[str]) -> list[str]:
    """The table's kinds from where the last round left off, without those that got nowhere in this run.

    Those that were `tried` just now are left out where others remain; what is `without` is never in it.
    """
    kinds = [kind for kind in table if kind not in without]
    unbent = [kind for kind in kinds if not would_bend(kind, work)]
    useful = [kind for kind in unbent if not gets_nowhere(kind, work)] or unbent or [_instead(work, without)]
    useful = [kind for kind in useful if kind not in tried] or useful
    asked = sum(version.by in kinds for version in work.answers)
    return [useful[(asked + place) % len(useful)] for place in range(8)]


def _instead(work: Work, without: frozenset[str]) -> str:
    """What is asked where the table has nothing left: afresh, else what was there once more, else a warmer draft."""
    if "rewrite" not in without:
        return "rewrite"
    return "repair" if work.broken and "repair" not in without else "draft"


def last_moves(work: Work) -> tuple[Move, ...]:
    """The questions of the last round."""
    return next((decision.moves for decision in reversed(work.decisions) if decision.moves), ())


def last_warmth(work: Work) -> float:
    """The temperature of the last round."""
    return max((move.temperature for move in last_moves(work)), default=0.0)


def _last_kinds(work: Work) -> set[str]:
    return {move.kind for move in last_moves(work)}


def would_bend(kind: str, work: Work) -> bool:
    """Whether a question would call an answer wrong that passes what was given, for a model's own test or for nothing.

    Such a test may well be wrong: fresh versions have a vote on it, and nothing is bent to please it. A small edit
    that fails one is another matter: it may have been found by chance.
    """
    if kind not in ("reflect", "repeat") or work.best is None or work.is_exposed:
        return False
    given = bool(work.deciding) and work.passes_given(work.best)
    return work.holds or (given and work.best.by != TWEAK)


def gets_nowhere(kind: str, work: Work) -> bool:
    """Whether a kind of question that shows code was asked twice here and only ever repeated what was there."""
    made = [version for version in work.answers if version.by == kind]
    return kind in ("reflect", "repair") and len(made) >= 2 and all(work.is_repeat(version) for version in made)
