"""try_mutants and strengthen: break the version that passes in small ways, and make tests for what goes unnoticed.

Where too few versions were written independently to say what is right, `try_mutants` asks for more. `strengthen` looks
for inputs that tell code and mutant apart. A test is kept only if it passes, notices, and does so every time.
"""

import re
import time
from collections.abc import Generator, Iterator, Sequence

from burnish.agent import policy, prompts
from burnish.agent.answer.forms import find_blocks
from burnish.agent.ask import Tools, ask, drop_limits
from burnish.agent.nodes.draft import code_question, prompt_input, writing_prompt
from burnish.agent.nodes.run import grade_version
from burnish.agent.state import MORE_VERSIONS, AgentState, normalise_code
from burnish.checks.mutation.mutate_module import SurvivingModule
from burnish.checks.suite import Suite
from burnish.errors import CheckError, ModelError, SandboxError
from burnish.events import (
    Asked,
    Decided,
    Event,
    Graded,
    Move,
    Mutated,
    Notice,
    Stopped,
    Strengthened,
    Survivor,
    TestsFrozen,
    TestsRan,
)
from burnish.events.history import Version
from burnish.models.model import Ask
from burnish.parsing import parse_expression
from burnish.search.call_generator import CallClues, generate_calls_of_all
from burnish.search.seed_calls import seeds_from_tests
from burnish.search.standalone_tests import is_standalone
from burnish.strengthening.oracle import CallFilter, Expectation, Samples
from burnish.strengthening.prove import drop_unsteady, prove_by_grading
from burnish.strengthening.render_assert import LONGEST_CALL
from burnish.strengthening.search import Search, Subject
from burnish.strengthening.set_cover import Candidate, choose_tests
from burnish.tasks.assemble import offered_names
from burnish.tasks.examples import find_called_names, find_examples
from burnish.tasks.static_analysis import find_nondeterminism
from burnish.text import one_line, plural, strip_controls

MUTATE_SECONDS, SEARCH_LEAST_SECONDS = 20.0, 25.0
"""What must be left of the time to begin: mutants may take ten seconds, and the verdict comes after them."""
SAMPLE_SECONDS, QUESTION_SECONDS = 45.0, 30.0
"""The same before anybody is asked for more versions, or for inputs."""
SPARE_TOKENS = 900
"""More than an answer in an unusable form adds when it is asked for again."""
MOST_SAMPLES = 4
"""Beside the version itself: where there are many, one of them is always wrong."""
NEEDED: dict[policy.Strength, int] = {"small": 2, "middle": 2, "strong": 1}
"""Samples, beside the version itself, that must give the same before a value counts as agreed."""
MOST_ASKS: dict[policy.Strength, int] = {"small": 3, "middle": 3, "strong": 1}
ONE_MORE = 1
"""Asked beyond what is missing: of three answers one often fails what was given, or is a copy."""
SEARCH_SECONDS, PROOF_SECONDS = 9.0, 5.0
MORE_SECONDS = 3.0
"""For calls that the model thought of."""
ROUND_ASKS, ROUND_SECONDS = 8, 60.0
"""What must be left of calls and time before code that a test exposes is worked on again."""
TRIES = 3
WORTH_ASKING = 0.25
"""The share of mutants that no generated input tells apart, above which the model is asked for others: a few are most
often no mistakes at all, and on a laptop the question takes longer than all the rest."""
MOST_MUTANTS, MOST_GENERATED = 40, 60
PURPOSE = "inputs"
MOST_SHOWN, MOST_TOKENS, MOST_CALLS = 4, 200, 12
"""Mutants that the model is shown, and the length of its answer in tokens and calls."""
_LISTED = re.compile(r"^(?:\d+[.):]|[-*])\s+")


