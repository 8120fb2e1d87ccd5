"""Looks for inputs on which a version and its mutants differ, and hears what the other voices say there."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from burnish.agent.likeness import bare
from burnish.agent.stronger.cover import Candidate
from burnish.agent.stronger.opinion import OTHERS, Opinion, Voice, opinion
from burnish.agent.stronger.usual import Usual
from burnish.agent.stronger.values import RAISES, are_same, is_silent, test_of
from burnish.checks.ground import Ground
from burnish.checks.mutation.alone import Unnoticed
from burnish.tasks.steady import raised_in

DRAWS = 4
AT_ONCE = 8
"""Mutants that are run in one start: a few, so that time can be looked at between."""

Calls = Callable[[int, Sequence[str]], Sequence[str]]
"""Calls for a draw, given modules whose constants may come in."""


@dataclass
class Search:
    """What is known so far of one version, the voices beside it and the mutants that nobody notices."""

    ground: Ground
    code: str
    voices: Sequence[str]
    """The code of the other versions that have a say."""
    mutants: Sequence[Unnoticed]
    until: float
    """On the monotonic clock."""
    cancel: threading.Event
    usual: Usual
    """Whether a call is of the kind that the known ones are."""
    needed: int = OTHERS["small"]
    """Voices that must agree."""
    own: dict[str, str] = field(default_factory=dict)
    """What each call gives."""
    said: dict[str, Opinion] = field(default_factory=dict)
    """What is right for each call that says anything."""
    apart: dict[str, set[str]] = field(default_factory=dict)
    """For each mutant the calls on which it differs."""
    hung: set[str] = field(default_factory=set)
    """Mutants that gave no answer where the code gives one: they are not alike, and yet no value tells them apart."""

    @cached_property
    def _codes(self) -> tuple[str, ...]:
        return tuple(map(bare, (self.code, *self.voices)))

    @property
    def is_over(self) -> bool:
        """Whether there is no more time."""
        return self.cancel.is_set() or time.monotonic() >= self.until

    def draw(self, calls: Calls, draws: int = DRAWS) -> None:
        """Generated inputs, until each mutant is noticed by a test that more than the code vouches for."""
        for number in range(draws):
            left = [mutant for mutant in self.mutants if not self._is_settled(mutant)]
            if self.is_over or (number and not left):
                return
            self.hear(calls(number, [self.code, *(mutant.module for mutant in left)]))

    def hear(self, calls: Sequence[str]) -> None:
        """Run the version and the voices on these calls, then the mutants on those that can be a test."""
        fresh = [call for call in dict.fromkeys(calls) if call not in self.own]
        modules = dict(enumerate((self.code, *self.voices)))
        told = self.ground.behave_all(modules, fresh)
        for place, call in enumerate(fresh):
            self.own[call] = told[0][place]
            self._judge(call, [told[number][place] for number in modules if number])
        usable = [call for call in fresh if call in self.said and not self.said[call].exposes]
        for mutants in _chunks([one for one in self.mutants if not self._is_settled(one)]):
            if self.is_over or not usable:
                return
            self._try(mutants, usable)

    def _judge(self, call: str, voices: Sequence[str]) -> None:
        """An error is right only where the code raises it by name: others are what a careless call brings about."""
        own, *others = (Voice(*pair) for pair in zip((self.own[call], *voices), self._codes, strict=True))
        found = opinion(own, others, self.usual.near(call), self.usual(call), self.needed)
        meant = not self.own[call].startswith(RAISES) or self.own[call].removeprefix(RAISES) in raised_in(self.code)
        if found and meant and test_of(call, found.answer):
            self.said[call] = found

    def _try(self, mutants: Sequence[Unnoticed], calls: Sequence[str]) -> None:
        """The version runs beside them once more: where it says something else now, nothing is told apart."""
        told = self.ground.behave_all(dict(enumerate([self.code, *(one.module for one in mutants)])), calls)
        for place, call in enumerate(calls):
            if told[0][place] != self.own[call]:
                self.said.pop(call, None)
                continue
            for number, mutant in enumerate(mutants, 1):
                if is_silent(told[number][place]):
                    self.hung.add(mutant.key)
                elif not are_same(told[number][place], self.own[call]):
                    self.apart.setdefault(mutant.key, set()).add(call)

    def _is_settled(self, mutant: Unnoticed) -> bool:
        found = (self.said.get(call) for call in self.apart.get(mutant.key, ()))
        return any(one is not None and one.origin != "pinned" for one in found)

    @property
    def candidates(self) -> Iterator[Candidate]:
        """A test for each call that tells something apart, and for each on which the version stands alone."""
        for call, found in self.said.items():
            notices = frozenset(key for key, calls in self.apart.items() if call in calls)
            if notices or found.exposes:
                yield Candidate(call, test_of(call, found.answer), found, notices)

    @property
    def alike(self) -> tuple[str, ...]:
        """Mutants that no input told apart; none where not all were looked at."""
        return tuple(one.key for one in self.mutants if one.key not in {*self.apart, *self.hung})


def _chunks(mutants: Sequence[Unnoticed]) -> Iterator[Sequence[Unnoticed]]:
    yield from (mutants[start : start + AT_ONCE] for start in range(0, len(mutants), AT_ONCE))
