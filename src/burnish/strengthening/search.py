"""Looks for calls on which code and its mutants differ, and asks the oracle what is right there."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from burnish.checks.bench.bench import Bench
from burnish.checks.mutation.mutate_module import SurvivingModule
from burnish.strengthening.oracle import CallFilter, Expectation, Sample, Samples, expect, pin
from burnish.strengthening.render_assert import RAISES, are_same, is_silent, is_value, render_assert
from burnish.strengthening.set_cover import Candidate
from burnish.tasks.static_analysis import find_raised_errors

DRAWS = 4
AT_ONCE = 8
"""Mutants that are run in one start: a few, so that time can be looked at between."""
PLAIN_FORMS = (".tolist()", ".to_dict()", ".isoformat()")
"""How arrays, tables and dates give what they hold in Python's own values, the plainest first."""

ProposeCalls = Callable[[int, Sequence[str]], Sequence[str]]
"""Calls for a draw, given modules whose constants may come in."""


@dataclass(frozen=True)
class Subject:
    """The code that needs tests, and who has a say: all that a search is handed."""

    ground: Bench
    """Where versions are run."""
    code: str
    samples: Samples
    mutants: tuple[SurvivingModule, ...]
    known: CallFilter
    """What the known calls have in common."""
    cancel: threading.Event = field(default_factory=threading.Event)


class Search:
    """What is known so far about one subject; `until` is on the monotonic clock."""

    any_script = False
    """Whether a test may state a text that is not ASCII."""

    def __init__(self, subject: Subject, until: float) -> None:
        self.subject, self.until = subject, until
        self.own: dict[str, str] = {}
        """What each call gives."""
        self.expected: dict[str, Expectation] = {}
        """What is right for each call that a test can be made of."""
        self.apart: dict[str, set[str]] = {}
        """For each mutant the calls on which it differs."""
        self.hung: set[str] = set()
        """Mutants that gave no answer where the code gives one: they differ, and yet no value tells them apart."""
        self._normalised = [*map(subject.samples.normalise, (subject.code, *subject.samples.codes))]
        self._meant_errors = {f"{RAISES}{name}" for name in find_raised_errors(subject.code)}

    @property
    def is_over(self) -> bool:
        """Whether there is no more time."""
        return self.subject.cancel.is_set() or time.monotonic() >= self.until

    @property
    def left(self) -> list[SurvivingModule]:
        """Mutants that no test notices yet, or only pinned ones."""
        return [mutant for mutant in self.subject.mutants if not self._is_settled(mutant)]

    @property
    def alike(self) -> tuple[str, ...]:
        """Mutants that no call told apart."""
        return tuple(one.key for one in self.subject.mutants if one.key not in {*self.apart, *self.hung})

    @property
    def candidates(self) -> Iterator[Candidate]:
        """A test for each call that tells something apart, and for each on which the code stands alone."""
        for call, expected in self.expected.items():
            notices = frozenset(key for key, calls in self.apart.items() if call in calls)
            if notices or expected.exposes:
                yield Candidate(call, render_assert(call, expected.answer, self.any_script), expected, notices)

    def draw(self, propose: ProposeCalls) -> None:
        """Try proposed calls, draw after draw, until no mutant is left or the time is up."""
        for number in range(DRAWS):
            left = self.left
            if self.is_over or (number and not left):
                return
            self.try_calls(propose(number, [self.subject.code, *(mutant.module for mutant in left)]), left)

    def try_calls(self, calls: Sequence[str], mutants: Sequence[SurvivingModule]) -> None:
        """Run the code and the samples on new calls, then the mutants on those that can be a test."""
        fresh = [call for call in dict.fromkeys(calls) if call not in self.own]
        modules = dict(enumerate((self.subject.code, *self.subject.samples.codes)))
        answers = self.subject.ground.run_calls(modules, fresh)
        for place, call in enumerate(fresh):
            self.own[call] = answers[0][place]
            expected = self._expect(call, [answers[number][place] for number in modules])
            if expected:
                self.expected[call] = expected
        usable = [call for call in fresh if call in self.expected and not self.expected[call].exposes]
        unsettled = [mutant for mutant in mutants if not self._is_settled(mutant)]
        for start in range(0, len(unsettled), AT_ONCE):
            if self.is_over or not usable:
                return
            self.run_mutants(unsettled[start : start + AT_ONCE], usable)

    def _expect(self, call: str, answers: Sequence[str]) -> Expectation | None:
        """An error is right only where the code raises it by name: others are what a careless call brings about."""
        own, *others = (Sample(*pair) for pair in zip(answers, self._normalised, strict=True))
        known = self.subject.known
        found = expect(own, others, known.is_near(call), known.is_usual(call), self.subject.samples.needed)
        meant = not own.answer.startswith(RAISES) or own.answer in self._meant_errors
        return found if found and meant and render_assert(call, found.answer) else None

    def run_mutants(self, mutants: Sequence[SurvivingModule], calls: Sequence[str]) -> None:
        """Run mutants on calls that can be a test, and keep on which of them each differs from the code."""
        modules = [self.subject.code, *(mutant.module for mutant in mutants)]
        answers = self.subject.ground.run_calls(dict(enumerate(modules)), calls)
        for place, call in enumerate(calls):
            # the code runs beside its mutants once more: where it gives something else now, nothing is told apart
            if answers[0][place] != self.own[call]:
                self.expected.pop(call, None)
                continue
            for number, mutant in enumerate(mutants, 1):
                if is_silent(answers[number][place]):
                    self.hung.add(mutant.key)
                elif not are_same(answers[number][place], self.own[call]):
                    self.apart.setdefault(mutant.key, set()).add(call)

    def _is_settled(self, mutant: SurvivingModule) -> bool:
        found = (self.expected.get(call) for call in self.apart.get(mutant.key, ()))
        return any(one is not None and one.origin != "pinned" for one in found)


