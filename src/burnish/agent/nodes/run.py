"""run, tweak, select, probe: versions meet the tests, small edits of those that fail are tried, behaviours compared.

All of it is done in the sandbox, without asking the model. The behaviour that most versions share is chosen among those
that pass the same tests.
"""

import hashlib
import time
from collections.abc import Generator, Iterator

from burnish.agent.ask import Tools
from burnish.agent.packages import imported_modules, missing_modules
from burnish.agent.policy import support
from burnish.agent.state import TWEAK, AgentState, not_run
from burnish.checks.suite import Suite
from burnish.errors import SandboxError
from burnish.events import (
    CodeProposed,
    Compared,
    Event,
    Graded,
    Mutated,
    TestsFrozen,
    TestsProbed,
    TestsRan,
    Tweaked,
)
from burnish.events.history import Version
from burnish.search.behaviour_groups import (
    NO_VALUE,
    compare_key,
    describe_difference,
    find_differences,
    find_unasked_changes,
    group_versions,
    has_values,
)
from burnish.search.call_generator import CallClues, generate_calls_of_all, vary_calls, vary_operands
from burnish.search.edits import SearchResult, propose_edits
from burnish.search.seed_calls import seeds_from_tests

MOST_EDITS = 300
MOST_KEPT = 12
MOST_SECONDS = 30.0
"""Far more than edits take; it ends a suite that takes seconds a time."""
MOST_ANSWER_SECONDS = 10.0
"""The same for an answer's edits: in a project each is a run of pytest where the answer adds an import, and the model
needs the time more.
"""
A_ROUND = 2
"""Versions whose edits are tried in one round, the best first."""
MOST_RIVALS = 24
MOST_CALLS = 60
MOST_FAILING = 8
MOST_KEPT_CALLS, MOST_RIGHT, MOST_ASKED, MOST_SEEDS = 80, 20, 8, 16
"""Calls on which repairs are compared with the old code; those that passing tests make and that these are near to;
calls of failing tests; and calls of either that others are drawn from."""
DRAWS, MOST_DRAWS = 3, 6
"""Times that calls are drawn to tell versions apart: at first, and with all that later versions add."""
MOST_PROBES, MOST_SLOW_PROBES, PROBE_SECONDS = 40, 12, 10.0
"""Small edits that show how much the given tests notice: all in one quick job, elsewhere, and the time for them."""

Outputs = dict[int, tuple[str, ...]]
"""What each version gives for the calls."""


def run(state: AgentState, tools: Tools) -> Iterator[Event]:
    """Grade what waits; a version that cannot be run has said so already.

    A job that breaks in the sandbox says nothing about the code: that version counts as not run, and the work goes on,
    unless it was the second in a row and the sandbox cannot be used any more. Once time is over, nothing more is run,
    but the first answer there is: without it there would be nothing to judge. Nor does that end a run that is done, and
    only waits for further versions.
    """
    if not state.task.own_tests and state.run.last(TestsFrozen) is None:
        yield TestsFrozen(sha256=state.suite.sha256, given=len(state.deciding_tests))
    results = [(version.number, version.graded) for version in state.versions if version.graded]
    broken, tried = bool(results) and results[-1][1].not_run, any(number for number, _ in results)
    for version in state.versions:
        if version.problem or version.graded is not None:
            continue
        if tools.cancel.is_set():
            return
        basis = hash_basis(version, state.suite)
        recorded = tools.replay.graded(version.number, basis)
        yield from tools.replay.packages(version.number) if recorded else ()
        if recorded is None and tried and (over := tools.meter.over):
            yield from [] if state.stopped or (state.run.last(Mutated) and state.best_passes) else [over]
            return
        try:
            graded = recorded or (yield from _grade_with_packages(version, state.suite, tools))
            broken = False
        except SandboxError as error:
            if tools.cancel.is_set():
                return
            if broken:
                tools.sandbox.run(("true",))  # raises once more if no job can be run at all
            graded, basis, broken = not_run(error), "", True
        if tools.cancel.is_set():
            return
        tried = tried or version.number > 0
        yield TestsRan(version=version.number, graded=graded, basis=basis)


def _grade_with_packages(version: Version, suite: Suite, tools: Tools) -> Generator[Event, None, Graded]:
    """What the tests say, once packages that code or tests lack are there, or it is said why they cannot be."""
    graded = tools.ground.grade_quickly(version.code, suite)
    while tools.packages and not tools.cancel.is_set():
        sources = (version.code, suite.render(), *tools.ground.test_texts(suite))
        answer = tools.packages.add(graded, version.number, sources)
        if isinstance(answer, Graded):
            return answer
        yield answer
        graded = tools.ground.grade_quickly(version.code, suite)
    return graded


