"""run: every version that has not met the tests yet meets them, in the sandbox."""

from collections.abc import Iterator

from burnish.agent.ask import Tools
from burnish.agent.work import Work
from burnish.checks.tests import grade
from burnish.events import Event, TestsRan


def run(work: Work, tools: Tools) -> Iterator[Event]:
    """Grade what waits; a version that cannot be run has said so already."""
    for version in work.waiting:
        if tools.cancel.is_set():
            return
        yield TestsRan(version=version.number, graded=grade(version.code, work.suite, tools.sandbox))