def try_mutants(state: AgentState, tools: Tools) -> Iterator[Event]:
    """Try mutants of the best version; where some survive and too few samples say what is right, ask for more."""
    best = state.best
    assert best is not None
    found = tools.replay.take(Mutated, version=best.number)
    if found is None:
        yield Notice(text=f"trying small changes of version {best.number}")
        found, started = Mutated(version=best.number, mutants=0, noticed=0), time.monotonic()
        if why := _explain_no_start(tools, MUTATE_SECONDS):
            found = found.model_copy(update={"why": why})
        elif tools.mutations:  # pinned tests say what the code does, so they may not speak for it
            tried = tools.mutations.of(best.code, state.suite.render(state.disputed, pinned=False))
            left = tuple(Survivor(key=one.key, line=one.line, said=one.said) for one in tried.unnoticed)
            figures = {
                "survivors": left,
                **tried.model_dump(include={"mutants", "noticed", "equivalent", "inputs", "why"}),
            }
            found = found.model_copy(update={**figures, "seconds": time.monotonic() - started})
    if tools.cancel.is_set():
        yield Stopped(reason="interrupted", why="stopped by the user")
        return
    yield found.model_copy(update={"at": time.time()})
    here = state.next_version
    recorded = tools.replay.take(
        Decided, lambda one: [move.version for move in one.moves][:1] == [here], choice=MORE_VERSIONS
    )
    moves = recorded.moves if recorded else plan_samples(state, tools) if found.survivors else ()
    if moves:
        known = 1 + len(independent_samples(state, best))
        alone = "one version alone cannot" if known == 1 else f"{known} versions are too few to"
        times = f" ({len(moves)} times)" if len(moves) > 1 else ""
        reason = (
            f"No test notices {len(found.survivors)} of {plural(found.mutants, 'small change')} to version "
            f"{found.version}, and {alone} say what is right there: writing it afresh{times}."
        )
        yield Decided(choice=MORE_VERSIONS, reason=reason, moves=moves)


def _explain_no_start(tools: Tools, least_seconds: float) -> str:
    """Why no mutants can be tried; empty where they can."""
    if tools.mutations is None or tools.place is not None:
        return "there is no place to try mutants in"
    return "too little time is left" if tools.meter.seconds_left < least_seconds else ""


def independent_samples(state: AgentState, version: Version) -> list[Version]:
    """Answers beside a version that are not made from it or from one another, the earliest first.

    Only those that pass what was given; where nothing was given, those that pass all that counts.
    """
    passes = state.passes_given if state.deciding_tests else state.passes_all
    able = [one for one in state.answers if one.graded and one.number != version.number and passes(one)]
    bases = {version.number, *(one.number for one in able)}
    return [one for one in able if one.base not in bases and one.number != version.base][:MOST_SAMPLES]


def plan_samples(state: AgentState, tools: Tools) -> tuple[Move, ...]:
    """Questions for as many further samples as are missing; nobody is asked a second time.

    None where they might not stay within the limits, each asked twice: more samples end no run that is done.
    """
    if state.best is None or any(decision.choice == MORE_VERSIONS for decision in state.run.all(Decided)):
        return ()
    level = policy.model_level(state)
    model = (tools.model, *tools.others)[level]
    strength = policy.strength(model.name)
    known = independent_samples(state, state.best)
    same = all(normalise_code(one.code) == normalise_code(state.best.code) for one in known)
    missing = max(NEEDED[strength] - len(known), int(same))
    if not missing:
        return ()
    moves = tuple(
        Move(kind="rewrite", version=number, round=state.round, temperature=policy.TEMPERATURE, model=level)
        for number in range(state.next_version, state.next_version + min(missing + ONE_MORE, MOST_ASKS[strength]))
    )
    ask = tools.with_limits(code_question(moves[0], writing_prompt(state, tools)), model)
    ask = ask.model_copy(update={"max_tokens": ask.max_tokens + SPARE_TOKENS})
    fits = tools.meter.seconds_left > SAMPLE_SECONDS and tools.meter.affords(ask, 2 * len(moves), model.name)
    return moves if fits else ()


def strengthen(state: AgentState, tools: Tools) -> Iterator[Event]:
    """Find inputs that tell code and mutant apart, and who says what is right there.

    All versions that pass what was given meet the new tests; which of them is the best may change by that.
    """
    assert state.best is not None
    ran: list[TestsRan] = []
    made = tools.replay.take(Strengthened, version=state.best.number)
    if made:
        asked = tools.replay.take(Asked, ask_id=f"{PURPOSE}-{state.best.number}")
        if asked:  # the question and its answer once more: they have been paid for
            fields = {name: getattr(asked, name) for name in Ask.model_fields}
            yield from _ask(tools, asked.ask_id, Ask(**{**fields, "seed": asked.seed - tools.seed}))
    else:
        made, ran = yield from _make_tests(state, tools, state.best)
    if tools.cancel.is_set():
        yield Stopped(reason="interrupted", why="stopped by the user")
        return
    yield made.model_copy(update={"at": time.time()})
    suite, frozen = _suite_with(state, made), state.run.last(TestsFrozen)
    if frozen and suite.sha256 != frozen.sha256:
        more = len(suite.added) + len(suite.pinned)
        yield TestsFrozen(sha256=suite.sha256, given=len(state.deciding_tests), model=len(suite.model), more=more)
        yield from (one.model_copy(update={"at": time.time()}) for one in ran or _meet(state, tools, suite))


