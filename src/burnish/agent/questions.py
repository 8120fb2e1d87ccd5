"""What a person is asked where versions disagree, and how their answer is read: the same at every door.

An answer becomes a given test, so it is read strictly: an option's letter, a value as Python writes it, or nothing.
"""

import ast
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from burnish.errors import SetupProblem
from burnish.events import QuestionAnswered, QuestionAsked
from burnish.parsing import PARSE_ERRORS, parse_expression
from burnish.search.seed_calls import write_value
from burnish.strengthening.render_assert import RAISES, are_same, render_assert
from burnish.tasks.contradiction import find_contradiction
from burnish.tasks.examples import is_error
from burnish.text import one_line, replace_surrogates

MOST_QUESTIONS = 3
"""In one run."""
LETTERS = "ABCD"
DO_NOT_CARE = ("", "-")
LONGEST_ANSWER = 2000

Who = Literal["person", "simulated", "later"]


@dataclass(frozen=True)
class OpenQuestion:
    """A question, and what was given so far: an answer must not contradict it."""

    asked: QuestionAsked
    given: tuple[str, ...] = ()

    def read(self, text: str, by: Who = "person") -> QuestionAnswered:
        """What was typed, as an answer. Raises SetupProblem, which says what to type, for what cannot be one."""
        typed, asked = text.strip(), self.asked
        if typed in DO_NOT_CARE:
            return QuestionAnswered(id=asked.id, said="any", by=by)
        options = dict(zip(LETTERS, (option.value for option in asked.options), strict=False))
        value = options.get(typed.upper()) or read_value(typed)
        if not value:
            raise SetupProblem(
                f"{one_line(replace_surrogates(typed), 60)!r} is no answer. Type {', '.join(options)}, or the value as "
                f"Python writes it, such as [1, 2], 'abc' or raises ValueError; or - if you do not care."
            )
        chosen = any(are_same(value, option) for option in options.values())
        test = as_test(asked.call, value)
        plain = f"assert {asked.call} == {value}"  # an approximate value is no less contradictory
        if pair := find_contradiction((*self.given, test if value.startswith(RAISES) else plain)):
            raise SetupProblem(
                f"`{one_line(plain)}` contradicts what you gave before, `{one_line(pair[0])}`: no code can do both. "
                f"Type another answer, or - if you do not care."
            )
        return QuestionAnswered(id=asked.id, said="option" if chosen else "value", value=value, test=test, by=by)


Answerer = Callable[[OpenQuestion], QuestionAnswered | None]
"""Puts a question to whoever is there; None leaves it open."""


def read_value(typed: str) -> str:
    """A value, or an error, as it is written in a test; empty for anything else."""
    if typed.startswith(RAISES):
        error = typed.removeprefix(RAISES).strip()
        return RAISES + error if is_error(error) else ""
    with suppress(*PARSE_ERRORS, TypeError):
        value = ast.literal_eval(parse_expression(typed)) if len(typed) <= LONGEST_ANSWER else ...
        return "" if value is Ellipsis else write_value(value)
    return ""


def as_test(call: str, value: str) -> str:
    """The given test that an answer becomes."""
    return render_assert(call, value, any_script=True) or f"assert {call} == {value}"
