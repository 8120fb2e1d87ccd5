"""The state of the work, folded from events: what nodes read and routes decide on."""

import difflib
from collections.abc import Sequence
from functools import cached_property

from burnish.agent.disputes import given_up, outvoted, overruled, overrules
from burnish.agent.likeness import bare
from burnish.checks.suite import Suite
from burnish.events import (
    CodeProposed,
    Compared,
    Decided,
    Event,
    Mutated,
    PackagesAdded,
    Refined,
    Reviewed,
    SpecAgreed,
    Stopped,
    Strengthened,
    TestsFrozen,
    Tweaked,
)
from burnish.runs.run import Run, Version
from burnish.tasks.definitions import split
from burnish.tasks.task import Task

NOT_RUN = "the tests could not be run"
"""How the problem of a version begins whose job broke in the sandbox: it says nothing about the code."""
GIVEN, TWEAK, REFINE, REVIEW, USER = "given", "tweak", "refine", "review", "user"
"""Who made a version that has no vote: it was there before, it is a small edit of another one, or it was made from one
that stands: in a round for what a check found, for what a person said of it, or by that person.
"""
PERSON = (REVIEW, USER)
FROM_ONE = (REFINE, *PERSON)
SILENT = "the model did not answer: "
"""How the problem of a version begins whose answer never came."""


