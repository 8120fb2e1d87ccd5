"""Turns what a call gave, as the sandbox wrote it down, into a test that says so.

Only what reads back as the plain value it was becomes a test; what was cut, or is an object, does not.
"""

import ast
from functools import lru_cache
from typing import Any

from burnish.parsing import parse_expression
from burnish.search.behaviour_groups import AnswerKind, answer_kind
from burnish.search.seed_calls import write_value
from burnish.tasks.examples import is_error

RAISES = "raises "
LONGEST_TEST = 200
LONGEST_CALL = 120
_UNREADABLE = (SyntaxError, ValueError, TypeError, MemoryError, RecursionError)
_NO_LITERAL = object()


def value_in(answer: str) -> str:
    """The value alone, without the lines on what the call did to its arguments."""
    return answer.partition("\n")[0]


def is_silent(answer: str) -> bool:
    """Whether nothing came back: too slow, or the process died."""
    return answer_kind(answer) in (AnswerKind.NO_ANSWER, AnswerKind.TOO_SLOW)


def is_value(answer: str) -> bool:
    """Whether a call gave something, and raised nothing."""
    return answer_kind(answer) is AnswerKind.VALUE


def describe_answer(answer: str) -> str:
    """The answer in a sentence about the code: "gives 3" or "raises ValueError"."""
    return answer if answer_kind(answer) is AnswerKind.ERROR else f"gives {value_in(answer)}"


def are_same(one: str, other: str) -> bool:
    """Whether a test could not tell two answers apart."""
    first, second = value_in(one), value_in(other)
    if first == second or not (is_value(one) and is_value(other)):
        return first == second
    known, also = _read_literal(first), _read_literal(second)
    return known is not _NO_LITERAL and also is not _NO_LITERAL and bool(known == also)


def render_assert(call: str, answer: str, any_script: bool = False) -> str:
    """A test that the call gives this answer; empty where that cannot be written down.

    A text that is not ASCII is written only in `any_script`, and only if a reader sees every character of it.
    """
    if len(call) > LONGEST_CALL or is_silent(answer):
        return ""
    if answer_kind(answer) is AnswerKind.ERROR:
        error = answer.removeprefix(RAISES)
        return f"with pytest.raises({error}):\n    {call}" if is_error(error) else ""
    expected = _render_value(value_in(answer), any_script)
    test = f"assert {call} == {expected}" if expected else ""
    return test if len(test) <= LONGEST_TEST else ""


def _render_value(text: str, any_script: bool) -> str:
    value = _read_literal(text)
    if value is _NO_LITERAL or value is Ellipsis:
        return ""
    if not text.isascii():
        return repr(value) if any_script and isinstance(value, str) and value.isprintable() else ""
    if not _holds_float(value):
        return write_value(value)
    # pytest.approx compares numbers and flat collections of numbers, nothing deeper
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else [value]
    flat = all(isinstance(one, int | float) and not isinstance(one, bool) for one in inside)
    return f"pytest.approx({write_value(value)})" if flat else ""


def _holds_float(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_float, (*value, *value.values())))
    return any(map(_holds_float, value)) if isinstance(value, list | tuple | set) else isinstance(value, float)


@lru_cache(maxsize=4096)
def _read_literal(text: str) -> Any:
    try:
        return ast.literal_eval(parse_expression(text))
    except _UNREADABLE:
        return _NO_LITERAL
