"""`burnish.explain`: the story of a run for someone who was not there, in plain English, from its events alone."""

import textwrap
from collections.abc import Iterator, Sequence
from datetime import datetime

from burnish.costs import NOBODY, cost, costs_of_models
from burnish.events import (
    Applied,
    Asked,
    Broke,
    CodeProposed,
    Compared,
    Decided,
    Event,
    FilesWritten,
    Mutated,
    Rated,
    Refined,
    Refused,
    Resumed,
    Reviewed,
    RunFinished,
    Stopped,
    Strengthened,
    TestsFrozen,
    TestsProposed,
    Tweaked,
    UserAnswered,
)
from burnish.model_choice import explain_who_answered
from burnish.models.names import split_names
from burnish.report import suite_of
from burnish.runs.gains import left_of, paid
from burnish.runs.run import Run, Version
from burnish.runs.sentences import base, joined, sentence, sentence_of
from burnish.text import counted, one_line, plain

WIDTH = 100
SHOWN = 6
"""Tests, inputs and the like that are written out; the rest is counted."""
ASKED_FOR = {
    "draft": "a first version",
    "reflect": "a correction of the best version, shown the one test that it fails",
    "rewrite": "a version written afresh, from the words alone",
    "second opinion": "a second opinion, from the words alone",
    "repair": "the smallest change that repairs it",
    "syntax": "a version that can be read as Python",
    "repeat": "something other than what it had said before",
    "refine": "the same without what a check had found",
    "review": "the change that a person wanted",
    "inputs": "calls on which small changes of the code would show",
}
NOT_VERSIONS = ("tests", "specify", "assume")
"""What is asked for before the first round."""
STEPS = (Strengthened, Refined)
"""What closes a part of the work once the tests pass."""
BEGINNINGS = (Decided, Resumed, Mutated, Asked, CodeProposed)
"""What a part may begin with."""
WORK = (Asked, CodeProposed, Mutated, *STEPS)
"""What makes a part one: without any of it there is nothing to tell yet."""


def explain(run: Run) -> str:
    """What was asked, what decided, what happened in each round and why, what it cost, and why it ended as it did."""
    sections = {
        "What was asked": _asked(run),
        "What decided": _tests(run),
        "What happened": _rounds(run),
        "What iterating brought": _gains(run),
        "How it ended": _end(run),
        "What it cost": iter([sentence(cost(run)), *map(sentence, costs_of_models(run)), *_ratings(run)]),
    }
    told = {title: list(paragraphs) for title, paragraphs in sections.items()}
    return "\n\n".join(_section(title, paragraphs) for title, paragraphs in told.items() if paragraphs) + "\n"


def _asked(run: Run) -> Iterator[str]:
    started, spec = run.started, run.spec
    goes_on = f", going on from run {started.continues}" if started.continues else ""
    yield f"On {_when(started.at)} this was asked for with `burnish {started.verb}`{goes_on}:"
    yield f"    {one_line(started.prompt, 600)}"
    sandbox = started.sandbox.split(":")[0] or "no sandbox on record"
    yield from explain_who_answered(run)
    yield f"{_models(run)} Code was run in: {one_line(sandbox)}. The run is called {run.id}."
    if spec:
        yield f"It was taken to mean `{one_line(spec.signature, 120)}`."
    for asked in run.all(UserAnswered):
        said = f"the answer was: {one_line(asked.words, 200)}" if asked.words else "the user agreed"
        yield f"Asked whether to assume that {one_line(asked.assumption, 120)}: {said}."
    if spec and spec.assumptions:
        yield f"Where the words leave it open, this was taken for granted: {_listed(spec.assumptions)}"


def _models(run: Run) -> str:
    if run.started.model == NOBODY:
        return "No model was asked."
    first, *others = split_names(run.started.model)
    return f"{first} answered." + (f" When it was stuck, {' and '.join(others)} could be asked." if others else "")


