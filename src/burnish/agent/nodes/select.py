"""select: versions that pass the same tests are run on many inputs; the behaviour that most of them share is chosen."""

from collections.abc import Iterator, Sequence

from burnish.agent.agreement import apart, differences, groups_of, has_values
from burnish.agent.ask import Tools
from burnish.agent.inputs import Clues, calls_of_all
from burnish.agent.policy import support
from burnish.agent.work import Work
from burnish.errors import SandboxError
from burnish.events import Compared, Event
from burnish.runs.run import Version

MOST_RIVALS = 24
MOST_CALLS = 60
MOST_FAILING = 8
DRAWS = 3

Told = dict[int, tuple[str, ...]]
"""What each version answers to the calls."""


def select(work: Work, tools: Tools) -> Iterator[Event]:
    """Compare those that the tests cannot tell apart. What behaves like code that is known to be wrong comes last."""
    rivals = work.rivals[:MOST_RIVALS]
    if "agreement" in tools.without or not worth_it(work, rivals) or tools.cancel.is_set():
        return
    mine = _numbers(rivals)
    recorded = tools.replay.take(Compared, fits=lambda one: {n for group in one.groups for n in group} == mine)
    if recorded:
        yield recorded
        return
    if tools.meter.over:
        return
    try:
        found = compared(work, tools, rivals)
    except SandboxError:  # ranking is a help, not a duty
        return
    if found:
        yield found


def worth_it(work: Work, rivals: list[Version]) -> bool:
    """Whether there is something to tell apart that has not been compared yet."""
    known = {number for group in work.groups for number in group}
    new = any(version.number not in known for version in rivals)
    return new and (len({version.code for version in rivals}) > 1 or work.broken or not work.deciding)


def compared(work: Work, tools: Tools, rivals: list[Version]) -> Compared | None:
    """The rivals in groups, the likeliest first, with a call on which the first two differ.

    None where no call gave any of them a value: agreement over nothing says nothing.
    """
    seen = [*rivals, *_failing(work, rivals), *(version for version in work.versions if version.number == 0)]
    codes = {version.number: version.code for version in seen}
    calls: tuple[str, ...] = ()
    told: Told = {number: () for number in codes}
    for draw in range(DRAWS):
        fresh = _calls(work, rivals, draw, tools.ground.test_texts(work.suite))
        told = {number: told[number] + answers for number, answers in tools.ground.behave_all(codes, fresh).items()}
        calls += fresh
        groups = _grouped(work, rivals, told)
        if len({codes[number] for number in groups[0]}) == 1:
            break
    if not any(map(has_values, told.values())):
        return None
    kept = tuple(group for group in (tuple(number for number in group if number) for group in groups) if group)
    pair = [group[0] for group in kept[:2]] + ([0] if 0 in told else [])
    unchanged = next((group for group in groups if 0 in group), (0,))[1:]
    return Compared(
        groups=kept,
        inputs=calls,
        unchanged=unchanged,
        apart=apart(told[pair[0]], told[pair[1]], calls) if len(pair) > 1 else "",
    )


def _calls(work: Work, rivals: list[Version], draw: int, files: Sequence[str]) -> tuple[str, ...]:
    """Inputs for one comparison; each further draw looks for others, to tell apart what is still alike."""
    names = (work.spec.entry_point, *work.task.also)
    shown = tuple(dict.fromkeys(version.code for version in rivals))
    clues = Clues(work.suite.given, work.task.prompt, shown, files)
    return calls_of_all(names, work.spec.signature, clues, MOST_CALLS, draw)


def _grouped(work: Work, rivals: list[Version], told: Told) -> list[tuple[int, ...]]:
    compared = {number: answers for number, answers in told.items() if number in {*_numbers(rivals), 0}}
    return sorted(groups_of(compared), key=lambda group: _order(work, told, group))


def _order(work: Work, told: Told, group: tuple[int, ...]) -> tuple[float, ...]:
    """Behaviour that is known to be wrong last; then by votes, by likeness to all answers, and by age."""
    versions = [work.version(number) for number in group if number]
    return (0 in group, -support(versions), -_likeness(work, told, group[-1]), min(group))


def _likeness(work: Work, told: Told, number: int) -> float:
    """From 0 to 1: how much of what the model's answers do this version does too, those that fail a test included."""
    others = [version.number for version in work.answers if version.number in told and version.number != number]
    calls = max(1, len(told[number]))
    shares = [1 - len(differences(told[number], told[other])) / calls for other in others]
    return sum(shares) / len(shares) if shares else 0.0


def _failing(work: Work, rivals: list[Version]) -> list[Version]:
    """Answers that run and fail: wrong somewhere, they are still right elsewhere."""
    known = _numbers(rivals)
    return [version for version in work.answers if version.graded and version.number not in known][:MOST_FAILING]


def _numbers(versions: list[Version]) -> set[int]:
    return {version.number for version in versions}
