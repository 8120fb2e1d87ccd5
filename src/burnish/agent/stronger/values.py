"""What a call gives, from the text that the sandbox told to a test that says so.

Only what reads back as the plain value it was becomes a test; what was cut, or is an object, does not.
"""

import ast
from functools import lru_cache
from typing import Any

from burnish.agent.seeds import written
from burnish.checks.behaviour import NO_ANSWER, TOO_SLOW
from burnish.parsing import parse_expression
from burnish.tasks.examples import is_error

RAISES = "raises "
LONGEST_TEST = 200
LONGEST_CALL = 120
_BROKEN = (SyntaxError, ValueError, TypeError, MemoryError, RecursionError)
_NOTHING = object()


def value_of(answer: str) -> str:
    """The value alone, without what the call did to its arguments."""
    return answer.partition("\n")[0]


def is_silent(answer: str) -> bool:
    """Whether nothing came back: too slow, or the process died."""
    return answer in (NO_ANSWER, TOO_SLOW)


def is_value(answer: str) -> bool:
    """Whether a call gave something, and raised nothing."""
    return not is_silent(answer) and not answer.startswith(RAISES)


def are_same(one: str, other: str) -> bool:
    """Whether a test could not tell two answers apart."""
    first, second = value_of(one), value_of(other)
    if first == second or not (is_value(one) and is_value(other)):
        return first == second
    known, also = _literal(first), _literal(second)
    return known is not _NOTHING and also is not _NOTHING and bool(known == also)


def test_of(call: str, answer: str) -> str:
    """A test that the call gives this; empty where it cannot be written down."""
    if len(call) > LONGEST_CALL or is_silent(answer):
        return ""
    if answer.startswith(RAISES):
        error = answer.removeprefix(RAISES)
        return f"with pytest.raises({error}):\n    {call}" if is_error(error) else ""
    expected = _expected(value_of(answer))
    test = f"assert {call} == {expected}" if expected else ""
    return test if len(test) <= LONGEST_TEST else ""


def _expected(text: str) -> str:
    value = _literal(text)
    if value is _NOTHING or value is Ellipsis or not text.isascii():
        return ""
    if value is None or isinstance(value, bool):
        return repr(value)
    floats = [part for part in _parts(value) if isinstance(part, float)]
    if not floats:
        return _plain(value)
    return f"pytest.approx({_plain(value)})" if _is_flat(value) else ""


def _plain(value: Any) -> str:
    """As Python writes it; a set stays a set."""
    return "set()" if value == set() and isinstance(value, set) else written(value)


def _is_flat(value: Any) -> bool:
    """Whether pytest can compare it with some tolerance: a number, or a collection of numbers."""
    if isinstance(value, dict):
        return all(_is_number(one) for one in value.values())
    return _is_number(value) or (isinstance(value, list | tuple) and all(map(_is_number, value)))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _parts(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [part for pair in value.items() for one in pair for part in _parts(one)]
    return [part for one in value for part in _parts(one)] if isinstance(value, list | tuple | set) else [value]


@lru_cache(maxsize=4096)
def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(parse_expression(text))
    except _BROKEN:
        return _NOTHING