def _make_tests(
    state: AgentState, tools: Tools, version: Version
) -> Generator[Event, None, tuple[Strengthened, list[TestsRan]]]:
    """What came of it, and what every version says to the new tests."""
    started, mutated = time.monotonic(), state.mutated
    nothing = Strengthened(version=version.number, noticed=mutated.noticed if mutated else 0)
    if mutated is None or not mutated.survivors:
        return nothing, []
    outside = find_nondeterminism(version.code, state.spec.entry_point)
    why = f"what it gives depends on {outside}, so no test may say what that is" if outside else ""
    if why := _explain_no_start(tools, SEARCH_LEAST_SECONDS) or why:
        return nothing.model_copy(update={"why": why}), []
    yield Notice(text=f"looking for tests that notice {plural(len(mutated.survivors), 'small change')}")
    try:
        tests, alike = yield from _generate_tests(state, tools, version, mutated)
        made, ran = _keep_stable(state, tools, nothing.model_copy(update={"alike": alike}), tests)
    except (SandboxError, CheckError) as error:
        made, ran = nothing.model_copy(update={"why": one_line(str(error), 160)}), []
    return made.model_copy(update={"seconds": time.monotonic() - started}), ran


def _generate_tests(
    state: AgentState, tools: Tools, version: Version, mutated: Mutated
) -> Generator[Event, None, tuple[list[Candidate], tuple[str, ...]]]:
    """Try generated inputs first, the model's second; then choose the few tests that notice most, and prove them.

    Returns the tests and the mutants that nothing told apart. Raises SandboxError, and CheckError where the mutants
    cannot be made anew.
    """
    assert tools.mutations is not None
    mutants = tools.mutations.again(version.code, [one.key for one in mutated.survivors][:MOST_MUTANTS])
    names = (state.spec.entry_point, *state.task.also)
    tests = (*state.suite.given, *state.suite.worded, *state.suite.model, *state.suite.added)
    known = tuple(test for test in tests if test not in state.disputed)
    settled = {seed.call() for name in names for seed in seeds_from_tests(name, known)}

    def propose(draw: int, modules: Sequence[str]) -> list[str]:
        """Generated calls of which no test says yet what is right."""
        clues = CallClues(known, state.task.prompt, modules, tools.ground.test_texts(state.suite))
        found = generate_calls_of_all(names, state.spec.signature, clues, MOST_GENERATED, draw)
        return [call for call in found if call not in settled]

    model = (tools.model, *tools.others)[policy.model_level(state)]
    others = tuple(one.code for one in independent_samples(state, version))
    subject = Subject(
        ground=tools.ground,
        code=version.code,
        samples=Samples(others, NEEDED[policy.strength(model.name)], normalise_code),
        mutants=mutants,
        known=CallFilter(names, state.suite.given or known),
        cancel=tools.cancel,
    )
    search = Search(subject, time.monotonic() + min(SEARCH_SECONDS, tools.meter.seconds_left))
    search.draw(propose)
    left = [one for one in mutants if one.key in search.alike]
    first_time = state.run.last(Strengthened) is None
    if len(left) > WORTH_ASKING * len(mutants) and first_time and not tools.cancel.is_set():
        calls = yield from _ask_for_calls(state, tools, version, left)
        search.until = time.monotonic() + MORE_SECONDS
        search.try_calls([call for call in calls if call not in settled], search.left)
    examples = [
        Candidate("", test, Expectation("", "spec", "the task's own words say so"))
        for test in find_examples(state.task.prompt)
        if test not in state.suite.names.values() and {*names} & {*find_called_names(test)}
    ]
    until = time.monotonic() + PROOF_SECONDS
    steady = drop_unsteady([*choose_tests(search.candidates), *examples], version.code, tools.sandbox)
    offered = offered_names(state.task)
    kept = choose_tests(prove_by_grading(steady, subject, lambda tests: Suite.of(names[0], (), tests, offered), until))
    noticed = frozenset[str]().union(*(one.notices for one in kept))
    return kept, tuple(key for key in search.alike if key not in noticed)


