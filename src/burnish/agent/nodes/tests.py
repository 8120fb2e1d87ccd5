"""tests: the model writes tests of its own; they rank versions and never decide against the given ones."""

import re
from collections.abc import Iterator

from burnish.agent import prompts
from burnish.agent.ask import Tools, ask
from burnish.agent.extract import asserts_from
from burnish.agent.work import Work
from burnish.checks.suite import Suite
from burnish.events import Event, TestsFrozen, TestsProposed
from burnish.models.model import Ask

MOST = 8
MOST_TOKENS = 240
"""Room for about eight lines. Where lines are easy, models go on counting for ever."""


def tests(work: Work, tools: Tools) -> Iterator[Event]:
    """Ask for short tests, keep those that stand on their own, and freeze all tests there are."""
    spec = work.spec
    question = Ask(
        purpose="tests", messages=prompts.tests(work.task, spec.signature, spec.given_tests), max_tokens=MOST_TOKENS
    )
    reply = yield from ask(tools, "tests-0", question)
    kept: tuple[str, ...] = ()
    if reply:
        found, dropped = asserts_from(reply.text, spec.entry_point, work.task.also, stories=is_class(work))
        fresh = [test for test in found if test not in spec.given_tests]
        kept = tuple(fresh[:MOST])
        yield TestsProposed(tests=kept, dropped=dropped + len(fresh[MOST:]))
    yield frozen(work, kept)


def is_class(work: Work) -> bool:
    """Whether a class is asked for, or a method of one: its tests build something first."""
    if "." in work.spec.entry_point:
        return True
    name = re.escape(work.spec.entry_point)
    return bool(re.search(rf"\bclass(?:es)?\b[^.;]*\b{name}\b", work.task.prompt)) or "\n" in "".join(
        test for test in work.spec.given_tests if not test.startswith(("with ", "#"))
    )


def frozen(work: Work, written: tuple[str, ...]) -> TestsFrozen:
    """The given tests and those that the model wrote, as they will be run; the judge compares."""
    suite = Suite.for_task(work.task, work.spec, written)
    given = len(suite.given) + len(suite.project)
    return TestsFrozen(sha256=suite.sha256, given=given, model=len(suite.model))
