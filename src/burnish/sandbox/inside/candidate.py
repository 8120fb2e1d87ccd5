"""The process in which the code under test runs. It answers the judge's requests and knows nothing of the tests.

It is forked before the judge has read the tests, so not even its memory holds what is expected.
Objects that are not plain data stay here; the judge gets a number for each and asks about it.
"""

import gc
import io
import random
import sys
import traceback
import types
from typing import Any

from burnish.sandbox.inside import known, shapes
from burnish.sandbox.inside.channel import Channel, Gone
from burnish.sandbox.inside.plain import Session, Tree, contents, pack, parts, unpack

FILE = "solution.py"
MOST_OUTPUT = 100_000
SOURCE: list[str] = []
"""The lines of the code, for messages."""


def main(code: bytes, channel: Channel) -> None:
    """Import the code, say which names it has, and answer requests until the judge hangs up."""
    gc.enable()
    random.seed()
    sys.stdout = sys.stderr = OUTPUT
    try:
        solution = load(code)
    except BaseException as error:
        channel.send(["broken", describe(error)])
        return
    server = Server(channel, OUTPUT)
    channel.send(["ready", server.offer(vars(solution)), list(vars(solution))])
    server.names = vars(solution)
    while True:
        try:
            server.answer(channel.receive())
        except Gone:
            return


def load(code: bytes) -> types.ModuleType:
    """The code as the module `solution`."""
    solution = types.ModuleType("solution")
    solution.__file__ = FILE
    sys.modules["solution"] = solution
    sys.path.insert(0, "")
    text = code.decode(errors="surrogatepass")
    SOURCE[:] = text.split("\n")
    exec(compile(text, FILE, "exec"), vars(solution))
    return solution


def write_file(code: bytes) -> None:
    """The code as a file too, for tests that read it or start it."""
    with open(FILE, "wb") as file:  # noqa: PTH123
        file.write(code)


class Output(io.StringIO):
    """What the code prints; it goes to the judge with the next answer, so that tests can capture it."""

    def write(self, text: str) -> int:
        """Keep the text unless there is too much already."""
        return super().write(text) if self.tell() < MOST_OUTPUT else len(text)

    def take(self) -> str:
        """What was printed since the last time."""
        text = self.getvalue()
        if text:
            self.seek(0)
            self.truncate()
        return text


OUTPUT = Output()


class Server:
    """Everything the judge may ask for."""

    def __init__(self, channel: Channel, output: Output) -> None:
        self.channel = channel
        self.output = output
        self.names: dict[str, Any] = {}
        self.handles: list[Any] = []
        self.numbers: dict[int, int] = {}
        self.classes = dict(shapes.COMMON)

    def offer(self, names: dict[str, Any]) -> Tree:
        """The functions and classes the code itself defines, packed."""
        session = Here(self)
        own = {k: v for k, v in names.items() if getattr(v, "__module__", None) == "solution" and callable(v)}
        return {name: pack(value, session) for name, value in own.items()}

    def answer(self, request: list[Tree]) -> None:
        """Do what is asked and send back the outcome, the arguments it changed, and what it printed."""
        session = Here(self)
        kind, number, *words = request
        target = self.names if kind == "name" else self.handles[number]
        given = [unpack(word, session) for word in words]
        before = [parts(value) for value in session.objects]
        try:
            tree = ["ok", pack(REQUESTS[kind](target, *given), session)]
        except Gone:
            raise
        except BaseException as error:
            tree = ["raise", pack(error, session)]
        self.channel.send([*tree, changes(session, before), self.output.take()])

    def number_of(self, value: Any) -> int:
        """The number of an object that stays here."""
        number = self.numbers.get(id(value))
        if number is None:
            number = self.numbers[id(value)] = len(self.handles)
            self.handles.append(value)
        return number

    def call_back(self, *request: Any) -> Any:
        """Ask the judge to call something the tests passed in; meanwhile it may ask us."""
        session = Here(self)
        kind, number, *words = request
        self.channel.send([kind, number, *(pack(word, session) for word in words)])
        while (reply := self.channel.receive())[0] != "answer":
            self.answer(reply)
        value = unpack(reply[2], session)
        if reply[1] == "raise":
            raise value
        return value


REQUESTS: dict[str, Any] = {
    "call": lambda target, args, kwargs: target(*args, **kwargs),
    "get": getattr,
    "set": setattr,
    "del": delattr,
    "special": lambda target, name, args: getattr(type(target), name)(target, *args),
    "isa": isinstance,
    "held": shapes.held_in,
    "name": lambda names, name: names[name],
}


