"""decide: what comes next, and why, in one plain sentence, so that every turn of the road is on record."""

from collections.abc import Iterator

from burnish.agent import policy
from burnish.agent.ask import Tools
from burnish.agent.work import SILENT, TWEAK, Work
from burnish.errors import ModelError
from burnish.events import Decided, Event, Move, Stopped
from burnish.runs.run import Version
from burnish.tasks.examples import in_words
from burnish.text import counted, one_line

NO_PROGRESS_ROUNDS = 2
SAME_ERROR = 3
ALTERNATING = 4
REPEATED_ROUNDS = 3
"""Rounds that bring only repetitions before a run ends: a smaller model has then said the same in nine answers."""
WORDS = {
    "draft": "writing it from its description",
    "rewrite": "writing it afresh",
    "repair": "asking for the smallest change",
}


def decide(work: Work, tools: Tools) -> Iterator[Event]:
    """Judge, or another round; where the work is stuck the next model is asked, and where it only repeats itself and
    nobody is left to ask, it stops. A ModelError is raised only where nobody answers and there is nothing to judge.
    """
    limits = tools.meter.limits
    if tools.cancel.is_set() and not work.stopped:
        yield Stopped(reason="interrupted", why="stopped by the user")
    elif work.stopped:
        yield Decided(choice="judge", reason=f"The work ends here: {work.stopped.why}.")
    elif policy.settled(work):
        yield Decided(choice="judge", reason=_why_done(work))
    elif silent := why_silent(work):
        if work.best is None:
            raise ModelError(silent)
        yield Stopped(reason="stuck", why=f"the model cannot be asked any more: {one_line(silent, 160)}")
    elif work.answers and work.round >= limits.rounds:
        yield Stopped(reason="rounds", why=f"the limit of {limits.rounds} rounds is reached")
    elif _levels(work) == len(tools.others) and only_repeats(work):
        yield Stopped(reason="stuck", why="the model only repeats itself")
    else:
        yield _next_round(work, tools)


def _next_round(work: Work, tools: Tools) -> Decided:
    """The questions that come next, to the cheapest model first, and to the next one once the work is stuck."""
    level = _levels(work)
    stuck = why_stuck(work) if level < len(tools.others) else ""
    level += bool(stuck)
    model = (tools.model, *tools.others)[level].name
    moves = policy.moves(work, model, max(1, tools.meter.left().calls), level, tools.without)
    if not work.answers:
        tests = work.task.own_tests and not work.frozen
        reason = f"{_begins(work)}: {_named(moves)}{', and tests of its own' if tests else ''}."
        return Decided(choice="begin" if tests else "ask", reason=reason, moves=moves)
    if stuck:
        reason = f"{_so_far(work)}, and {stuck}: going on with {model}, {_named(moves)}."
        return Decided(choice="turn", reason=reason, moves=moves)
    return Decided(choice="ask", reason=f"{_so_far(work)}: {_named(moves)}.", moves=moves)


def why_stuck(work: Work) -> str:
    """Why the same model would be asked in vain, in a few words; empty while there is hope."""
    if work.only_repeats(work.round):
        return "the last round only repeated earlier code"
    last = [version.code for version in work.answers[-ALTERNATING:]]
    if len(last) == ALTERNATING and last[0] == last[2] != last[1] == last[3]:
        return "the answers go back and forth between two versions"
    said = [_what_is_wrong(work, version) for version in work.answers[-SAME_ERROR:]]
    if len(said) == SAME_ERROR and said[0] and len(set(said)) == 1:
        return f"the last {SAME_ERROR} answers fail in the same way"
    best = work.best
    slow = best is not None and work.round >= NO_PROGRESS_ROUNDS and best.round <= work.round - NO_PROGRESS_ROUNDS
    return f"no progress in {NO_PROGRESS_ROUNDS} rounds" if slow else ""


def _what_is_wrong(work: Work, version: Version) -> str:
    """What a version fails with, as one text to compare; empty when nothing is wrong."""
    failure = work.first_failure(version)
    return "\n".join(failure) if failure else version.problem


def only_repeats(work: Work) -> bool:
    """Whether the last rounds only said again what had been said."""
    return all(work.only_repeats(round_) for round_ in range(work.round - REPEATED_ROUNDS + 1, work.round + 1))


def why_silent(work: Work) -> str:
    """The error that kept every answer of the last round from coming; empty where one came."""
    last = [version.problem for version in work.answers if version.round == work.round]
    silent = bool(last) and all(problem.startswith(SILENT) for problem in last)
    return last[-1].removeprefix(SILENT) if silent else ""


def _levels(work: Work) -> int:
    return max((move.model for decision in work.decisions for move in decision.moves), default=0)


def _begins(work: Work) -> str:
    if not work.broken:
        return "Nothing is written yet"
    edits = [version for version in work.rivals if version.by == TWEAK]
    if edits:
        return f"{counted(len(edits), 'small edit')} of the code would pass what was given; the model is asked as well"
    return "No small edit of the code passes what was given" if work.tweaked else "The code is known to be wrong"


def _why_done(work: Work) -> str:
    assert work.best is not None
    aside = f"; {len(work.disputed)} disputed, set aside" if work.disputed else ""
    alike = len(work.group_of(work.best)) - 1
    agreed = f", and {counted(alike, 'other version')} behave{'s' if alike == 1 else ''} as it does" if alike else ""
    what = "all tests that count" if work.suite.names else "for right: there is no test, and versions agree"
    return f"Version {work.best.number} passes {what}{aside}{agreed}."


def _so_far(work: Work) -> str:
    if work.best is None:
        problem = work.answers[-1].problem if work.answers else "no answer"
        return f"No version can be run yet ({one_line(problem, 80)})"
    if work.deciding and work.passes_given(work.best):
        if not work.holds:
            return f"Version {work.best.number} passes your tests but not all of the model's"
        return f"Version {work.best.number} passes your tests, but nothing else speaks for it yet"
    failure = work.first_failure(work.best)
    what = one_line(in_words(failure[0]), 60) if failure else "its tests"
    return f"Version {work.best.number} is the best so far but fails {what}"


def _named(moves: tuple[Move, ...]) -> str:
    """The moves in words: "writing it afresh (2 times) and asking for the smallest change"."""
    kinds = list(dict.fromkeys(move.kind for move in moves))
    counts = [(sum(move.kind == kind for move in moves), kind) for kind in kinds]
    words = [f"{WORDS[kind]}{f' ({count} times)' if count > 1 else ''}" for count, kind in counts]
    return " and ".join(words) if words else "nothing"