class ProjectSearch(Search):
    """A search in which more can be pinned: the code is somebody's, and its users rely on what it does.

    Errors that it raises by name, texts in any script, and what an array, a table or a date holds, are pinned too.
    """

    any_script = True

    @property
    def left(self) -> list[SurvivingModule]:
        """Mutants that nothing tells apart; where there are samples, all: these may still speak against the code."""
        mutants = self.subject.mutants
        return [mutant for mutant in mutants if self.subject.samples.codes or mutant.key not in self.apart]

    def try_calls(self, calls: Sequence[str], mutants: Sequence[SurvivingModule]) -> None:
        """The calls as they are; and where one gives an object that no test can write down, what that object holds."""
        fresh = [call for call in dict.fromkeys(calls) if call not in self.own]
        super().try_calls(fresh, mutants)
        objects = [
            call
            for call in fresh
            if is_value(self.own[call]) and not render_assert(call, self.own[call], self.any_script)
        ]
        if objects and not self.is_over:
            super().try_calls(self.find_plain_forms(objects), mutants)

    def find_plain_forms(self, calls: Sequence[str]) -> list[str]:
        """Each call with the first of the forms by which its object gives something that a test can state."""
        forms = [f"{call}{form}" for call in calls for form in PLAIN_FORMS]
        answers = self.subject.ground.run_calls({0: self.subject.code}, forms)[0]
        given = dict(zip(forms, answers, strict=True))
        good = {
            form for form, answer in given.items() if is_value(answer) and render_assert(form, answer, self.any_script)
        }
        first = (next((f"{call}{form}" for form in PLAIN_FORMS if f"{call}{form}" in good), "") for call in calls)
        return [one for one in first if one]

    def _expect(self, call: str, answers: Sequence[str]) -> Expectation | None:
        own, *others = answers
        meant = own in self._meant_errors and not any(map(is_value, others))
        found = super()._expect(call, answers)
        return found or (pin(own) if (meant or is_value(own)) and render_assert(call, own, self.any_script) else None)
