"""Which special methods an object has, so that its stand-in in the judge has the same and no others."""

import array
import collections
import datetime
import decimal
import fractions
import pathlib
import uuid
from collections.abc import Callable
from typing import Any

from burnish.sandbox.inside.known import words

ALONE = words(
    "__call__ __len__ __length_hint__ __iter__ __next__ __getitem__ __setitem__ __delitem__ __bool__ __abs__ __neg__ "
    "__pos__ __invert__ __int__ __float__ __index__ __complex__ __round__ __trunc__ __floor__ __ceil__ __str__ "
    "__repr__ __format__ __enter__ __exit__ __reversed__ __bytes__"
)
"""Those that tell the code under test nothing about what is expected."""
TOGETHER = words(
    "__lt__ __le__ __gt__ __ge__ __contains__ __add__ __sub__ __mul__ __matmul__ __truediv__ __floordiv__ __mod__ "
    "__divmod__ __pow__ __lshift__ __rshift__ __and__ __xor__ __or__ __radd__ __rsub__ __rmul__ __rmatmul__ "
    "__rtruediv__ __rfloordiv__ __rmod__ __rpow__ __rand__ __rxor__ __ror__ __iadd__ __isub__ __imul__ __iand__ "
    "__ior__ __eq__ __hash__"
)
"""Those that could be answered with an eye on the other side. Only a class that the tests name itself may answer."""
VALUES = (bool, int, float, complex, str, bytes, tuple, frozenset)
"""A subclass of one of these crosses with its value, which nothing the code defines can bend."""
HOLDERS = (
    *(list, dict, set, collections.deque, decimal.Decimal, fractions.Fraction, pathlib.PurePosixPath),
    *(datetime.datetime, datetime.date, datetime.timedelta),
)
"""An object of a subclass of one of these is compared and asked by what it holds, unless its class is named."""


def methods_of(kind: type) -> list[str]:
    """The methods of a plain type that have ordinary names."""
    return [name for name in dir(kind) if name[0] != "_" and callable(getattr(kind, name))]


VALUE_TYPES = (
    *(kind for kind in (*VALUES, *HOLDERS) if kind is not decimal.Decimal),
    *(bytearray, range, array.array, collections.Counter, collections.OrderedDict, datetime.time, uuid.UUID),
)
COMPARING = words(
    "equals identical isin eq ne lt le gt ge allclose isclose array_equal compare compare_total samefile all any"
)
PLAIN_NAMES = COMPARING.union(*map(dir, (*VALUE_TYPES, decimal.Decimal, pathlib.Path)))
"""What plain values can be asked for, those of well-known packages included. Who asks an object for anything else
expects an object.
"""
PLAIN_SETS = [COMPARING.union(dir(kind)) for kind in (*VALUE_TYPES, decimal.Decimal, pathlib.Path)]
"""The same for each kind of plain value by itself."""
CHANGING = words(
    "add append appendleft clear difference_update discard extend extendleft get insert intersection_update "
    "move_to_end pop popitem popleft remove reverse rotate setdefault sort subtract symmetric_difference_update update"
)
"""Methods of plain values that change something, or fetch it: their answers are compared afterwards."""
QUESTIONS = (COMPARING | TOGETHER | {name for kind in VALUE_TYPES for name in methods_of(kind)}) - CHANGING
"""Methods that plain values have and that may be told what is expected: `startswith`, `issubset`, `index`, `equals`."""
PREDICATES = frozenset(name for name in QUESTIONS if name.startswith("is") and not name.startswith("iso")) | {
    "all",
    "any",
}
"""Those of them whose answer is yes or no whatever they are told."""


def special_methods(kind: type) -> list[str]:
    """The special methods that a class has beyond those every object has."""
    return [name for name in (*ALONE, *TOGETHER) if getattr(kind, name, None) is not getattr(object, name, None)]


def base_of(kind: type, bases: tuple[type, ...]) -> type | None:
    """The first of `bases` that the class is made from."""
    return next((base for base in bases if issubclass(kind, base)), None)


def value_in(value: Any, base: type) -> Any:
    """The built-in value inside an object of a subclass, whatever its class has redefined."""
    if base is tuple:
        return tuple(tuple.__iter__(value))
    if base is frozenset:
        return frozenset(frozenset.__iter__(value))
    if base in (int, bool):
        return int.__index__(value)
    if base is str:
        return str.__str__(value)
    if base is float:
        return float.__float__(value)
    if base is bytes:
        return bytes.__add__(value, b"")
    return complex.__add__(value, 0j)


def held_in(value: Any) -> Any:
    """What an object of a subclass of one of HOLDERS holds, as a plain value, whatever its class has redefined."""
    base = base_of(type(value), HOLDERS)
    return HELD[base](value) if base else None


HELD: dict[type, Callable[[Any], Any]] = {
    list: lambda value: list(list.__iter__(value)),
    dict: lambda value: dict(zip(dict.keys(value), dict.values(value), strict=True)),
    set: lambda value: set(set.__iter__(value)),
    collections.deque: lambda value: collections.deque(collections.deque.__iter__(value)),
    decimal.Decimal: lambda value: decimal.Decimal(decimal.Decimal.__str__(value)),
    fractions.Fraction: lambda value: fractions.Fraction(fractions.Fraction.__str__(value)),
    pathlib.PurePosixPath: lambda value: pathlib.PurePosixPath(pathlib.PurePath.__str__(value)),
    datetime.datetime: lambda value: datetime.datetime.fromisoformat(datetime.datetime.isoformat(value)),
    datetime.date: lambda value: datetime.date.fromisoformat(datetime.date.isoformat(value)),
    datetime.timedelta: lambda value: datetime.timedelta(value.days, value.seconds, value.microseconds),
}
COMMON: dict[type, int] = {kind: number for number, kind in enumerate((type(words), type, type(_ for _ in "")))}
"""Classes both sides know without being told: functions, classes, generators."""