class Work:
    """Where a run stands. Read-only; a new event means a new `Work`."""

    def __init__(self, task: Task, events: Sequence[Event]) -> None:
        self.task = task
        self._run = Run(events)

    def after(self, events: Sequence[Event]) -> "Work":
        """Where the run stands once these have happened too."""
        return Work(self.task, (*self._run.events, *events))

    @property
    def spec(self) -> SpecAgreed:
        """Name, signature and given tests; agreed on before anything else."""
        agreed = self._run.spec
        assert agreed is not None, "specify comes first in the graph"
        return agreed

    @cached_property
    def suite(self) -> Suite:
        """All tests there are."""
        run = self._run
        return Suite.for_task(self.task, self.spec, run.model_tests, run.added_tests, run.pinned_tests)

    def suite_with(self, added: tuple[str, ...], pinned: tuple[str, ...] = ()) -> Suite:
        """The same tests and more; those that were pinned so far fall."""
        run = self._run
        return Suite.for_task(self.task, self.spec, run.model_tests, (*run.added_tests, *added), pinned)

    @property
    def deciding(self) -> tuple[str, ...]:
        """The tests that decide: given ones and those of the project."""
        return (*self.suite.given, *self.suite.project)

    @property
    def broken(self) -> bool:
        """Whether there is code that is known to be wrong."""
        return self.task.broken and bool(self.task.base_code)

    @property
    def packages(self) -> tuple[str, ...]:
        """What was asked for once a version got a package that it lacked, all together; empty where none did."""
        added = self._run.last(PackagesAdded)
        return added.asked if added else ()

    @property
    def versions(self) -> tuple[Version, ...]:
        """Every version so far; number 0 is the code that was there before."""
        return self._run.versions

    @cached_property
    def answers(self) -> tuple[Version, ...]:
        """What the model made of it."""
        return tuple(version for version in self.versions if version.by not in (GIVEN, TWEAK, *FROM_ONE))

    @property
    def next_version(self) -> int:
        """The first number that is free."""
        return max((version.number for version in self.versions), default=0) + 1

    @property
    def waiting(self) -> list[Version]:
        """Versions that can be run and have not been."""
        return [version for version in self.versions if not version.problem and version.graded is None]

    @property
    def round(self) -> int:
        """0 for the first draft; each time the agent went back to the code adds one."""
        return max((version.round for version in self.versions), default=0)

    @property
    def frozen(self) -> TestsFrozen | None:
        """The tests as they were accepted."""
        return self._run.last(TestsFrozen)

    @property
    def decisions(self) -> list[Decided]:
        """Every turn of the road so far."""
        return self._run.all(Decided)

    @property
    def tweaked(self) -> set[int]:
        """Versions whose small edits have been tried."""
        return {event.base for event in self._run.all(Tweaked)}

    @property
    def mutated(self) -> Mutated | None:
        """What became of small changes to the best version; None where it was not looked at, or is another one now."""
        best = self.best
        found = [event for event in self._run.all(Mutated) if best and event.version == best.number]
        return found[-1] if found else None

    @property
    def strengthened(self) -> list[Strengthened]:
        """What was done about changes that went unnoticed, each time."""
        return self._run.all(Strengthened)

    @property
    def refined(self) -> list[Refined]:
        """The rounds for what checks found."""
        return self._run.all(Refined)

    @property
    def reviewed(self) -> list[Reviewed]:
        """What a person said on the way."""
        return self._run.all(Reviewed)

    @property
    def stopped(self) -> Stopped | None:
        """Set once a limit or the user has ended the work."""
        return self._run.last(Stopped)

    @property
    def was_content(self) -> bool:
        """Whether a version has once passed all that counts, so that its mutants were looked at."""
        return self._run.last(Mutated) is not None

    @cached_property
    def disputed(self) -> tuple[str, ...]:
        """Tests that are set aside: the versions speak against them, nothing passes them with all others, or a person's
        own code fails them.
        """
        return (*self._settled, *self.overruled)

    @cached_property
    def overruled(self) -> tuple[str, ...]:
        """Tests that are set aside only because a person wrote code that fails them."""
        by_hand = [version for version in self.versions if version.by == USER]
        return tuple(test for test in overruled(self, by_hand) if test not in self._settled)

    @cached_property
    def _settled(self) -> tuple[str, ...]:
        """What is set aside whatever a person says."""
        return (*self._outvoted, *self._given_up)

    @cached_property
    def _outvoted(self) -> tuple[str, ...]:
        return outvoted(self, self._run.events)

    @cached_property
    def _given_up(self) -> tuple[str, ...]:
        return given_up(self, self._run.events)

    def passes_all(self, version: Version) -> bool:
        """Whether a version passes every test but those of the model's that were voted down, and pinned ones."""
        undisputed = [test for test in self.suite.model if test not in self._outvoted]
        counting = (*self.deciding, *undisputed, *self.suite.added)
        return version.graded is not None and not any(self.fails(version, test) for test in counting)

    @property
    def is_exposed(self) -> bool:
        """Whether the best version passes all but a test that was added against a version."""
        if self.best is None or not self.best.graded:
            return False
        failed = {test for test in self.suite.names.values() if self.fails(self.best, test)} - {*self.disputed}
        return bool(failed & {*self.suite.added}) and not failed & {*self.deciding, *self.suite.model}

    @cached_property
    def best(self) -> Version | None:
        """The version that passes most: given tests, then undisputed ones; then the one whose behaviour most share.

        Of versions that behave alike, a repair that changes least, else the earlier one. Code that is known to be wrong
        is never the best. What a round for a check made of a version, and was kept, or what a person wanted in its
        place, stands there as long as it passes as much; what was not kept never does.
        """
        ran = [version for version in self.versions if version.graded and version.number and version.by not in FROM_ONE]
        best = max(ran, key=self._rank, default=None)
        while best and (kept := self._kept(best)):
            best = kept
        return best

    def _kept(self, base: Version) -> Version | None:
        """The last that was made of a version, in a round for a check that was kept or for a person, and loses nothing
        that counts to it.
        """
        rounds = {event.version for event in self.refined if event.kept and event.base == base.number}
        made = [
            version
            for version in self.versions
            if version.number in rounds or (version.by in PERSON and version.base == base.number)
        ]
        found = [version for version in made if version.number > base.number and not self._loses(version, base)]
        return found[-1] if found else None

    def _loses(self, version: Version, base: Version) -> bool:
        """Whether it passes less than its base; a person need not please tests that are disputed, and with code that
        they wrote themselves none but those that they gave.
        """
        if version.by == USER and overrules(self, version):
            return False
        most = 2 if version.by in PERSON else 3
        return self.score(version)[:most] < self.score(base)[:most]

    @property
    def wanted(self) -> bool:
        """Whether a person has just asked for a version, and it has not met the tests."""
        last = next((event for event in reversed(self._run.events) if isinstance(event, CodeProposed | Decided)), None)
        return isinstance(last, CodeProposed) and last.by in PERSON and not last.problem

    def _rank(self, version: Version) -> tuple[float, ...]:
        changed = self._changed(version) if self.broken and self._place(version) is not None else 0
        place = self._place(version)
        behind = place if place is not None else len(self.groups)
        return (*self._scored(version, self._settled), -behind, -changed, -version.number)

    @cached_property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Versions that behave alike, the likeliest group first; empty before they were compared."""
        compared = self._run.last(Compared)
        return compared.groups if compared else ()

    @property
    def shown_wrong(self) -> bool:
        """Whether a test that decides fails on the code that was there: then passing it says something.

        Code that could not be tried is not shown to be anything.
        """
        before = self._before
        return before is not None and self.is_known_before and not self.passes_given(before)

    @property
    def is_known_before(self) -> bool:
        """Whether it could be seen what the tests say of the code that was there."""
        return self._before is not None and _was_tried(self._before)

    @property
    def is_worse(self) -> bool:
        """Whether the code that was there passes more of the tests that decide than any version."""
        best, before = self.best, self._before
        return best is not None and before is not None and self.score(before)[0] > self.score(best)[0]

    @property
    def _before(self) -> Version | None:
        return next((version for version in self.versions if version.number == 0), None)

    @property
    def is_unchanged(self) -> bool:
        """Whether the best version does what the broken code does, as far as anybody could see."""
        compared = self._run.last(Compared)
        seen = self.best is not None and compared is not None and self.best.number in compared.unchanged
        return self.broken and seen and not self.shown_wrong

    def _place(self, version: Version) -> int | None:
        while version.by in FROM_ONE and version.base:
            version = self.version(version.base)
        return next((place for place, group in enumerate(self.groups) if version.number in group), None)

    def group_of(self, version: Version) -> tuple[int, ...]:
        """The versions that behave as this one does, itself included."""
        place = self._place(version)
        return self.groups[place] if place is not None else (version.number,)

    def version(self, number: int) -> Version:
        """The version of that number."""
        return next(version for version in self.versions if version.number == number)

    def _changed(self, version: Version) -> int:
        """How many lines a version changes of the code that was there."""
        old, new = split(self.task.base_code), split(version.code)
        blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        return sum(max(b - a, d - c) for tag, a, b, c, d in blocks if tag != "equal")

    @property
    def rivals(self) -> list[Version]:
        """Versions that pass all that was given: the tests alone cannot tell which of them is right."""
        ran = [version for version in self.versions if version.number and version.graded]
        return [version for version in ran if version.by not in FROM_ONE and self._could_be(version)]

    def _could_be(self, version: Version) -> bool:
        return self.passes_given(version) if self.deciding else not (version.graded and version.graded.problem)

    def score(self, version: Version) -> tuple[int, int, int]:
        """Passed tests: given, undisputed with those that were added, all of the model's. Pinned ones do not count."""
        return self._scored(version, self.disputed)

    def _scored(self, version: Version, aside: tuple[str, ...]) -> tuple[int, int, int]:
        outcomes = self._outcomes(version)
        undisputed = [test for test in (*self.suite.model, *self.suite.added) if test not in aside]
        return (
            sum(outcomes[test] == "passed" for test in self.deciding),
            sum(outcomes[test] == "passed" for test in undisputed),
            sum(outcomes[test] == "passed" for test in self.suite.model),
        )

    def passes_given(self, version: Version) -> bool:
        """Whether the version passes every given test."""
        outcomes = self._outcomes(version)
        return all(outcomes[test] == "passed" for test in self.deciding)

    @property
    def holds(self) -> bool:
        """Whether the best version passes all that counts, and something does count.

        Where there is no test at all, versions that agree with each other are what counts.
        """
        if self.best is None:
            return False
        if not self.suite.names:
            return len([number for number in self.group_of(self.best) if self.version(number) in self.answers]) > 1
        given, undisputed, _ = self.score(self.best)
        own, added = (sum(t not in self.disputed for t in tests) for tests in (self.suite.model, self.suite.added))
        counting = len(self.deciding), own + added
        enough = bool(self.deciding) or own * 2 >= len(self.suite.model) > 0
        return enough and (given, undisputed) == counting

    def is_repeat(self, version: Version) -> bool:
        """Whether its code was there before, or code that differs in nothing but layout, words and local names."""
        if version.problem.startswith(SILENT):
            return False
        text = bare(version.code)
        return any(bare(other.code) == text for other in self.versions if other.number < version.number)

    def only_repeats(self, round_: int) -> bool:
        """Whether a round after the first brought answers, and only such as had been given before."""
        made = [version for version in self.answers if version.round == round_]
        return bool(made) and round_ > 0 and all(self.is_repeat(version) for version in made)

    def first_failure(self, version: Version) -> tuple[str, str] | None:
        """The one failure to speak of, a given test's first: the test's body, and what was said."""
        if version.graded is None:
            return None
        failures = self.suite.failures(version.graded)
        counting = (body for body in self.suite.names.values() if body not in self.disputed)
        return next(((body, failures[body]) for body in counting if body in failures), None)

    def fails(self, version: Version, test: str) -> bool:
        """Whether a version does not pass a test."""
        return self._outcomes(version)[test] != "passed"

    def _outcomes(self, version: Version) -> dict[str, str]:
        return (
            dict(self.suite.outcomes(version.graded))
            if version.graded
            else dict.fromkeys(self.suite.names.values(), "not_run")
        )


def _was_tried(version: Version) -> bool:
    if version.graded is None:
        return bool(version.problem)
    return not version.graded.problem.startswith(NOT_RUN)