def changes(session: Session, before: list[list[Any]]) -> Tree:
    """The containers among the arguments that are not as they were."""
    found = []
    for number, old in enumerate(before):
        value = session.objects[number]
        new = parts(value)
        if len(new) != len(old) or any(one is not other for one, other in zip(new, old, strict=True)):
            found.append([number, contents(value, session)])
    return found


class Here(Session):
    """How values that are not plain data leave and enter this process."""

    def __init__(self, server: Server) -> None:
        super().__init__()
        self.server = server

    def pack_other(self, value: Any) -> Tree:
        """A name both sides know, or a number and what can be done with it."""
        kind = type(value)
        if isinstance(value, BaseException):
            return self.pack_error(value)
        if isinstance(value, type):
            return ["T", known.NAMES[value]] if value in known.NAMES else self.pack_class(value)
        if kind is types.ModuleType and value.__name__ in known.MODULES:
            return ["m", value.__name__]
        if kind is Callback:
            return ["K", value.number]
        number, base = self.server.number_of(value), shapes.base_of(kind, shapes.VALUES)
        if base is not None:
            return ["v", number, self.shape(kind), pack(shapes.value_in(value, base), self)]
        return ["h", number, self.shape(kind)]

    def pack_class(self, kind: type) -> Tree:
        """A class that only this process has."""
        if issubclass(kind, BaseException):
            name = known.error_name(kind)
            parent = next((base for base in kind.__bases__ if issubclass(base, BaseException)), Exception)
            return ["X", name] if name else ["x", self.server.number_of(kind), kind.__name__, self.pack_class(parent)]
        return ["k", self.server.number_of(kind), self.shape(type(kind)), self.shape(kind)]

    def pack_error(self, error: BaseException) -> Tree:
        """An exception: its class, its arguments, its text, its attributes, and where in the code it was raised."""
        own = {key: value for key, value in vars(error).items() if key != "__notes__"}
        return [
            "E",
            self.pack_class(type(error)),
            pack(error.args, self),
            text_of(error),
            pack(own, self),
            *line_of(error),
        ]

    def shape(self, kind: type) -> Tree:
        """The number of a class and, the first time, what its objects can do."""
        if kind in self.server.classes:
            return [self.server.classes[kind]]
        number = self.server.classes[kind] = len(self.server.classes)
        value, holder = (shapes.base_of(kind, bases) for bases in (shapes.VALUES, shapes.HOLDERS))
        names = [base.__name__ if base else "" for base in (value, holder)]
        return [number, kind.__name__, *names, shapes.special_methods(kind)]

    def unpack_other(self, tree: list[Tree]) -> Any:
        """What the judge means. It is trusted: it may name anything."""
        tag, word = tree[0], tree[1]
        if tag == "H":
            return self.server.handles[word]
        if tag == "K":
            return Callback(self.server, word)
        if tag == "I":
            return Items(self.server, word)
        if tag == "N":
            module = __import__(word, fromlist=["_"])
            return getattr(module, tree[2]) if tree[2] else module
        if tag == "T":
            return known.TYPES[word]
        if tag == "X":
            return known.error_class(word)
        return unpack(tree[1], self)(*unpack(tree[2], self))


class Callback:
    """A function of the tests that was passed to the code."""

    def __init__(self, server: Server, number: int) -> None:
        self.server = server
        self.number = number

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Ask the judge to call it."""
        return self.server.call_back("callback", self.number, args, kwargs)


class Items:
    """An iterator of the tests that was passed to the code."""

    def __init__(self, server: Server, number: int) -> None:
        self.server = server
        self.number = number

    def __iter__(self) -> "Items":
        return self

    def __next__(self) -> Any:
        return self.server.call_back("next", self.number)


def text_of(error: BaseException) -> str:
    """The message of an exception, whatever its class does."""
    try:
        return str(error)
    except Exception:
        return ""


def line_of(error: BaseException) -> list[Any]:
    """The last line of the code that the exception passed, and what stands there; 0 if it passed none."""
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == FILE]
    return written(lines[-1] if lines else 0)


def written(line: int) -> list[Any]:
    """A line of the code by its number."""
    return [line, SOURCE[line - 1].strip()] if 0 < line <= len(SOURCE) else [0, ""]


def describe(error: BaseException) -> str:
    """Why the code cannot even be imported."""
    is_syntax = isinstance(error, SyntaxError)
    line, text = written(error.lineno or 0) if is_syntax else line_of(error)  # type: ignore[attr-defined]
    words = error.msg if is_syntax else text_of(error)  # type: ignore[attr-defined]
    place = f" (line {line}: {text[:200]})" if line else ""
    return f"{type(error).__name__}: {words[:500]}{place}"
