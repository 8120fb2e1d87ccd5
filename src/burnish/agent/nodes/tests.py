"""tests: the model writes tests of its own; they rank versions and never decide against the given ones."""

from collections.abc import Iterator

from burnish.agent import prompts
from burnish.agent.ask import Tools
from burnish.agent.human_review import Tests, review_tests
from burnish.agent.own_tests import written
from burnish.agent.work import Work
from burnish.checks.suite import Suite
from burnish.events import Event, TestsFrozen, TestsProposed


def tests(work: Work, tools: Tools) -> Iterator[Event]:
    """Ask for short tests, keep those that stand on their own, show them to a person who wants to see them, and freeze
    all tests there are.
    """
    spec = work.spec
    asked = prompts.tests(work.task, spec.signature, spec.given_tests)
    found = yield from written(work, tools, "tests-0", asked, spec.given_tests)
    agreed = Tests(spec=spec)
    if found:
        yield TestsProposed(tests=found.tests, dropped=found.dropped)
        agreed = yield from review_tests(work, tools, Tests(spec=spec, written=found.tests))
    yield frozen(Suite.for_task(work.task, agreed.spec, agreed.written))


def frozen(suite: Suite) -> TestsFrozen:
    """The given tests and those that the model wrote, as they will be run; the judge compares."""
    given = len(suite.given) + len(suite.project)
    return TestsFrozen(sha256=suite.sha256, given=given, model=len(suite.model))