def _ask_for_calls(
    state: AgentState, tools: Tools, version: Version, left: Sequence[SurvivingModule]
) -> Generator[Event, None, tuple[str, ...]]:
    """Calls that the model thinks of; none where a limit forbids the question, which never ends the run."""
    if tools.meter.seconds_left < QUESTION_SECONDS:
        return ()
    changes = tuple(f"line {one.line}: {one.said}" for one in left[:MOST_SHOWN])
    messages = prompts.inputs(prompt_input(state, tools), version.code, changes)
    question = Ask(purpose=PURPOSE, messages=messages, max_tokens=MOST_TOKENS)
    text = yield from _ask(tools, f"{PURPOSE}-{version.number}", question)
    return read_calls(text, (state.spec.entry_point, *state.task.also))


def _ask(tools: Tools, ask_id: str, question: Ask) -> Generator[Event, None, str]:
    """What the model says; nothing where it cannot be asked, which ends no run that is done."""
    try:
        reply = yield from drop_limits(ask(tools, ask_id, question), [])
    except ModelError:
        return ""
    return reply.text if reply else ""


def read_calls(answer: str, names: Sequence[str]) -> tuple[str, ...]:
    """The calls in an answer, each once, that need nothing but plain values."""
    text = strip_controls(answer)
    lines = "\n".join(block for _, block in find_blocks(text)) or text
    tests = [_LISTED.sub("", line.strip()).strip("`") for line in lines.splitlines()]
    found = dict.fromkeys(seed.call() for name in names for seed in seeds_from_tests(name, tests))
    own = {name.partition(".")[0] for name in names}
    short = [call for call in found if len(call) <= LONGEST_CALL]
    return tuple([call for call in short if is_standalone(parse_expression(call), own)][:MOST_CALLS])


def _keep_stable(
    state: AgentState, tools: Tools, nothing: Strengthened, tests: Sequence[Candidate]
) -> tuple[Strengthened, list[TestsRan]]:
    """The tests that hold once more beside all others; one that does not is dropped."""
    for _ in range(TRIES):
        made = _add_tests(nothing, tests)
        suite = _suite_with(state, made)
        ran = list(_meet(state, tools, suite))
        outcomes = suite.outcomes(next((one.graded for one in ran if one.version == made.version), Graded()))
        unsure = [one for one in tests if (outcomes.get(one.test) != "passed") != one.expectation.exposes]
        if not unsure or not made.tests:
            is_in_vain = made.exposing and not _may_work_on(state, tools, made, ran)
            return made.model_copy(update={"aside": True}) if is_in_vain else made, ran
        tests = [one for one in tests if one not in unsure]
    return nothing, []


def _add_tests(nothing: Strengthened, tests: Sequence[Candidate]) -> Strengthened:
    """The tests on record; without pinned ones where the version is exposed, for it is about to change."""
    exposing = tuple(one.test for one in tests if one.expectation.exposes)
    kept = [one for one in tests if not exposing or not one.is_pinned]
    vouched = {key for one in kept if not one.is_pinned and not one.expectation.exposes for key in one.notices}
    pinned = {key for one in kept if one.is_pinned for key in one.notices} - vouched
    new = tuple(one.as_new_test() for one in kept)
    noticed = nothing.noticed + len(vouched)
    return nothing.model_copy(update={"tests": new, "exposing": exposing, "noticed": noticed, "pinned": len(pinned)})


def _may_work_on(state: AgentState, tools: Tools, made: Strengthened, ran: list[TestsRan]) -> bool:
    """Whether a version passes the exposing tests with all others, or another round may bring one."""
    after = state.after([made, *ran])
    if any(map(after.passes_all, after.versions)):
        return True
    move = Move(kind="rewrite", version=state.next_version, round=state.round + 1)
    question = tools.with_limits(code_question(move, writing_prompt(state, tools)))
    fits = tools.meter.affords(question, ROUND_ASKS, tools.model.name)
    return fits and state.round < tools.meter.limits.rounds and tools.meter.seconds_left > ROUND_SECONDS


def _suite_with(state: AgentState, made: Strengthened) -> Suite:
    pinned = tuple(new.test for new in made.tests if new.origin == "pinned")
    return state.suite_with(tuple(new.test for new in made.tests if new.origin != "pinned"), pinned)


def _meet(state: AgentState, tools: Tools, suite: Suite) -> Iterator[TestsRan]:
    """Every version that passes what was given, on all tests."""
    for version in state.rivals:
        if tools.cancel.is_set():
            return
        yield grade_version(version, suite, tools)
