"""What holds between the arguments of every known call, so that new calls can be made to keep it."""

import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

BY_ACCIDENT = 0.7
Row = tuple[Any, ...]
Repair = Callable[[list[Any], random.Random], None]
"""Changes a row of arguments so that one relation holds."""


def signs_of(rows: Sequence[Row]) -> list[Repair]:
    """A repair for each argument in which no number is negative, or none is below one."""
    found: list[Repair] = []
    for at, column in enumerate(zip(*rows, strict=True)):
        inside = [number for value in column for number in _numbers(value)]
        if inside and min(inside) >= 0:
            found.append(partial(_positive, at, 1 if min(inside) > 0 else 0))
    return found


def relations_of(rows: Sequence[Row]) -> list[Repair]:
    """A repair for each relation that all rows show: order, equal lengths, a length, a place, a member."""
    found: list[Repair] = []
    columns = list(zip(*rows, strict=True))
    for at, column in enumerate(columns):
        lists = [value for value in column if isinstance(value, list) and len(value) > 2]
        if len(lists) == len(column) and all(_is_sorted(value) for value in lists):
            found.append(partial(_in_rank, at))
    pairs = [(one, other) for one in range(len(columns)) for other in range(len(columns)) if one != other]
    for one, other in pairs:
        found += _of_two(one, other, list(zip(columns[one], columns[other], strict=True)))
    return found


def is_usual(rows: Sequence[Row], row: Row) -> bool:
    """Whether a row of arguments is of the kind that all rows are: the same types, signs and relations, and nothing
    empty where they have nothing empty. Without rows nothing is.
    """
    columns = list(zip(*rows, strict=True))
    empty = [_is_empty(value) and not any(map(_is_empty, column)) for value, column in zip(row, columns, strict=False)]
    kept = (_is_kept(repair, row) for repair in (*signs_of(rows), *relations_of(rows)))
    return is_near(rows, row) and not any(empty) and all(kept)


def is_near(rows: Sequence[Row], row: Row) -> bool:
    """The same, but an edge is near enough: zero, something empty, another order, what is no member."""
    if not rows or len(row) != len(rows[0]):
        return False
    columns = list(zip(*rows, strict=True))
    if any(type(value) not in {type(one) for one in column} for value, column in zip(row, columns, strict=True)):
        return False
    repairs = [repair for repair in relations_of(rows) if isinstance(repair, partial) and repair.func in _FIRM]
    signs = [partial(_positive, repair.args[0], 0) for repair in signs_of(rows) if isinstance(repair, partial)]
    return all(_is_kept(repair, row) for repair in (*signs, *repairs))


def _is_kept(repair: Repair, row: Row) -> bool:
    """Whether there is nothing to repair; of a member any will do."""
    if isinstance(repair, partial) and repair.func is _member:
        one, other = repair.args
        return _is_inside(row[other], row[one])
    repaired = list(row)
    repair(repaired, _Always())
    return tuple(repaired) == row


class _Always(random.Random):
    """Dice that never leave a repair out."""

    def random(self) -> float:
        return 0.0


def _is_empty(value: Any) -> bool:
    return isinstance(value, list | tuple | str | dict | set | bytes) and not value


def _of_two(one: int, other: int, pairs: Sequence[tuple[Any, Any]]) -> list[Repair]:
    """The first that holds."""
    if all(_sized(a) and _sized(b) and len(a) == len(b) > 1 for a, b in pairs):
        return [partial(_same_length, one, other)] if one < other else []
    if all(_sized(a) and type(b) is int and b == len(a) for a, b in pairs):
        return [partial(_length, one, other)]
    if all(_sized(a) and _is_inside(b, a) for a, b in pairs):
        return [partial(_member, one, other)]
    if all(_sized(a) and type(b) is int and 0 <= b < len(a) for a, b in pairs):
        return [partial(_place, one, other)]
    if one < other and all(type(a) is int and type(b) is int and a < b for a, b in pairs):
        return [partial(_in_order, one, other)]
    return []


def _positive(at: int, least: int, row: list[Any], dice: random.Random) -> None:
    row[at] = _made_positive(row[at], least)


def _in_rank(at: int, row: list[Any], dice: random.Random) -> None:
    """Order is often an accident of the examples, so it is kept less often than the rest."""
    if dice.random() < BY_ACCIDENT:
        row[at] = _sorted(row[at])


def _length(one: int, other: int, row: list[Any], dice: random.Random) -> None:
    row[other] = len(row[one])


def _place(one: int, other: int, row: list[Any], dice: random.Random) -> None:
    row[other] = abs(row[other]) % max(1, len(row[one]))


def _sized(value: Any) -> bool:
    return isinstance(value, list | tuple | str)


def _numbers(value: Any) -> list[float]:
    """Every number in a value."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return [value]
    if isinstance(value, dict):
        return [number for pair in value.items() for part in pair for number in _numbers(part)]
    if isinstance(value, list | tuple | set | frozenset):
        return [number for part in value for number in _numbers(part)]
    return []


def _made_positive(value: Any, least: int) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return max(abs(value), least)
    if isinstance(value, list | tuple):
        return type(value)(_made_positive(part, least) for part in value)
    return value


def _is_sorted(items: list[Any]) -> bool:
    return _sorted(items) == items and len({type(item) for item in items}) == 1


def _sorted(items: Any) -> Any:
    try:
        return sorted(items) if isinstance(items, list) else items
    except TypeError:
        return items


def _same_length(one: int, other: int, row: list[Any], dice: random.Random) -> None:
    if _sized(row[one]) and _sized(row[other]):
        size = min(len(row[one]), len(row[other]))
        row[one], row[other] = row[one][:size], row[other][:size]


def _is_inside(part: Any, whole: Any) -> bool:
    try:
        return bool(whole) and part != "" and not isinstance(part, bool) and part in whole
    except TypeError:
        return False


def _member(one: int, other: int, row: list[Any], dice: random.Random) -> None:
    """Mostly something that is in it: its first, its last, or any."""
    if _sized(row[one]) and row[one] and dice.random() < 0.7:
        row[other] = dice.choice((row[one][0], row[one][-1], dice.choice(row[one])))


def _in_order(one: int, other: int, row: list[Any], dice: random.Random) -> None:
    if row[one] > row[other] and dice.random() < BY_ACCIDENT:
        row[one], row[other] = row[other], row[one]


_FIRM = (_length, _same_length, _place)
"""What a call that does not keep it makes no sense without."""
