"""The process in which the code under test runs. It answers the judge's requests and knows nothing of the tests.

It is forked before the judge has read the tests, so not even its memory holds what is expected. Plain data leaves and
enters as it is. Objects that are not plain data stay here; the judge gets a number for each and asks about it.
"""

import copy
import gc
import io
import itertools
import operator
import random
import sys
import traceback
import types
from typing import Any

from burnish.sandbox.inside import allowed_types, packages
from burnish.sandbox.inside.codec import Channel, Gone, Session, Tree, list_parts, pack, pack_contents, unpack

MOST_OUTPUT = 100_000
CODE_FILE = "solution.py"
CODE_LINES: list[str] = []
"""The lines of the code, for messages."""


def read_message(error: BaseException) -> str:
    """The message of an exception, whatever its class does."""
    try:
        return str(error)
    except Exception:
        return ""


def list_lines(error: BaseException, file: str) -> list[int]:
    """The lines of a file that an exception passed, the one that raised it last."""
    return [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == file]


def find_code_line(error: BaseException) -> list[Any]:
    """The last line of the code that the exception passed, and what stands there; 0 if it passed none."""
    return quote_line([0, *list_lines(error, CODE_FILE)][-1])


def quote_line(line: int) -> list[Any]:
    """A line of the code by its number."""
    return [line, CODE_LINES[line - 1].strip()] if 0 < line <= len(CODE_LINES) else [0, ""]


def explain_import_error(error: BaseException) -> str:
    """Why the code cannot even be imported."""
    if isinstance(error, SyntaxError):
        (line, text), words = quote_line(error.lineno or 0), error.msg
    else:
        (line, text), words = find_code_line(error), read_message(error)
    place = f" (line {line}: {text[:200]})" if line else ""
    return f"{type(error).__name__}: {words[:500]}{place}"


class Output(io.StringIO):
    """What the code prints; it goes to the judge with the next answer, so that tests can capture it."""

    def write(self, text: str) -> int:
        """Keep the text unless there is too much already."""
        return super().write(text) if self.tell() < MOST_OUTPUT else len(text)

    def take(self) -> str:
        """What was printed since the last time."""
        if text := self.getvalue():
            self.seek(0)
            self.truncate()
        return text


OUTPUT, ERRORS = Output(), Output()


class CodeSession(Session):
    """How values that are not plain data leave and enter this process."""

    def __init__(self, server: "CodeServer") -> None:
        super().__init__()
        self.server = server
        self.before: list[list[Any]] = []

    def remember(self) -> None:
        """Note what the arguments hold before the code gets them."""
        if self.objects:
            self.before = [list_parts(value) for value in self.objects]

    def list_changes(self) -> Tree:
        """The containers among the arguments that are not as they were."""
        found = []
        for number, (value, old) in enumerate(zip(self.objects, self.before, strict=False)):
            new = list_parts(value)
            if len(new) != len(old) or any(map(operator.is_not, new, old)):
                found.append([number, pack_contents(value, self)])
        return found

    def pack_other(self, value: Any) -> Tree:
        """A name both sides know, or a number and what can be done with it."""
        kind = type(value)
        if isinstance(value, BaseException):
            return self.pack_error(value)
        if isinstance(value, type):
            return ["T", allowed_types.NAMES[value]] if value in allowed_types.NAMES else self.pack_class(value)
        if kind is types.ModuleType and value.__name__ in allowed_types.MODULES:
            return ["m", value.__name__]
        if kind is Callback:
            return ["K", value.number]
        number, base = self.server.get_number(value), allowed_types.find_base(kind, allowed_types.VALUES)
        if base is not None:
            return ["v", number, self.pack_shape(kind), pack(allowed_types.VALUE_OF[base](value), self)]
        item = packages.item_of(value) if packages.is_layered(kind) else None
        shape = self.pack_shape(kind)
        return ["h", number, shape] if item is None else ["n", number, shape, pack(item, self)]

    def pack_class(self, kind: type) -> Tree:
        """A class that only this process has."""
        if issubclass(kind, BaseException):
            name = allowed_types.name_error_class(kind)
            parent = next((base for base in kind.__bases__ if issubclass(base, BaseException)), Exception)
            return ["X", name] if name else ["x", self.server.get_number(kind), kind.__name__, self.pack_class(parent)]
        return ["k", self.server.get_number(kind), self.pack_shape(type(kind)), self.pack_shape(kind)]

    def pack_error(self, error: BaseException) -> Tree:
        """An exception: its class, its arguments, its text, its attributes, and where in the code it was raised."""
        own = {key: value for key, value in vars(error).items() if key != "__notes__"}
        return [
            "E",
            self.pack_class(type(error)),
            pack(error.args, self),
            read_message(error),
            pack(own, self),
            *find_code_line(error),
            -1 if allowed_types.name_error_class(type(error)) else self.server.get_number(error),
            pack(error.__cause__, self),
        ]

    def pack_shape(self, kind: type) -> Tree:
        """The number of a class and, the first time, what its objects can do."""
        if kind in self.server.classes:
            return [self.server.classes[kind]]
        number = self.server.classes[kind] = len(self.server.classes)
        bases = [allowed_types.find_base(kind, bases) for bases in (allowed_types.VALUES, allowed_types.HOLDERS)]
        names = [base.__name__ if base else "" for base in bases]
        return [number, kind.__name__, *names, allowed_types.list_special_methods(kind), packages.is_layered(kind)]

    def unpack_other(self, tree: list[Tree]) -> Any:
        """What the judge means. It is trusted: it may name anything."""
        match tree:
            case ["H", number]:
                return self.server.handles[number]
            case ["K", number, name, doc]:
                return self.server.callbacks.setdefault(number, Callback(self.server, number, name, doc))
            case ["I", number]:
                # An iterator of the tests: each item is asked for when the code wants it.
                return map(lambda _: self.server.call_back("next", number), itertools.repeat(None))
            case ["N", module, name]:
                found = __import__(module, fromlist=["_"])
                return getattr(found, name) if name else found
            case ["T", name]:
                return allowed_types.TYPES[name]
            case ["X", name]:
                return allowed_types.find_error_class(name)
        return unpack(tree[1], self)(*unpack(tree[2], self))


