"""Values as plain data, so that they can cross from one process to another without ever being unpickled; the channel
between the judge and the code under test on which they do; and the packets by which processes of ours talk.

What is not in these tables does not cross: a class that the code under test defines stays where it is, and only a
number for the object crosses (see `candidate` and `standins`). What is unpacked is always an exact built-in type, so an
object "equal to everything" cannot come out of here.
"""

import array
import collections
import contextlib
import datetime
import decimal
import fractions
import functools
import importlib
import json
import os
import pathlib
import re
import socket
import struct
import types
import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import Any

Tree = Any
"""What JSON can hold."""
MOST_BITS = 10_000
"""Longer integers cross in base 16: Python refuses to read very long decimal ones."""


# Made once, before any fork: a fresh process that touches less of its inherited memory copies less of it.
encode = json.encoder.c_make_encoder(  # type: ignore[attr-defined]
    None, None, json.encoder.encode_basestring_ascii, None, ":", ",", False, False, True
)
decode = json.JSONDecoder().scan_once  # type: ignore[attr-defined]
ENDED = "the code ended its own process"
PIECE = 262144
LONGEST = 64 * 1024 * 1024
HEADER = struct.Struct("!I")
DESCRIPTOR_SPACE = socket.CMSG_SPACE(array.array("i").itemsize * 8)


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
        raise ValueError(f"a {type(value).__name__} cannot cross")

    def unpack_other(self, tree: list[Tree]) -> Any:
        """What a tag means that is not plain data. Each side says."""
        raise ValueError(f"unknown tag {tree[0]!r}")


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
        return [CONTAINERS[kind] or f"array {value.typecode}", pack_contents(value, session)]
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


def pack_contents(value: Any, session: Session) -> Tree:
    """What is in a container, one level down."""
    if isinstance(value, dict):
        return [[pack(key, session), pack(item, session)] for key, item in value.items()]
    if isinstance(value, bytearray):
        return value.decode("latin-1")
    return [pack(item, session) for item in value]


def fill(value: Any, tree: Tree, session: Session) -> None:
    """Make a container hold exactly what `pack_contents` said."""
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


def read_address(tree: Tree, _: Session) -> Any:
    """An address, if the tag names a class of addresses."""
    if tree[1] not in ADDRESSES:
        raise ValueError(f"unknown address {tree[1]!r}")
    return getattr(importlib.import_module("ipaddress"), tree[1])(tree[2])


def list_parts(value: Any) -> list[Any]:
    """The things a container holds, to be compared by identity later."""
    return [*value.keys(), *value.values()] if isinstance(value, dict) else list(value)


def write_items(tag: str) -> Callable[[Iterable[Any], Session], Tree]:
    """A writer for something that is a tag and its elements."""
    return lambda value, session: [tag, [pack(item, session) for item in value]]


def write_text(tag: str, write: Callable[[Any], str] = str) -> Callable[[Any, Session], Tree]:
    """A writer for something that is a tag and a string."""
    return lambda value, _: [tag, write(value)]


def read_items(make: Callable[[list[Any]], Any]) -> Callable[[Tree, Session], Any]:
    """A reader for a tag and its elements."""
    return lambda tree, session: make([unpack(item, session) for item in tree[1]])


