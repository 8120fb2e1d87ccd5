"""survivors: break the version that passes in small ways, and see which of them no test notices.

Where some go unnoticed and too few versions were written independently to say what is right there, ask for more.
"""

import time
from collections.abc import Iterator

from burnish.agent import policy
from burnish.agent.ask import Tools
from burnish.agent.nodes.draft import code_question, writing_prompt
from burnish.agent.normalise import normalise_code
from burnish.agent.state import MORE_VERSIONS, AgentState
from burnish.events import Decided, Event, Move, Mutated, Notice, Stopped, Survivor
from burnish.events.history import Version
from burnish.models.model import Model
from burnish.text import plural

LEAST_SECONDS = 20.0
"""What must be left of the time: mutants may take ten seconds, and the verdict comes after them."""
SPARE_SECONDS = 45.0
"""The same before anybody is asked for more than is needed."""
SPARE_TOKENS = 900
"""More than an answer in an unusable form adds when it is asked for again."""
MOST_SAMPLES = 4
"""Beside the version itself: where there are many, one of them is always wrong."""
NEEDED: dict[policy.Strength, int] = {"small": 2, "middle": 2, "strong": 1}
"""Samples, beside the version itself, that must give the same before a value counts as agreed."""
MOST_ASKS: dict[policy.Strength, int] = {"small": 3, "middle": 3, "strong": 1}
ONE_MORE = 1
"""Asked beyond what is missing: of three answers one often fails what was given, or is a copy."""


def survivors(work: AgentState, tools: Tools) -> Iterator[Event]:
    """Try mutants of the best version; where some survive and too few samples say what is right, ask for more."""
    assert work.best is not None
    found = tools.replay.take(Mutated, version=work.best.number)
    if found is None:
        yield Notice(text=f"trying small changes of version {work.best.number}")
        found = try_mutants(work, tools, work.best)
    if tools.cancel.is_set():
        yield Stopped(reason="interrupted", why="stopped by the user")
        return
    yield found.model_copy(update={"at": time.time()})
    here = work.next_version
    recorded = tools.replay.take(
        Decided, lambda one: [move.version for move in one.moves][:1] == [here], choice=MORE_VERSIONS
    )
    moves = recorded.moves if recorded else plan_samples(work, tools) if found.survivors else ()
    if moves:
        known = 1 + len(independent_samples(work, work.best))
        alone = "one version alone cannot" if known == 1 else f"{known} versions are too few to"
        times = f" ({len(moves)} times)" if len(moves) > 1 else ""
        reason = (
            f"No test notices {len(found.survivors)} of {plural(found.mutants, 'small change')} to version "
            f"{found.version}, and {alone} say what is right there: writing it afresh{times}."
        )
        yield Decided(choice=MORE_VERSIONS, reason=reason, moves=moves)


def independent_samples(work: AgentState, version: Version) -> list[Version]:
    """Answers beside a version that are not made from it or from one another, the earliest first.

    Only those that pass what was given; where nothing was given, those that pass all that counts.
    """
    passes = work.passes_given if work.deciding_tests else work.passes_all
    able = [one for one in work.answers if one.graded and one.number != version.number and passes(one)]
    bases = {version.number, *(one.number for one in able)}
    return [one for one in able if one.base not in bases and one.number != version.base][:MOST_SAMPLES]


def samples_needed(work: AgentState, tools: Tools) -> int:
    """How many of them must agree: fewer of a strong model."""
    return NEEDED[policy.strength(_model_asked_last(work, tools).name)]


def plan_samples(work: AgentState, tools: Tools) -> tuple[Move, ...]:
    """Questions for as many further samples as are missing; nobody is asked a second time.

    None where they might not stay within the limits, each asked twice: more samples end no run that is done.
    """
    if work.best is None or any(decision.choice == MORE_VERSIONS for decision in work.decisions):
        return ()
    known = independent_samples(work, work.best)
    same = all(normalise_code(one.code) == normalise_code(work.best.code) for one in known)
    missing = max(samples_needed(work, tools) - len(known), int(same))
    if not missing:
        return ()
    model, level, warmth = _model_asked_last(work, tools), _level_asked_last(work), policy.TEMPERATURE
    moves = tuple(
        Move(kind="rewrite", version=work.next_version + place, round=work.round, temperature=warmth, model=level)
        for place in range(min(missing + ONE_MORE, MOST_ASKS[policy.strength(model.name)]))
    )
    ask = tools.with_limits(code_question(moves[0], writing_prompt(work)), model)
    ask = ask.model_copy(update={"max_tokens": ask.max_tokens + SPARE_TOKENS})
    fits = tools.meter.seconds_left > SPARE_SECONDS and tools.meter.affords(ask, 2 * len(moves), model.name)
    return moves if fits else ()


def _model_asked_last(work: AgentState, tools: Tools) -> Model:
    return (tools.model, *tools.others)[_level_asked_last(work)]


def _level_asked_last(work: AgentState) -> int:
    return max((move.model for decision in work.decisions for move in decision.moves), default=0)


def try_mutants(work: AgentState, tools: Tools, version: Version) -> Mutated:
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
