"""review: a person looks at what there is, if one wants to, and says how to go on."""

from collections.abc import Generator, Iterator
from functools import partial

from burnish.agent import prompts
from burnish.agent.ask import Shown, Tools
from burnish.agent.extract import problem_with
from burnish.agent.human_review import ENDED, MOST_ASKED, MOST_LOOKS, MOST_VERSIONS, enough_looks, look
from burnish.agent.nodes.draft import propose, question, wanted
from burnish.agent.nodes.judge import other_checks
from burnish.agent.work import FROM_ONE, PERSON, REVIEW, USER, Work
from burnish.checks.tests import TestsCheck
from burnish.events import CheckFinished, CodeProposed, Event, Evidence, Move, Refused, Reviewed, Stopped
from burnish.runs.run import Version
from burnish.text import one_line

Made = Generator[Event, None, CodeProposed | str]
"""A version for what a person said, or why there is none."""


def review(work: Work, tools: Tools) -> Iterator[Event]:
    """Show code, tests and checks before the verdict. A version for what the person says goes to the tests."""
    if work.best is None or (work.reviewed and work.reviewed[-1].said == "stop"):
        return
    code, tests = work.best.code, work.suite.render(work.disputed)
    theirs = [version for version in work.versions if version.by in PERSON and version.graded]
    note = ""
    if theirs and _leads_to(work, theirs[-1], work.best):
        note = f"version {theirs[-1].number} is what you wanted, and it is taken"
    elif theirs:
        failure = work.first_failure(theirs[-1])
        note = f"version {theirs[-1].number} is not kept: " + (
            f"it fails {one_line(failure[0])}" if failure else "it gave no result"
        )
        yield Refused(what="what you wanted of the code", why=one_line(note, 300))
    for _ in range(MOST_LOOKS):
        shown = Shown(where="checks", tests=tests, code=code, note=note)
        said = yield from look(shown, tools, partial(_evidence, work, tools))
        if said is None or said.said == "go_on" or tools.cancel.is_set():
            return
        if said.said == "stop":
            yield Stopped(reason="review", why=ENDED)
            return
        made = yield from _make_version(work, tools, said)
        if isinstance(made, CodeProposed) and not made.problem:
            return
        work = work if isinstance(made, str) else work.after([made])
        note = made if isinstance(made, str) else f"version {made.version} cannot be run: {made.problem}"
        yield Refused(what="what you said about the code", why=one_line(note, 300))
    yield enough_looks()


def _make_version(work: Work, tools: Tools, said: Reviewed) -> Made:
    """The person's own version, or the model's for their words."""
    assert work.best is not None
    if over := tools.meter.over:
        return f"{over.why}, so nothing more can be run"
    theirs = [version for version in work.versions if version.by in PERSON]
    if len(theirs) >= MOST_VERSIONS:
        return f"{MOST_VERSIONS} versions were made at your word already; begin anew from here with --from"
    if said.said != "edited":
        if sum(version.by == REVIEW for version in theirs) >= MOST_ASKED:
            return f"the model was asked {MOST_ASKED} times already; edit the code yourself, or go on"
        return (yield from _ask_for_change(work, tools, said))
    problem = problem_with(said.text, work.spec.signature, work.task.also)
    if problem or said.text == work.best.code:
        return problem or "the file is as it was"
    made = CodeProposed(version=work.next_version, code=said.text, by=USER, round=work.round, base=work.best.number)
    yield made
    return made


def _ask_for_change(work: Work, tools: Tools, said: Reviewed) -> Made:
    """The best version with what the person wants changed in it. Optional: no limit is ever reached by it."""
    assert work.best is not None
    words = said.words.strip()
    if said.said == "comment":
        line = dict(enumerate(work.best.code.rstrip().split("\n"), 1)).get(said.line or 0)
        if line is None:
            return f"the code has no line {said.line}"
        words = f"About the line `{line.strip()}`: {words}"
    if not words:
        return "say what to change"
    move = Move(kind=REVIEW, version=work.next_version, round=work.round, base=work.best.number)
    kept = [test for test in (*work.suite.model, *work.suite.added) if test not in work.disputed]
    messages = prompts.change(wanted(work), work.best.code, words, (*work.suite.given, *kept))
    if limit := tools.meter.refusal(tools.sized(question(move, messages)), tools.model.name):
        return f"{limit.why}, so the model cannot be asked; edit the code yourself, or go on"
    why = "the model did not answer"
    for event in propose(work, tools, move, messages):
        if isinstance(event, Stopped) and event.reason != "interrupted":
            why = event.why
            continue
        yield event
        if isinstance(event, CodeProposed):
            return event
    return why


def _leads_to(work: Work, first: Version, last: Version) -> bool:
    """Whether one version is the other, or what was made of it."""
    while last.number != first.number and last.by in FROM_ONE and last.base:
        last = work.version(last.base)
    return last.number == first.number


def _evidence(work: Work, tools: Tools) -> tuple[Evidence, ...]:
    """What the judge would be told now; it need not ask again for the same files."""
    assert work.best is not None
    code = work.best.code
    telling = work.suite.model_copy(update={"pinned": ()})
    tests = TestsCheck(work.disputed).judge(code, telling, tools.ground)
    events = other_checks(work, code, tests.verdict == "passed", tools)
    return (tests, *(event.evidence for event in events if isinstance(event, CheckFinished)))
