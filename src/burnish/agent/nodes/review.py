"""review: a person looks at what there is, if one wants to, and says how to go on."""

from collections.abc import Generator, Iterator

from burnish.agent import prompts
from burnish.agent.answer.code import find_problem
from burnish.agent.ask import Checkpoint, Tools
from burnish.agent.human_review import ENDED, MOST_ASKED, MOST_LOOKS, MOST_VERSIONS, look, refuse_more_looks
from burnish.agent.nodes.draft import code_question, prompt_input, propose
from burnish.agent.nodes.judge import run_other_checks
from burnish.agent.state import BY_PERSON, DERIVED, REVIEW, USER, AgentState
from burnish.checks.tests import TestsCheck
from burnish.events import CheckFinished, CodeProposed, Event, Evidence, Move, Refused, Reviewed, Stopped
from burnish.events.history import Version
from burnish.text import one_line

VersionOrWhy = Generator[Event, None, CodeProposed | str]
"""A version for what a person said, or why there is none."""


def review(state: AgentState, tools: Tools) -> Iterator[Event]:
    """Show code, tests and checks before the verdict. A version for what the person says goes to the tests."""
    best, reviews = state.best, state.run.all(Reviewed)
    if best is None or (reviews and reviews[-1].said == "stop"):
        return
    tests = state.suite.render(state.disputed)
    theirs = [version for version in state.versions if version.by in BY_PERSON and version.graded]
    note = ""
    ancestors, version = [best.number], best
    while version.by in DERIVED and version.base:
        version = state.version(version.base)
        ancestors.append(version.number)
    if theirs and theirs[-1].number in ancestors:
        note = f"version {theirs[-1].number} is what you wanted, and it is taken"
    elif theirs:
        failure = state.first_failure(theirs[-1])
        why = f"it fails {one_line(failure[0])}" if failure else "it gave no result"
        note = f"version {theirs[-1].number} is not kept: {why}"
        yield Refused(what="what you wanted of the code", why=one_line(note, 300))

    def evidence() -> tuple[Evidence, ...]:
        """What the judge would be told now; it need not ask again for the same files."""
        without_pinned = state.suite.model_copy(update={"pinned": ()})
        found = TestsCheck(state.disputed).judge(best.code, without_pinned, tools.ground)
        others = run_other_checks(state, best.code, found.verdict == "passed", tools)
        return (found, *(event.evidence for event in others if isinstance(event, CheckFinished)))

    for _ in range(MOST_LOOKS):
        shown = Checkpoint(where="checks", tests=tests, code=best.code, note=note)
        said = yield from look(shown, tools, evidence)
        if said is None or said.said == "go_on" or tools.cancel.is_set():
            return
        if said.said == "stop":
            yield Stopped(reason="review", why=ENDED)
            return
        made = yield from _make_version(state, tools, best, said)
        if isinstance(made, CodeProposed) and not made.problem:
            return
        note = made if isinstance(made, str) else f"version {made.version} cannot be run: {made.problem}"
        state = state if isinstance(made, str) else state.after([made])
        yield Refused(what="what you said about the code", why=one_line(note, 300))
    yield refuse_more_looks()


def _make_version(state: AgentState, tools: Tools, best: Version, said: Reviewed) -> VersionOrWhy:
    """The person's own version, or the model's for their words."""
    if over := tools.meter.over:
        return f"{over.why}, so nothing more can be run"
    theirs = [version.by for version in state.versions if version.by in BY_PERSON]
    if len(theirs) >= MOST_VERSIONS:
        return f"{MOST_VERSIONS} versions were made at your word already; begin anew from here with --from"
    if said.said != "edited":
        if theirs.count(REVIEW) >= MOST_ASKED:
            return f"the model was asked {MOST_ASKED} times already; edit the code yourself, or go on"
        return (yield from _ask_for_change(state, tools, best, said))
    problem = find_problem(said.text, state.spec.signature, state.task.also)
    if problem or said.text == best.code:
        return problem or "the file is as it was"
    made = CodeProposed(version=state.next_version, code=said.text, by=USER, round=state.round, base=best.number)
    yield made
    return made


def _ask_for_change(state: AgentState, tools: Tools, best: Version, said: Reviewed) -> VersionOrWhy:
    """The best version with what the person wants changed in it. Optional: no limit is ever reached by it."""
    words, suite = said.words.strip(), state.suite
    if said.said == "comment":
        line = dict(enumerate(best.code.rstrip().split("\n"), 1)).get(said.line or 0)
        if line is None:
            return f"the code has no line {said.line}"
        words = f"About the line `{line.strip()}`: {words}"
    if not words:
        return "say what to change"
    move = Move(kind=REVIEW, version=state.next_version, round=state.round, base=best.number)
    kept = [test for test in (*suite.model, *suite.added) if test not in state.disputed]
    messages = prompts.change(prompt_input(state), best.code, words, (*suite.given, *kept))
    if limit := tools.meter.refusal(tools.with_limits(code_question(move, messages)), tools.model.name):
        return f"{limit.why}, so the model cannot be asked; edit the code yourself, or go on"
    why = "the model did not answer"
    for event in propose(state, tools, move, messages):
        if isinstance(event, Stopped) and event.reason != "interrupted":
            why = event.why
            continue
        yield event
        if isinstance(event, CodeProposed):
            return event
    return why
