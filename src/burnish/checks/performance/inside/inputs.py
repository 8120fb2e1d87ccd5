"""Larger inputs of the same kind as one that a test used; the same ones each time.

The rule: what an algorithm may rely on stays true. Sorted stays sorted, distinct stays distinct, equal stays equal,
mirrored stays mirrored, and a value that was looked for stays as far in as it was.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

SIZES = [2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 32, 48, *(2**power for power in range(6, 17))]
LARGEST = SIZES[-1]
KINDS = ("like", "repeat")
"""How a container is grown: with new elements like the given ones, or with the given ones over and over."""
NEVER = "never"
"""As "like", and a number that goes with positive numbers becomes -1: what is looked for is never found."""


def has_size(value: object) -> bool:
    """Whether it has a length that can be grown."""
    return isinstance(value, (list, tuple, str, bytes, set, frozenset, dict)) and len(value) > 0


def has_value(value: object) -> bool:
    """Whether it is a whole number that can be made larger."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def size(value: Any) -> int:
    """The length, the number of cells of a square table, or the number itself."""
    if isinstance(value, int):
        return value
    return len(value) ** 2 if is_square(value) else len(value)


def is_square(value: Any) -> bool:
    """Whether it is a table with as many columns as rows, two at least."""
    if not isinstance(value, (list, tuple)) or len(value) < 2:
        return False
    return all(isinstance(row, (list, tuple)) and len(row) == len(value) for row in value)


def grow_value(value: Any, n: int, kind: str, avoid: Sequence[Any] = ()) -> Any:
    """A value of about size `n` of the same kind; `avoid` are elements that must not come in."""
    dice = random.Random(n)
    if isinstance(value, int):
        return n + value % 2
    if isinstance(value, (str, bytes)):
        return text(value, n, kind, dice)
    if isinstance(value, dict):
        keys = elements(list(value), n, "like", dice, avoid)
        values = elements(list(value.values()), n, kind, dice, ())
        return {key: values[place] for place, key in enumerate(keys)}
    if is_square(value):
        return square(value, n, kind, dice)
    items = elements(list(value), n, "like" if isinstance(value, (set, frozenset)) else kind, dice, avoid)
    return type(value)(items)


def text(value: Any, n: int, kind: str, dice: random.Random) -> Any:
    """The text again and again: what is balanced or mirrored stays so. Or else letters of it, in any order."""
    if kind == "repeat":
        letters = [value[place : place + 1] for place in range(len(value))]
        return value[:0].join(dice.choice(letters) for _ in range(n))
    return value * max(1, round(n / len(value)))


def square(value: Any, n: int, kind: str, dice: random.Random) -> Any:
    """A square table of about `n` cells."""
    side = max(2, math.isqrt(n))
    cells = [cell for row in value for cell in row]
    flat = elements(cells, side * side, kind, dice, ())
    row_type = type(value[0])
    return type(value)(row_type(flat[start : start + side]) for start in range(0, side * side, side))


