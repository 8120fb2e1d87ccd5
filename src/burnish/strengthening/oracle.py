"""The oracle: says what a call should give, because versions that were written independently agree, or nobody does.

The rules were chosen on MBPP 511-600. With the figures they are in docs/design/evidence.md.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from burnish.parsing import parse_expression
from burnish.search.argument_invariants import is_near, is_usual
from burnish.search.seed_calls import seeds_from_tests, split_call
from burnish.strengthening.render_assert import are_same, is_silent, is_value

NEEDED = 2
AGAINST = 2
"""Different ways to write it that must give the same before they speak against the version."""
_UNREADABLE = (SyntaxError, ValueError, TypeError, MemoryError, RecursionError)

Origin = Literal["spec", "agreed", "pinned"]
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Samples:
    """Versions that were written independently of the code: they have a say in what is right."""

    codes: tuple[str, ...] = ()
    needed: int = NEEDED
    """How many, beside the code itself, must give the same before a value counts as agreed."""
    normalise: Callable[[str], str] = str
    """What is left of code when it is compared: versions of the same normal form are no two opinions."""


class CallFilter:
    """Compares calls with those that tests make of some names: nobody has settled what happens far from these."""

    def __init__(self, names: Sequence[str], tests: Sequence[str]) -> None:
        self._rows: dict[str, list[Row]] = {}
        for seed in (seed for name in names for seed in seeds_from_tests(name, tests)):
            self._rows.setdefault(seed.form, []).append(seed.values)

    def is_usual(self, call: str) -> bool:
        """Whether the call has the form of a known one, and arguments like those that such calls have."""
        return self._fits(call, is_usual)

    def is_near(self, call: str) -> bool:
        """The same, but an edge will do: zero, something empty, another order."""
        return self._fits(call, is_near)

    def _fits(self, call: str, compare: Callable[[Sequence[Row], Row], bool]) -> bool:
        try:
            seed = split_call(parse_expression(call))
        except _UNREADABLE:
            return False
        return compare(self._rows.get(seed.form, []), seed.values)


@dataclass(frozen=True)
class Sample:
    """What one version gives for a call."""

    answer: str
    code: str
    """Normalised."""


@dataclass(frozen=True)
class Expectation:
    """What is held to be right for one call."""

    answer: str
    origin: Origin
    why: str
    exposes: bool = False
    """Whether the version itself gives something else."""


def pin(answer: str) -> Expectation:
    """Hold the code's own answer to be right, because there is no other."""
    return Expectation(answer, "pinned", "only the code itself says so")


def expect(own: Sample, others: Sequence[Sample], near: bool, usual: bool, needed: int = NEEDED) -> Expectation | None:
    """Decide what is right for a call from what the version and all others give; None where that says nothing.

    Agreed is what nobody contradicts: enough others give it, one of them in other code, and the call is `near` to known
    ones, for what another should give is often left open. All others together speak against the version where at least
    two of them differ in their code and the call is a `usual` one. Else the version's own value is all there is.
    """
    everybody, ways = len(others) + 1, {sample.code for sample in others}
    agree = all(are_same(own.answer, sample.answer) for sample in others)
    if near and agree and len(others) >= needed and ways - {own.code} and not is_silent(own.answer):
        return Expectation(own.answer, "agreed", f"{everybody} of {everybody} versions say so")
    if not is_value(own.answer):
        return None
    if usual and len(ways) >= AGAINST and own.code not in ways:
        other = others[0].answer
        united = is_value(other) and all(are_same(other, sample.answer) for sample in others)
        if united and not are_same(own.answer, other):
            why = f"{len(others)} of {everybody} versions say so, and none but this one says otherwise"
            return Expectation(other, "agreed", why, exposes=True)
    return pin(own.answer)
