"""refine: a round for each check that finds something: security, then performance, then quality."""

import time
from collections.abc import Callable, Generator, Iterator
from typing import NamedTuple

from burnish.agent import prompts
from burnish.agent.ask import Tools
from burnish.agent.mending.heads import with_head
from burnish.agent.mending.mend import Mend, mends_for
from burnish.agent.mending.saying import said
from burnish.agent.mending.scales import ROUNDS, Scales, Weighed
from burnish.agent.mending.weighing import better, found, worth_asking
from burnish.agent.nodes.draft import propose, wanted
from burnish.agent.nodes.run import basis_of
from burnish.agent.work import REFINE, USER, Work
from burnish.events import CodeProposed, Decided, Event, Evidence, Graded, Move, Notice, Refined, Stopped, TestsRan
from burnish.runs.run import Version
from burnish.text import one_line

TEMPERATURES = (0.0, 0.7)
"""One question each, until an answer is kept."""
MOST_SECONDS = 60.0
"""For the mends of one round; each that passes the tests may be measured."""
MOST_SINGLE = 4
"""Mends that are tried by themselves where all of them together are turned down."""


class Tried(NamedTuple):
    """What came of a round: the version, if there is one, and what became of it."""

    version: int | None
    weighed: Weighed
    how: str = ""


def refine(work: Work, tools: Tools) -> Iterator[Event]:
    """Keep what is better by that check's figure, loses no test, and makes no other check worse.

    A limit ends these rounds and not the run: what passes its tests is there already. What a person wrote with their
    own hands is left as it is.
    """
    if REFINE not in tools.afterwards or tools.checks is None or work.stopped or not work.holds:
        return
    for check in ROUNDS:
        if check not in tools.checks.names or tools.cancel.is_set() or work.best is None or work.best.by == USER:
            continue
        happened: list[Event] = []
        for event in _round(check, work, tools, Scales(work, tools, tools.checks)):
            happened += [event] if event.lasting else []
            yield event
        work = work.after(happened)


def _round(check: str, work: Work, tools: Tools, scales: Scales) -> Iterator[Event]:
    """What is on record is told again; else look, and where something is found, mend or ask."""
    base = scales.base
    if recorded := tools.replay.take(Refined, check=check, base=base.number):
        yield from _told_again(work, tools, recorded)
        return
    if any((done.check, done.base) == (check, base.number) for done in work.refined):
        return
    if over := tools.meter.over:
        yield Refined(check=check, base=base.number, version=None, kept=False, before="", why=f"left out: {over.why}")
        return
    yield Notice(text=f"looking at {check}")
    before = scales.of(check, base.code)
    if tools.cancel.is_set() or not found(before):
        return
    started = time.monotonic()
    opened = _opened(check, tools) or Decided(choice=REFINE, reason=_lead(check) + said(before, base.code))
    yield opened
    finding = opened.reason.removeprefix(_lead(check))
    tried = yield from _tries(work, tools, scales, before, finding)
    if tools.cancel.is_set():
        return
    weighed = tried.weighed
    yield Refined(
        check=check,
        base=base.number,
        version=tried.version,
        kept=weighed.kept,
        before=before.figure or one_line(before.why, 120),
        after=weighed.after,
        why=f"{tried.how}; every test passes and nothing else is worse" if weighed.kept else weighed.why,
        seconds=time.monotonic() - started,
    )


def _tries(work: Work, tools: Tools, scales: Scales, before: Evidence, finding: str) -> Generator[Event, None, Tried]:
    """Mends first; then, if it is worth it, the model. What is kept, or else the last that was tried."""
    mended, how, weighed = _by_mends(before.check, scales, tools)
    if mended:
        number = work.next_version
        made = CodeProposed(version=number, code=mended, by=REFINE, round=work.round, base=scales.base.number)
        yield made
        yield _met(work, made, weighed.graded or Graded())
        return Tried(number, weighed, how)
    if worth_asking(before) and not tools.cancel.is_set():
        return (yield from _by_model(work, tools, scales, before.check, finding))
    return Tried(None, Weighed(kept=False, why="no small rewrite helps, and it is not worth asking the model"))


def _by_mends(check: str, scales: Scales, tools: Tools) -> tuple[str, str, Weighed]:
    """The code that the mends make together, or else one of them; empty where none is kept."""
    ends = time.monotonic() + min(MOST_SECONDS, tools.meter.seconds_left)

    def is_over() -> bool:
        return tools.cancel.is_set() or time.monotonic() > ends

    code, used, nothing = scales.base.code, list[Mend](), ("", "", Weighed(kept=False, why=""))
    for mend in mends_for(check):
        for part in mend.parts(code):
            new = None if is_over() else part.on(code)
            if new and not scales.lost(scales.grade(new)):
                code, used = new, [*used, part]
    if not used or tools.cancel.is_set():
        return nothing
    weighed = scales.weigh(check, code)
    if weighed.kept:
        return _without_riders(check, scales, used, weighed, is_over)
    for mend in used[:MOST_SINGLE] if len(used) > 1 else []:
        alone = None if is_over() else mend.on(scales.base.code)
        if alone and (weighed := scales.weigh(check, alone)).kept:
            return alone, _named([mend]), weighed
    return nothing


