"""What comes next: judge, stop, or another round of questions, and which; every turn of the road is on record.

Which questions make up a round is in small tables, chosen on MBPP 511-600 and bugs planted in them. How and with which
figures: docs/design/agent.md.
"""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Literal

from burnish.agent.ask import Tools
from burnish.agent.confidence import weigh
from burnish.agent.places import choose_place
from burnish.agent.state import GIVEN, TWEAK, AgentState
from burnish.errors import ModelError
from burnish.events import (
    Compared,
    Decided,
    Event,
    Move,
    Mutated,
    QuestionAnswered,
    QuestionAsked,
    Stopped,
    TestsFrozen,
    Tweaked,
)
from burnish.events.history import Version
from burnish.models.names import read_billions
from burnish.tasks.examples import describe_test
from burnish.text import one_line, plural

Strength = Literal["small", "middle", "strong"]
Case = Literal["write", "repair", "repair without words", "repair in a project"]

WIDTHS: dict[Strength, tuple[int, ...]] = {"small": (1, 2, 3, 4), "middle": (1, 2, 3, 4), "strong": (1, 1, 2)}
"""Questions in each round, the last number for all later ones: the first answer is often enough, so it stands alone."""

FIRST: dict[tuple[Strength, Case], str] = {("small", "repair"): "draft"}
"""What is asked first, greedily, where it is not the draft of new code or the repair of broken code: the smallest write
better than they repair.

In a project everybody repairs: what is written afresh knows nothing of the attributes and helpers around it.
"""

LATER: dict[tuple[Strength, Case], tuple[str, ...]] = {
    ("small", "write"): ("rewrite", "rewrite", "repair"),
    ("small", "repair"): ("rewrite", "repair", "rewrite"),
    ("small", "repair without words"): ("repair", "rewrite", "repair"),
    ("middle", "write"): ("rewrite", "rewrite", "repair"),
    ("middle", "repair"): ("rewrite", "repair"),
    ("middle", "repair without words"): ("repair", "rewrite", "repair"),
    ("strong", "write"): ("repair", "rewrite"),
    ("strong", "repair"): ("rewrite", "repair"),
    ("strong", "repair without words"): ("repair", "rewrite"),
}
"""What is asked in later rounds, in turn; else repairs alone."""

TEMPERATURE = 0.7
"""Of every answer after the first, which is greedy. One that rises with the rounds was measured and earned nothing."""

EDIT_VOTE = 0.5
"""What small edits count for beside the model's answers, of which each counts 1: they are no independent opinions, so
many that behave alike count as one."""
MOST_ANSWERS = 6
"""Answers after which what passes all that counts is taken, however sure it is: the next ones rarely change that."""

PARTS = ("tweak", "rewrite", "repair", "portfolio", "agreement")
"""What an evaluation may leave out; "portfolio" is asking several questions in one round. Plans of earlier versions may
also name "reflect", "mending" and "warmth": the agent has none of them any more, so nothing has to be left out."""

NO_PROGRESS_ROUNDS = 2
SAME_ERROR = 3
ALTERNATING = 4
REPEATED_ROUNDS = 3
"""Rounds that bring only repetitions before a run ends: a smaller model has then said the same in nine answers."""
QUESTION, NO_QUESTION = "question", "no question"
"""The choices to ask the user what versions disagree on, and not to, where no call can be asked about."""
ENDS_WITH_QUESTION = ("rounds", "calls", "tokens", "dollars", "stuck")
"""Limits after which there is still time to ask the user."""
NO_ANSWER = "the model did not answer: "
"""How the problem of a version reads whose answer never came, before the error."""
MOVES_IN_WORDS = {
    "draft": "writing it from its description",
    "rewrite": "writing it afresh",
    "repair": "asking for the smallest change",
}


class Stuck(StrEnum):
    """Why a model would be asked in vain, in words for people."""

    REPEATS = "the last round only repeated earlier code"
    ALTERNATES = "the answers go back and forth between two versions"
    SAME_FAILURE = f"the last {SAME_ERROR} answers fail in the same way"
    NO_PROGRESS = f"no progress in {NO_PROGRESS_ROUNDS} rounds"


