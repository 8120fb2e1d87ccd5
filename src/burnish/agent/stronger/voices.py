"""Who has a say in what is right: answers that the model wrote independently, and that pass what was given."""

from burnish.agent import policy
from burnish.agent.ask import Tools
from burnish.agent.disputes import VOICES
from burnish.agent.likeness import bare
from burnish.agent.stronger.opinion import OTHERS
from burnish.agent.work import Work
from burnish.events import Move
from burnish.models.model import Model
from burnish.runs.run import Version

MOST_HEARD = 4
"""Voices beside the version itself: where many speak, one of them is always wrong."""
MOST_ASKS: dict[policy.Strength, int] = {"small": 3, "middle": 3, "strong": 1}
ONE_MORE = 1
"""Asked beyond what is missing: of three answers one often fails what was given, or is a copy."""


def others(work: Work, version: Version) -> list[Version]:
    """The voices beside a version: answers that are not made from it or from one another, the earliest first.

    Where nothing was given, those that pass all that counts.
    """
    able = [one for one in work.answers if one.graded and one.number != version.number and _passes(work, one)]
    bases = {version.number, *(one.number for one in able)}
    return [one for one in able if one.base not in bases and one.number != version.base][:MOST_HEARD]


def needed(work: Work, tools: Tools) -> int:
    """How many of them must agree."""
    return OTHERS[policy.strength(asked(work, tools).name)]


def moves(work: Work, tools: Tools) -> tuple[Move, ...]:
    """Questions for as many further voices as are missing; nobody is asked a second time."""
    if work.best is None or any(decision.choice == VOICES for decision in work.decisions):
        return ()
    heard = others(work, work.best)
    same = all(bare(one.code) == bare(work.best.code) for one in heard)
    missing = max(needed(work, tools) - len(heard), int(same))
    asks = min(missing + ONE_MORE, MOST_ASKS[policy.strength(asked(work, tools).name)]) if missing else 0
    level, warmth = _level(work), policy.TEMPERATURE
    return tuple(
        Move(kind="rewrite", version=work.next_version + place, round=work.round, temperature=warmth, model=level)
        for place in range(asks)
    )


def asked(work: Work, tools: Tools) -> Model:
    """The model that was asked last."""
    return (tools.model, *tools.others)[_level(work)]


def _passes(work: Work, version: Version) -> bool:
    return work.passes_given(version) if work.deciding else work.passes_all(version)


def _level(work: Work) -> int:
    return max((move.model for decision in work.decisions for move in decision.moves), default=0)
