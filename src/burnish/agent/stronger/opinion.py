"""Who says what a call should give: versions that were written independently, or nobody but the code itself.

The rules were chosen on MBPP 511-600. With the figures they are in docs/design/evidence.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from burnish.agent.policy import Strength
from burnish.agent.stronger.values import are_same, is_silent, is_value

OTHERS: dict[Strength, int] = {"small": 2, "middle": 2, "strong": 1}
"""Voices, beside the version itself, that must say the same before a value counts as agreed."""
AGAINST = 2
"""Different ways to write it that must say the same before they speak against the version."""

Origin = Literal["spec", "agreed", "pinned"]


@dataclass(frozen=True)
class Voice:
    """What one version says."""

    answer: str
    code: str
    """As `likeness.bare` gives it: who has written the same is no second opinion."""


@dataclass(frozen=True)
class Opinion:
    """What is held to be right for one call."""

    answer: str
    origin: Origin
    why: str
    exposes: bool = False
    """Whether the version itself says something else."""


def opinion(
    own: Voice, others: Sequence[Voice], near: bool, usual: bool, needed: int = OTHERS["small"]
) -> Opinion | None:
    """What is right for a call, after the version itself and all others were heard; None where that says nothing.

    Agreed is what nobody contradicts: enough others say it, one of them in other code, and the call is `near` to known
    ones, for what another should give is often left open. All others together speak against the version where at least
    two of them differ in their code and the call is a `usual` one. Else the version's own value is all there is.
    """
    if near and len(others) >= needed and not is_silent(own.answer) and _is_backed(own, others):
        return Opinion(own.answer, "agreed", _said(len(others) + 1, len(others) + 1))
    if usual and is_value(own.answer) and _is_opposed(own, others):
        why = f"{_said(len(others), len(others) + 1)}, and none but this one says otherwise"
        return Opinion(others[0].answer, "agreed", why, exposes=True)
    return Opinion(own.answer, "pinned", "only the code itself says so") if is_value(own.answer) else None


def _is_backed(own: Voice, others: Sequence[Voice]) -> bool:
    in_other_code = any(voice.code != own.code for voice in others)
    return in_other_code and all(are_same(own.answer, voice.answer) for voice in others)


def _is_opposed(own: Voice, others: Sequence[Voice]) -> bool:
    ways = {voice.code for voice in others}
    if len(ways) < AGAINST or own.code in ways or not is_value(others[0].answer):
        return False
    return not are_same(own.answer, others[0].answer) and all(
        are_same(others[0].answer, voice.answer) for voice in others
    )


def _said(count: int, all_of_them: int) -> str:
    return f"{count} of {all_of_them} versions say so"