def decide(state: AgentState, tools: Tools) -> Iterator[Event]:
    """What comes next; before the work ends, a question about what versions disagree on, if one is left to ask."""
    for event in _choose_next(state, tools):
        judges = isinstance(event, Decided) and event.choice == "judge"
        stopped = event if isinstance(event, Stopped) else state.stopped
        in_time = stopped is None or stopped.reason in ENDS_WITH_QUESTION
        if (judges or isinstance(event, Stopped)) and in_time and may_ask(state, tools):
            groups = plural(len(state.differing_groups), "group")
            yield Decided(choice=QUESTION, reason=f"{groups} of versions disagree, and the user can settle it.")
        else:
            yield event


def may_ask(state: AgentState, tools: Tools) -> bool:
    """Whether versions disagree, and a question about that is left to ask. One that nobody answered is the last."""
    in_vain = False  # until versions are compared anew
    for event in state.run.events:
        if isinstance(event, Compared | QuestionAnswered):
            in_vain = False
        elif isinstance(event, Decided):
            in_vain = in_vain or event.choice == NO_QUESTION
    left = tools.questions - len(state.run.all(QuestionAsked))
    asks = left > 0 and state.run.open_question is None and not in_vain
    return asks and len(state.differing_groups) > 1 and not tools.meter.over and not tools.cancel.is_set()


def _choose_next(state: AgentState, tools: Tools) -> Iterator[Event]:
    """Judge, or another round; where the work is stuck the next model is asked, and where it only repeats itself and
    nobody is left to ask, it stops. A ModelError is raised only where nobody answers and there is nothing to judge.
    """
    limits = tools.meter.limits
    last = [version for version in state.answers if version.round == state.round]
    repeated = (only_repeats(state, state.round - back) for back in range(REPEATED_ROUNDS))
    # In this order: the user's word, a limit, success; only then is it worth asking why there is none.
    if tools.cancel.is_set() and not state.stopped:
        yield Stopped(reason="interrupted", why="stopped by the user")
    elif state.stopped:
        yield Decided(choice="judge", reason=f"The work ends here: {state.stopped.why}.")
    elif passes(state) and (is_settled(state, tools.confidence) or _can_only_end(state, tools)):
        yield Decided(choice="judge", reason=_explain_done(state))
    elif last and all(version.no_answer for version in last):
        error = last[-1].problem.removeprefix(NO_ANSWER)
        if state.best is None:
            raise ModelError(error)
        yield Stopped(reason="stuck", why=f"the model cannot be asked any more: {one_line(error, 160)}")
    elif state.answers and state.round >= limits.rounds:
        yield Stopped(reason="rounds", why=f"the limit of {limits.rounds} rounds is reached")
    elif place := choose_place(state, tools):
        yield place
        yield _plan_round(state.after([place]), tools)
    elif model_level(state) == len(tools.others) and all(repeated):
        yield Stopped(reason="stuck", why="the model only repeats itself")
    else:
        yield _plan_round(state, tools)


def _plan_round(state: AgentState, tools: Tools) -> Decided:
    """The questions that come next, to the cheapest model first, and to the next one once the work is stuck."""
    level = model_level(state)
    # Where a version passes, the same code once more is agreement.
    stuck = find_stuck(state) if level < len(tools.others) and not passes(state) else None
    level += bool(stuck)  # models are named from the cheapest to the dearest
    model = (tools.model, *tools.others)[level].name
    moves = plan_moves(state, model, max(1, tools.meter.calls_left), level, tools.without)
    counts = {move.kind: sum(other.kind == move.kind for other in moves) for move in moves}
    words = [f"{MOVES_IN_WORDS[kind]}{f' ({count} times)' if count > 1 else ''}" for kind, count in counts.items()]
    plan = " and ".join(words)
    if not state.answers:
        tests = state.task.own_tests and state.run.last(TestsFrozen) is None
        reason = f"{_explain_beginning(state)}: {plan}{', and tests of its own' if tests else ''}."
        return Decided(choice="begin" if tests else "ask", reason=reason, moves=moves)
    if stuck:
        reason = f"{_explain_standing(state)}, and {stuck}: going on with {model}, {plan}."
        return Decided(choice="turn", reason=reason, moves=moves)
    return Decided(choice="ask", reason=f"{_explain_standing(state)}: {plan}.", moves=moves)


