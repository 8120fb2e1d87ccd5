"""What became of the mutants, as numbers."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from burnish import intervals
from burnish.checks.mutation.mutant import Mutant

NOTICED = ("killed", "timeout", "suspicious")
UNNOTICED = ("survived", "no_tests")
NOT_TRIED, INVALID = "not_tried", "invalid"
OUTCOMES = (*NOTICED, *UNNOTICED, INVALID, NOT_TRIED)
"""Suspicious: the process died of it. Invalid: mutmut made something that is no Python; it does not count."""


class Score:
    """The share of mutants that the tests notice."""

    def __init__(self, outcomes: Mapping[str, str]) -> None:
        self.counts = Counter(outcomes.values())

    def of(self, *outcomes: str) -> int:
        """How many ended so."""
        return sum(self.counts[outcome] for outcome in outcomes)

    @property
    def tried(self) -> int:
        """Mutants with a verdict."""
        return self.of(*NOTICED, *UNNOTICED)

    @property
    def percent(self) -> float:
        """From 0 to 100. Ask only when something was tried."""
        return 100.0 * self.of(*NOTICED) / self.tried

    @property
    def interval(self) -> tuple[float, float]:
        """Where the score of all mutants lies with 95 % confidence; the score itself when all were tried."""
        if not self.of(NOT_TRIED):
            return self.percent, self.percent
        return wilson(self.of(*NOTICED), self.tried)

    def figure(self) -> str:
        """The score as people say it, never rounded up."""
        shown = f"{math.floor(self.percent)} %"
        if not self.of(NOT_TRIED):
            return shown
        low, high = self.interval
        total = self.tried + self.of(NOT_TRIED)
        return f"{shown} ({math.floor(low)} to {math.ceil(high)}), {self.tried} of {total} tried"


def wilson(successes: int, n: int) -> tuple[float, float]:
    """Wilson's interval for a share, in percent."""
    low, high = intervals.wilson(successes, n)
    return 100 * low, 100 * high


def by_function(mutants: Sequence[Mutant], outcomes: Mapping[str, str]) -> list[dict[str, object]]:
    """How many mutants of each function ended how, in the order of the files."""
    counts: dict[tuple[str, int, str], Counter[str]] = {}
    for mutant in mutants:
        counts.setdefault((mutant.file, mutant.line, mutant.name), Counter())[outcomes[mutant.key]] += 1
    return [
        {"file": file, "line": line, "function": name, **{key: count[key] for key in OUTCOMES if count[key]}}
        for (file, line, name), count in sorted(counts.items())
    ]