def _tests(run: Run) -> Iterator[str]:
    spec, suite = run.spec, suite_of(run)
    given = (*(spec.given_tests if spec else ()), *suite.project)
    if given:
        whose = "tests were" if len(given) > 1 else "test was"
        yield f"{len(given)} {whose} given, and given tests decide: {_listed(given)}"
    elif run.started.verb == "strengthen":
        yield "The code decided, as its tests had passed it: a new test was kept only if the code passes it each time."
    else:
        yield "No example was given, so nothing could prove the code: only tests that the model wrote speak for it."
    dropped = sum(event.dropped for event in run.all(TestsProposed))
    if suite.model:
        aside = f" ({dropped} more could not be used)" if dropped else ""
        yield (
            f"The model wrote {counted(len(suite.model), 'test')}{aside}. They rank versions and never decide against "
            f"a given one: {_listed(suite.model)}"
        )
    if suite.added:
        yield (
            f"{counted(len(suite.added), 'test')} came later, for small changes of the code that no test noticed, and "
            f"count as well: {_listed(suite.added)}"
        )
    if suite.pinned:
        says = "test only says" if len(suite.pinned) == 1 else "tests only say"
        yield (
            f"{len(suite.pinned)} {says} what the code does now. Such a test is pinned: it proves nothing and counts "
            f"nowhere. {_listed(suite.pinned)}"
        )
    if frozen := run.last(TestsFrozen):
        yield f"From then on the tests stood as they were (hash {frozen.sha256[:12]})."


def _rounds(run: Run) -> Iterator[str]:
    told = [" ".join([*_label(part, number), *_round(run, part)]) for number, part in enumerate(_parts(run))]
    yield from [text for text in told if text] or ["Nothing: the record ends before anything was tried."]


def _parts(run: Run) -> list[list[Event]]:
    """The events of the work, a part for each time the agent set out again or was taken up again."""
    parts: list[list[Event]] = [[]]
    over = False
    for event in run.events:
        sets_out = isinstance(event, Decided) and (event.moves or event.choice == "refine")
        over = over or bool(sets_out) or isinstance(event, Resumed | Mutated) or _asks_for_inputs(event)
        if over and isinstance(event, BEGINNINGS) and any(isinstance(e, WORK) for e in parts[-1]):
            parts.append([])
        parts[-1].append(event)
        over = isinstance(event, STEPS) or (over and not isinstance(event, BEGINNINGS))
    return parts


def _asks_for_inputs(event: Event) -> bool:
    return isinstance(event, Asked) and event.purpose == "inputs"


def _label(events: Sequence[Event], number: int) -> Iterator[str]:
    """How a part is introduced: its round, or that the run was taken up again."""
    match events[0] if events else None:
        case Resumed(answers=answers, at=at):
            yield f"Taken up again on {_when(at)}, with {counted(answers, 'answer')} on record that need no asking."
        case Decided(moves=moves) if moves and moves[0].round:
            yield f"Round {moves[0].round}."
        case Decided(choice="refine", moves=(), check="") if number:
            yield f"Round {number}."


def _round(run: Run, events: Sequence[Event]) -> Iterator[str]:
    yield from (sentence(event.reason) for event in events if isinstance(event, Decided) and _is_turn(event))
    yield from (sentence_of(event) for event in events if isinstance(event, Mutated))
    yield from _questions(run, events)
    for event in events:
        match event:
            case CodeProposed():
                yield _came_of_it(run, event)
            case Decided() if not _is_turn(event) and _went_on(run):
                yield sentence(event.reason)
            case Tweaked() | Compared() | Refused() | Strengthened() | Refined() | Reviewed():
                yield sentence_of(event)


def _gains(run: Run) -> Iterator[str]:
    """Whether the steps paid, and which small changes of the code still go unnoticed."""
    if told := paid(run):
        yield " ".join(told)
    left = left_of(run)
    kinds = {
        "Small changes that still go unnoticed": left.unnoticed,
        "Small changes that only pinned tests notice": left.pinned,
        "Small changes that no input told from the code (probably equivalent)": left.alike,
    }
    for words, changes in kinds.items():
        if changes:
            yield f"{words}: {_listed([f'line {one.line}: {one.said}' for one in changes], '')}"


def _is_turn(event: Decided) -> bool:
    return event.choice != "judge"


def _went_on(run: Run) -> bool:
    """Whether more was done once the tests passed: then that they did is no end."""
    return any(isinstance(event, (Mutated, *STEPS)) for event in run.events)


def _questions(run: Run, events: Sequence[Event]) -> Iterator[str]:
    asks = [event for event in events if isinstance(event, Asked) and event.purpose not in NOT_VERSIONS]
    if asks:
        wanted = [_wanted(purpose, asks) for purpose in dict.fromkeys(ask.purpose for ask in asks)]
        beside = "Side by side, the" if len(asks) > 1 else "The"
        yield f"{beside} model was asked for {joined(wanted)}."
    names = split_names(run.started.model)
    moves = [move for event in events if isinstance(event, Decided) for move in event.moves]
    others = {names[move.model] for move in moves if 0 < move.model < len(names)}
    if others:
        yield f"This time {joined(sorted(others))} was asked."


