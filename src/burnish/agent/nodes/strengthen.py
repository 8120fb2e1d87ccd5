"""strengthen: tests for what goes unnoticed, each kept only if it passes, notices, and does so every time."""

import re
import time
from collections.abc import Generator, Iterator, Sequence

from burnish.agent import prompts
from burnish.agent.answer.forms import find_blocks
from burnish.agent.ask import Tools, ask
from burnish.agent.nodes.draft import code_question, prompt_input, writing_prompt
from burnish.agent.nodes.run import grade_version
from burnish.agent.nodes.survivors import independent_samples, samples_needed
from burnish.agent.normalise import normalise_code
from burnish.agent.state import AgentState
from burnish.checks.mutation.mutate_module import SurvivingModule
from burnish.checks.suite import Suite
from burnish.errors import CheckError, ModelError, SandboxError
from burnish.events import (
    Asked,
    Event,
    Graded,
    Move,
    Mutated,
    Notice,
    Stopped,
    Strengthened,
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

LEAST_SECONDS = 25.0
"""What must be left of the time."""
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
SPARE_SECONDS = 30.0
_LISTED = re.compile(r"^(?:\d+[.):]|[-*])\s+")


def strengthen(work: AgentState, tools: Tools) -> Iterator[Event]:
    """Find inputs that tell code and mutant apart, and who says what is right there.

    All versions that pass what was given meet the new tests; which of them is the best may change by that.
    """
    assert work.best is not None
    ran: list[TestsRan] = []
    made = tools.replay.take(Strengthened, version=work.best.number)
    if made:
        asked = tools.replay.take(Asked, ask_id=f"{PURPOSE}-{work.best.number}")
        if asked:  # the question and its answer once more: they have been paid for
            fields = {name: getattr(asked, name) for name in Ask.model_fields}
            yield from _ask(tools, asked.ask_id, Ask(**{**fields, "seed": asked.seed - tools.seed}))
    else:
        made, ran = yield from _make_tests(work, tools, work.best)
    if tools.cancel.is_set():
        yield Stopped(reason="interrupted", why="stopped by the user")
        return
    yield made.model_copy(update={"at": time.time()})
    suite = _suite_with(work, made)
    if work.frozen and suite.sha256 != work.frozen.sha256:
        more = len(suite.added) + len(suite.pinned)
        yield TestsFrozen(sha256=suite.sha256, given=len(work.deciding_tests), model=len(suite.model), more=more)
        yield from (one.model_copy(update={"at": time.time()}) for one in ran or _meet(work, tools, suite))


def _make_tests(
    work: AgentState, tools: Tools, version: Version
) -> Generator[Event, None, tuple[Strengthened, list[TestsRan]]]:
    """What came of it, and what every version says to the new tests."""
    started, mutated = time.monotonic(), work.mutated
    nothing = Strengthened(version=version.number, noticed=mutated.noticed if mutated else 0)
    if mutated is None or not mutated.survivors:
        return nothing, []
    why = ""
    if tools.mutations is None:
        why = "there is no place to try mutants in"
    elif tools.meter.seconds_left < LEAST_SECONDS:
        why = "too little time is left"
    elif outside := find_nondeterminism(version.code, work.spec.entry_point):
        why = f"what it gives depends on {outside}, so no test may say what that is"
    if why:
        return nothing.model_copy(update={"why": why}), []
    yield Notice(text=f"looking for tests that notice {plural(len(mutated.survivors), 'small change')}")
    try:
        tests, alike = yield from generate_tests(work, tools, version, mutated)
        made, ran = _keep_stable(work, tools, nothing.model_copy(update={"alike": alike}), tests)
    except (SandboxError, CheckError) as error:
        made, ran = nothing.model_copy(update={"why": one_line(str(error), 160)}), []
    return made.model_copy(update={"seconds": time.monotonic() - started}), ran


def generate_tests(
    work: AgentState, tools: Tools, version: Version, mutated: Mutated
) -> Generator[Event, None, tuple[list[Candidate], tuple[str, ...]]]:
    """Try generated inputs first, the model's second; then choose the few tests that notice most, and prove them.

    Returns the tests and the mutants that nothing told apart. Raises SandboxError, and CheckError where the mutants
    cannot be made anew.
    """
    assert tools.mutations is not None
    mutants = tools.mutations.again(version.code, [one.key for one in mutated.survivors][:MOST_MUTANTS])
    names = (work.spec.entry_point, *work.task.also)
    tests = (*work.suite.given, *work.suite.model, *work.suite.added)
    known = tuple(test for test in tests if test not in work.disputed)
    settled = {seed.call() for name in names for seed in seeds_from_tests(name, known)}

    def propose(draw: int, modules: Sequence[str]) -> list[str]:
        """Generated calls of which no test says yet what is right."""
        clues = CallClues(known, work.task.prompt, modules, tools.ground.test_texts(work.suite))
        found = generate_calls_of_all(names, work.spec.signature, clues, MOST_GENERATED, draw)
        return [call for call in found if call not in settled]

    others = tuple(one.code for one in independent_samples(work, version))
    subject = Subject(
        ground=tools.ground,
        code=version.code,
        samples=Samples(others, samples_needed(work, tools), normalise_code),
        mutants=mutants,
        known=CallFilter(names, work.suite.given or known),
        cancel=tools.cancel,
    )
    search = Search(subject, time.monotonic() + min(SEARCH_SECONDS, tools.meter.seconds_left))
    search.draw(propose)
    left = [one for one in mutants if one.key in search.alike]
    if len(left) > WORTH_ASKING * len(mutants) and not work.strengthened and not tools.cancel.is_set():
        calls = yield from _ask_for_calls(work, tools, version, left)
        search.until = time.monotonic() + MORE_SECONDS
        search.try_calls([call for call in calls if call not in settled], search.left)
    examples = [
        Candidate("", test, Expectation("", "spec", "the task's own words say so"))
        for test in find_examples(work.task.prompt)
        if test not in work.suite.names.values() and {*names} & {*find_called_names(test)}
    ]
    until = time.monotonic() + PROOF_SECONDS
    candidates = [*choose_tests(search.candidates), *examples]
    steady = drop_unsteady(candidates, version.code, tools.sandbox) if tools.place is None else candidates
    offered = offered_names(work.task)
    proven = prove_by_grading(steady, subject, lambda tests: Suite.of(names[0], (), tests, offered), until)
    kept = choose_tests(proven)
    noticed = frozenset[str]().union(*(one.notices for one in kept))
    return kept, tuple(key for key in search.alike if key not in noticed)


def _ask_for_calls(
    work: AgentState, tools: Tools, version: Version, left: Sequence[SurvivingModule]
) -> Generator[Event, None, tuple[str, ...]]:
    """Calls that the model thinks of; none where a limit forbids the question, which never ends the run."""
    changes = tuple(f"line {one.line}: {one.said}" for one in left[:MOST_SHOWN])
    messages = prompts.inputs(prompt_input(work), version.code, changes)
    asking = Ask(purpose=PURPOSE, messages=messages, max_tokens=MOST_TOKENS)
    if tools.meter.refusal(tools.with_limits(asking), tools.model.name) or tools.meter.seconds_left < SPARE_SECONDS:
        return ()
    text = yield from _ask(tools, f"{PURPOSE}-{version.number}", asking)
    return read_calls(text, (work.spec.entry_point, *work.task.also))


def _ask(tools: Tools, ask_id: str, asking: Ask) -> Generator[Event, None, str]:
    """What the model says; nothing where it cannot be asked, which ends no run that is done."""
    events = ask(tools, ask_id, asking)
    try:
        while True:
            event = next(events)
            if not isinstance(event, Stopped) or event.reason == "interrupted":
                yield event
    except StopIteration as ended:
        return ended.value.text if ended.value else ""
    except ModelError:
        return ""


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
    work: AgentState, tools: Tools, nothing: Strengthened, tests: Sequence[Candidate]
) -> tuple[Strengthened, list[TestsRan]]:
    """The tests that hold once more beside all others; one that does not is dropped."""
    for _ in range(TRIES):
        made = _add_tests(nothing, tests)
        suite = _suite_with(work, made)
        ran = list(_meet(work, tools, suite))
        outcomes = suite.outcomes(next((one.graded for one in ran if one.version == made.version), Graded()))
        unsure = [one for one in tests if (outcomes.get(one.test) != "passed") != one.expectation.exposes]
        if not unsure or not made.tests:
            return _set_aside(work, tools, made, ran), ran
        tests = [one for one in tests if one not in unsure]
    return nothing, []


