"""Tests that the model is asked for: one question, and what of its answer can be used."""

import re
from collections.abc import Generator

from burnish.agent.ask import Tools, ask
from burnish.agent.extract import asserts_from
from burnish.agent.prompts import Messages
from burnish.agent.work import Work
from burnish.events import Event, Frozen
from burnish.models.model import Ask

MOST = 8
MOST_TOKENS = 240
"""Room for about eight lines. Where lines are easy, models go on counting for ever; the rest is then not waited for."""


class Written(Frozen):
    """What came of it."""

    tests: tuple[str, ...]
    dropped: int
    """How many could not be used, or were too many."""


def question(messages: Messages) -> Ask:
    """A question for tests."""
    return Ask(purpose="tests", messages=messages, max_tokens=MOST_TOKENS)


def written(
    work: Work, tools: Tools, ask_id: str, messages: Messages, given: tuple[str, ...]
) -> Generator[Event, None, Written | None]:
    """Tests that stand on their own and are not given already; None when a limit or the user ended the work."""
    stories = is_class(work)

    def usable(text: str) -> tuple[list[str], int]:
        found, dropped = asserts_from(text, work.spec.entry_point, work.task.also, stories=stories)
        return [test for test in found if test not in given], dropped

    def enough(text: str) -> bool:
        whole_lines = text[: text.rindex("\n")]
        return len(usable(whole_lines)[0]) >= (MOST + 1 if stories else MOST)  # a story may go on in the next line

    reply = yield from ask(tools, ask_id, question(messages), enough=enough)
    if reply is None:
        return None
    fresh, dropped = usable(reply.text)
    return Written(tests=tuple(fresh[:MOST]), dropped=dropped + len(fresh[MOST:]))


def is_class(work: Work) -> bool:
    """Whether a class is asked for, or a method of one: its tests build something first."""
    if "." in work.spec.entry_point:
        return True
    name = re.escape(work.spec.entry_point)
    return bool(re.search(rf"\bclass(?:es)?\b[^.;]*\b{name}\b", work.task.prompt)) or "\n" in "".join(
        test for test in work.spec.given_tests if not test.startswith(("with ", "#"))
    )
