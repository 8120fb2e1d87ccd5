"""review: a person looks at what there is, if one wants to, and says how to go on.

The rule: a person is the user, so their word decides. What they say is on record before anything is done about it, and
it is never asked twice about the same thing.
"""

import hashlib
import time
from collections.abc import Callable, Generator, Iterator

from burnish.agent import prompts
from burnish.agent.answer.code import find_problem
from burnish.agent.ask import Checkpoint, Tools, drop_limits
from burnish.agent.nodes.draft import prompt_input, propose
from burnish.agent.nodes.judge import run_other_checks
from burnish.agent.state import BY_PERSON, DERIVED, REVIEW, USER, AgentState
from burnish.checks.tests import TestsCheck
from burnish.events import CheckFinished, CodeProposed, Event, Evidence, Move, Notice, Refused, Reviewed, Stopped
from burnish.events.history import Version
from burnish.text import one_line

MOST_ASKED = 3
"""Times that the model is asked for what a person wants at one checkpoint."""
MOST_LOOKS = 20
"""Times that one checkpoint is shown; somebody who never goes on is taken to have seen enough."""
MOST_VERSIONS = 6
"""Versions that are made at one person's word, by the model or by the person."""
ASKED_ENOUGH = f"the model was asked {MOST_ASKED} times already"

Show = Callable[[str], Checkpoint]
"""What a person sees next, with a note on what became of their last answer."""
Follow = Callable[[Reviewed], Generator[Event, None, str]]
"""Does what a person says and returns a note for the next look; empty where there is none."""
Gather = Callable[[], tuple[Evidence, ...]]


class NotTaken(Exception):
    """What a person said cannot be followed; the text tells them why."""


def review(state: AgentState, tools: Tools) -> Iterator[Event]:
    """Show code, tests and checks before the verdict. A version for what the person says goes to the tests."""
    best, reviews = state.best, state.run.all(Reviewed)
    if best is None or (reviews and reviews[-1].said == "stop"):
        return
    tests = state.suite.render(state.disputed)
    note, taken = _describe_last_wish(state, best)
    if note and not taken:
        yield Refused(what="what you wanted of the code", why=one_line(note, 300))

    def gather() -> tuple[Evidence, ...]:
        """What the judge would be told now; it need not ask again for the same files."""
        without_pinned = state.suite.model_copy(update={"pinned": ()})
        found = TestsCheck(state.disputed).judge(best.code, without_pinned, tools.ground)
        others = run_other_checks(state, best.code, found.verdict == "passed", tools)
        return (found, *(event.evidence for event in others if isinstance(event, CheckFinished)))

    def show(note: str) -> Checkpoint:
        return Checkpoint(where="checks", tests=tests, code=best.code, note=note)

    def follow(said: Reviewed) -> Generator[Event, None, str]:
        nonlocal state
        made = yield from _make_version(state, tools, best, said)
        if made.problem:
            state = state.after([made])
            raise NotTaken(f"version {made.version} cannot be run: {made.problem}")
        return ""

    yield from hold_review(tools, show, follow, note, gather)


def hold_review(
    tools: Tools, show: Show, follow: Follow, note: str = "", gather: Gather | None = None
) -> Iterator[Event]:
    """Show a checkpoint again and again, until the person goes on or `follow` has nothing more to show."""
    for _ in range(MOST_LOOKS):
        shown = show(note)
        said = yield from look(shown, tools, gather)
        if said is None or said.said == "go_on" or tools.cancel.is_set():
            return
        if said.said == "stop":
            yield Stopped(reason="review", why="you wanted no more at the review")
            return
        try:
            note = yield from follow(said)
        except NotTaken as problem:
            note = str(problem)
            what = {"tests": "tests", "checks": "code", "plan": "plan"}[shown.where]
            yield Refused(what=f"what you said about the {what}", why=one_line(note, 300))
        if not note:
            return
    yield Refused(what="one more look", why=f"it was shown {MOST_LOOKS} times, so the work goes on")