def elements(given: list[Any], n: int, kind: str, dice: random.Random, avoid: Sequence[Any]) -> list[Any]:
    """A list of `n` elements like the given ones, in the same order if they had one."""
    if kind == "repeat":
        return (given * (n // len(given) + 1))[:n]
    if len(given) > 2 and given == given[::-1] and given[0] != given[1]:
        half = elements(given[: (len(given) + 1) // 2], (n + 1) // 2, kind, dice, avoid)
        return half + half[: n // 2][::-1]
    return order_like(given, fresh(given, n, dice, avoid))


def order_like(given: list[Any], items: list[Any]) -> list[Any]:
    """The items in the order that the given ones are in, where that is one."""
    if len(given) > 1:
        try:
            if given == sorted(given):
                return sorted(items)
            if given == sorted(given, reverse=True):
                return sorted(items, reverse=True)
        except TypeError:
            pass
    return items


def fresh(given: list[Any], n: int, dice: random.Random, avoid: Sequence[Any]) -> list[Any]:
    """New elements, distinct where the given ones are."""
    types = {type(item) for item in given}
    if types == {int}:
        return numbers(given, n, dice, {item for item in avoid if isinstance(item, int)})
    if types == {float}:
        return [dice.uniform(min(given), max(given)) for _ in range(n)]
    if types == {str}:
        return words(given, n, dice)
    if len(types) == 1 and types <= {list, tuple} and len({len(item) for item in given}) == 1 and given[0]:
        columns = [elements([row[place] for row in given], n, "like", dice, ()) for place in range(len(given[0]))]
        return [type(given[0])(column[place] for column in columns) for place in range(n)]
    return [dice.choice(given) for _ in range(n)]


def numbers(given: list[int], n: int, dice: random.Random, avoid: set[int]) -> list[int]:
    """As dense as the given ones: distinct numbers reach further, repeated ones stay in their range."""
    low, high = min(given), max(given)
    if len(set(given)) < len(given):
        return [dice.randint(low, high) for _ in range(n)]
    step = max(1.0, (high - low) / max(1, len(given) - 1))
    many = dice.sample(range(low, low + math.ceil(step * n) + len(avoid) + 1), n + len(avoid))
    return [number for number in many if number not in avoid][:n]


def words(given: list[str], n: int, dice: random.Random) -> list[str]:
    """Words over the same letters; distinct ones get endings that set them apart."""
    if len(set(given)) < len(given):
        return [dice.choice(given) for _ in range(n)]
    letters = sorted(set("".join(given))) or ["a"]
    letters = letters if len(letters) > 1 else [*letters, chr(ord(letters[0]) + 1)]
    longest = math.ceil(math.log(LARGEST + 1, len(letters)))
    endings = dice.sample(range(len(letters) ** longest), n)
    return [dice.choice(given) + spell(ending, letters, longest) for ending in endings]


def spell(number: int, letters: list[str], length: int) -> str:
    """The number written with these letters as its digits."""
    digits = []
    for _ in range(length):
        number, digit = divmod(number, len(letters))
        digits.append(letters[digit])
    return "".join(digits)


def arguments(given: dict[str, Any], grow: Sequence[str], n: int, kind: str) -> dict[str, Any]:
    """The arguments of a call with some of them grown; what was looked for in a list follows it."""
    others = {name: value for name, value in given.items() if name not in grow}
    new = dict(given)
    for name in grow:
        held = list(given[name]) if isinstance(given[name], (list, tuple)) else []
        avoid = [value for value in others.values() if type(value) is int and position(value, held) is None]
        new[name] = grow_value(given[name], n, kind, avoid)
        for other, value in others.items():
            place = position(value, held)
            if place is not None and kind != "repeat":
                new[other] = new[name][round(place * (len(new[name]) - 1))]
            elif kind == NEVER and type(value) is int:
                new[other] = -1
    return new


def can_miss(given: dict[str, Any], grow: Sequence[str]) -> bool:
    """Whether a number goes with a list of positive numbers, and does not follow it."""
    held = given[grow[0]]
    if len(grow) > 1 or not isinstance(held, (list, tuple)) or not all(has_value(item) for item in held):
        return False
    others = [value for name, value in given.items() if name not in grow]
    return any(type(value) is int and position(value, list(held)) is None for value in others)


def followers(given: dict[str, Any], grow: Sequence[str]) -> list[str]:
    """The arguments that are looked for in one that is grown."""
    lists = [list(given[name]) for name in grow if isinstance(given[name], (list, tuple))]
    others = [name for name in given if name not in grow]
    return [name for name in others if any(position(given[name], held) is not None for held in lists)]


def position(value: Any, held: list[Any]) -> float | None:
    """How far into the list the value is, from 0 to 1; None where it is not in it, or may be a place or a count."""
    if type(value) not in (int, str) or value not in held or (type(value) is int and 0 <= value <= len(held)):
        return None
    return held.index(value) / max(1, len(held) - 1)
