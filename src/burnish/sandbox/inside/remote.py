"""The judge's side of the code under test: names that look like the code's, and ask its process when they are used."""

import importlib
import sys
import types
from typing import Any, NoReturn

from burnish.sandbox.inside import known
from burnish.sandbox.inside.channel import Channel, Gone
from burnish.sandbox.inside.checks import Checks, is_failure
from burnish.sandbox.inside.classes import Asked
from burnish.sandbox.inside.plain import Session, Tree, fill, pack, unpack
from burnish.sandbox.inside.standins import Remote, RemoteClass, StandIns

ENDINGS = (StopIteration, StopAsyncIteration, GeneratorExit)
"""Exceptions that end a loop around a call instead of breaking it: `all(map(f, …))` would be true after the first."""
ENDING_METHODS = ("__next__", "__anext__", "send", "throw", "asend", "athrow")
"""Methods that say in this way that there is no more."""
BOUND = (types.MethodType, types.BuiltinMethodType)
"""Functions that Python makes anew each time they are named: `seen.append` equals `seen.append`."""
FUNCTIONS = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)


class CannotCross(BaseException):
    """The tests use something that exists only in their own process. Not an Exception, so that no test swallows it."""


class EndedLoop(RuntimeError):
    """What becomes of an exception of the code that would end a loop of the tests, as in Python's own generators."""

    def __init__(self, ending: BaseException) -> None:
        super().__init__(f"the code raised {type(ending).__name__}")
        self._line = vars(ending).get("_line")


class Link:
    """Asks the process of the code, and answers when that process calls something the tests passed to it."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.standins = StandIns(self)
        self.checks = Checks("")
        self.exported: list[Any] = []
        self.export_numbers: dict[Any, int] = {}
        self.may_end: set[int] = set()
        """Numbers of methods that may end a loop of the tests."""
        self.expects_endings = False
        """True when the tests name such an exception: then they look for it themselves."""
        self.stuck = ""
        """Why these tests need the code in their own process; empty while they do not."""

    def ask(self, kind: str, number: int, *words: Any) -> Any:
        """One request and its outcome: a value, or an exception as the code raised it."""
        session = There(self, modules=kind == "name")
        is_ending = kind in ("get", "special") and words[0] in ENDING_METHODS
        request = [kind, number, *(pack(word, session) for word in words)]
        value = self.exchange(request, session, kind == "special" and is_ending)
        if kind == "get" and is_ending and isinstance(value, Remote):
            self.may_end.add(value._number)
        return value

    def exchange(self, request: list[Tree], session: "There", may_end: bool) -> Any:
        """Send a request, answer whatever the code asks meanwhile, and understand the reply."""
        self.channel.send(request)
        failure: BaseException | None = None
        while (reply := self.channel.receive())[0] in ("callback", "next"):
            failure = self.answer(reply) or failure
        try:
            value = self.understand(reply, session)
        except Exception as error:
            raise Gone(f"the code sent something that is not data: {type(error).__name__}: {error}") from error
        if failure is not None and (is_failure(failure) or type(value) is not type(failure)):
            raise failure
        if reply[0] == "raise":
            if isinstance(value, ENDINGS) and not may_end and not self.expects_endings:
                raise EndedLoop(value) from value
            raise value
        return value

    def call(self, number: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a function of the code."""
        session = There(self)
        words = [pack(word, session) for word in args]
        named = {name: pack(word, session) for name, word in kwargs.items()} if kwargs else None
        value = self.exchange(["call", number, words, named], session, number in self.may_end)
        if isinstance(value, Remote) and number in self.standins.makers and value._maker != number:
            # The same object may have been used as one before, when another function answered with it.
            vars(value).update(_maker=number, _is_object=False)
        return value

    def understand(self, reply: list[Tree], session: Session) -> Any:
        """The value in a reply; containers that the code changed are changed here too."""
        outcome, tree, changed, printed = reply
        value = unpack(tree, session)
        for number, content in changed:
            fill(session.objects[number], content, session)
        if printed:
            sys.stdout.write(str(printed[0]))
            sys.stderr.write(str(printed[1]))
        if outcome not in ("ok", "raise") or (outcome == "raise" and not isinstance(value, BaseException)):
            raise ValueError("neither a value nor an exception")
        return value

    def answer(self, request: list[Tree]) -> BaseException | None:
        """The code calls a function, or wants the next item, that the tests passed to it.

        Returns the exception by which a check of the tests failed or was not reached, whatever the code does with it.
        """
        session = There(self)
        try:
            target = self.exported[request[1]]
            words = [unpack(word, session) for word in request[2:]]
        except Exception as error:
            raise Gone("the code asked for something it was not given") from error
        failure: BaseException | None = None
        try:
            value = next(target) if request[0] == "next" else target(*words[0], **words[1])
            tree = ["ok", pack(value, session)]
        except (Gone, CannotCross):
            raise
        except BaseException as error:
            if is_failure(error) or self.checks.are_skipped(error, is_block=False):
                failure = error
            tree = ["raise", pack(error, session)]
        self.channel.send(["answer", *tree])
        return failure

    def share(self, why: str) -> NoReturn:
        """These tests cannot go on without the code in their own process."""
        self.stuck = why
        raise CannotCross(why)

    def export(self, value: Any) -> int:
        """The number under which the code may call `value`: always the same for the same function."""
        key = value if isinstance(value, BOUND) else id(value)
        number = self.export_numbers.setdefault(key, len(self.exported))
        if number == len(self.exported):
            self.exported.append(value)
        return number


