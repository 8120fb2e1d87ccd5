"""tests: the model writes tests of its own; they rank versions and never decide against the given ones."""

from collections.abc import Iterator

from burnish.agent import prompts
from burnish.agent.ask import Tools, ask
from burnish.agent.extract import asserts_from
from burnish.agent.work import Work
from burnish.events import Event, TestsProposed
from burnish.models.model import Ask

MOST = 8
MOST_TOKENS = 240
"""Room for about eight lines. Where lines are easy, models go on counting for ever."""


def tests(work: Work, tools: Tools) -> Iterator[Event]:
    """Ask for one-line assertions and keep those that stand on their own."""
    spec = work.spec
    question = Ask(
        purpose="tests", messages=prompts.tests(work.task, spec.signature, spec.given_tests), max_tokens=MOST_TOKENS
    )
    reply = yield from ask(tools, "tests-0", question)
    if reply is None:
        return
    found, dropped = asserts_from(reply.text, spec.entry_point)
    fresh = [test for test in found if test not in spec.given_tests]
    yield TestsProposed(tests=tuple(fresh[:MOST]), dropped=dropped + len(fresh[MOST:]))
