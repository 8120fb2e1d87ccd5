"""Classes that both processes have and that may cross by name. A short list on purpose: the code under test must not be
able to make the judge import or use anything else.
"""

import builtins
import collections
import datetime
import decimal
import fractions
import importlib
import pathlib
from typing import Any


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


MODULES = words(
    "math cmath collections itertools functools operator re string random statistics datetime decimal fractions heapq "
    "bisect copy typing json textwrap time calendar enum dataclasses numbers"
)
"""Modules that tests may use by the name the code imported them under."""
ERROR_MODULES = words(
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


def error_name(kind: type) -> str:
    """How an exception class is called if the judge may have it too, else ""."""
    module = kind.__module__
    if module not in ERROR_MODULES or error_class(f"{module}:{kind.__qualname__}") is not kind:
        return ""
    return f"{module}:{kind.__qualname__}"


def error_class(name: str) -> Any:
    """The exception class of that name, or None."""
    module, _, word = name.partition(":")
    if module not in ERROR_MODULES:
        return None
    found = getattr(importlib.import_module(module), word, None)
    return found if isinstance(found, type) and issubclass(found, BaseException) else None