def grade_version(version: Version, suite: Suite, tools: Tools) -> TestsRan:
    """What all tests say of one more version. A job that breaks in the sandbox is no reason to end the work."""
    basis = hash_basis(version, suite)
    try:
        graded = tools.replay.graded(version.number, basis) or tools.ground.grade_quickly(version.code, suite)
    except SandboxError as error:
        graded, basis = not_run(error), ""
    return TestsRan(version=version.number, graded=graded, basis=basis)


def hash_basis(version: Version, suite: Suite) -> str:
    """What a result rests on, as a hash: the code and the tests."""
    tests = suite.model_dump_json(exclude=None if suite.worded else {"worded"})  # older records know none
    return hashlib.sha256(f"{version.code}\0{tests}".encode("utf-8", "replace")).hexdigest()


def tweak(state: AgentState, tools: Tools) -> Iterator[Event]:
    """Where no version passes the given tests, look one small step around the broken code and the best answers."""
    if "tweak" in tools.without:
        return
    number = state.next_version
    for base in _choose_bases(state, tools):
        if tools.cancel.is_set():
            return
        started = time.monotonic()
        codes: list[str] = []
        if recorded := tools.replay.take(Tweaked, base=base.number):
            tried = recorded.tried
            while known := tools.replay.take(CodeProposed, by=TWEAK, base=base.number):
                codes.append(known.code)
        else:
            codes, tried = _find_edits(state, tools, base)
        for code in codes:
            yield CodeProposed(version=number, code=code, by=TWEAK, round=state.round, base=base.number)
            yield grade_version(Version(number=number, code=code, by=TWEAK), state.suite, tools)
            number += 1
        yield Tweaked(base=base.number, tried=tried, passed=len(codes), seconds=time.monotonic() - started)


def _choose_bases(state: AgentState, tools: Tools) -> list[Version]:
    """Versions that run and fail a given test, while none passes them all; each is looked at once.

    Not those that only lack a package which cannot be had: no small edit brings it.
    """
    if not state.deciding_tests or state.rivals:
        return []
    done = {event.base for event in state.run.all(Tweaked)}
    fresh = [
        version
        for version in state.versions
        if version.by != TWEAK
        and version.graded
        and version.number not in done
        and not state.is_repeat(version)
        and not state.passes_given(version)
        and not (tools.packages and _lacks_only_a_package(version, version.graded, state, tools))
    ]
    return sorted(fresh, key=lambda version: (-state.score(version)[0], version.number))[:A_ROUND]


def _lacks_only_a_package(version: Version, graded: Graded, state: AgentState, tools: Tools) -> bool:
    """Whether everything that fails says that a module which code or tests import is not there."""
    failing = [case.message for case in graded.cases if case.outcome == "failed"]
    messages = [graded.problem] if graded.problem else failing
    texts = (version.code, state.suite.render(), *tools.ground.test_texts(state.suite))
    imports = frozenset(name for text in texts for name in imported_modules(text))
    return bool(messages) and all(missing_modules(Graded(problem=message), imports) for message in messages)


def _find_edits(state: AgentState, tools: Tools, base: Version) -> SearchResult:
    """The edits that pass every given test, likeliest first, and how many were tried.

    Attempts that share their tools search once; a search that was cut short is not shared.
    """
    name = state.spec.entry_point
    names = (name, *(state.task.suspects if base.number == 0 else ()))

    def search() -> tuple[SearchResult, bool]:
        codes: list[str] = []
        tried = 0
        most = MOST_ANSWER_SECONDS if base.number else MOST_SECONDS
        ends = time.monotonic() + min(most, tools.meter.seconds_left)
        for function in names:
            left = ends - time.monotonic()
            if tools.cancel.is_set() or left <= 0 or len(codes) >= MOST_KEPT:
                break
            edits = propose_edits(base.code, function, MOST_EDITS)
            try:
                good = tools.ground.passing([edit.code for edit in edits], state.suite, left, MOST_KEPT - len(codes))
            except SandboxError:
                continue
            codes += [edits[place].code for place in good]
            tried += len(edits)
        return (codes, tried), not tools.cancel.is_set() and time.monotonic() < ends

    # Searches are shared by code and script; tests that are more than plain asserts have none.
    script = state.suite.script()
    if tools.place is not None or not script:
        return search()[0]
    return tools.edits.find_or_search((base.code, name, script), search)


