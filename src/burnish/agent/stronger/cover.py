"""A few tests that together notice as many changes as can be noticed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from burnish.agent.stronger.opinion import Opinion

MOST_TESTS = 8
MOST_EXPOSING = 2


@dataclass(frozen=True)
class Candidate:
    """A test that could be added."""

    call: str
    test: str
    opinion: Opinion
    notices: frozenset[str] = frozenset()
    """Mutants, by mutmut's names."""


def chosen(candidates: Iterable[Candidate], most: int = MOST_TESTS) -> list[Candidate]:
    """What more than the code vouches for first; then pinned tests for what that leaves unnoticed.

    Of tests that notice equally much, the shortest. A test that exposes the version need not notice anything.
    """
    found = list(candidates)
    picked = sorted((one for one in found if one.opinion.exposes), key=_size)[:MOST_EXPOSING]
    agreed = [one for one in found if one.opinion.origin != "pinned" and not one.opinion.exposes]
    for tier in (agreed, [one for one in found if one.opinion.origin == "pinned"]):
        noticed = frozenset[str]().union(*(one.notices for one in picked))
        picked += _covering(tier, noticed, most - len(picked))
    return picked


def with_notices(candidate: Candidate, notices: Iterable[str]) -> Candidate:
    """The candidate with what it really notices."""
    return replace(candidate, notices=frozenset(notices))


def _covering(candidates: Sequence[Candidate], noticed: frozenset[str], most: int) -> list[Candidate]:
    picked: list[Candidate] = []
    while len(picked) < most:
        best = min(candidates, key=lambda one: (-len(one.notices - noticed), _size(one)), default=None)
        if best is None or not best.notices - noticed:
            break
        picked.append(best)
        noticed |= best.notices
    return picked


def _size(candidate: Candidate) -> tuple[int, str]:
    return (len(candidate.test), candidate.test)
