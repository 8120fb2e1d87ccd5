"""strengthen: tests for what goes unnoticed, each kept only if it passes, notices, and does so every time."""

import time
from collections.abc import Generator, Iterator

from burnish.agent.ask import Tools
from burnish.agent.nodes.draft import from_words, question
from burnish.agent.nodes.run import met
from burnish.agent.stronger.asking import told_again
from burnish.agent.stronger.cover import Candidate
from burnish.agent.stronger.making import Made, Making
from burnish.agent.work import Work
from burnish.checks.suite import Suite
from burnish.errors import CheckError, SandboxError
from burnish.events import Event, Graded, Move, Mutated, NewTest, Notice, Stopped, Strengthened, TestsFrozen, TestsRan
from burnish.runs.run import Version
from burnish.tasks.steady import leans_on
from burnish.text import counted, one_line

LEAST_SECONDS = 25.0
"""What must be left of the time."""
ROUND_ASKS, ROUND_SECONDS = 8, 60.0
"""What must be left of calls and time before code that a test exposes is worked on again."""
TRIES = 3

Done = tuple[Strengthened, list[TestsRan]]


def strengthen(work: Work, tools: Tools) -> Iterator[Event]:
    """Find inputs that tell code and mutant apart, and who says what is right there.

    All versions that pass what was given meet the new tests; which of them is the best may change by that.
    """
    assert work.best is not None
    ran: list[TestsRan] = []
    made = tools.replay.take(Strengthened, version=work.best.number)
    if made:
        yield from told_again(tools, work.best.number)
    else:
        made, ran = yield from _strengthened(work, tools, work.best)
    if tools.cancel.is_set():
        yield Stopped(reason="interrupted", why="stopped by the user")
        return
    yield made.model_copy(update={"at": time.time()})
    suite = _suite(work, made)
    if work.frozen and suite.sha256 != work.frozen.sha256:
        yield _frozen(work, suite)
        yield from (one.model_copy(update={"at": time.time()}) for one in ran or _met(work, tools, suite))


def _strengthened(work: Work, tools: Tools, version: Version) -> Generator[Event, None, Done]:
    """What came of it, and what every version says to the new tests."""
    started, mutated = time.monotonic(), work.mutated
    nothing = Strengthened(version=version.number, noticed=mutated.noticed if mutated else 0)
    if mutated is None or not mutated.survivors:
        return nothing, []
    if why := _why_not(work, tools, version):
        return nothing.model_copy(update={"why": why}), []
    yield Notice(text=f"looking for tests that notice {counted(len(mutated.survivors), 'small change')}")
    try:
        found = yield from Making.of(work, tools, version, mutated).made()
        made, ran = _stable(work, tools, version, mutated, found)
    except (SandboxError, CheckError) as error:
        made, ran = nothing.model_copy(update={"why": one_line(str(error), 160)}), []
    return made.model_copy(update={"seconds": time.monotonic() - started}), ran


def _why_not(work: Work, tools: Tools, version: Version) -> str:
    if tools.mutations is None:
        return "there is no place to try mutants in"
    if tools.meter.seconds_left < LEAST_SECONDS:
        return "too little time is left"
    outside = leans_on(version.code, work.spec.entry_point)
    return f"what it gives depends on {outside}, so no test may say what that is" if outside else ""


def _stable(work: Work, tools: Tools, version: Version, mutated: Mutated, found: Made) -> Done:
    """The tests that hold once more beside all others; one that does not is dropped."""
    tests = list(found.tests)
    for _ in range(TRIES):
        made = _event(version, mutated, tests, found.alike)
        suite = _suite(work, made)
        ran = list(_met(work, tools, suite))
        mine = next((one.graded for one in ran if one.version == version.number), Graded())
        outcomes = suite.outcomes(mine)
        unsure = [one for one in tests if (outcomes.get(one.test) != "passed") != one.opinion.exposes]
        if not unsure or not _kept(tests):
            return _aside(work, tools, made, ran), ran
        tests = [one for one in tests if one not in unsure]
    return _event(version, mutated, [], found.alike), []


def _kept(tests: list[Candidate]) -> list[Candidate]:
    """Without pinned ones where the version is exposed: it is about to change."""
    exposed = any(one.opinion.exposes for one in tests)
    return [one for one in tests if not exposed or one.opinion.origin != "pinned"]


def _event(version: Version, mutated: Mutated, tests: list[Candidate], alike: tuple[str, ...]) -> Strengthened:
    kept = _kept(tests)
    vouched = {key for one in kept if one.opinion.origin != "pinned" and not one.opinion.exposes for key in one.notices}
    pinned = {key for one in kept if one.opinion.origin == "pinned" for key in one.notices} - vouched
    return Strengthened(
        version=version.number,
        tests=tuple(
            NewTest(test=one.test, origin=one.opinion.origin, notices=tuple(sorted(one.notices)), why=one.opinion.why)
            for one in kept
        ),
        exposing=tuple(one.test for one in kept if one.opinion.exposes),
        noticed=mutated.noticed + len(vouched),
        pinned=len(pinned),
        alike=alike,
    )


def _aside(work: Work, tools: Tools, made: Strengthened, ran: list[TestsRan]) -> Strengthened:
    """With a word on exposing tests that no version passes, where nothing can be done about that any more."""
    after = work.after([made, *ran])
    if not made.exposing or any(map(after.passes_all, after.versions)):
        return made
    move = Move(kind="rewrite", version=work.next_version, round=work.round + 1)
    fits = tools.meter.affords(tools.sized(question(move, from_words(work))), ROUND_ASKS, tools.model.name)
    able = fits and work.round < tools.meter.limits.rounds and tools.meter.seconds_left > ROUND_SECONDS
    return made if able else made.model_copy(update={"aside": True})


def _suite(work: Work, made: Strengthened) -> Suite:
    pinned = tuple(new.test for new in made.tests if new.origin == "pinned")
    return work.suite_with(tuple(new.test for new in made.tests if new.origin != "pinned"), pinned)


def _frozen(work: Work, suite: Suite) -> TestsFrozen:
    more = len(suite.added) + len(suite.pinned)
    return TestsFrozen(sha256=suite.sha256, given=len(work.deciding), model=len(suite.model), more=more)


def _met(work: Work, tools: Tools, suite: Suite) -> Iterator[TestsRan]:
    """Every version that passes what was given, on all tests."""
    for version in work.rivals:
        if tools.cancel.is_set():
            return
        yield met(version, suite, tools)