def _wanted(purpose: str, asks: Sequence[Asked]) -> str:
    """What was asked for, how often, and how warm."""
    warm = [f"{ask.temperature:g}" for ask in asks if ask.purpose == purpose]
    often = f", {len(warm)} times" if len(warm) > 1 else ""
    return f"{ASKED_FOR.get(purpose, purpose)}{often} (temperature {joined(list(dict.fromkeys(warm)))})"


def _came_of_it(run: Run, event: CodeProposed) -> str:
    version = next(version for version in run.versions if version.number == event.version)
    if version.number == 0:
        return f"The code that was there {_fate(run, version)}."
    same = [other.number for other in run.versions if other.number < version.number and other.code == version.code]
    if same and not version.problem:
        return f"Version {version.number} ({version.by}) is version {same[0]} once more."
    made = f", from {base(event.base)}" if event.base is not None else ""
    mended = f"; {event.mended}" if event.mended else ""
    return f"Version {version.number} ({version.by}{made}{mended}) {_fate(run, version)}."


def _fate(run: Run, version: Version) -> str:
    if version.problem:
        return f"could not be run: {one_line(version.problem, 160).rstrip('.')}"
    if version.graded is None:
        return "did not meet the tests any more"
    graded = version.graded
    failed = suite_of(run).failures(graded)
    if not failed and graded.problem:
        return f"gave no result: {one_line(graded.problem, 160).rstrip('.')}"
    total = len(graded.cases)
    if graded.passed == total:
        return f"passed {'its one test' if total == 1 else f'all {total} tests'}"
    body, message = next(iter(failed.items()), ("", graded.problem))
    said = one_line(message.removeprefix(body).strip(), 160)
    where = f"; it fails first at `{one_line(body, 120)}`" if body else ""
    return f"passed {graded.passed} of {counted(total, 'test')}{where}{f' ({said})' if said else ''}"


def _end(run: Run) -> Iterator[str]:
    last = run.parts[-1]
    reasons = [sentence(event.reason) for event in last if isinstance(event, Decided) and not _is_turn(event)]
    yield from [] if _went_on(run) else dict.fromkeys(reasons)
    for event in last:
        match event:
            case Stopped() if event.reason != "done":
                yield f"The work stopped: {sentence(event.why or event.reason)}"
            case Broke():
                yield f"It broke ({event.error}): {sentence(one_line(event.message, 400))}"
            case RunFinished():
                yield _verdict(run, event)
            case FilesWritten():
                yield f"The result was written to {one_line(event.folder, 300)}: {', '.join(event.files)}."
            case Applied():
                yield sentence_of(event)
    if run.evidence:
        checks = [f"{item.check} {item.verdict.replace('_', ' ')} ({one_line(item.why, 100)})" for item in run.evidence]
        yield f"The checks on the final files said: {'; '.join(checks)}."
    if run.verdict is None:
        yield f"There is no verdict: {sentence(one_line(run.why, 400))} Go on with: burnish resume {run.id}"


def _verdict(run: Run, event: RunFinished) -> str:
    carried = f" The result is version {event.version}." if event.version else ""
    aside = [
        f" Set aside as disputed, because {why}: {_listed(tests)}"
        for why, tests in suite_of(run).set_aside(event.disputed).items()
    ]
    return f"Verdict: {event.verdict}. {sentence(event.why)}{carried}{''.join(aside)}"


def _ratings(run: Run) -> Iterator[str]:
    for event in run.all(Rated):
        yield f"Somebody gave it {counted(event.stars, 'star')} of 5{f': {event.comment}' if event.comment else ''}."


def _section(title: str, paragraphs: list[str]) -> str:
    filled = [
        textwrap.fill(
            plain(text).strip("\n"),
            WIDTH,
            subsequent_indent="    " if text.startswith("    ") else "",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for text in paragraphs
    ]
    return "\n\n".join([title.upper(), *filled])


def _listed(items: Sequence[str], mark: str = "`") -> str:
    shown = "; ".join(f"{mark}{one_line(item, 120)}{mark}" for item in items[:SHOWN])
    more = len(items) - SHOWN
    return f"{shown}; and {more} more." if more > 0 else f"{shown}."


def _when(moment: float) -> str:
    return datetime.fromtimestamp(moment).strftime("%d %B %Y at %H:%M").lstrip("0")
