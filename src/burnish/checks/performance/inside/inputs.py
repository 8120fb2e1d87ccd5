"""Larger inputs of the same kind as one that a test used; the same ones each time.

The rule: what an algorithm may rely on stays true. Sorted stays sorted, distinct stays distinct, equal stays equal,
mirrored stays mirrored, and a value that was looked for stays as far in as it was.
"""

from __future__ import annotations

import itertools
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


def grow_value(value: Any, n: int, kind: str, avoid: Sequence[int] = ()) -> Any:
    """A value of about size `n` of the same kind; `avoid` are numbers that must not come in."""
    dice = random.Random(n)
    if isinstance(value, int):
        return n + value % 2
    if isinstance(value, (str, bytes)):
        if kind == "repeat":  # its letters in any order
            letters: list[Any] = [value[place : place + 1] for place in range(len(value))]
            return value[:0].join(dice.choice(letters) for _ in range(n))
        return value * max(1, round(n / len(value)))  # again and again: what is balanced or mirrored stays so
    if isinstance(value, dict):
        keys = elements(list(value), n, "like", dice, avoid)
        return dict(zip(keys, elements(list(value.values()), n, kind, dice)))  # noqa: B905 (old Pythons)
    if is_square(value):
        side = max(2, math.isqrt(n))
        cells = iter(elements([cell for row in value for cell in row], side * side, kind, dice))
        return type(value)(type(value[0])(itertools.islice(cells, side)) for _ in range(side))
    return type(value)(elements(list(value), n, "like" if isinstance(value, (set, frozenset)) else kind, dice, avoid))


def elements(given: list[Any], n: int, kind: str, dice: random.Random, avoid: Sequence[int] = ()) -> list[Any]:
    """A list of `n` elements like the given ones, in the same order if they had one."""
    if kind == "repeat":
        return (given * (n // len(given) + 1))[:n]
    if len(given) > 2 and given == given[::-1] and given[0] != given[1]:
        half = elements(given[: (len(given) + 1) // 2], (n + 1) // 2, kind, dice, avoid)
        return half + half[: n // 2][::-1]
    items = fresh(given, n, dice, avoid)
    try:
        for falling in (False, True):
            if len(given) > 1 and given == sorted(given, reverse=falling):
                return sorted(items, reverse=falling)
    except TypeError:  # they have no order
        pass
    return items


def fresh(given: list[Any], n: int, dice: random.Random, avoid: Sequence[int]) -> list[Any]:
    """New elements, distinct where the given ones are."""
    types = {type(item) for item in given}
    if types == {float}:
        return [dice.uniform(min(given), max(given)) for _ in range(n)]
    if types == {int}:
        return numbers(given, n, dice, avoid)
    if types == {str} and len(set(given)) == len(given):
        return words(given, n, dice)
    if types in ({list}, {tuple}) and len({len(item) for item in given}) == 1 and given[0]:
        columns = [elements([row[place] for row in given], n, "like", dice) for place in range(len(given[0]))]
        return [type(given[0])(row) for row in zip(*columns)]  # noqa: B905 (old Pythons)
    return [dice.choice(given) for _ in range(n)]


def numbers(given: list[int], n: int, dice: random.Random, avoid: Sequence[int]) -> list[int]:
    """As dense as the given ones: distinct numbers reach further, repeated ones stay in their range."""
    low, high = min(given), max(given)
    if len(set(given)) < len(given):
        return [dice.randint(low, high) for _ in range(n)]
    step = max(1.0, (high - low) / max(1, len(given) - 1))
    many = dice.sample(range(low, low + math.ceil(step * n) + len(avoid) + 1), n + len(avoid))
    return [number for number in many if number not in avoid][:n]


def words(given: list[str], n: int, dice: random.Random) -> list[str]:
    """Words over the same letters, with endings that set them apart."""
    letters = sorted(set("".join(given))) or ["a"]
    letters = letters if len(letters) > 1 else [*letters, chr(ord(letters[0]) + 1)]
    longest = math.ceil(math.log(LARGEST + 1, len(letters)))
    endings = list(itertools.islice(itertools.product(letters, repeat=longest), n))
    dice.shuffle(endings)
    return [dice.choice(given) + "".join(ending) for ending in endings]


def arguments(given: dict[str, Any], grow: Sequence[str], n: int, kind: str) -> dict[str, Any]:
    """The arguments of a call with some of them grown; what was looked for in a list follows it."""
    others = {name: value for name, value in given.items() if name not in grow}
    new = dict(given)
    for name in grow:
        places = {other: position(value, given[name]) for other, value in others.items()}
        avoid = [value for other, value in others.items() if type(value) is int and places[other] is None]
        new[name] = grow_value(given[name], n, kind, avoid)
        for other, place in places.items():
            if place is not None and kind != "repeat":
                new[other] = new[name][round(place * (len(new[name]) - 1))]
            elif kind == NEVER and type(others[other]) is int:
                new[other] = -1
    return new


def can_miss(given: dict[str, Any], grown: str) -> bool:
    """Whether a number goes with a list of positive numbers, and does not follow it."""
    held = given[grown]
    if not isinstance(held, (list, tuple)) or not all(map(has_value, held)):
        return False
    others = [value for name, value in given.items() if name != grown]
    return any(type(value) is int and position(value, held) is None for value in others)


def followers(given: dict[str, Any], grow: Sequence[str]) -> list[str]:
    """The arguments that are looked for in one that is grown."""
    others = [name for name in given if name not in grow]
    return [name for name in others if any(position(given[name], given[grown]) is not None for grown in grow)]


def position(value: Any, held: Any) -> float | None:
    """How far into a list the value is, from 0 to 1; None where it is not in it, or may be a place or a count."""
    if not isinstance(held, (list, tuple)) or type(value) not in (int, str) or value not in held:
        return None
    is_place_or_count = type(value) is int and 0 <= value <= len(held)
    return None if is_place_or_count else held.index(value) / max(1, len(held) - 1)
