"""What holds between the arguments of every known call, so that new calls can be made to keep it."""

import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from burnish.search.value_mutation import sort_if_possible

BY_ACCIDENT = 0.7
Row = tuple[Any, ...]
Repair = Callable[[list[Any], random.Random], None]
"""Changes a row of arguments so that one invariant holds."""


def find_signs(rows: Sequence[Row]) -> list[partial[None]]:
    """A repair for each argument in which no number is negative, or none is below one."""
    found: list[partial[None]] = []
    for at, column in enumerate(zip(*rows, strict=True)):
        inside = [number for value in column for number in _numbers_in(value)]
        if inside and min(inside) >= 0:
            found.append(partial(_make_positive, at, 1 if min(inside) > 0 else 0))
    return found


def find_relations(rows: Sequence[Row]) -> list[partial[None]]:
    """A repair for each relation that all rows show: order, equal lengths, a length, a place, a member."""
    found: list[partial[None]] = []
    columns = list(zip(*rows, strict=True))
    for at, column in enumerate(columns):
        lists = [value for value in column if isinstance(value, list) and len(value) > 2]
        ordered = all(sort_if_possible(value) == value and len(set(map(type, value))) == 1 for value in lists)
        if len(lists) == len(column) and ordered:
            found.append(partial(_sort, at))
    for one, first in enumerate(columns):
        for other, second in enumerate(columns):
            repair = _relation_of(list(zip(first, second, strict=True)), one < other) if one != other else None
            found += [partial(repair, one, other)] if repair else []
    return found


def is_usual(rows: Sequence[Row], row: Row) -> bool:
    """Whether a row of arguments is of the kind that all rows are: the same types, signs and relations, and nothing
    empty where they have nothing empty. Without rows nothing is.
    """
    columns = list(zip(*rows, strict=True))
    empty = [_is_empty(value) and not any(map(_is_empty, column)) for value, column in zip(row, columns, strict=False)]
    kept = (_is_kept(repair, row) for repair in (*find_signs(rows), *find_relations(rows)))
    return is_near(rows, row) and not any(empty) and all(kept)


def is_near(rows: Sequence[Row], row: Row) -> bool:
    """The same, but an edge is near enough: zero, something empty, another order, what is no member."""
    if not rows or len(row) != len(rows[0]):
        return False
    columns = list(zip(*rows, strict=True))
    if any(type(value) not in {type(one) for one in column} for value, column in zip(row, columns, strict=True)):
        return False
    # A call that does not keep these makes no sense.
    firm = [repair for repair in find_relations(rows) if repair.func in (_set_length, _cut_to_length, _set_index)]
    signs = [partial(_make_positive, repair.args[0], 0) for repair in find_signs(rows)]
    return all(_is_kept(repair, row) for repair in (*signs, *firm))


def _is_kept(repair: partial[None], row: Row) -> bool:
    """Whether there is nothing to repair; of a member any will do."""
    if repair.func is _pick_member:
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


def _relation_of(pairs: Sequence[tuple[Any, Any]], is_first: bool) -> Callable[..., None] | None:
    """The first relation that holds for all pairs, as its repair; some are found once for two columns."""
    if all(_is_sized(a) and _is_sized(b) and len(a) == len(b) > 1 for a, b in pairs):
        return _cut_to_length if is_first else None
    if all(_is_sized(a) and type(b) is int and b == len(a) for a, b in pairs):
        return _set_length
    if all(_is_sized(a) and _is_inside(b, a) for a, b in pairs):
        return _pick_member
    if all(_is_sized(a) and type(b) is int and 0 <= b < len(a) for a, b in pairs):
        return _set_index
    if is_first and all(type(a) is int and type(b) is int and a < b for a, b in pairs):
        return _swap_into_order
    return None


def _make_positive(at: int, least: int, row: list[Any], dice: random.Random) -> None:
    row[at] = _as_positive(row[at], least)


def _sort(at: int, row: list[Any], dice: random.Random) -> None:
    """Order is often an accident of the examples, so it is kept less often than the rest."""
    if dice.random() < BY_ACCIDENT and isinstance(row[at], list):
        row[at] = sort_if_possible(row[at])


def _set_length(one: int, other: int, row: list[Any], dice: random.Random) -> None:
    row[other] = len(row[one])


def _set_index(one: int, other: int, row: list[Any], dice: random.Random) -> None:
    row[other] = abs(row[other]) % max(1, len(row[one]))


def _cut_to_length(one: int, other: int, row: list[Any], dice: random.Random) -> None:
    if _is_sized(row[one]) and _is_sized(row[other]):
        size = min(len(row[one]), len(row[other]))
        row[one], row[other] = row[one][:size], row[other][:size]


def _pick_member(one: int, other: int, row: list[Any], dice: random.Random) -> None:
    """Mostly something that is in it: its first, its last, or any."""
    if _is_sized(row[one]) and row[one] and dice.random() < 0.7:
        row[other] = dice.choice((row[one][0], row[one][-1], dice.choice(row[one])))


def _swap_into_order(one: int, other: int, row: list[Any], dice: random.Random) -> None:
    if row[one] > row[other] and dice.random() < BY_ACCIDENT:
        row[one], row[other] = row[other], row[one]


def _is_sized(value: Any) -> bool:
    return isinstance(value, list | tuple | str)


def _is_inside(part: Any, whole: Any) -> bool:
    try:
        return bool(whole) and part != "" and not isinstance(part, bool) and part in whole
    except TypeError:
        return False


def _numbers_in(value: Any) -> list[float]:
    """Every number in a value."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return [value]
    if isinstance(value, dict):
        return [number for pair in value.items() for part in pair for number in _numbers_in(part)]
    if isinstance(value, list | tuple | set | frozenset):
        return [number for part in value for number in _numbers_in(part)]
    return []


def _as_positive(value: Any, least: int) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return max(abs(value), least)
    if isinstance(value, list | tuple):
        return type(value)(_as_positive(part, least) for part in value)
    return value
