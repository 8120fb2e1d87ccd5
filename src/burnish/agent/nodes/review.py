"""review: a person looks at what there is, if one wants to, and says how to go on."""

from collections.abc import Generator, Iterator
from functools import partial

from burnish.agent import prompts
from burnish.agent.ask import Shown, Tools
from burnish.agent.extract import problem_with
from burnish.agent.nodes.draft import propose, question, wanted
from burnish.agent.nodes.judge import other_checks
from burnish.agent.reviewing import ENDED, MOST_ASKED, MOST_LOOKS, MOST_VERSIONS, enough, look, refused
from burnish.agent.work import FROM_ONE, PERSON, REVIEW, USER, Work
from burnish.checks.tests import TestsCheck
from burnish.events import CheckFinished, CodeProposed, Event, Evidence, Move, Reviewed, Stopped
from burnish.runs.run import Version
from burnish.text import counted, one_line

NOT_KEPT = "not kept"
Made = Generator[Event, None, CodeProposed | str]
"""A version for what a person said, or why there is none."""


def review(work: Work, tools: Tools) -> Iterator[Event]:
    """Show code, tests and checks before the verdict. A version for what the person says goes to the tests."""
    if work.best is None or (work.reviewed and work.reviewed[-1].said == "stop"):
        return
    code, tests = work.best.code, work.suite.render(work.disputed)
    note = _became(work)
    if note.startswith(NOT_KEPT):
        yield refused("what you wanted of the code", note)
    for _ in range(MOST_LOOKS):
        shown = Shown(where="checks", tests=tests, code=code, note=note)
        said = yield from look(shown, tools, partial(_evidence, work, tools))
        if said is None or said.said == "go_on" or tools.cancel.is_set():
            return
        if said.said == "stop":
            yield Stopped(reason="review", why=ENDED)
            return
        made = yield from _made(work, tools, said)
        if isinstance(made, CodeProposed) and not made.problem:
            return
        work = work if isinstance(made, str) else work.after([made])
        note = made if isinstance(made, str) else f"version {made.version} cannot be run: {made.problem}"
        yield refused("what you said about the code", note)
    yield enough()


def _made(work: Work, tools: Tools, said: Reviewed) -> Made:
    """The person's own version, or the model's for their words."""
    if over := tools.meter.over:
        return f"{over.why}, so nothing more can be run"
    theirs = [version for version in work.versions if version.by in PERSON]
    if len(theirs) >= MOST_VERSIONS:
        return f"{MOST_VERSIONS} versions were made at your word already; begin anew from here with --from"
    if said.said == "edited":
        return (yield from _edited(work, said.text))
    if sum(version.by == REVIEW for version in theirs) >= MOST_ASKED:
        return f"the model was asked {MOST_ASKED} times already; edit the code yourself, or go on"
    return (yield from _asked(work, tools, said))


def _edited(work: Work, text: str) -> Made:
    """The person's file as a version, if it can be run at all."""
    assert work.best is not None
    problem = problem_with(text, work.spec.signature, work.task.also)
    if problem or text == work.best.code:
        return problem or "the file is as it was"
    made = CodeProposed(version=work.next_version, code=text, by=USER, round=work.round, base=work.best.number)
    yield made
    return made


def _asked(work: Work, tools: Tools, said: Reviewed) -> Made:
    """The best version with what the person wants changed in it. Optional: no limit is ever reached by it."""
    assert work.best is not None
    words = _words(said, work.best)
    if not words:
        return f"the code has no line {said.line}" if said.said == "comment" else "say what to change"
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


def _words(said: Reviewed, version: Version) -> str:
    """What the person said, with the line it is about; empty where there is no such line, or nothing was said."""
    if said.said != "comment":
        return said.words.strip()
    lines = dict(enumerate(version.code.rstrip().split("\n"), 1))
    line = lines.get(said.line or 0)
    return "" if line is None else f"About the line `{line.strip()}`: {said.words.strip()}"


def _became(work: Work) -> str:
    """What became of the last version that was made for the person; empty where there is none."""
    theirs = [version for version in work.versions if version.by in PERSON and version.graded]
    if not theirs or work.best is None:
        return ""
    last = theirs[-1]
    if _leads_to(work, last, work.best):
        return f"version {last.number} is what you wanted, and it is taken{_set_aside(work, last)}"
    failure = work.first_failure(last)
    if failure is None:
        return f"{NOT_KEPT}: version {last.number} gave no result"
    return f"{NOT_KEPT}: version {last.number} fails {one_line(failure[0])} ({_whose(work, failure[0])})"


def _set_aside(work: Work, version: Version) -> str:
    count = sum(work.fails(version, test) for test in work.overruled)
    are = "is" if count == 1 else "are"
    return f"; {counted(count, 'test')} that it fails {are} set aside" if count else ""


def _whose(work: Work, test: str) -> str:
    if test in work.suite.added:
        return "versions agree on it"
    return "given" if test in work.deciding else "the model's"


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
