"""`burnish.explain`: the story of a run for someone who was not there, in plain English, from its events alone."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from burnish.events import (
    AppJudged,
    Applied,
    AppPlanned,
    Asked,
    Broke,
    CodeProposed,
    Compared,
    Decided,
    Event,
    FilesWritten,
    FunctionBegun,
    FunctionWritten,
    ModuleBuilt,
    Mutated,
    PageJudged,
    PageObserved,
    PageRefused,
    PageScored,
    PageTold,
    PageWritten,
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
from burnish.events.history import Run
from burnish.models.names import split_names
from burnish.report.costs import NOBODY, describe_cost, describe_cost_by_model, explain_who_answered
from burnish.report.deliverables import list_open_questions, read_suite
from burnish.report.improvement import explain_improvement, sort_unnoticed
from burnish.report.narrate import add_confidence, as_sentence, describe, name_version
from burnish.text import join_words, one_line, plural, strip_controls

WIDTH = 100
FIRST_ROUNDS, LAST_ROUNDS = 2, 3
"""Parts of a long story that are told in short."""
MOST_LISTED = 6
"""Tests, inputs and the like that are written out; the rest is counted."""
PURPOSES = {
    "draft": "a first version",
    "reflect": "a correction of the best version, shown the one test that it fails",
    "rewrite": "a version written afresh, from the words alone",
    "second opinion": "a second opinion, from the words alone",
    "repair": "the smallest change that repairs it",
    "syntax": "a version that can be read as Python",
    "repeat": "something other than what it had said before",
    "refine": "the same without what a check had found",
    "review": "the change that a person wanted",
    "plan": "a plan",
    "inputs": "calls on which small changes of the code would show",
}
NOT_VERSIONS = ("tests", "specify", "examples", "assume")
"""What is asked for before the first round."""
STEPS = (Strengthened, Refined)
"""What closes a part of the work once the tests pass."""
BUILDING = (FunctionBegun, FunctionWritten, ModuleBuilt, AppJudged)
"""What happens between two decisions of a build."""
BEGINNINGS = (Decided, Resumed, Mutated, Asked, CodeProposed)
"""What a part may begin with."""
WORK = (Asked, CodeProposed, Mutated, *STEPS)
"""What makes a part one: without any of it there is nothing to tell yet."""


def explain(run: Run, width: int = WIDTH, everything: bool = True) -> str:
    """What was asked, what decided, what happened in each round and why, what it cost, and why it ended as it did.

    Lines have at most `width` columns. Without `everything` a long story is told by its beginning and its end.
    """
    cost = [describe_cost(run), *describe_cost_by_model(run)]
    rounds = [" ".join(_explain_round(run, part, number)) for number, part in enumerate(_split(run))]
    if run.started.verb == "page":
        rounds = _explain_cycles(run)
    elif run.started.verb == "build":
        rounds = _explain_build(run)
    rounds, passed_over = list(filter(None, rounds)), len(rounds) - FIRST_ROUNDS - LAST_ROUNDS
    if passed_over > 1 and not everything:
        told = f"({passed_over} more parts: burnish explain {run.id} --all)"
        rounds = [*rounds[:FIRST_ROUNDS], told, *rounds[-LAST_ROUNDS:]]
    gains, left = [" ".join(explain_improvement(run))], sort_unnoticed(run)
    unnoticed = {
        "Small changes that still go unnoticed": left.unnoticed,
        "Small changes that only pinned tests notice": left.pinned,
        "Small changes that no input told from the code (probably equivalent)": left.alike,
    }
    for words, changes in unnoticed.items():
        if changes:
            gains.append(f"{words}: {_list([f'line {one.line}: {one.said}' for one in changes], '')}")
    sections: dict[str, Iterable[str]] = {
        "What was asked": _explain_task(run),
        "What decided": _explain_tests(run),
        "What happened": rounds or ["Nothing: the record ends before anything was tried."],
        "What iterating brought": filter(None, gains),
        "How it ended": _explain_end(run),
        "What it cost": map(as_sentence, cost),
        "What people think of it": [describe(given) for given in run.feedback if given.given_in == "rate"],
    }
    wrapper = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False)
    parts: list[str] = []
    for title, paragraphs in sections.items():
        texts = []
        for text in paragraphs:
            wrapper.subsequent_indent = "    " if text.startswith("    ") else ""
            texts.append(wrapper.fill(strip_controls(text).strip("\n")))
        parts += [title.upper(), *texts] if texts else []
    return "\n\n".join(parts) + "\n"


def _explain_task(run: Run) -> Iterator[str]:
    started, spec = run.started, run.spec
    goes_on = f", going on from run {started.continues}" if started.continues else ""
    yield f"On {_format_time(started.at)} this was asked for with `burnish {started.verb}`{goes_on}:"
    yield f"    {one_line(started.prompt, 600)}"
    yield from explain_who_answered(run)
    first, *others = split_names(started.model)
    helped = f" When it was stuck, {' and '.join(others)} could be asked." if others else ""
    who = "No model was asked." if started.model == NOBODY else f"{first} answered.{helped}"
    sandbox = run.sandbox.split(":")[0] or "no sandbox on record"
    yield f"{who} Code was run in: {one_line(sandbox)}. The run is called {run.id}."
    if spec:
        yield f"It was taken to mean `{one_line(spec.signature, 120)}`."
    yield from map(describe, run.all(UserAnswered))
    if spec and spec.assumptions:
        yield f"Where the words leave it open, this was taken for granted: {_list(spec.assumptions)}"
    if questions := list_open_questions(run):
        yield f"Still open: {_list(questions, mark='', most=400)}"


def _explain_tests(run: Run) -> Iterator[str]:
    spec, suite = run.spec, read_suite(run)
    given = (*(spec.given_tests if spec else ()), *suite.project)
    if given:
        whose = "tests were" if len(given) > 1 else "test was"
        yield f"{len(given)} {whose} given, and given tests decide: {_list(given)}"
    elif run.settings.page:
        scored = run.last(PageScored)
        yield "What the page did decided: whether it threw, drew and moved, and was not killed."
        if scored:
            yield f"The rubric of the case {one_line(scored.case, 60)} gave points for {len(scored.criteria)} criteria."
    elif run.settings.app:
        yield "The app's own contract tests decided, and whether it does in a browser what a person would try."
    elif run.started.verb == "strengthen":
        yield "The code decided, as its tests had passed it: a new test was kept only if the code passes it each time."
    elif not suite.worded:
        yield "No example was given, so nothing could prove the code: only tests that the model wrote speak for it."
    if spec and spec.worded:
        quoted = [f"{one.test} (“{one_line(one.quote, 80)}”)" for one in spec.worded]
        were = "was" if len(quoted) == 1 else "were"
        yield (
            f"{plural(len(quoted), 'example')} {were} read from the words. Each decides if versions "
            f"that were written independently pass it: {_list(quoted)}"
        )
    if suite.model:
        dropped = sum(event.dropped for event in run.all(TestsProposed))
        aside = f" ({dropped} more could not be used)" if dropped else ""
        yield (
            f"The model wrote {plural(len(suite.model), 'test')}{aside}. They rank versions and never decide against "
            f"a given one: {_list(suite.model)}"
        )
    if suite.added:
        yield (
            f"{plural(len(suite.added), 'test')} came later, for small changes of the code that no test noticed, and "
            f"count as well: {_list(suite.added)}"
        )
    if suite.pinned:
        says = "test only says" if len(suite.pinned) == 1 else "tests only say"
        yield (
            f"{len(suite.pinned)} {says} what the code does now. Such a test is pinned: it proves nothing and counts "
            f"nowhere. {_list(suite.pinned)}"
        )
    if frozen := run.last(TestsFrozen):
        yield f"From then on the tests stood as they were (hash {frozen.sha256[:12]})."


def _split(run: Run) -> list[list[Event]]:
    """The events of the work, a part for each time the agent set out again or was taken up again."""
    parts: list[list[Event]] = [[]]
    over = False
    for event in run.events:
        match event:
            case Decided(choice="refine") | Resumed() | Mutated() | Asked(purpose="inputs"):
                over = True
            case Decided(moves=moves) if moves:
                over = True
        if over and isinstance(event, BEGINNINGS) and any(isinstance(e, WORK) for e in parts[-1]):
            parts.append([])
        parts[-1].append(event)
        over = isinstance(event, STEPS) or (over and not isinstance(event, BEGINNINGS))
    return parts


def _explain_round(run: Run, events: Sequence[Event], number: int) -> Iterator[str]:
    """Which round it is, or that the run was taken up again; why it began, what was asked for, and what came of it."""
    match events[0] if events else None:
        case Resumed(answers=answers, at=at):
            on_record = f"with {plural(answers, 'answer')} on record that need no asking"
            yield f"Taken up again on {_format_time(at)}, {on_record}."
        case Decided(moves=moves) if moves and moves[0].round:
            yield f"Round {moves[0].round}."
        case Decided(choice="refine", moves=(), check="") if number:
            yield f"Round {number}."
    yield from (describe(event) for event in events if isinstance(event, Decided) and event.choice != "judge")
    yield from (describe(event) for event in events if isinstance(event, Mutated))
    temperatures: dict[str, list[str]] = {}
    for event in events:
        if isinstance(event, Asked) and event.purpose not in NOT_VERSIONS:
            temperatures.setdefault(event.purpose, []).append(f"{event.temperature:g}")
    questions = []
    for purpose, warm in temperatures.items():
        often = f", {len(warm)} times" if len(warm) > 1 else ""
        warmth = f" (temperature {join_words(list(dict.fromkeys(warm)))})"
        questions.append(f"{PURPOSES.get(purpose, purpose)}{often}{warmth}")
    if questions:
        beside = "Side by side, the" if sum(map(len, temperatures.values())) > 1 else "The"
        yield f"{beside} model was asked for {join_words(questions)}."
    names = split_names(run.started.model)
    chosen = [move.model for event in events if isinstance(event, Decided) for move in event.moves]
    others = {names[place] for place in chosen if 0 < place < len(names)}
    if others:
        yield f"This time {join_words(sorted(others))} was asked."
    for event in events:
        match event:
            case CodeProposed():
                yield _explain_version(run, event)
            case Decided(choice="judge") if _went_on(run):
                yield describe(event)
            case Tweaked() | Compared() | Refused() | Strengthened() | Refined() | Reviewed():
                yield describe(event)


def _explain_cycles(run: Run) -> list[str]:
    """A paragraph for each version of a page: what it did, and what was found."""
    told: dict[int, list[str]] = {}
    for event in run.events:
        if isinstance(event, PageWritten | PageRefused | PageTold | PageObserved | PageJudged):
            head = [f"Cycle {event.cycle}."] if event.cycle not in told else []
            told.setdefault(event.cycle, head).append(describe(event))
    return [" ".join(dict.fromkeys(said)) for said in told.values()]


def _explain_build(run: Run) -> list[str]:
    """A paragraph for the plan, and one for each time that it was decided what comes next."""
    parts: list[list[str]] = [[]]
    for event in run.events:
        if isinstance(event, Decided | Resumed | Refused):
            parts.append([])
        if isinstance(event, (Decided, Resumed, Refused, AppPlanned, *BUILDING)):
            parts[-1].append(as_sentence(describe(event)))
    return [" ".join(said) for said in parts if said]


def _went_on(run: Run) -> bool:
    """Whether more was done once the tests passed: then that they did is no end."""
    return any(isinstance(event, (Mutated, *STEPS)) for event in run.events)


def _explain_version(run: Run, event: CodeProposed) -> str:
    """Where a version comes from, and what the tests said of it, or why they said nothing."""
    version = next(version for version in run.versions if version.number == event.version)
    same = [other.number for other in run.versions if other.number < version.number and other.code == version.code]
    if same and not version.problem:
        return f"Version {version.number} ({version.by}) is version {same[0]} once more."
    base = f", from {name_version(event.base)}" if event.base is not None else ""
    mended = f"; {event.mended}" if event.mended else ""
    called = f"Version {version.number} ({version.by}{base}{mended})" if version.number else "The code that was there"
    if version.problem:
        return f"{called} could not be run: {one_line(version.problem, 160).rstrip('.')}."
    if version.graded is None:
        return f"{called} did not meet the tests any more."
    graded = version.graded
    failed = read_suite(run).failures(graded)
    if not failed and graded.problem:
        return f"{called} gave no result: {one_line(graded.problem, 160).rstrip('.')}."
    total = len(graded.cases)
    if graded.passed == total:
        return f"{called} passed {'its one test' if total == 1 else f'all {total} tests'}."
    body, message = next(iter(failed.items()), ("", graded.problem))
    said = one_line(message.removeprefix(body).strip(), 160)
    where = f"; it fails first at `{one_line(body, 120)}`" if body else ""
    return f"{called} passed {graded.passed} of {plural(total, 'test')}{where}{f' ({said})' if said else ''}."


def _explain_end(run: Run) -> Iterator[str]:
    last = run.parts[-1]
    reasons = [describe(event) for event in last if isinstance(event, Decided) and event.choice == "judge"]
    # What works side by side stops at the same limit, which the decision to end, and the verdict, may say again.
    stops = {event.why: event for event in last if isinstance(event, Stopped) and event.reason != "done"}
    yield from [] if _went_on(run) or stops else dict.fromkeys(reasons)
    yield from (describe(event) for why, event in stops.items() if not (run.verdict and why == run.why))
    for event in last:
        match event:
            case RunFinished():
                aside = read_suite(run).set_aside(event.disputed).items()
                disputed = [f" Set aside as disputed, because {why}: {_list(tests)}" for why, tests in aside]
                carried = f" The result is version {event.version}." if event.version else ""
                headline, basis = add_confidence(event.verdict, event)
                sure = f" The confidence {basis.rstrip('.')}." if basis else ""
                yield f"Verdict: {headline}. {as_sentence(event.why)}{sure}{carried}{''.join(disputed)}"
            case FilesWritten():
                yield f"The result was written to {one_line(event.folder, 300)}: {', '.join(event.files)}."
            case Broke() | Applied():
                yield describe(event)
    yield from (as_sentence(describe(scored)) for scored in last if isinstance(scored, PageScored))
    if run.evidence:
        checks = [f"{item.check} {item.verdict.replace('_', ' ')} ({one_line(item.why, 100)})" for item in run.evidence]
        yield f"The checks on the final files said: {'; '.join(checks)}."
    if run.verdict is None:
        why = as_sentence(one_line(run.why, 400))
        yield f"There is no verdict: {why} Go on with: burnish resume {run.id}"


def _list(items: Sequence[str], mark: str = "`", most: int = 120) -> str:
    shown = "; ".join(f"{mark}{one_line(item, most)}{mark}" for item in items[:MOST_LISTED])
    more = len(items) - MOST_LISTED
    return f"{shown}; and {more} more." if more > 0 else f"{shown}."


def _format_time(moment: float) -> str:
    return datetime.fromtimestamp(moment).strftime("%d %B %Y at %H:%M").lstrip("0")
