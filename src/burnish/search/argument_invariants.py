"""What holds between the arguments of every known call, so that new calls can be made to keep it."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import permutations
from typing import Any

from burnish.search.value_mutation import sort_if_possible

BY_ACCIDENT = 0.7
"""How often an order is kept: it is often an accident of the examples."""
MOSTLY_MEMBER = 0.7
Row = tuple[Any, ...]


class Relation(Enum):
    """What may hold of one argument, or between one and another."""

    POSITIVE, SORTED, SAME_LENGTH, LENGTH, MEMBER, INDEX, ASCENDING = range(7)


FIRM = (Relation.SAME_LENGTH, Relation.LENGTH, Relation.INDEX)
"""A call that does not keep these makes no sense."""


@dataclass(frozen=True)
class Invariant:
    """A relation that all known calls show: of the argument at one place, or between those at two."""

    relation: Relation
    one: int
    other: int = 0
    least: int = 0
    """For POSITIVE: what no number is below, zero or one."""

    def repair(self, row: list[Any], dice: random.Random) -> None:
        """Change a row of arguments so that the relation holds; what may be an accident, only mostly."""
        first, second = row[self.one], row[self.other]
        match self.relation:
            case Relation.POSITIVE:
                row[self.one] = _as_positive(first, self.least)
            case Relation.SORTED if dice.random() < BY_ACCIDENT and isinstance(first, list):
                row[self.one] = sort_if_possible(first)
            case Relation.SAME_LENGTH if _is_sized(first) and _is_sized(second):
                size = min(len(first), len(second))
                row[self.one], row[self.other] = first[:size], second[:size]
            case Relation.LENGTH:
                row[self.other] = len(first)
            case Relation.MEMBER if _is_sized(first) and first and dice.random() < MOSTLY_MEMBER:
                row[self.other] = dice.choice((first[0], first[-1], dice.choice(first)))
            case Relation.INDEX:
                row[self.other] = abs(second) % max(1, len(first))
            case Relation.ASCENDING if first > second and dice.random() < BY_ACCIDENT:
                row[self.one], row[self.other] = second, first

    def holds(self, row: Row) -> bool:
        """Whether there is nothing to repair; of a member any will do."""
        if self.relation is Relation.MEMBER:
            return _is_inside(row[self.other], row[self.one])
        repaired = list(row)
        self.repair(repaired, _Always())
        return tuple(repaired) == row


class _Always(random.Random):
    """Dice that never leave a repair out."""

    def random(self) -> float:
        return 0.0


def find_signs(rows: Sequence[Row]) -> list[Invariant]:
    """Each argument in which no number is negative, or none is below one."""
    numbers = [[number for value in column for number in _numbers_in(value)] for column in zip(*rows, strict=True)]
    return [
        Invariant(Relation.POSITIVE, at, least=int(min(inside) > 0))
        for at, inside in enumerate(numbers)
        if inside and min(inside) >= 0
    ]


def find_relations(rows: Sequence[Row]) -> list[Invariant]:
    """Each relation that all rows show: order, equal lengths, a length, a place, a member."""
    found: list[Invariant] = []
    columns = list(zip(*rows, strict=True))
    for at, column in enumerate(columns):
        lists = [value for value in column if isinstance(value, list) and len(value) > 2]
        ordered = all(sort_if_possible(value) == value and len(set(map(type, value))) == 1 for value in lists)
        if len(lists) == len(column) and ordered:
            found.append(Invariant(Relation.SORTED, at))
    for one, other in permutations(range(len(columns)), 2):
        pairs = list(zip(columns[one], columns[other], strict=True))
        relation = next((relation for relation in RELATIONS if all(_relates(relation, *pair) for pair in pairs)), None)
        if relation and (one < other or relation not in SYMMETRIC):
            found.append(Invariant(relation, one, other))
    return found


RELATIONS = (Relation.SAME_LENGTH, Relation.LENGTH, Relation.MEMBER, Relation.INDEX, Relation.ASCENDING)
"""Between two arguments; the first that holds counts."""
SYMMETRIC = (Relation.SAME_LENGTH, Relation.ASCENDING)
"""Found once for two columns: the first of them comes first."""


def _relates(relation: Relation, first: Any, second: Any) -> bool:
    """Whether a relation holds between two values."""
    match relation:
        case Relation.SAME_LENGTH:
            return _is_sized(first) and _is_sized(second) and len(first) == len(second) > 1
        case Relation.LENGTH:
            return _is_sized(first) and type(second) is int and second == len(first)
        case Relation.MEMBER:
            return _is_sized(first) and _is_inside(second, first)
        case Relation.INDEX:
            return _is_sized(first) and type(second) is int and 0 <= second < len(first)
    return type(first) is int and type(second) is int and first < second


def is_usual(rows: Sequence[Row], row: Row) -> bool:
    """Whether a row of arguments is of the kind that all rows are: the same types, signs and relations, and nothing
    empty where they have nothing empty. Without rows nothing is.
    """
    columns = zip(row, *rows, strict=False)
    empty = any(_is_empty(value) and not any(map(_is_empty, known)) for value, *known in columns)
    kept = (invariant.holds(row) for invariant in (*find_signs(rows), *find_relations(rows)))
    return is_near(rows, row) and not empty and all(kept)


def is_near(rows: Sequence[Row], row: Row) -> bool:
    """The same, but an edge is near enough: zero, something empty, another order, what is no member."""
    if not rows or len(row) != len(rows[0]):
        return False
    if any(type(value) not in set(map(type, known)) for value, *known in zip(row, *rows, strict=True)):
        return False
    firm = [invariant for invariant in find_relations(rows) if invariant.relation in FIRM]
    return all(one.holds(row) for one in (*(replace(sign, least=0) for sign in find_signs(rows)), *firm))


def _is_empty(value: Any) -> bool:
    return isinstance(value, list | tuple | str | dict | set | bytes) and not value


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
        return _numbers_in([*value, *value.values()])
    parts = value if isinstance(value, list | tuple | set | frozenset) else ()
    return [number for part in parts for number in _numbers_in(part)]


def _as_positive(value: Any, least: int) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return max(abs(value), least)
    if isinstance(value, list | tuple):
        return type(value)(_as_positive(part, least) for part in value)
    return value