def look(shown: Checkpoint, tools: Tools, gather: Gather | None = None) -> Generator[Event, None, Reviewed | None]:
    """What a person says to this, from the record where it is there; None where nobody is to be asked.

    Evidence is gathered only for somebody who is there to see it.
    """
    # Figures of checks differ a little each time, so they are no part of what is asked about.
    about = "\0".join((shown.where, shown.tests, shown.code))
    basis = hashlib.sha256(about.encode("utf-8", "surrogatepass")).hexdigest()
    said = tools.replay.reviewed(basis)
    if said is None and tools.review:
        if gather:
            yield Notice(text="checking what there is, for you to look at")
            shown = shown.model_copy(update={"evidence": gather()})
        started = time.monotonic()
        with tools.meter.pause():
            said = tools.review(shown)
        # A record cannot hold lone surrogates, which a terminal may hand us.
        words, text = (one.encode("utf-8", "replace").decode() for one in (said.words, said.text))
        said = said.model_copy(update={"words": words, "text": text, "seconds": time.monotonic() - started})
    if said and not tools.cancel.is_set():
        yield (said := said.model_copy(update={"where": shown.where, "basis": basis, "at": time.time()}))
    return said


def _describe_last_wish(state: AgentState, best: Version) -> tuple[str, bool]:
    """What became of the version that was last made at the person's word, and whether it was taken."""
    theirs = [version for version in state.versions if version.by in BY_PERSON and version.graded]
    if not theirs:
        return "", False
    last, ancestors, version = theirs[-1], [best.number], best
    while version.by in DERIVED and version.base:
        version = state.version(version.base)
        ancestors.append(version.number)
    if last.number in ancestors:
        return f"version {last.number} is what you wanted, and it is taken", True
    failure = state.first_failure(last)
    why = f"it fails {one_line(failure[0])}" if failure else "it gave no result"
    return f"version {last.number} is not kept: {why}", False


def _make_version(
    state: AgentState, tools: Tools, best: Version, said: Reviewed
) -> Generator[Event, None, CodeProposed]:
    """The person's own version, or the model's for their words."""
    if over := tools.meter.over:
        raise NotTaken(f"{over.why}, so nothing more can be run")
    theirs = [version.by for version in state.versions if version.by in BY_PERSON]
    if len(theirs) >= MOST_VERSIONS:
        raise NotTaken(f"{MOST_VERSIONS} versions were made at your word already; begin anew from here with --from")
    if said.said != "edited":
        if theirs.count(REVIEW) >= MOST_ASKED:
            raise NotTaken(f"{ASKED_ENOUGH}; edit the code yourself, or go on")
        return (yield from _ask_for_change(state, tools, best, said))
    problem = find_problem(said.text, state.spec.signature, state.task.also)
    if problem or said.text == best.code:
        raise NotTaken(problem or "the file is as it was")
    made = CodeProposed(version=state.next_version, code=said.text, by=USER, round=state.round, base=best.number)
    yield made
    return made


def _ask_for_change(
    state: AgentState, tools: Tools, best: Version, said: Reviewed
) -> Generator[Event, None, CodeProposed]:
    """The best version with what the person wants changed in it. Optional: no limit ends the run by it."""
    words, suite = said.words.strip(), state.suite
    if said.said == "comment":
        line = dict(enumerate(best.code.rstrip().split("\n"), 1)).get(said.line or 0)
        if line is None:
            raise NotTaken(f"the code has no line {said.line}")
        words = f"About the line `{line.strip()}`: {words}"
    if not words:
        raise NotTaken("say what to change")
    move = Move(kind=REVIEW, version=state.next_version, round=state.round, base=best.number)
    kept = [test for test in (*suite.worded, *suite.model, *suite.added) if test not in state.disputed]
    messages = prompts.change(prompt_input(state, tools), best.code, words, (*suite.given, *kept))
    limits: list[str] = []
    made = yield from drop_limits(propose(state, tools, move, messages), limits)
    if made is None:
        cannot = "so the model cannot be asked; edit the code yourself, or go on"
        raise NotTaken(f"{limits[0]}, {cannot}" if limits else "the model did not answer")
    return made
