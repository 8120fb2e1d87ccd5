"""question: where versions that pass the same tests disagree, ask the one question whose answer decides most.

The rule: a question is on record before anybody is asked, and so is its answer before anything is done about it. Where
nobody answers it stays open, and the work ends as it would have ended without it.
"""

import time
from collections.abc import Iterable, Iterator

from burnish.agent.ask import Tools
from burnish.agent.nodes.run import grade_version
from burnish.agent.policy import NO_QUESTION, support
from burnish.agent.questions import OpenQuestion, as_test
from burnish.agent.state import AgentState
from burnish.errors import SandboxError
from burnish.events import Compared, Decided, Event, QuestionAnswered, QuestionAsked, Stopped, TestsFrozen
from burnish.search.questions import Familiar, Split, choose_call, dress_calls, parts_alike, shrink_calls
from burnish.text import plural

MOST_SMALLER = 120
"""Calls that are tried to find a simpler one that tells the versions apart as well."""
BEST = 4
"""Calls that simpler ones are made of."""


def question(state: AgentState, tools: Tools) -> Iterator[Event]:
    """Ask, and let every version meet the test that the answer is."""
    question_id = f"question-{len(state.run.all(QuestionAsked)) + 1}"
    asked = tools.replay.take(QuestionAsked, id=question_id) or _find_question(state, tools, question_id)
    if asked is None:
        why = "No short input with plain values tells the versions apart, so nobody is asked about them"
        yield Decided(choice=NO_QUESTION, reason=f"{why}.")
        return
    yield asked.model_copy(update={"at": time.time()})
    answered = tools.replay.take(QuestionAnswered, id=question_id)
    if answered is None and tools.settle and not tools.cancel.is_set():
        began = time.monotonic()
        with tools.meter.pause():
            answered = tools.settle(OpenQuestion(asked, state.suite.given))
        if answered:
            answered = answered.model_copy(update={"seconds": time.monotonic() - began})
    if tools.cancel.is_set():
        yield Stopped(reason="interrupted", why="stopped by the user")
        return
    if answered is None:
        return
    yield (answered := answered.model_copy(update={"at": time.time()}))
    if not answered.test:
        return
    state = state.after([asked, answered])
    suite, more = state.suite, len(state.suite.added) + len(state.suite.pinned)
    yield TestsFrozen(sha256=suite.sha256, given=len(state.deciding_tests), model=len(suite.model), more=more)
    for version in state.versions:
        if version.graded is not None and not tools.cancel.is_set():
            yield grade_version(version, suite, tools)


def _find_question(state: AgentState, tools: Tools, question_id: str) -> QuestionAsked | None:
    """The best question about the versions that are left; None where there is none that a person could answer."""
    compared, groups = state.run.last(Compared), state.differing_groups
    assert compared is not None, "only versions that were compared disagree"
    codes = {number: state.version(number).code for group in groups for number in group}
    familiar = Familiar(state.spec.entry_point, state.suite.given, state.task.prompt)
    asked = {event.id: event for event in state.run.all(QuestionAsked)}
    earlier = {event.call for event in asked.values()}
    # Where a user does not care, another call that parts the versions in the same way is the same question.
    dull = [asked[event.id] for event in state.run.all(QuestionAnswered) if event.said == "any"]

    def votes(numbers: Iterable[int]) -> float:
        return support(state.version(number) for number in numbers)

    def try_calls(calls: Iterable[str]) -> list[Split]:
        fresh = [call for call in dict.fromkeys(calls) if call not in earlier]
        found = choose_call(fresh, tools.ground.run_calls(codes, fresh), votes, familiar)
        # A test that cannot be written down is no answer to wait for.
        splits = [split for split in found if all(as_test(split.call, option.value) for option in split.options)]
        return [split for split in splits if not any(parts_alike(split.options, one.options) for one in dull)]

    try:
        smaller = shrink_calls([seed.call() for seed in familiar.seeds], MOST_SMALLER)
        first = try_calls((*compared.inputs, *smaller))
        best = [split.call for split in first[:BEST]]
        plain = dress_calls(best, familiar, MOST_SMALLER // 2)
        found = first + try_calls((*shrink_calls(best, MOST_SMALLER), *plain)) if first else []
    except SandboxError:  # a question is a help, not a duty
        return None
    if not found:
        return None
    chosen = max(found, key=lambda split: (split.worth, -len(split.call)))
    why = f"{plural(len(groups), 'group')} of versions pass the same tests and behave differently"
    return QuestionAsked(id=question_id, call=chosen.call, options=chosen.options, why=why)
