"""select: versions that pass the same tests are run on many inputs; the behaviour that most of them share is chosen."""

from collections.abc import Iterator

from burnish.agent.ask import Tools
from burnish.agent.policy import support
from burnish.agent.state import AgentState
from burnish.errors import SandboxError
from burnish.events import Compared, Event
from burnish.events.history import Version
from burnish.search.behaviour_groups import describe_difference, find_differences, group_versions, has_values
from burnish.search.call_generator import CallClues, generate_calls_of_all

MOST_RIVALS = 24
MOST_CALLS = 60
MOST_FAILING = 8
DRAWS = 3

Outputs = dict[int, tuple[str, ...]]
"""What each version gives for the calls."""


def select(state: AgentState, tools: Tools) -> Iterator[Event]:
    """Compare those that the tests cannot tell apart, as far as that has not been done.

    What behaves like code that is known to be wrong comes last.
    """
    rivals = state.rivals[:MOST_RIVALS]
    numbers = {version.number for version in rivals}
    known = {number for group in state.groups for number in group}
    differ = len({version.code for version in rivals}) > 1 or state.broken or not state.deciding_tests
    if "agreement" in tools.without or not numbers - known or not differ or tools.cancel.is_set():
        return
    recorded = tools.replay.take(Compared, fits=lambda one: {n for group in one.groups for n in group} == numbers)
    try:
        found = recorded or (None if tools.meter.over else compare_versions(state, tools, rivals))
    except SandboxError:  # ranking is a help, not a duty
        return
    if found:
        yield found


def compare_versions(state: AgentState, tools: Tools, rivals: list[Version]) -> Compared | None:
    """The rivals in groups, the likeliest first, with a call on which the first two differ.

    Answers that run and fail a test are asked too: wrong somewhere, they are still right elsewhere. None where no call
    gave any version a value: agreement over nothing says nothing.
    """
    numbers = {version.number for version in rivals}
    failing = [version for version in state.answers if version.graded and version.number not in numbers][:MOST_FAILING]
    base = [version for version in state.versions if version.number == 0]
    codes = {version.number: version.code for version in [*rivals, *failing, *base]}
    clues = CallClues(
        state.suite.given,
        state.task.prompt,
        tuple(dict.fromkeys(version.code for version in rivals)),
        tools.ground.test_texts(state.suite),
    )
    calls: tuple[str, ...] = ()
    outputs: Outputs = {number: () for number in codes}
    for draw in range(DRAWS):  # each further draw looks for other inputs, to tell apart what is still alike
        names = (state.spec.entry_point, *state.task.also)
        fresh = generate_calls_of_all(names, state.spec.signature, clues, MOST_CALLS, draw)
        outputs = {number: outputs[number] + values for number, values in tools.ground.run_calls(codes, fresh).items()}
        calls += fresh
        groups = _group(state, {*numbers, 0}, outputs)
        # The first group is one text: there is nothing left in it to tell apart.
        if len({codes[number] for number in groups[0]}) == 1:
            break
    if not any(map(has_values, outputs.values())):
        return None
    kept = tuple(group for group in (tuple(number for number in group if number) for group in groups) if group)
    pair = [group[0] for group in kept[:2]] + ([0] if base else [])
    unchanged = next((group for group in groups if 0 in group), (0,))[1:]
    return Compared(
        groups=kept,
        inputs=calls,
        unchanged=unchanged,
        apart=describe_difference(outputs[pair[0]], outputs[pair[1]], calls) if len(pair) > 1 else "",
    )


def _group(state: AgentState, numbers: set[int], outputs: Outputs) -> list[tuple[int, ...]]:
    """Behaviour that is known to be wrong last; then by votes, by likeness to all answers, and by age."""

    def rank(group: tuple[int, ...]) -> tuple[float, ...]:
        votes, last = support(state.version(number) for number in group if number), group[-1]
        # From 0 to 1: how much of what the model's answers do this one does too, those that fail a test included.
        others = [one.number for one in state.answers if one.number in outputs and one.number != last]
        calls = max(1, len(outputs[last]))
        shares = [1 - len(find_differences(outputs[last], outputs[other])) / calls for other in others]
        likeness = sum(shares) / len(shares) if shares else 0.0
        return (0 in group, -votes, -likeness, min(group))

    compared = {number: values for number, values in outputs.items() if number in numbers}
    return sorted(group_versions(compared), key=rank)
