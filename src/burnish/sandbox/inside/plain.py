"""Values as plain data, so that they can cross from one process to another without ever being unpickled.

What is not in these tables does not cross: a class that the code under test defines stays where it is, and only a
number for the object crosses (see `candidate` and `remote`). What is unpacked is always an exact built-in type, so an
object "equal to everything" cannot come out of here.
"""

import array
import collections
import datetime
import decimal
import fractions
import functools
import importlib
import pathlib
import re
import types
import uuid
from collections.abc import Callable, Iterable
from typing import Any

Tree = Any
"""What JSON can hold."""
MOST_BITS = 10_000
"""Longer integers cross in base 16: Python refuses to read very long decimal ones."""


class NotPlain(ValueError):
    """What arrived is not plain data in the agreed form."""


class Session:
    """One exchange: numbers the containers that cross, so that both sides mean the same ones."""

    def __init__(self) -> None:
        self.objects: list[Any] = []
        self.numbers: dict[int, int] = {}

    def add(self, value: Any) -> None:
        """Give a container the next number."""
        self.numbers[id(value)] = len(self.objects)
        self.objects.append(value)

    def pack_other(self, value: Any) -> Tree:
        """What to send for a value that is not plain. Each side says."""
        raise NotPlain(f"a {type(value).__name__} cannot cross")

    def unpack_other(self, tree: list[Tree]) -> Any:
        """What a tag means that is not plain data. Each side says."""
        raise NotPlain(f"unknown tag {tree[0]!r}")


def pack(value: Any, session: Session) -> Tree:
    """The value as something JSON can hold."""
    kind = type(value)
    if kind is str or kind is float or kind is bool or value is None:
        return value
    if kind is int:
        return value if -MOST_BITS < value < MOST_BITS or value.bit_length() < MOST_BITS else ["i", hex(value)]
    if kind in CONTAINERS:
        number = session.numbers.get(id(value))
        if number is not None:
            return ["#", number]
        session.add(value)
        return [CONTAINERS[kind] or f"array {value.typecode}", contents(value, session)]
    write = WRITERS.get(kind)
    if write is None and kind.__module__ == "ipaddress" and kind.__name__ in ADDRESSES:
        return ["ip", kind.__name__, str(value)]
    return write(value, session) if write else session.pack_other(value)


def unpack(tree: Tree, session: Session) -> Any:
    """The value that `pack` was given, or its equal in exact built-in types."""
    if type(tree) is not list:
        return tree
    tag = tree[0]
    if tag in EMPTY:
        value = EMPTY[tag]()
        session.add(value)
        fill(value, tree[1], session)
        return value
    if tag == "#":
        return session.objects[tree[1]]
    read = READERS.get(tag)
    return read(tree, session) if read else session.unpack_other(tree)


def contents(value: Any, session: Session) -> Tree:
    """What is in a container, one level down."""
    if isinstance(value, dict):
        return [[pack(key, session), pack(item, session)] for key, item in value.items()]
    if isinstance(value, bytearray):
        return value.decode("latin-1")
    return [pack(item, session) for item in value]


def fill(value: Any, tree: Tree, session: Session) -> None:
    """Make a container hold exactly what `contents` said."""
    if isinstance(value, dict):
        pairs = [(unpack(key, session), unpack(item, session)) for key, item in tree]
        value.clear()
        value.update(dict(pairs))
    elif isinstance(value, bytearray):
        value[:] = tree.encode("latin-1")
    elif isinstance(value, array.array):
        value[:] = array.array(value.typecode, tree)
    else:
        items = [unpack(item, session) for item in tree]
        value.clear()
        grow = value.update if isinstance(value, set) else value.extend
        grow(items)


def address_kind(name: str) -> str:
    """The name again, if it is that of a class of addresses."""
    if name not in ADDRESSES:
        raise NotPlain(f"unknown address {name!r}")
    return name


def parts(value: Any) -> list[Any]:
    """The things a container holds, to be compared by identity later."""
    return [*value.keys(), *value.values()] if isinstance(value, dict) else list(value)


def items(tag: str) -> Callable[[Iterable[Any], Session], Tree]:
    """A writer for something that is a tag and its elements."""
    return lambda value, session: [tag, [pack(item, session) for item in value]]


def text(tag: str, write: Callable[[Any], str] = str) -> Callable[[Any, Session], Tree]:
    """A writer for something that is a tag and a string."""
    return lambda value, _: [tag, write(value)]


