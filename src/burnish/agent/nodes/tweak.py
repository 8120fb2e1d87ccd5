"""tweak: small edits of a version that fails, tried in the sandbox without asking the model."""

import time
from collections.abc import Iterator

from burnish.agent.ask import Tools
from burnish.agent.edits import Found
from burnish.agent.nodes.run import met
from burnish.agent.packages import imported_by, missing_in
from burnish.agent.tweaks import tweaks_of
from burnish.agent.work import TWEAK, Work
from burnish.errors import SandboxError
from burnish.events import CodeProposed, Event, Graded, Tweaked
from burnish.runs.run import Version

MOST_EDITS = 300
MOST_KEPT = 12
MOST_SECONDS = 30.0
"""Far more than edits take; it ends a suite that takes seconds a time."""
A_ROUND = 2
"""Versions whose edits are tried in one round, the best first."""


def tweak(work: Work, tools: Tools) -> Iterator[Event]:
    """Where no version passes the given tests, look one small step around the broken code and the best answers."""
    if "tweak" in tools.without:
        return
    number = work.next_version
    for base in worth_it(work, tools):
        if tools.cancel.is_set():
            return
        started = time.monotonic()
        recorded = tools.replay.take(Tweaked, base=base.number)
        found, tried = (_recorded(tools, base), recorded.tried) if recorded else _tried(work, tools, base)
        for code in found:
            made = CodeProposed(version=number, code=code, by=TWEAK, round=work.round, base=base.number)
            yield made
            yield met(Version(number=made.version, code=made.code, by=TWEAK), work.suite, tools)
            number += 1
        yield Tweaked(base=base.number, tried=tried, passed=len(found), seconds=time.monotonic() - started)


def worth_it(work: Work, tools: Tools) -> list[Version]:
    """Versions that run and fail a given test, while none passes them all; each is looked at once.

    Not those that only lack a package which cannot be had: no small edit brings it.
    """
    if not work.deciding or work.rivals:
        return []
    failing = [version for version in work.versions if version.by != TWEAK and version.graded]
    fresh = [version for version in failing if version.number not in work.tweaked and not work.is_repeat(version)]
    fresh = [version for version in fresh if not work.passes_given(version)]
    fresh = [version for version in fresh if not (tools.packages and _only_lacks_a_package(version, work, tools))]
    return sorted(fresh, key=lambda version: (-work.score(version)[0], version.number))[:A_ROUND]


def _only_lacks_a_package(version: Version, work: Work, tools: Tools) -> bool:
    """Whether everything that fails says that a module which code or tests import is not there."""
    if version.graded is None:
        return False
    failing = [case.message for case in version.graded.cases if case.outcome == "failed"]
    said = [version.graded.problem] if version.graded.problem else failing
    texts = (version.code, work.suite.render(), *tools.ground.test_texts(work.suite))
    imports = frozenset(name for text in texts for name in imported_by(text))
    return bool(said) and all(missing_in(Graded(problem=words), imports) for words in said)


def _tried(work: Work, tools: Tools, base: Version) -> Found:
    """The edits that pass every given test, likeliest first, and how many were tried."""
    key = (base.code, work.spec.entry_point, work.suite.script())
    if tools.place is not None or not key[2]:
        return _search(work, tools, base)
    return tools.edits.found(key, lambda: _in_peace(work, tools, base))


def _in_peace(work: Work, tools: Tools, base: Version) -> tuple[Found, bool]:
    """What a search finds, and whether it came to its end."""
    started = time.monotonic()
    found = _search(work, tools, base)
    return found, not tools.cancel.is_set() and time.monotonic() < started + _time_for(tools)


def _search(work: Work, tools: Tools, base: Version) -> Found:
    found: list[str] = []
    tried = 0
    ends = time.monotonic() + _time_for(tools)
    for name in _places(work, base):
        left = ends - time.monotonic()
        if tools.cancel.is_set() or left <= 0 or len(found) >= MOST_KEPT:
            break
        edits = tweaks_of(base.code, name, MOST_EDITS)
        try:
            good = tools.ground.passing([edit.code for edit in edits], work.suite, left, MOST_KEPT - len(found))
        except SandboxError:
            continue
        found += [edits[place].code for place in good]
        tried += len(edits)
    return found, tried


def _time_for(tools: Tools) -> float:
    return min(MOST_SECONDS, tools.meter.seconds_left)


def _places(work: Work, base: Version) -> tuple[str, ...]:
    """The functions in which the bug may be."""
    return (work.spec.entry_point, *(work.task.suspects if base.number == 0 else ()))


def _recorded(tools: Tools, base: Version) -> list[str]:
    found = []
    while made := tools.replay.take(CodeProposed, by=TWEAK, base=base.number):
        found.append(made.code)
    return found