def _add_tests(nothing: Strengthened, tests: Sequence[Candidate]) -> Strengthened:
    """The tests on record; without pinned ones where the version is exposed, for it is about to change."""
    exposing = [one.test for one in tests if one.expectation.exposes]
    kept = [one for one in tests if not exposing or not one.is_pinned]
    vouched = {key for one in kept if not one.is_pinned and not one.expectation.exposes for key in one.notices}
    pinned = {key for one in kept if one.is_pinned for key in one.notices} - vouched
    new = [one.as_new_test() for one in kept]
    noticed = nothing.noticed + len(vouched)
    more = {"tests": tuple(new), "exposing": tuple(exposing), "noticed": noticed, "pinned": len(pinned)}
    return nothing.model_copy(update=more)


def _set_aside(work: AgentState, tools: Tools, made: Strengthened, ran: list[TestsRan]) -> Strengthened:
    """With a word on exposing tests that no version passes, where nothing can be done about that any more."""
    after = work.after([made, *ran])
    if not made.exposing or any(map(after.passes_all, after.versions)):
        return made
    move = Move(kind="rewrite", version=work.next_version, round=work.round + 1)
    fits = tools.meter.affords(
        tools.with_limits(code_question(move, writing_prompt(work))), ROUND_ASKS, tools.model.name
    )
    able = fits and work.round < tools.meter.limits.rounds and tools.meter.seconds_left > ROUND_SECONDS
    return made if able else made.model_copy(update={"aside": True})


def _suite_with(work: AgentState, made: Strengthened) -> Suite:
    pinned = tuple(new.test for new in made.tests if new.origin == "pinned")
    return work.suite_with(tuple(new.test for new in made.tests if new.origin != "pinned"), pinned)


def _meet(work: AgentState, tools: Tools, suite: Suite) -> Iterator[TestsRan]:
    """Every version that passes what was given, on all tests."""
    for version in work.rivals:
        if tools.cancel.is_set():
            return
        yield grade_version(version, suite, tools)