def select(state: AgentState, tools: Tools) -> Iterator[Event]:
    """Compare those that the tests cannot tell apart, as far as that has not been done.

    What behaves like code that is known to be wrong comes last.
    """
    rivals = state.rivals[:MOST_RIVALS]
    numbers = {version.number for version in rivals}
    compared = state.run.last(Compared)
    known = {number for group in compared.groups for number in group} if compared else set()
    differ = len({version.code for version in rivals}) > 1 or state.broken or not state.deciding_tests
    if "agreement" in tools.without or numbers in (known, set()) or not differ or tools.cancel.is_set():
        return
    recorded = tools.replay.take(Compared, fits=lambda one: {n for group in one.groups for n in group} == numbers)
    try:
        found = recorded or (None if tools.meter.over else compare_versions(state, tools, rivals))
    except SandboxError:  # ranking is a help, not a duty
        return
    if found and tools.prefer and not recorded:
        rates = tools.prefer.rate(state.task, state.spec, [version.code for version in rivals])
        rated = {"preferred": tuple(zip((one.number for one in rivals), rates, strict=True))}
        found = found.model_copy(update={**rated, "preferred_by": tools.prefer.name})
    if found:
        yield found


def probe(state: AgentState, tools: Tools) -> Iterator[Event]:
    """How many small edits of the best version fail a test that decides, and how much its answers vary.

    An example that any code passes says little, and so does agreement on answers that are nearly always the same. Not
    where that takes long: edits which nobody tried in time would count as noticed.
    """
    best, tests = state.best, len(state.deciding_tests)
    known = {(event.version, event.tests) for event in state.run.all(TestsProbed)}
    if best is None or (best.number, tests) in known or not tests or not state.passes_given(best):
        return
    if probed := tools.replay.take(TestsProbed, version=best.number, tests=tests):
        yield probed
        return
    if tools.cancel.is_set() or tools.meter.over:
        return
    most = MOST_PROBES if state.suite.script() and not tools.place else MOST_SLOW_PROBES
    edits = [edit.code for edit in propose_edits(best.code, state.spec.entry_point, most)]
    compared = state.run.last(Compared)
    calls = (compared.inputs if compared else _draw_calls(state, tools, [best], 0))[:MOST_CALLS]
    started = time.monotonic()
    try:
        unnoticed = tools.ground.passing(edits, state.suite, PROBE_SECONDS, most) if edits else ()
        is_late = time.monotonic() - started >= PROBE_SECONDS
        outputs = tools.ground.run_calls({best.number: best.code}, calls)[best.number]
    except SandboxError:  # a help, not a duty
        return
    if edits and not is_late:
        values = [value for value in compare_key(outputs) if value != NO_VALUE]
        yield TestsProbed(
            version=best.number,
            tests=tests,
            tried=len(edits),
            noticed=len(edits) - len(unnoticed),
            inputs=len(outputs),
            raised=len(outputs) - len(values),
            values=len({*values}),
        )


def compare_versions(state: AgentState, tools: Tools, rivals: list[Version]) -> Compared | None:
    """The rivals in groups, the likeliest first, with a call on which the first two differ.

    Answers that run and fail a test are asked too: wrong somewhere, they are still right elsewhere. None where no call
    gave any version a value: agreement over nothing says nothing.
    """
    numbers = {version.number for version in rivals}
    failing = [version for version in state.answers if version.graded and version.number not in numbers][:MOST_FAILING]
    base = [version for version in state.versions if version.number == 0]
    codes = {version.number: version.code for version in [*rivals, *failing, *base]}
    compared = state.run.last(Compared)
    asked, kept = (compared.asked, compared.kept) if compared else _find_old_calls(state, tools)
    old = tools.ground.run_calls(codes, kept)
    jurors = [version.number for version in rivals if version in state.answers]
    unasked = find_unasked_changes({number: old[number] for number in numbers}, old[0], jurors, kept) if kept else {}
    shortcuts = {one.number for one in rivals if state.shortcuts(one, asked)}
    ranked_last = (shortcuts, {*unasked})
    # What told versions apart before is asked of the new ones too; a later comparison adds one draw to it.
    calls = compared.inputs if compared else ()
    outputs = tools.ground.run_calls(codes, calls)
    groups = _group(state, {*numbers, 0}, outputs, ranked_last)
    first = len(calls) // MOST_CALLS
    for draw in range(first, min(first + 1, MOST_DRAWS) if calls else DRAWS):
        # The first group is one text: there is nothing left in it to tell apart.
        if calls and len({codes[number] for number in groups[0]}) == 1:
            break
        drawn = _draw_calls(state, tools, rivals, draw, (*asked, *kept)[:MOST_SEEDS])
        fresh = tuple(call for call in drawn if call not in calls)
        outputs = {number: outputs[number] + values for number, values in tools.ground.run_calls(codes, fresh).items()}
        calls += fresh
        groups = _group(state, {*numbers, 0}, outputs, ranked_last)
    if not any(map(has_values, (*outputs.values(), *old.values()))):
        return None
    ranked = tuple(group for group in (tuple(number for number in group if number) for group in groups) if group)
    pair = ([group[0] for group in ranked[:2]] + ([0] if base else []))[:2]
    unchanged = next((group for group in groups if 0 in group), (0,))[1:]
    said = [outputs[number] + old[number] for number in pair]
    return Compared(
        groups=ranked,
        inputs=calls,
        unchanged=unchanged,
        apart=describe_difference(said[0], said[1], (*calls, *kept)) if len(pair) > 1 else "",
        likeness=tuple(round(_likeness(state, group[-1], outputs), 4) for group in ranked),
        asked=asked,
        kept=kept,
        unasked=tuple(sorted(unasked.items())),
    )