def _without_riders(
    check: str, scales: Scales, used: list[Mend], weighed: Weighed, is_over: Callable[[], bool]
) -> tuple[str, str, Weighed]:
    """Of the mends that are kept together, those that the figure needs: what is no finding is nobody's to change."""
    code = _made_by(used, scales.base.code)
    for mend in used if len(used) > 1 else []:
        rest = [other for other in used if other is not mend]
        less = _made_by(rest, scales.base.code)
        if is_over() or less == scales.base.code or scales.lost(scales.grade(less)):
            continue
        if not better(scales.of(check, less), scales.of(check, code)) and (lighter := scales.weigh(check, less)).kept:
            code, used, weighed = less, rest, lighter
    return code, _named(used), weighed


def _made_by(mends: list[Mend], code: str) -> str:
    for mend in mends:
        code = mend.on(code) or code
    return code


def _named(used: list[Mend]) -> str:
    return ", and ".join(dict.fromkeys(mend.what for mend in used))


def _by_model(work: Work, tools: Tools, scales: Scales, check: str, finding: str) -> Generator[Event, None, Tried]:
    """Ask for the same without what was found, until an answer is kept."""
    tried = Tried(None, Weighed(kept=False, why="the model did not answer"))
    for number, temperature in enumerate(TEMPERATURES, work.next_version):
        if tools.cancel.is_set():
            break
        made, limit = yield from _answered(_asked(work, tools, scales.base, number, temperature, finding))
        if limit:
            return tried if tried.version else Tried(None, Weighed(kept=False, why=f"left out: {limit}"))
        if made is None or tools.cancel.is_set():
            continue
        if made.problem:
            tried = Tried(number, Weighed(kept=False, why=one_line(made.problem, 160)))
            continue
        weighed = scales.weigh(check, made.code)
        yield _met(work, made, weighed.graded or scales.grade(made.code))
        tried = Tried(number, weighed, "the model wrote it again")
        if weighed.kept:
            break
    return tried


def _answered(events: Iterator[Event]) -> Generator[Event, None, tuple[CodeProposed | None, str]]:
    """The version that was proposed, and the limit that forbade the question: it does not end the run."""
    made, limit = None, ""
    for event in events:
        if isinstance(event, Stopped) and event.reason != "interrupted":
            limit = event.why
            continue
        made = event if isinstance(event, CodeProposed) else made
        yield event
    return made, limit


def _asked(work: Work, tools: Tools, base: Version, number: int, temperature: float, finding: str) -> Iterator[Event]:
    """One question. What the answer leaves out of the function's head and docstring is put back."""
    move = Move(kind=REFINE, version=number, round=work.round, temperature=temperature, base=base.number)
    for event in propose(work, tools, move, prompts.refine(wanted(work), base.code, finding)):
        if isinstance(event, CodeProposed) and not event.problem:
            event = event.model_copy(update={"code": with_head(base.code, event.code, work.spec.entry_point)})
        yield event


def _met(work: Work, made: CodeProposed, graded: Graded) -> TestsRan:
    version = Version(number=made.version, code=made.code, by=REFINE)
    return TestsRan(version=made.version, graded=graded, basis=basis_of(version, work.suite))


def _lead(check: str) -> str:
    return f"A round for {check}: "


def _opened(check: str, tools: Tools) -> Decided | None:
    """How the round began, if it is on record: it asks what was asked then."""
    return tools.replay.take(Decided, lambda one: one.reason.startswith(_lead(check)), choice=REFINE)


def _told_again(work: Work, tools: Tools, recorded: Refined) -> Iterator[Event]:
    """A round that is on record, as it was; its answers are counted again, and nothing is measured."""
    opened, base = _opened(recorded.check, tools), work.version(recorded.base)
    yield from [opened] if opened else []
    if recorded.kept and (made := tools.replay.take(CodeProposed, version=recorded.version, by=REFINE, ask_id="")):
        yield from _with_results(work, tools, made)
    finding = opened.reason.removeprefix(_lead(recorded.check)) if opened else ""
    for number, temperature in enumerate(TEMPERATURES, work.next_version):
        if not tools.replay.changed(f"{REFINE}-{number}"):
            break
        for event in _asked(work, tools, base, number, temperature, finding):
            yield from _with_results(work, tools, event) if isinstance(event, CodeProposed) else [event]
    yield recorded


def _with_results(work: Work, tools: Tools, made: CodeProposed) -> Iterator[Event]:
    yield made
    basis = basis_of(Version(number=made.version, code=made.code, by=REFINE), work.suite)
    if graded := tools.replay.graded(made.version, basis):
        yield TestsRan(version=made.version, graded=graded, basis=basis)