def model_level(state: AgentState) -> int:
    """Which of the run's models was asked last."""
    return max((move.model for decision in state.run.all(Decided) for move in decision.moves), default=0)


def strength(model: str) -> Strength:
    """How much a model can be trusted with, from the size in its name; one that names no size is a large one."""
    billions = read_billions(model)
    if billions is None:
        return "middle" if model.startswith("local:") else "strong"
    return "small" if billions < 1 else "middle" if billions < 7 else "strong"


def support(versions: Iterable[Version]) -> float:
    """The votes for one behaviour."""
    made_by = [version.by for version in versions]
    answers = sum(by not in (GIVEN, TWEAK) for by in made_by)
    return answers + (EDIT_VOTE if TWEAK in made_by else 0)


def passes(state: AgentState) -> bool:
    """Whether the best version passes all that counts, and does not do what the broken code did."""
    return state.best_passes and not state.is_unchanged


def is_settled(state: AgentState, confidence: float) -> bool:
    """Whether a version that passes is as sure to be right as was asked for, or as can be."""
    done = state.run.last(Mutated) or any(one.choice == "judge" for one in state.run.all(Decided))
    if done or len(state.answers) >= MOST_ANSWERS:  # what was enough once stays enough
        return True
    assert state.best is not None, "only what passes can be settled"
    found = weigh(state, state.best)
    return found.share >= confidence and not found.is_thin


def _can_only_end(state: AgentState, tools: Tools) -> bool:
    """Whether no further version can be had, or the record says that the work was done here: an earlier Burnish was
    content with less.
    """
    last = [version for version in state.answers if version.round == state.round]
    spent = state.round >= tools.meter.limits.rounds or tools.meter.calls_left < 1
    silent = all(version.no_answer for version in last)
    return (bool(last) and (spent or silent)) or tools.replay.was_done(state.next_version)


def plan_moves(
    state: AgentState, model: str, most: int, level: int = 0, without: frozenset[str] = frozenset()
) -> tuple[Move, ...]:
    """The next round: at most `most` questions, to the model at `level`, for what was seen in this run so far.

    A repair shows the given code, else the best version; writing shows none.
    """
    round_ = state.round + 1 if state.answers else 0
    size = strength(model)
    case: Case = "write" if not state.broken else "repair" if state.task.described else "repair without words"
    case = "repair in a project" if state.broken and state.task.failing_tests else case
    widths = WIDTHS[size] if "portfolio" not in without else (1,)
    width = min(widths[min(round_, len(widths) - 1)], most)
    later = LATER.get((size, case), ("repair",))
    kinds = _kinds_in_turn(state, later, without) if state.answers else []
    if is_first := not state.answers_here:
        first = FIRST.get((size, case), "draft" if case == "write" else "repair")
        kinds = ["draft" if first in without else first, *kinds]
    base = 0 if state.broken else state.best.number if state.best else None
    return tuple(
        Move(
            kind=kind,
            version=state.next_version + place,
            round=round_,
            temperature=0.0 if is_first and not place else TEMPERATURE,
            model=level,
            base=base if kind == "repair" else None,
        )
        for place, kind in enumerate(kinds[:width])
    )