def read_text(make: Callable[[str], Any]) -> Callable[[Tree, Session], Any]:
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
    tuple: write_items("t"),
    frozenset: write_items("f"),
    bytes: write_text("b", lambda value: value.decode("latin-1")),
    complex: lambda value, _: ["c", value.real, value.imag],
    range: lambda value, _: ["r", value.start, value.stop, value.step],
    slice: lambda value, session: ["slice", [pack(part, session) for part in (value.start, value.stop, value.step)]],
    type(...): lambda value, _: ["...", 0],
    type(NotImplemented): lambda value, _: ["no", 0],
    decimal.Decimal: write_text("dec"),
    fractions.Fraction: write_text("frac"),
    datetime.date: write_text("date", datetime.date.isoformat),
    datetime.time: write_text("time", datetime.time.isoformat),
    datetime.datetime: write_text("datetime", datetime.datetime.isoformat),
    datetime.timedelta: lambda value, _: ["delta", value.days, value.seconds, value.microseconds],
    datetime.timezone: lambda value, session: ["zone", pack(value.utcoffset(None), session)],
    uuid.UUID: write_text("uuid"),
    re.Pattern: lambda value, session: ["re", pack(value.pattern, session), value.flags],
    types.MappingProxyType: lambda value, session: ["proxy", pack(dict(value), session)],
    pathlib.PosixPath: write_text("path"),
    pathlib.PurePosixPath: write_text("purepath"),
    type({}.keys()): write_items("keys"),
    type({}.values()): write_items("values"),
    type({}.items()): write_items("items"),
}
READERS: dict[str, Callable[[Tree, Session], Any]] = {
    "i": read_text(lambda word: int(word, 16)),
    "t": read_items(tuple),
    "f": read_items(frozenset),
    "b": read_text(lambda word: word.encode("latin-1")),
    "c": lambda tree, _: complex(tree[1], tree[2]),
    "r": lambda tree, _: range(tree[1], tree[2], tree[3]),
    "slice": read_items(lambda parts: slice(*parts)),
    "...": lambda tree, _: ...,
    "no": lambda tree, _: NotImplemented,
    "dec": read_text(decimal.Decimal),
    "frac": read_text(fractions.Fraction),
    "date": read_text(datetime.date.fromisoformat),
    "time": read_text(datetime.time.fromisoformat),
    "datetime": read_text(datetime.datetime.fromisoformat),
    "delta": lambda tree, _: datetime.timedelta(tree[1], tree[2], tree[3]),
    "zone": lambda tree, session: datetime.timezone(unpack(tree[1], session)),
    "uuid": read_text(uuid.UUID),
    "re": lambda tree, session: re.compile(unpack(tree[1], session), tree[2]),
    "proxy": lambda tree, session: types.MappingProxyType(unpack(tree[1], session)),
    "ip": read_address,
    "path": read_text(pathlib.PosixPath),
    "purepath": read_text(pathlib.PurePosixPath),
    "keys": read_items(lambda parts: dict.fromkeys(parts).keys()),
    "values": read_items(lambda parts: dict(enumerate(parts)).values()),
    "items": read_items(lambda parts: dict(parts).items()),
}


class Gone(BaseException):
    """The other process ended or talks nonsense. Not an Exception, so that no test can swallow it."""


class Channel:
    """Sends and receives whole messages; raises Gone when there is nobody left to talk to."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.waiting: bytes | bytearray = b""

    def send(self, message: Any) -> None:
        """Send one message."""
        body = "".join(encode(message, 0)).encode()
        data = HEADER.pack(len(body)) + body
        try:
            written = os.write(self.fd, data)
            while written < len(data):
                written += os.write(self.fd, data[written : written + PIECE])
        except OSError as error:
            raise Gone(ENDED) from error

    def receive(self) -> Any:
        """Wait for one message. Nearly always it comes whole in one piece."""
        data = self.waiting
        while len(data) < HEADER.size:
            data += self._read()
        end = HEADER.size + HEADER.unpack_from(data)[0]
        if end > LONGEST:
            raise Gone("the code sent more than fits")
        if len(data) < end:
            data = bytearray(data)  # grows in place: a large value comes in hundreds of pieces
            while len(data) < end:
                data += self._read()
        self.waiting = data[end:]
        try:
            return decode(data[HEADER.size : end].decode(), 0)[0]
        except (ValueError, RecursionError, StopIteration) as error:
            raise Gone("the code wrote on a channel that is not its own") from error

    def _read(self) -> bytes:
        """What there is to read; there must be something."""
        try:
            data = os.read(self.fd, PIECE)
        except OSError as error:
            raise Gone(ENDED) from error
        if not data:
            raise Gone(ENDED)
        return data


def receive_packet(link: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """The next message and its descriptors, or None when the other side hung up."""
    data, extra, _, _ = link.recvmsg(65536, DESCRIPTOR_SPACE, socket.MSG_CMSG_CLOEXEC)
    if not data:
        return None
    fds = array.array("i")
    for _, _, raw in extra:
        fds.frombytes(raw[: len(raw) - len(raw) % fds.itemsize])
    return json.loads(data), list(fds)


def send_packet(link: socket.socket, message: dict[str, Any], fds: Sequence[int] = ()) -> None:
    """Send a message; if nobody is there any more, whoever waits for an answer will notice."""
    with contextlib.suppress(OSError):
        socket.send_fds(link, [json.dumps(message).encode()], list(fds))


def read_all(fd: int) -> bytes:
    """Everything in a file of the job, which is closed after."""
    with os.fdopen(fd, "rb") as file:
        return file.read()
