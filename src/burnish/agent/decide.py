"""decide: what comes next, and why, in one plain sentence, so that every turn of the road is on record."""

from collections.abc import Iterator

from burnish.agent import policy
from burnish.agent.ask import Tools
from burnish.agent.stuck import nothing_new, why_silent, why_stuck
from burnish.agent.work import TWEAK, Work
from burnish.errors import ModelError
from burnish.events import Decided, Event, Move, Stopped
from burnish.tasks.examples import in_words
from burnish.text import counted, one_line


def decide(work: Work, tools: Tools) -> Iterator[Event]:
    """Judge, or another round; a run that goes in circles asks differently, or asks a larger model, and in the end
    stops. A ModelError is raised only where nobody answers and there is nothing to judge.
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
    elif _levels(work) == len(tools.others) and nothing_new(work):
        yield Stopped(reason="stuck", why="the model only repeats itself, however it is asked")
    else:
        yield _next_round(work, tools)


def _next_round(work: Work, tools: Tools) -> Decided:
    stuck = why_stuck(work)
    level = _level(work, tools, stuck)
    model = (tools.model, *tools.others)[level].name
    higher = level > _levels(work)
    most = max(1, tools.meter.left().calls)
    moves = policy.moves(work, model, most, level, tools.without, stuck=bool(stuck) and not higher)
    if not work.answers:
        tests = work.task.own_tests and not work.frozen
        reason = f"{_begins(work)}: {_named(moves)}{', and tests of its own' if tests else ''}."
        return Decided(choice="begin" if tests else "ask", reason=reason, moves=moves)
    if stuck:
        changed = f"going on with {model}" if higher else _how_else(work, moves)
        return Decided(choice="turn", reason=f"{_so_far(work)}, and {stuck}: {changed}, {_named(moves)}.", moves=moves)
    return Decided(choice="ask", reason=f"{_so_far(work)}: {_named(moves)}.", moves=moves)


def _how_else(work: Work, moves: tuple[Move, ...]) -> str:
    """What a round that is to lead out of a circle does differently."""
    before, now = policy.last_warmth(work), max(move.temperature for move in moves)
    if now > before:
        return f"asking more freely (temperature {now:g} after {before:g})"
    same = {move.kind for move in moves} & {move.kind for move in policy.last_moves(work)}
    return "asking once more" if same else "asking in another way"


def _level(work: Work, tools: Tools, stuck: str) -> int:
    """Which model is asked: the cheapest first, the next one when the work is stuck."""
    return min(_levels(work) + bool(stuck), len(tools.others))


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
    """The moves in words: "2 rewrites and 1 reflect"."""
    kinds = list(dict.fromkeys(move.kind for move in moves))
    counts = [(sum(move.kind == kind for move in moves), kind) for kind in kinds]
    words = [f"{WORDS[kind]}{f' ({count} times)' if count > 1 else ''}" for count, kind in counts]
    return " and ".join(words) if words else "nothing"


WORDS = {
    "draft": "writing it from its description",
    "rewrite": "writing it afresh",
    "reflect": "showing the best version and its failure",
    "repair": "asking for the smallest change",
    "syntax": "asking for valid Python",
    "repeat": "asking for another way",
}
