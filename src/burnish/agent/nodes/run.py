"""run: every version that has not met the tests yet meets them, in the sandbox."""

import hashlib
from collections.abc import Generator, Iterator

from burnish.agent.ask import Tools
from burnish.agent.state import AgentState, not_run
from burnish.checks.suite import Suite
from burnish.errors import SandboxError
from burnish.events import Event, Graded, TestsFrozen, TestsRan
from burnish.events.history import Version


def run(state: AgentState, tools: Tools) -> Iterator[Event]:
    """Grade what waits; a version that cannot be run has said so already.

    A job that breaks in the sandbox says nothing about the code: that version counts as not run, and the work goes on,
    unless it was the second in a row and the sandbox cannot be used any more. Once time is over, nothing more is run,
    but the first answer there is: without it there would be nothing to judge. Nor does that end a run that is done, and
    only waits for further versions.
    """
    if not state.task.own_tests and not state.frozen:
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
            yield from [] if state.stopped or (state.mutants_tried and state.best_passes) else [over]
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
    graded = tools.ground.grade(version.code, suite)
    while tools.packages and not tools.cancel.is_set():
        sources = (version.code, suite.render(), *tools.ground.test_texts(suite))
        answer = tools.packages.add(graded, version.number, sources)
        if isinstance(answer, Graded):
            return answer
        yield answer
        graded = tools.ground.grade(version.code, suite)
    return graded


def grade_version(version: Version, suite: Suite, tools: Tools) -> TestsRan:
    """What all tests say of one more version. A job that breaks in the sandbox is no reason to end the work."""
    basis = hash_basis(version, suite)
    try:
        graded = tools.replay.graded(version.number, basis) or tools.ground.grade(version.code, suite)
    except SandboxError as error:
        graded, basis = not_run(error), ""
    return TestsRan(version=version.number, graded=graded, basis=basis)


def hash_basis(version: Version, suite: Suite) -> str:
    """What a result rests on, as a hash: the code and the tests."""
    return hashlib.sha256(f"{version.code}\0{suite.model_dump_json()}".encode("utf-8", "replace")).hexdigest()
