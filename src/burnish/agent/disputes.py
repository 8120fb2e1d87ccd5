"""Which tests are set aside: those of the model's that versions vote down, added ones that nothing passes, and those
that code overrules which a person wrote.

The rule: what was settled when all tests first passed stays settled. Versions that are written later, to hear more
voices or for a stronger test, have no vote on the model's tests, so they can make nothing worse.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from burnish.events import CodeProposed, Decided, Event, Mutated, Strengthened
from burnish.runs.run import Version

if TYPE_CHECKING:
    from burnish.agent.work import Work

VOTES_WITH_GIVEN, VOTES_WITHOUT = 2, 3
"""Versions that must have a vote before they outvote a test of the model's, where tests were given and where none."""
SECOND_OPINIONS = 1
"""Rounds after which, with given tests, the votes there are have to do."""
VOICES = "voices"
"""The choice to hear further versions, written independently, before tests are made for what goes unnoticed."""


def outvoted(work: "Work", events: Sequence[Event]) -> tuple[str, ...]:
    """Model-made tests that the versions themselves speak against.

    Every answer that passes the given tests has a vote; a test is set aside when most of them fail it.
    Too few votes settle nothing, unless there are given tests and no more versions can be had.
    """
    heard = _heard(work, events)
    voters = [version for version in heard if version.graded and work.passes_given(version)]
    needed = VOTES_WITH_GIVEN if work.deciding else VOTES_WITHOUT
    ended = work.stopped is not None and not work.was_content
    no_more = bool(work.deciding) and (ended or _round(work, events) >= SECOND_OPINIONS)
    if not voters or (len(voters) < needed and not no_more):
        return ()
    fails = {test: sum(work.fails(voter, test) for voter in voters) for test in work.suite.model}
    return tuple(test for test, count in fails.items() if 2 * count > len(voters))


def given_up(work: "Work", events: Sequence[Event]) -> tuple[str, ...]:
    """Added tests that speak against a version, where no version passes them with all the others.

    That is said once another round was tried for them, or could not be.
    """
    places = [place for place, event in enumerate(events) if isinstance(event, Strengthened) and event.exposing]
    if not places:
        return ()
    later = events[places[-1] :]
    rounds = any(isinstance(event, Decided) and event.moves and event.choice != VOICES for event in later)
    aside = any(isinstance(event, Strengthened) and event.aside for event in later)
    if not (rounds or aside or work.stopped) or any(map(work.passes_all, work.versions)):
        return ()
    return tuple(dict.fromkeys(test for event in work.strengthened for test in event.exposing))


def overruled(work: "Work", by_hand: Sequence[Version]) -> tuple[str, ...]:
    """Tests that nobody gave and that a person's own code fails, the last that they wrote and that may overrule any."""
    theirs = [version for version in by_hand if overrules(work, version)]
    tests = (*work.suite.model, *work.suite.added)
    return tuple(test for test in tests if work.fails(theirs[-1], test)) if theirs else ()


def overrules(work: "Work", version: Version) -> bool:
    """Whether code that a person wrote stands above tests that they did not give: it runs and passes what they gave.

    Where they gave none, it must pass half of the model's, so that something vouches for it.
    """
    if version.graded is None or version.graded.problem or not work.passes_given(version):
        return False
    failed = sum(work.fails(version, test) for test in work.suite.model)
    return bool(work.deciding) or 2 * failed <= len(work.suite.model)


def _before(events: Sequence[Event]) -> Sequence[Event]:
    """What happened up to when all tests first passed; all of it, where they never did."""
    return events[: next((place for place, event in enumerate(events) if isinstance(event, Mutated)), len(events))]


def _heard(work: "Work", events: Sequence[Event]) -> list[Version]:
    """The answers that have a vote."""
    known = {event.version for event in _before(events) if isinstance(event, CodeProposed)}
    return [version for version in work.answers if version.number in known]


def _round(work: "Work", events: Sequence[Event]) -> int:
    known = {event.version for event in _before(events) if isinstance(event, CodeProposed)}
    return max((version.round for version in work.versions if version.number in known), default=0)
