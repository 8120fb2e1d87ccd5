"""Inputs that were stored as JSON get back the Python types that JSON has not: tuples, sets, complex numbers.

The types are learnt from calls that are written in Python: what is a tuple at some depth of an argument there is one in
all stored inputs.
"""

import ast
from collections.abc import Sequence
from typing import Any

from burnish.parsing import parse

Kinds = dict[tuple[int, int, bool], type]
"""For an argument's number, a depth in it, and whether the container is empty: the type it has in Python."""
CONTAINERS: dict[type, type] = {tuple: tuple, set: set, frozenset: frozenset, list: list, dict: dict}


def calls_of(name: str, tests: str) -> list[list[Any]]:
    """The arguments of each call of a function in a script, where they are literals; one call for each statement."""
    found = []
    for statement in parse(tests).body:
        calls = (node for node in ast.walk(statement) if isinstance(node, ast.Call))
        call = next((node for node in calls if isinstance(node.func, ast.Name) and node.func.id == name), None)
        if call:
            found.append([ast.literal_eval(argument) for argument in call.args])
    return found


def learn(written: Sequence[Sequence[Any]], stored: Sequence[Sequence[Any]]) -> Kinds:
    """The types of stored values, from the same calls as written."""
    kinds: Kinds = {}
    for real, plain in zip(written, stored, strict=True):
        for number, (value, json_value) in enumerate(zip(real, plain, strict=True)):
            _learn(value, json_value, number, 0, kinds)
    return kinds


def restore(call: Sequence[Any], kinds: Kinds) -> list[Any]:
    """The arguments of one stored call, in their Python types."""
    return [_restore(value, number, 0, kinds) for number, value in enumerate(call)]


def _learn(real: Any, plain: Any, number: int, depth: int, kinds: Kinds) -> None:
    if isinstance(plain, list) and type(real) in CONTAINERS:
        kinds.setdefault((number, depth, not plain), type(real))
        if not isinstance(real, set | frozenset | dict):
            for inner, plain_inner in zip(real, plain, strict=True):
                _learn(inner, plain_inner, number, depth + 1, kinds)
    elif isinstance(plain, dict) and isinstance(real, dict):
        for key in real.keys() & plain.keys():
            _learn(real[key], plain[key], number, depth + 1, kinds)
    elif depth == 0 and kinds.get((number, 0, False)) is not str:
        kinds[(number, 0, False)] = complex if isinstance(real, int | float | complex) else str


def _restore(value: Any, number: int, depth: int, kinds: Kinds) -> Any:
    kind = kinds.get((number, depth, not value)) or kinds.get((number, depth, bool(value)))
    if isinstance(value, dict):
        return {key: _restore(inner, number, depth + 1, kinds) for key, inner in value.items()}
    if isinstance(value, list):
        inner = [_restore(item, number, depth + 1, kinds) for item in value]
        return kind(inner) if kind in CONTAINERS else inner
    return _number(value) if isinstance(value, str) and kind is complex else value


def _number(text: str) -> float | complex | str:
    """A text that stands where a number belongs."""
    for kind in (float, complex):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