def _kinds_in_turn(state: AgentState, table: tuple[str, ...], without: frozenset[str]) -> list[str]:
    """The table's kinds from where the last round left off; repairs only where they make sense and got somewhere.

    Where nothing is left: afresh, else what was there once more, else the draft.
    """
    kinds = [kind for kind in table if kind not in without and (kind != "repair" or may_repair(state))]
    repairs = [version for version in state.answers if version.by == "repair"]
    in_vain = len(repairs) >= 2 and all(map(state.is_repeat, repairs))
    useful = [kind for kind in kinds if kind != "repair" or not in_vain] or kinds
    if not useful:
        again = "repair" if state.broken and "repair" not in without else "draft"
        useful = [again if "rewrite" in without else "rewrite"]
    # The turn follows from what was asked before, so a resumed run goes on with the same kind.
    asked = sum(version.by in table for version in state.answers)
    return [useful[(asked + place) % len(useful)] for place in range(8)]


def may_repair(state: AgentState) -> bool:
    """Whether there is code to show as wrong: what was broken before, else a best version that fails what was given.

    An answer that passes what was given is not called wrong for a test that the model wrote, or for nothing: such a
    test may well be wrong, so fresh versions have a vote on it, and nothing is bent to please it. A small edit that
    fails one is another matter: it may have been found by chance. So is a test that was added against the version.
    """
    best, suite = state.best, state.suite
    if state.broken or best is None:
        return state.broken
    failed = {*suite.names.values()} - state.passed_tests(best) - {*state.disputed}
    if failed & {*suite.added} and not failed & {*state.deciding_tests, *suite.model}:
        return True
    passes = bool(state.deciding_tests) and state.passes_given(best)
    return not (state.best_passes or (passes and best.by != TWEAK))


def only_repeats(state: AgentState, round_: int) -> bool:
    """Whether a round after the first brought answers, and only such as had been given before."""
    made = [version for version in state.answers if version.round == round_]
    return bool(made) and round_ > 0 and all(map(state.is_repeat, made))


def find_stuck(state: AgentState) -> Stuck | None:
    """Why the same model would be asked in vain; None while there is hope."""
    if only_repeats(state, state.round):
        return Stuck.REPEATS
    last = [version.code for version in state.answers[-ALTERNATING:]]
    if len(last) == ALTERNATING and last[0] == last[2] != last[1] == last[3]:
        return Stuck.ALTERNATES
    wrong = [state.first_failure(version) or version.problem for version in state.answers[-SAME_ERROR:]]
    if len(wrong) == SAME_ERROR and wrong[0] and len(set(wrong)) == 1:
        return Stuck.SAME_FAILURE
    best = state.best
    slow = best is not None and state.round >= NO_PROGRESS_ROUNDS and best.round <= state.round - NO_PROGRESS_ROUNDS
    return Stuck.NO_PROGRESS if slow else None


def _explain_beginning(state: AgentState) -> str:
    if not state.broken:
        return "Nothing is written yet"
    if edits := sum(version.by == TWEAK for version in state.rivals):
        return f"{plural(edits, 'small edit')} of the code would pass what was given; the model is asked as well"
    tried = state.run.last(Tweaked) is not None
    return "No small edit of the code passes what was given" if tried else "The code is known to be wrong"


def _explain_done(state: AgentState) -> str:
    assert state.best is not None
    aside = f"; {len(state.disputed)} disputed, set aside" if state.disputed else ""
    alike = len(state.group_of(state.best)) - 1
    agreed = f", and {plural(alike, 'other version')} behave{'s' if alike == 1 else ''} as it does" if alike else ""
    what = "all tests that count" if state.suite.names else "for right: there is no test, and versions agree"
    return f"Version {state.best.number} passes {what}{aside}{agreed}."


def _explain_standing(state: AgentState) -> str:
    if state.best is None:
        problem = state.answers[-1].problem if state.answers else "no answer"
        return f"No version can be run yet ({one_line(problem, 80)})"
    if state.best_passes:
        return f"Version {state.best.number} passes all tests that count, but that is not sure enough yet"
    if state.deciding_tests and state.passes_given(state.best):
        return f"Version {state.best.number} passes your tests but not all of the model's"
    failure = state.first_failure(state.best)
    what = one_line(describe_test(failure[0]), 60) if failure else "its tests"
    return f"Version {state.best.number} is the best so far but fails {what}"
