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
    ("small", "write"): ("rewrite", "rewrite", "repair"),
    ("small", "repair"): ("repair", "rewrite", "rewrite", "repair", "rewrite"),
    ("small", "repair without words"): ("repair", "rewrite", "repair"),
    ("middle", "write"): ("rewrite", "rewrite", "repair"),
    ("middle", "repair"): ("rewrite", "repair"),
    ("middle", "repair without words"): ("repair", "rewrite", "repair"),
    ("strong", "write"): ("repair", "rewrite"),
    ("strong", "repair"): ("rewrite", "repair"),
    ("strong", "repair without words"): ("repair", "rewrite"),
}
"""What is asked in later rounds, in turn."""

TEMPERATURE = 0.7
"""Of every answer after the first, which is greedy. One that rises with the rounds was measured and earned nothing."""

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

PARTS = ("tweak", "rewrite", "repair", "portfolio", "agreement")
"""What an evaluation may leave out; "portfolio" is asking several questions in one round. Plans of earlier versions may
also name "reflect", "mending" and "warmth": the agent has none of them any more, so nothing has to be left out."""

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


def moves(work: Work, model: str, most: int, level: int = 0, without: frozenset[str] = frozenset()) -> tuple[Move, ...]:
    """The next round: at most `most` questions, to the model at `level`, for what was seen in this run so far."""
    round_ = work.round + 1 if work.answers else 0
    strong, case = strength(model), case_of(work)
    widths = WIDTHS[strong] if "portfolio" not in without else (1,)
    width = min(widths[min(round_, len(widths) - 1)], most)
    if work.answers:
        kinds = _in_turn(work, LATER[strong, case], without)
    else:
        first = FIRST.get((strong, case), "draft")
        kinds = ["draft" if first in without else first]
    return tuple(
        Move(
            kind=kind,
            version=work.next_version + place,
            round=round_,
            temperature=TEMPERATURE if work.answers else 0.0,
            model=level,
            base=base_of(kind, work),
        )
        for place, kind in enumerate(kinds[:width])
    )


def base_of(kind: str, work: Work) -> int | None:
    """The version that a question shows: a repair the given code, else the best version; writing shows none."""
    if kind != "repair":
        return None
    return 0 if work.broken else work.best.number if work.best else None


def _in_turn(work: Work, table: tuple[str, ...], without: frozenset[str]) -> list[str]:
    """The table's kinds from where the last round left off; repairs only where they make sense and got somewhere."""
    kinds = [kind for kind in table if kind not in without and (kind != "repair" or may_repair(work))]
    useful = [kind for kind in kinds if kind != "repair"] if repairs_repeat(work) else kinds
    useful = useful or kinds or [_instead(work, without)]
    asked = sum(version.by in table for version in work.answers)
    return [useful[(asked + place) % len(useful)] for place in range(8)]


def _instead(work: Work, without: frozenset[str]) -> str:
    """What is asked where the table has nothing left: afresh, else what was there once more, else the draft."""
    if "rewrite" not in without:
        return "rewrite"
    return "repair" if work.broken and "repair" not in without else "draft"


def may_repair(work: Work) -> bool:
    """Whether there is code to show as wrong: what was broken before, else a best version that fails what was given.

    An answer that passes what was given is not called wrong for a test that the model wrote, or for nothing: such a
    test may well be wrong, so fresh versions have a vote on it, and nothing is bent to please it. A small edit that
    fails one is another matter: it may have been found by chance. So is a test that was added against the version.
    """
    if work.broken or work.best is None:
        return work.broken
    passes = bool(work.deciding) and work.passes_given(work.best)
    return work.is_exposed or not (work.holds or (passes and work.best.by != TWEAK))


def repairs_repeat(work: Work) -> bool:
    """Whether repairs were asked for twice here and only ever brought what was there."""
    made = [version for version in work.answers if version.by == "repair"]
    return len(made) >= 2 and all(work.is_repeat(version) for version in made)