def collected(make: Callable[[list[Any]], Any]) -> Callable[[Tree, Session], Any]:
    """A reader for a tag and its elements."""
    return lambda tree, session: make([unpack(item, session) for item in tree[1]])


def spelled(make: Callable[[str], Any]) -> Callable[[Tree, Session], Any]:
    """A reader for a tag and a string."""
    return lambda tree, _: make(tree[1])


ADDRESSES = frozenset(f"IPv{version}{kind}" for version in (4, 6) for kind in ("Address", "Network", "Interface"))
"""Of `ipaddress`, which is imported only where it is needed."""
CONTAINERS: dict[type, str] = {
    list: "l",
    dict: "d",
    set: "s",
    bytearray: "B",
    collections.deque: "q",
    collections.Counter: "C",
    collections.OrderedDict: "O",
    collections.defaultdict: "D",
    array.array: "",
}
"""How each is tagged; an array by the type of its items."""
EMPTY: dict[str, Callable[[], Any]] = {
    **{tag: kind for kind, tag in CONTAINERS.items() if tag},
    **{f"array {code}": functools.partial(array.array, code) for code in array.typecodes},
}

WRITERS: dict[type, Callable[[Any, Session], Tree]] = {
    tuple: items("t"),
    frozenset: items("f"),
    bytes: text("b", lambda value: value.decode("latin-1")),
    complex: lambda value, _: ["c", value.real, value.imag],
    range: lambda value, _: ["r", value.start, value.stop, value.step],
    slice: lambda value, session: ["slice", [pack(part, session) for part in (value.start, value.stop, value.step)]],
    type(...): lambda value, _: ["...", 0],
    type(NotImplemented): lambda value, _: ["no", 0],
    decimal.Decimal: text("dec"),
    fractions.Fraction: text("frac"),
    datetime.date: text("date", datetime.date.isoformat),
    datetime.time: text("time", datetime.time.isoformat),
    datetime.datetime: text("datetime", datetime.datetime.isoformat),
    datetime.timedelta: lambda value, _: ["delta", value.days, value.seconds, value.microseconds],
    datetime.timezone: lambda value, session: ["zone", pack(value.utcoffset(None), session)],
    uuid.UUID: text("uuid"),
    re.Pattern: lambda value, session: ["re", pack(value.pattern, session), value.flags],
    types.MappingProxyType: lambda value, session: ["proxy", pack(dict(value), session)],
    pathlib.PosixPath: text("path"),
    pathlib.PurePosixPath: text("purepath"),
    type({}.keys()): items("keys"),
    type({}.values()): items("values"),
    type({}.items()): items("items"),
}
READERS: dict[str, Callable[[Tree, Session], Any]] = {
    "i": spelled(lambda word: int(word, 16)),
    "t": collected(tuple),
    "f": collected(frozenset),
    "b": spelled(lambda word: word.encode("latin-1")),
    "c": lambda tree, _: complex(tree[1], tree[2]),
    "r": lambda tree, _: range(tree[1], tree[2], tree[3]),
    "slice": collected(lambda parts: slice(*parts)),
    "...": lambda tree, _: ...,
    "no": lambda tree, _: NotImplemented,
    "dec": spelled(decimal.Decimal),
    "frac": spelled(fractions.Fraction),
    "date": spelled(datetime.date.fromisoformat),
    "time": spelled(datetime.time.fromisoformat),
    "datetime": spelled(datetime.datetime.fromisoformat),
    "delta": lambda tree, _: datetime.timedelta(tree[1], tree[2], tree[3]),
    "zone": lambda tree, session: datetime.timezone(unpack(tree[1], session)),
    "uuid": spelled(uuid.UUID),
    "re": lambda tree, session: re.compile(unpack(tree[1], session), tree[2]),
    "proxy": lambda tree, session: types.MappingProxyType(unpack(tree[1], session)),
    "ip": lambda tree, _: getattr(importlib.import_module("ipaddress"), address_kind(tree[1]))(tree[2]),
    "path": spelled(pathlib.PosixPath),
    "purepath": spelled(pathlib.PurePosixPath),
    "keys": collected(lambda parts: dict.fromkeys(parts).keys()),
    "values": collected(lambda parts: dict(enumerate(parts)).values()),
    "items": collected(lambda parts: dict(parts).items()),
}