class There(Session):
    """How values that are not plain data leave and enter the judge."""

    def __init__(self, link: Link, modules: bool = False) -> None:
        super().__init__()
        self.link = link
        self.modules = modules
        """True when a module may come back: only for a name that the tests use."""

    def pack_other(self, value: Any) -> Tree:
        """A name, a number, or something to call back; what is none of these cannot cross."""
        if isinstance(value, Remote):
            return ["H", value._number]
        if isinstance(value, types.TracebackType):
            return None  # what a `with` of the tests tells: frames of theirs are not for the code
        if isinstance(value, type):
            return self.pack_class(value)
        if isinstance(value, BaseException):
            return self.pack_error(value)
        if isinstance(value, types.ModuleType):
            return ["N", value.__name__, ""]
        if isinstance(value, FUNCTIONS) and getattr(value, "__module__", None) in (*known.MODULES, "builtins"):
            return ["N", value.__module__, value.__name__]
        if hasattr(value, "__next__"):
            return ["I", self.link.export(value)]
        if isinstance(value, types.FunctionType | types.MethodType | types.BuiltinFunctionType) or callable(value):
            return ["K", self.link.export(value), str(getattr(value, "__name__", "")), getattr(value, "__doc__", None)]
        return self.link.share(f"the tests pass a {type(value).__name__} to the code")

    def pack_error(self, error: BaseException) -> Tree:
        """An exception of a class that both sides know. Of a failed check the code learns no more than that."""
        if is_failure(error):
            return ["E", ["X", "builtins:AssertionError"], ["t", []]]
        if vars(error).get("_number", -1) >= 0:
            return ["H", vars(error)["_number"]]
        kind = self.pack_class(RuntimeError if isinstance(error, EndedLoop) else type(error))
        if kind[0] == "K":
            self.link.share(f"the tests raise {type(error).__name__}, an exception of their own, through the code")
        return ["E", kind, pack(error.args, self)]

    def pack_class(self, kind: type) -> Tree:
        """A class that both sides know, or that the code defined itself."""
        number = getattr(kind, "_class_number", None)
        if number is not None:
            return ["H", number]
        if kind in known.NAMES:
            return ["T", known.NAMES[kind]]
        if issubclass(kind, BaseException) and known.error_name(kind):
            return ["X", known.error_name(kind)]
        return ["K", self.link.export(kind), kind.__name__, kind.__doc__]

    def unpack_other(self, tree: list[Tree]) -> Any:
        """What the code's process means. It is not trusted: only these few things can be meant."""
        tag, standins = tree[0], self.link.standins
        if tag == "h":
            return standins.object(tree[1], tree[2])
        if tag == "v":
            return standins.value(tree[1], tree[2], unpack(tree[3], self))
        if tag == "n":
            return standins.number(tree[1], tree[2], unpack(tree[3], self))
        if tag == "k":
            return standins.remote_class(tree[1], tree[2], tree[3])
        if tag == "K":
            return self.link.exported[tree[1]]
        if tag == "T":
            return known.TYPES[tree[1]]
        if tag == "m" and self.modules and tree[1] in known.MODULES:
            return importlib.import_module(tree[1])
        if tag in ("X", "x"):
            return standins.error_class(tree)
        if tag == "E":
            kind, args, text, own, line, words, number, cause = tree[1:]
            error = standins.error(kind, unpack(args, self), str(text), unpack(own, self), (int(line), str(words)))
            vars(error)["_number"] = int(number)
            error.__cause__ = unpack(cause, self)
            return error
        raise ValueError(f"unknown tag {tag!r}")


class Solution(types.ModuleType):
    """The module `solution` as the tests see it."""

    def __init__(self, link: Link, offered: dict[str, Tree], names: list[str], asked: Asked) -> None:
        super().__init__("solution")
        session = There(link)
        own = {str(name): unpack(tree, session) for name, tree in offered.items()}
        link.standins.asked = asked
        link.standins.makers = {value._number: name for name, value in own.items() if isinstance(value, Remote)}
        link.checks = Checks(asked.tests)
        vars(self).update(_link=link, _own=own, _asked=asked, _names={str(name) for name in names})

    def __getattr__(self, name: str) -> Any:
        if name in self._own:
            value = self._own[name]
        elif name in self._names:
            value = self._link.ask("name", 0, name)
        else:
            raise AttributeError(f"module 'solution' has no attribute {name!r}")
        if isinstance(value, RemoteClass) and name in self._asked.classes:
            self._link.standins.named.add(value._describes)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("__"):
            self._link.share("the tests change the module of the code")
        super().__setattr__(name, value)
