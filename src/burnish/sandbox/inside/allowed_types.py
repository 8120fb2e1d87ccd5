"""Classes that both processes have and that may cross by name, and the special methods that a stand-in may have.

A short list on purpose: the code under test must not be able to make the judge import or use anything else. An object
of any other class has in the judge a stand-in with the same special methods and no others.
"""

import array
import builtins
import collections
import datetime
import decimal
import fractions
import importlib
import pathlib
import uuid
from collections.abc import Callable
from typing import Any


def split_words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


MODULES = split_words(
    "math cmath collections itertools functools operator re string random statistics datetime decimal fractions heapq "
    "bisect copy typing json textwrap time calendar enum dataclasses numbers"
)
"""Modules that tests may use by the name the code imported them under."""
ERROR_MODULES = split_words(
    "builtins decimal json.decoder re datetime fractions statistics queue struct binascii zlib csv socket subprocess "
    "enum dataclasses configparser ipaddress urllib.error xml.etree.ElementTree sqlite3 asyncio.exceptions"
)
"""Modules whose exceptions are raised in the judge as what they are."""
TYPES: dict[str, type] = {
    **{name: value for name, value in vars(builtins).items() if isinstance(value, type)},
    **{kind.__name__: kind for kind in (collections.Counter, collections.OrderedDict, collections.deque)},
    **{kind.__name__: kind for kind in (collections.defaultdict, decimal.Decimal, fractions.Fraction, pathlib.Path)},
    **{kind.__name__: kind for kind in (datetime.date, datetime.time, datetime.datetime, datetime.timedelta)},
    "NoneType": type(None),
    "function": type(lambda: None),
    "generator": type(_ for _ in ""),
}
NAMES: dict[type, str] = {kind: name for name, kind in TYPES.items()}


def name_error_class(kind: type) -> str:
    """How an exception class is called if the judge may have it too, else ""."""
    module = kind.__module__
    if module not in ERROR_MODULES or find_error_class(f"{module}:{kind.__qualname__}") is not kind:
        return ""
    return f"{module}:{kind.__qualname__}"


def find_error_class(name: str) -> Any:
    """The exception class of that name, or None."""
    module, _, word = name.partition(":")
    if module not in ERROR_MODULES:
        return None
    found = getattr(importlib.import_module(module), word, None)
    return found if isinstance(found, type) and issubclass(found, BaseException) else None


ALONE = split_words(
    "__call__ __len__ __length_hint__ __iter__ __next__ __getitem__ __setitem__ __delitem__ __bool__ __abs__ __neg__ "
    "__pos__ __invert__ __int__ __float__ __index__ __complex__ __round__ __trunc__ __floor__ __ceil__ __str__ "
    "__repr__ __format__ __enter__ __exit__ __reversed__ __bytes__"
)
"""Those that tell the code under test nothing about what is expected."""
TOGETHER = split_words(
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


VALUE_TYPES = (
    *(kind for kind in (*VALUES, *HOLDERS) if kind is not decimal.Decimal),
    *(bytearray, range, array.array, collections.Counter, collections.OrderedDict, datetime.time, uuid.UUID),
)
COMPARING = split_words(
    "equals identical isin eq ne lt le gt ge allclose isclose array_equal compare compare_total samefile all any"
)
PLAIN_NAMES = COMPARING.union(*map(dir, (*VALUE_TYPES, decimal.Decimal, pathlib.Path)))
"""What plain values can be asked for, those of well-known packages included. Who asks an object for anything else
expects an object.
"""
PLAIN_SETS = [COMPARING.union(dir(kind)) for kind in (*VALUE_TYPES, decimal.Decimal, pathlib.Path)]
"""The same for each kind of plain value by itself."""
CHANGING = split_words(
    "add append appendleft clear difference_update discard extend extendleft get insert intersection_update "
    "move_to_end pop popitem popleft remove reverse rotate setdefault sort subtract symmetric_difference_update update"
)
"""Methods of plain values that change something, or fetch it: their answers are compared afterwards."""
METHODS = {name for kind in VALUE_TYPES for name in dir(kind) if name[0] != "_" and callable(getattr(kind, name))}
QUESTIONS = (COMPARING | TOGETHER | METHODS) - CHANGING
"""Methods that plain values have and that may be told what is expected: `startswith`, `issubset`, `index`, `equals`."""
PREDICATES = {name for name in QUESTIONS if name.startswith("is") and not name.startswith("iso")} | {"all", "any"}
"""Those of them whose answer is yes or no whatever they are told."""


def list_special_methods(kind: type) -> list[str]:
    """The special methods that a class has beyond those every object has."""
    return [name for name in (*ALONE, *TOGETHER) if getattr(kind, name, None) is not getattr(object, name, None)]


def find_base(kind: type, bases: tuple[type, ...]) -> type | None:
    """The first of `bases` that the class is made from."""
    return next((base for base in bases if issubclass(kind, base)), None)


def extract_held(value: Any) -> Any:
    """What an object of a subclass of one of HOLDERS holds, as a plain value, whatever its class has redefined."""
    base = find_base(type(value), HOLDERS)
    return HELD[base](value) if base else None


VALUE_OF: dict[type, Callable[[Any], Any]] = {
    bool: int.__index__,
    int: int.__index__,
    float: float.__float__,
    complex: lambda value: complex.__add__(value, 0j),
    str: str.__str__,
    bytes: lambda value: bytes.__add__(value, b""),
    tuple: lambda value: tuple(tuple.__iter__(value)),
    frozenset: lambda value: frozenset(frozenset.__iter__(value)),
}
"""The built-in value inside an object of a subclass, whatever its class has redefined."""
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
COMMON_CLASSES: dict[type, int] = {
    kind: number for number, kind in enumerate((type(split_words), type, type(_ for _ in "")))
}
"""Classes both sides know without being told: functions, classes, generators."""
