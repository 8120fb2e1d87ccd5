"""Chooses a few tests that together notice as many mutants as can be noticed."""

from collections.abc import Iterable
from dataclasses import dataclass

from burnish.events import NewTest
from burnish.strengthening.oracle import Expectation

MOST_TESTS = 8
MOST_EXPOSING = 2


@dataclass(frozen=True)
class Candidate:
    """A test that could be added."""

    call: str
    test: str
    expectation: Expectation
    notices: frozenset[str] = frozenset()
    """Mutants, by mutmut's names."""

    @property
    def is_pinned(self) -> bool:
        """Whether nobody but the code vouches for it."""
        return self.expectation.origin == "pinned"

    @property
    def size(self) -> tuple[int, str]:
        """Shorter tests come first."""
        return (len(self.test), self.test)

    def as_new_test(self) -> NewTest:
        """The test as it goes on record."""
        expected, notices = self.expectation, tuple(sorted(self.notices))
        return NewTest(test=self.test, origin=expected.origin, notices=notices, why=expected.why)


def choose_tests(candidates: Iterable[Candidate], most: int = MOST_TESTS) -> list[Candidate]:
    """Take tests that more than the code vouches for; then pinned ones for the mutants that those leave unnoticed.

    Of tests that notice equally much, the shortest. A test that exposes the version need not notice anything.
    """
    found = list(candidates)
    chosen = sorted((one for one in found if one.expectation.exposes), key=lambda one: one.size)[:MOST_EXPOSING]
    noticed = frozenset[str]().union(*(one.notices for one in chosen))
    for pinned in (False, True):
        tier = [one for one in found if one.is_pinned is pinned and not one.expectation.exposes]
        while tier and len(chosen) < most:
            best = min(tier, key=lambda one: (-len(one.notices - noticed), one.size))
            if not best.notices - noticed:
                break
            chosen.append(best)
            noticed |= best.notices
    return chosen