def _find_old_calls(state: AgentState, tools: Tools) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of code to repair: the calls that failing tests make, and calls near those that passing tests make.

    A project's tests are run once more for that. Of an operator's method two equal objects are always tried.
    """
    base, name = state.base_version, state.spec.entry_point
    if not state.broken or base is None or base.graded is None:
        return (), ()
    passed = state.passed_tests(base)
    try:
        recorded = tools.ground.record_calls(base.code, name, state.suite)
    except SandboxError:  # a help, not a duty
        recorded = {}
    calls = {test: [seed.call() for seed in seeds_from_tests(name, [test])] for test in state.suite.given} | recorded
    asked = [call for test, some in calls.items() for call in some if test not in passed]
    right = [call for test, some in calls.items() for call in some if test in passed and call not in asked]
    equal = [call for one in dict.fromkeys(asked) for call in vary_operands(one)[:2]]
    kept = vary_calls([*dict.fromkeys(right)][:MOST_RIGHT], MOST_KEPT_CALLS)
    return tuple(dict.fromkeys(asked))[:MOST_ASKED], tuple(dict.fromkeys([*equal[:MOST_ASKED], *kept]))


def _draw_calls(
    state: AgentState, tools: Tools, versions: list[Version], draw: int, known: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Calls to see what versions do: near those of the tests, and with the constants of their code.

    `known` are calls that a project's tests were seen to make.
    """
    codes = tuple(dict.fromkeys(version.code for version in versions))
    seen = known if state.suite.project else ()
    clues = CallClues(state.suite.given, state.task.prompt, codes, tools.ground.test_texts(state.suite), seen)
    names = (state.spec.entry_point, *state.task.also)
    return generate_calls_of_all(names, state.spec.signature, clues, MOST_CALLS, draw)


def _group(
    state: AgentState, numbers: set[int], outputs: Outputs, doubts: tuple[set[int], set[int]]
) -> list[tuple[int, ...]]:
    """Behaviour that is known to be wrong last; then by doubts, by votes, by likeness to all answers, and by age.

    `doubts` are the repairs that take a shortcut, and those that change what no failing test asks for. The latter are
    a group apart from what behaves alike otherwise.
    """
    shortcuts, unasked = doubts

    def rank(group: tuple[int, ...]) -> tuple[float, ...]:
        votes = support(state.version(number) for number in group if number)
        doubtful = ({*group} <= shortcuts, {*group} <= unasked)
        return (
            0 in group and not state.shown_changed(group),
            *doubtful,
            -votes,
            -_likeness(state, group[-1], outputs),
            min(group),
        )

    compared = {number: values for number, values in outputs.items() if number in numbers}
    alike = [{*group} for group in group_versions(compared)]
    parts = [tuple(sorted(part)) for group in alike for part in (group - unasked, group & unasked) if part]
    return sorted(parts, key=rank)


def _likeness(state: AgentState, number: int, outputs: Outputs) -> float:
    """From 0 to 1: how much of what the model's other answers do this version does too, also of those that fail."""
    others = [one.number for one in state.answers if one.number in outputs and one.number != number]
    calls = max(1, len(outputs[number]))
    shares = [1 - len(find_differences(outputs[number], outputs[other])) / calls for other in others]
    return sum(shares) / len(shares) if shares else 0.0
