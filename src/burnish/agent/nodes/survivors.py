"""survivors: break the version that passes in small ways, and see which of them no test notices."""

import time
from collections.abc import Iterator

from burnish.agent.ask import Tools
from burnish.agent.disputes import VOICES
from burnish.agent.nodes.draft import from_words, question
from burnish.agent.stronger import voices
from burnish.agent.work import Work
from burnish.events import Decided, Event, Move, Mutated, Notice, Stopped, Survivor
from burnish.runs.run import Version
from burnish.text import counted

LEAST_SECONDS = 20.0
"""What must be left of the time: mutants may take ten seconds, and the verdict comes after them."""
SPARE_SECONDS = 45.0
"""The same before anybody is asked for more than is needed."""
SPARE_TOKENS = 900
"""More than an answer in an unusable form adds when it is asked for again."""


def survivors(work: Work, tools: Tools) -> Iterator[Event]:
    """Mutants of the best version; where some go unnoticed and too few voices say what is right, ask for more."""
    assert work.best is not None
    found = tools.replay.take(Mutated, version=work.best.number)
    if found is None:
        yield Notice(text=f"trying small changes of version {work.best.number}")
        found = _mutated(work, tools, work.best)
    if tools.cancel.is_set():
        yield Stopped(reason="interrupted", why="stopped by the user")
        return
    yield found.model_copy(update={"at": time.time()})
    here = work.next_version
    recorded = tools.replay.take(Decided, lambda one: [move.version for move in one.moves][:1] == [here], choice=VOICES)
    moves = recorded.moves if recorded else voices.moves(work, tools) if found.survivors else ()
    if moves and (recorded or _fits(work, tools, moves)):
        yield Decided(choice=VOICES, reason=_why(found, work, len(moves)), moves=moves)


def _mutated(work: Work, tools: Tools, version: Version) -> Mutated:
    """What the tests that may speak for the code notice of its mutants; pinned ones may not."""
    started = time.monotonic()
    if tools.mutations is None or tools.place is not None:
        return Mutated(version=version.number, mutants=0, noticed=0, why="there is no place to try mutants in")
    if tools.meter.seconds_left < LEAST_SECONDS:
        return Mutated(version=version.number, mutants=0, noticed=0, why="too little time is left")
    tried = tools.mutations.of(version.code, work.suite.render(work.disputed, pinned=False))
    return Mutated(
        version=version.number,
        mutants=tried.mutants,
        noticed=tried.noticed,
        survivors=tuple(Survivor(key=one.key, line=one.line, said=one.said) for one in tried.unnoticed),
        why=tried.why,
        seconds=time.monotonic() - started,
    )


def _fits(work: Work, tools: Tools, moves: tuple[Move, ...]) -> bool:
    """Whether all of them, each asked twice, stay within the limits: a run that is done is not ended by more voices."""
    model = voices.asked(work, tools)
    ask = tools.sized(question(moves[0], from_words(work)), model)
    ask = ask.model_copy(update={"max_tokens": ask.max_tokens + SPARE_TOKENS})
    return tools.meter.seconds_left > SPARE_SECONDS and tools.meter.affords(ask, 2 * len(moves), model.name)


def _why(found: Mutated, work: Work, asks: int) -> str:
    assert work.best is not None
    heard = 1 + len(voices.others(work, work.best))
    alone = "one version alone cannot" if heard == 1 else f"{heard} versions are too few to"
    times = f" ({asks} times)" if asks > 1 else ""
    return (
        f"No test notices {len(found.survivors)} of {counted(found.mutants, 'small change')} to version "
        f"{found.version}, and {alone} say what is right there: writing it afresh{times}."
    )
