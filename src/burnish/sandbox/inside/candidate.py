"""The process in which the code under test runs. It answers the judge's requests and knows nothing of the tests.

It is forked before the judge has read the tests, so not even its memory holds what is expected.
Objects that are not plain data stay here; the judge gets a number for each and asks about it.
"""

import copy
import gc
import io
import random
import sys
import types
from typing import Any

from burnish.sandbox.inside import arrays, faults, order, shapes
from burnish.sandbox.inside.channel import Channel, Gone
from burnish.sandbox.inside.here import Callback, Here, changes
from burnish.sandbox.inside.plain import Tree, pack, unpack

MOST_OUTPUT = 100_000


def main(code: bytes, channel: Channel) -> None:
    """Import the code, say which names it has, and answer requests until the judge hangs up."""
    gc.enable()
    random.seed()
    sys.stdout, sys.stderr = OUTPUT, ERRORS
    try:
        solution = load(code)
    except BaseException as error:
        channel.send(["broken", faults.describe(error)])
        return
    server = Server(channel)
    channel.send(["ready", server.offer(vars(solution)), list(vars(solution))])
    server.names = vars(solution)
    while True:
        try:
            server.answer(channel.receive())
        except Gone:
            return


def load(code: bytes) -> types.ModuleType:
    """The code as the module `solution`: compiled from its bytes, as an import of the same file would."""
    solution = types.ModuleType("solution")
    solution.__file__ = faults.FILE
    sys.modules["solution"] = solution
    sys.path.insert(0, "")
    order.for_code()
    faults.SOURCE[:] = code.decode(errors="replace").split("\n")
    exec(compile(code, faults.FILE, "exec"), vars(solution))
    return solution


def write_file(code: bytes) -> None:
    """The code as a file too, for tests that read it or start it."""
    with open(faults.FILE, "wb") as file:  # noqa: PTH123
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


OUTPUT, ERRORS = Output(), Output()


class Server:
    """Everything the judge may ask for."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.callbacks: dict[int, Callback] = {}
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
        try:
            tree = ["ok", pack(self.outcome(request, session), session)]
        except Gone:
            raise
        except BaseException as error:
            tree = ["raise", pack(error, session)]
        printed = [OUTPUT.take(), ERRORS.take()]
        self.channel.send([*tree, changes(session) if session.before else [], printed if any(printed) else None])

    def outcome(self, request: list[Tree], session: Here) -> Any:
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
    "get": getattr,
    "set": setattr,
    "del": delattr,
    "special": lambda target, name, args: getattr(type(target), name)(target, *args),
    "isa": lambda target, kind: kind in type(target).__mro__,
    "held": shapes.held_in,
    "copy": lambda target, is_deep: copy.deepcopy(target) if is_deep else copy.copy(target),
    "content": arrays.content_of,
    "name": lambda names, name: names[name],
}
