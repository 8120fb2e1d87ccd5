"""tweak: small edits of a version that fails, tried in the sandbox without asking the model."""

import time
from collections.abc import Iterator

from burnish.agent.ask import Tools
from burnish.agent.nodes.run import grade_version
from burnish.agent.packages import imported_modules, missing_modules
from burnish.agent.state import TWEAK, AgentState
from burnish.errors import SandboxError
from burnish.events import CodeProposed, Event, Graded, Tweaked
from burnish.events.history import Version
from burnish.search.edits import SearchResult, propose_edits

MOST_EDITS = 300
MOST_KEPT = 12
MOST_SECONDS = 30.0
"""Far more than edits take; it ends a suite that takes seconds a time."""
A_ROUND = 2
"""Versions whose edits are tried in one round, the best first."""


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
        ends = time.monotonic() + min(MOST_SECONDS, tools.meter.seconds_left)
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
