"""select: versions that pass the same tests are run on many inputs; the behaviour that most of them share is chosen."""

from collections.abc import Iterator

from burnish.agent.agreement import apart, groups_of
from burnish.agent.ask import Tools
from burnish.agent.inputs import calls_for
from burnish.agent.policy import MOST_FOR_TWEAKS, vote
from burnish.agent.work import TWEAK, Work
from burnish.errors import SandboxError
from burnish.events import Compared, Event
from burnish.runs.run import Version

MOST_RIVALS = 24
MOST_CALLS = 60


def select(work: Work, tools: Tools) -> Iterator[Event]:
    """Compare those that the tests cannot tell apart. What behaves like code that is known to be wrong comes last."""
    rivals = work.rivals[:MOST_RIVALS]
    if not worth_it(work, rivals) or tools.cancel.is_set():
        return
    recorded = tools.replay.take(Compared)
    if recorded:
        yield recorded
        return
    try:
        yield compared(work, tools, rivals)
    except SandboxError:  # ranking is a help, not a duty
        return


def worth_it(work: Work, rivals: list[Version]) -> bool:
    """Whether there is something to tell apart that has not been compared yet."""
    known = {number for group in work.groups for number in group}
    new = any(version.number not in known for version in rivals)
    return new and (len({version.code for version in rivals}) > 1 or work.broken or not work.deciding)


def compared(work: Work, tools: Tools, rivals: list[Version]) -> Compared:
    """The rivals in groups, the likeliest first, with a call on which the first two differ."""
    spec, task = work.spec, work.task
    codes = {version.number: version.code for version in rivals}
    if work.broken:
        codes[0] = task.base_code
    shown = tuple(dict.fromkeys(codes.values()))
    calls = calls_for(spec.entry_point, spec.signature, work.suite.given, MOST_CALLS, task.prompt, shown)
    behaviours = tools.ground.behave_all(codes, calls)
    groups = [group.versions for group in groups_of(behaviours)]
    ordered = sorted(groups, key=lambda group: (0 in group, -support(work, group), min(group)))
    wrong = next((group for group in groups if 0 in group), ())
    kept = tuple(tuple(number for number in group if number) for group in ordered)
    kept = tuple(group for group in kept if group)
    pair = [group[0] for group in kept[:2]] or []
    pair += [0] if wrong and len(pair) == 1 else []
    told = apart(behaviours[pair[0]], behaviours[pair[1]], calls) if len(pair) == 2 else ""
    return Compared(groups=kept, inputs=calls, apart=told)


def support(work: Work, group: tuple[int, ...]) -> float:
    """The votes for one behaviour: one for each answer of the model's, less for edits, and those only up to a limit."""
    versions = [work.version(number) for number in group if number]
    edits = sum(vote(version) for version in versions if version.by == TWEAK)
    return sum(vote(version) for version in versions if version.by != TWEAK) + min(edits, MOST_FOR_TWEAKS)
