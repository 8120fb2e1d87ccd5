"""run: every version that has not met the tests yet meets them, in the sandbox."""

import hashlib
from collections.abc import Generator, Iterator

from burnish.agent.ask import Tools
from burnish.agent.work import NOT_RUN, Work
from burnish.checks.suite import Suite
from burnish.errors import SandboxError
from burnish.events import Event, Graded, TestsFrozen, TestsRan
from burnish.runs.run import Version


def run(work: Work, tools: Tools) -> Iterator[Event]:
    """Grade what waits; a version that cannot be run has said so already.

    A job that breaks in the sandbox says nothing about the code: that version counts as not run, and the work goes on,
    unless it was the second in a row and the sandbox cannot be used any more. Once time is over, nothing more is run,
    but the first answer there is: without it there would be nothing to judge. Nor does that end a run that is done, and
    only waits for further voices.
    """
    if not work.task.own_tests and not work.frozen:
        yield TestsFrozen(sha256=work.suite.sha256, given=len(work.deciding))
    met = [version for version in work.versions if version.graded]
    broken, tried = bool(met) and _broke(met[-1]), any(version.number for version in met)
    for version in work.waiting:
        if tools.cancel.is_set():
            return
        basis = basis_of(version, work.suite)
        recorded = tools.replay.graded(version.number, basis)
        yield from tools.replay.packages(version.number) if recorded else ()
        if recorded is None and tried and (over := tools.meter.over):
            yield from [] if work.stopped or (work.was_content and work.holds) else [over]
            return
        try:
            graded = recorded or (yield from _graded(version, work.suite, tools))
        except SandboxError as error:
            if tools.cancel.is_set():
                return
            if broken:
                tools.sandbox.run(("true",))  # raises once more if no job can be run at all
            graded, basis, broken = Graded(problem=f"{NOT_RUN}: {error}"), "", True
        else:
            broken = False
        if tools.cancel.is_set():
            return
        tried = tried or version.number > 0
        yield TestsRan(version=version.number, graded=graded, basis=basis)


def _graded(version: Version, suite: Suite, tools: Tools) -> Generator[Event, None, Graded]:
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


def met(version: Version, suite: Suite, tools: Tools) -> TestsRan:
    """What all tests say of one more version. A job that breaks in the sandbox is no reason to end the work."""
    basis = basis_of(version, suite)
    try:
        graded = tools.replay.graded(version.number, basis) or tools.ground.grade(version.code, suite)
    except SandboxError as error:
        graded, basis = Graded(problem=f"{NOT_RUN}: {error}"), ""
    return TestsRan(version=version.number, graded=graded, basis=basis)


def basis_of(version: Version, suite: Suite) -> str:
    """What a result rests on, as a hash: the code and the tests."""
    return hashlib.sha256(f"{version.code}\0{suite.model_dump_json()}".encode("utf-8", "replace")).hexdigest()


def _broke(version: Version) -> bool:
    return version.graded is not None and version.graded.problem.startswith(NOT_RUN)