class Callback:
    """A function of the tests that was passed to the code."""

    def __init__(self, server: "CodeServer", number: int, name: str, doc: str | None) -> None:
        self.server = server
        self.number = number
        self.__name__ = self.__qualname__ = name
        self.__doc__ = doc

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Ask the judge to call it."""
        return self.server.call_back("callback", self.number, args, kwargs)


class CodeServer:
    """Everything the judge may ask for."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.callbacks: dict[int, Callback] = {}
        self.names: dict[str, Any] = {}
        self.handles: list[Any] = []
        self.numbers: dict[int, int] = {}
        self.classes = dict(allowed_types.COMMON_CLASSES)

    def answer(self, request: list[Tree]) -> None:
        """Do what is asked and send back the outcome, the arguments it changed, and what it printed."""
        session = CodeSession(self)
        try:
            tree = ["ok", pack(self.carry_out(request, session), session)]
        except Gone:
            raise
        except BaseException as error:
            tree = ["raise", pack(error, session)]
        printed = [OUTPUT.take(), ERRORS.take()]
        self.channel.send([*tree, session.list_changes() if session.before else [], printed if any(printed) else None])

    def carry_out(self, request: list[Tree], session: CodeSession) -> Any:
        """What the code does with one request."""
        kind, number, *words = request
        target: Any = self.names if kind == "name" else self.handles[number]
        if kind == "call":
            args = [unpack(word, session) for word in words[0]]
            kwargs = {name: unpack(word, session) for name, word in words[1].items()} if words[1] else {}
            session.remember()
            return target(*args, **kwargs)
        given = [unpack(word, session) for word in words]
        session.remember()
        return REQUESTS[kind](target, *given)

    def get_number(self, value: Any) -> int:
        """The number of an object that stays here."""
        number = self.numbers.get(id(value))
        if number is None:
            number = self.numbers[id(value)] = len(self.handles)
            self.handles.append(value)
        return number

    def call_back(self, *request: Any) -> Any:
        """Ask the judge to call something the tests passed in; meanwhile it may ask us."""
        session = CodeSession(self)
        kind, number, *words = request
        self.channel.send([kind, number, *(pack(word, session) for word in words)])
        while (reply := self.channel.receive())[0] != "answer":
            self.answer(reply)
        value = unpack(reply[2], session)
        if reply[1] == "raise":
            raise value
        return value


REQUESTS: dict[str, Any] = {
    "get": getattr,
    "set": setattr,
    "del": delattr,
    "special": lambda target, name, args: getattr(type(target), name)(target, *args),
    "isa": lambda target, kind: kind in type(target).__mro__,
    "held": allowed_types.extract_held,
    "copy": lambda target, is_deep: copy.deepcopy(target) if is_deep else copy.copy(target),
    "content": packages.content_of,
    "name": lambda names, name: names[name],
}


def serve_code(code: bytes, channel: Channel) -> None:
    """Import the code, say which names it has, and answer requests until the judge hangs up."""
    gc.enable()
    random.seed()
    sys.stdout, sys.stderr = OUTPUT, ERRORS
    try:
        solution = load_code(code)
    except BaseException as error:
        channel.send(["broken", explain_import_error(error)])
        return
    server = CodeServer(channel)
    names = vars(solution)
    own = {k: v for k, v in names.items() if getattr(v, "__module__", None) == "solution" and callable(v)}
    session = CodeSession(server)
    channel.send(["ready", {name: pack(value, session) for name, value in own.items()}, list(names)])
    server.names = names
    while True:
        try:
            server.answer(channel.receive())
        except Gone:
            return


def load_code(code: bytes) -> types.ModuleType:
    """The code as the module `solution`: compiled from its bytes, as an import of the same file would."""
    solution = types.ModuleType("solution")
    solution.__file__ = CODE_FILE
    sys.modules["solution"] = solution
    sys.path.insert(0, "")
    packages.prefer_layer()
    CODE_LINES[:] = code.decode(errors="replace").split("\n")
    exec(compile(code, CODE_FILE, "exec"), vars(solution))
    return solution
