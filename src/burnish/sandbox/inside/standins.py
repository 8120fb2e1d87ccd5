"""The judge's side of the code under test: names that look like the code's, and ask its process when they are used.

A stand-in is an object in the judge for one that stayed in the process of the code. It asks that process for its
attributes and methods. It does not ask it whether it equals something plain: the answer is no. Nor does it ask what
only plain values are asked, such as `startswith`, unless the tests or the task name its class. So nothing the code
defines can decide a comparison with an expected value. Where its class comes from the layer the judge compares by
value, or says that these tests must share a process with the code.
"""

import importlib
import sys
import types
import weakref
from typing import Any, NoReturn

from burnish.sandbox.inside import allowed_types, packages
from burnish.sandbox.inside.codec import Channel, Gone, Session, Tree, fill, pack, unpack
from burnish.sandbox.inside.suite_text import SuiteText, is_failure

ENDINGS = (StopIteration, StopAsyncIteration, GeneratorExit)
"""Exceptions that end a loop around a call instead of breaking it: `all(map(f, …))` would be true after the first."""
ENDING_METHODS = ("__next__", "__anext__", "send", "throw", "asend", "athrow")
"""Methods that say in this way that there is no more."""
BOUND = (types.MethodType, types.BuiltinMethodType)
"""Functions that Python makes anew each time they are named: `seen.append` equals `seen.append`."""
FUNCTIONS = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)


class NotAnswered(AssertionError):
    """An object was asked as only plain values are, and is none."""


class Remote:
    """An object of the code, known by number."""

    _number: int
    _link: "Link"
    _shape: int

    def __getattr__(self, name: str) -> Any:
        closed = name in allowed_types.QUESTIONS and not (self._is_object or self._is_named() or self._is_opened(name))
        if closed and self._holds and hasattr(held := self._held(), name):
            return getattr(held, name)
        found = self._link.ask("get", self._number, name)
        if isinstance(found, Remote):
            vars(found)["_question"] = (self, name) if closed else None
        if name not in allowed_types.PLAIN_NAMES and name[0] != "_":
            vars(self)["_is_object"] = True
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        self._link.ask("set", self._number, name, value)

    def __delattr__(self, name: str) -> None:
        self._link.ask("del", self._number, name)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, Remote):
            # Two objects of one class: what the code gave is compared with what the code gave.
            are_twins = other._shape == self._shape and "__eq__" in self._methods and not self._holds
            if are_twins or self._may("__eq__"):
                return self._link.ask("special", self._number, "__eq__", (other,)) is True
        return bool(self._held() == unwrap_plain(other)) if self._holds else False

    def __hash__(self) -> int:
        if self._may("__hash__") or ("__hash__" in self._methods and not self._holds):
            return hash(self._link.ask("special", self._number, "__hash__", ()))
        return hash(self._held() if self._holds else self._number)

    def _held(self) -> Any:
        """The plain value in an object of a subclass of list, date, Decimal…"""
        held = self._link.ask("held", self._number)
        if isinstance(held, Remote):
            raise NotAnswered(f"a {type(self).__name__} holds no plain value")
        return held

    def _may(self, method: str) -> bool:
        """True when the code has this method and the tests name its class, so that it may answer for itself."""
        return method in self._methods and self._is_named()

    def _is_named(self) -> bool:
        """True when the tests or the task name its class, so that it may answer for itself."""
        return self._shape in self._link.standins.named_classes

    def _is_opened(self, method: str) -> bool:
        """True when the tests use the method's answers as objects, or what the function answers that made this one."""
        uses = self._link.text.uses
        return method in uses.object_methods or self._link.standins.makers.get(self._maker) in uses.object_makers

    def __copy__(self) -> Any:
        return self._link.ask("copy", self._number, False)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self._link.ask("copy", self._number, True)

    def _check(self, name: str, is_told: bool) -> None:
        """Refuse to call a method that is told something, or that says only yes or no."""
        if is_told or name in allowed_types.PREDICATES:
            kind = f"a {type(self).__name__}, a class that neither the task nor the tests name"
            raise NotAnswered(f"{name}(…) is not asked of {kind}; a plain value can answer it")

    _methods: frozenset[str] = frozenset()
    _holds = ""
    _is_object = False
    """True when the tests used it as no plain value can be used."""
    _maker = -1
    """The number of the function of the code that answered with it last."""
    _question: "tuple[Remote, str] | None" = None
    """For a method that could only agree with the tests: of which object, and its name."""


class RemoteClass(Remote):
    """A class of the code."""

    _describes: int
    __hash__ = Remote.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it where it is, unless it is a method that could only agree with what it is told."""
        if self._question:
            owner, name = self._question
            owner._check(name, is_told=bool(args or kwargs))
        return self._link.call(self._number, args, kwargs)

    def _is_named(self) -> bool:
        """True when this very class is named."""
        return self._describes in self._link.standins.named_classes

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, Remote) and self._link.ask("isa", value._number, self) is True

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[Any, ...]:
        """A subclass would live in the judge, its parent elsewhere."""
        self._link.share("the tests make a subclass of a class of the code")


class Layered(Remote):
    """An object of a class of the layer. No operator of it is answered by the code while both are apart."""

    _item: bool | int | None = None
    """What a whole number or a boolean of NumPy stands for."""

    def _known(self) -> packages.Known | None:
        """Its value as plain data, where that can be compared."""
        if self._item is not None:
            return [], [self._item]
        return packages.check_content(self._link.ask("content", self._number))

    def _check(self, name: str, is_told: bool) -> None:
        """Only the layer's own class can compare itself; what else it says of itself is a value."""
        if is_told and name not in ("all", "any"):
            self._link.share(f"the tests ask a {type(self).__name__} for {name}")

    def __hash__(self) -> int:
        if self._item is None:
            self._link.share(f"the tests hash a {type(self).__name__}")
        return hash(self._item)


class StandIns:
    """All stand-ins of one job: the same object of the code is always the same stand-in."""

    def __init__(self, link: "Link") -> None:
        self.link = link
        self.makers: dict[int, str] = {}
        """Functions and classes that the code defines, by number."""
        self.values: dict[int, Any] = {}
        """Members of enumerations and the like, which cannot be referred to weakly."""
        self.kinds: dict[int, type] = {}
        for kind, number in allowed_types.COMMON_CLASSES.items():
            self.get_kind([number, kind.__name__, "", "", allowed_types.list_special_methods(kind), False])
        self.errors: dict[int, type] = {}
        self.named_classes: set[int] = set()
        """Classes that the tests or the task name."""
        self.objects: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()

    def get_object(self, number: int, shape: Tree) -> Any:
        """The stand-in for an object."""
        kind = self.get_kind(shape)
        found = self.objects.get(number)
        if found is None:
            found = self.objects[number] = identify(object.__new__(kind), self.link, number, shape[0])
        return found

    def get_value(self, number: int, shape: Tree, value: Any) -> Any:
        """The stand-in for an object of a subclass of int, str, tuple…: it has the value, and asks for the rest."""
        kind = self.get_kind(shape)
        made: Any = kind.__new__(kind, value)
        found = self.values.get(number)
        if type(found) is kind and isinstance(made, int | str) and found == made:
            return found
        self.values[number] = identify(made, self.link, number, shape[0])
        return made

    def get_number(self, number: int, shape: Tree, item: Any) -> Any:
        """The stand-in for a whole number or a boolean of NumPy."""
        found = self.get_object(number, shape)
        if not isinstance(found, Layered) or type(item) not in (bool, int):
            raise ValueError("not a number of NumPy")
        vars(found)["_item"] = item
        return found

    def get_class(self, number: int, meta: Tree, shape: Tree) -> Any:
        """The stand-in for a class."""
        bases, described = (RemoteClass, self.get_kind(meta)), self.get_kind(shape)
        found = self.objects.get(number)
        if found is None:
            found = self.objects[number] = identify(type("class", bases, {})(), self.link, number, meta[0])
            vars(found).update(_describes=shape[0], __name__=described.__name__)
        return found

    def get_kind(self, shape: Tree) -> type:
        """The class of stand-ins for objects of one class of the code."""
        if shape[0] in self.kinds:
            return self.kinds[shape[0]]
        number, name, value, holds, methods, is_layered = shape
        bases: tuple[type, ...] = (Remote,)
        if is_layered is True and len(packages.PLACES) > 1 and not value:
            alone = {method: SPECIAL[method] for method in methods if method in allowed_types.ALONE}
            title, bases, body = str(name), (Layered,), alone | LAYERED
        else:
            title = f"solution.{name}" if name in PLAIN_KINDS else str(name)
            kept = PLAIN - {"__repr__"} if is_layered is True else PLAIN
            offered = [method for method in methods if method in SPECIAL and not (value and method in kept)]
            body = {method: SPECIAL[method] for method in offered}
            body |= {"_methods": frozenset(methods), "_holds": str(holds)}
        if value in VALUE_NAMES:
            plain = allowed_types.TYPES[value]
            bases = (Remote, plain)
            body |= {method: getattr(plain, method) for method in ("__eq__", "__ne__", "__hash__")}
        self.kinds[number] = type(title, bases, body)
        return self.kinds[number]

    def get_error_class(self, tree: Tree) -> type[BaseException]:
        """An exception class of the code, as a class that tests can catch."""
        if tree[0] == "X":
            found = allowed_types.find_error_class(tree[1])
            if found is None:
                raise ValueError("unknown exception")
            return found  # type: ignore[no-any-return]
        _, number, name, parent = tree
        if number not in self.errors:
            body = {
                "_class_number": number,
                "__str__": lambda self: vars(self).get("_text", BaseException.__str__(self)),
                "__getattr__": lambda error, name: self.ask_error(error, name),
            }
            self.errors[number] = type(str(name), (self.get_error_class(parent),), body)
        return self.errors[number]

    def ask_error(self, error: BaseException, name: str) -> Any:
        """What the class of an exception of the code has besides the exception's own attributes."""
        number = vars(error).get("_number", -1)
        if name[:2] == "__" or number < 0:
            raise AttributeError(f"{type(error).__name__!r} object has no attribute {name!r}")
        return guard_question(self.link.ask("get", number, name), name)

    def make_error(self, tree: Tree, session: Session) -> BaseException:
        """An exception of the code, ready to be raised here."""
        _, kind, packed, text, own, line, words, number, cause = tree
        made, args = self.get_error_class(kind), unpack(packed, session)
        try:
            error = made(*args)
        except Exception:
            error = made.__new__(made)
            error.args = args
        own = {str(name): guard_question(value, name) for name, value in unpack(own, session).items()}
        vars(error).update(own, _line=(int(line), str(words)), _number=int(number))
        if hasattr(made, "_class_number"):
            vars(error)["_text"] = str(text)
        error.__cause__ = unpack(cause, session)
        return error


def guard_question(value: Any, name: str) -> Any:
    """What an exception of the code has under a name: a method that could only agree with the tests is not called."""
    if isinstance(value, Remote) and name in allowed_types.QUESTIONS:
        vars(value)["_question"] = (value, name)
    return value


def identify(made: Any, link: "Link", number: int, shape: int) -> Any:
    """Tell a new stand-in who it is."""
    vars(made).update(_link=link, _number=number, _shape=shape)
    return made


def make_asking_method(name: str) -> Any:
    """A special method that asks the code's process."""

    def method(self: Remote, *args: Any) -> Any:
        return self._link.ask("special", self._number, name, args)

    return method


def make_gated_method(name: str) -> Any:
    """A special method that only a class that is named may answer; for any other the plain value in it does."""

    def method(self: Remote, *args: Any) -> Any:
        if self._may(name):
            return self._link.ask("special", self._number, name, args)
        answer = getattr(self._held(), name, None) if self._holds else None
        return answer(*map(unwrap_plain, args)) if answer else NotImplemented

    return method


def leave_with(self: Remote, kind: Any, error: Any, trace: Any) -> Any:
    """The end of a `with`: the code may swallow an exception, but neither a failed check nor one not yet reached."""
    is_failed = error is not None and is_failure(error)
    is_kept = is_failed or (error is not None and self._link.text.are_skipped(error, is_block=True))
    words = (AssertionError if is_failed else kind, error, trace)
    try:
        answer = self._link.ask("special", self._number, "__exit__", words)
    except Exception:
        if is_kept:
            return False  # another exception in its place would hide it as well
        raise
    return bool(answer) and not is_kept


def unwrap_plain(value: Any) -> Any:
    """The plain value in an object that holds one and may not answer for itself; anything else as it is."""
    return value._held() if isinstance(value, Remote) and value._holds and not value._is_named() else value


def contains_item(self: Remote, item: Any) -> bool:
    """`in`: by the code's own method if the tests name its class, else by looking at what it holds."""
    if self._may("__contains__"):
        return self._link.ask("special", self._number, "__contains__", (item,)) is True
    if self._holds:
        return item in self._held()
    return any(found is item or found == item for found in iter(self))


PLAIN_KINDS = frozenset(kind.__name__ for kind in allowed_types.VALUE_TYPES) | allowed_types.TYPES.keys()
VALUE_NAMES = frozenset(kind.__name__ for kind in allowed_types.VALUES)
PLAIN = frozenset((*allowed_types.ALONE, *allowed_types.TOGETHER)) - {"__call__"}
"""What an object with a built-in value does by that value."""
SPECIAL: dict[str, Any] = {
    **{name: make_asking_method(name) for name in allowed_types.ALONE},
    **{name: make_gated_method(name) for name in allowed_types.TOGETHER if name not in ("__eq__", "__hash__")},
    "__call__": RemoteClass.__call__,  # functions and objects of the code are called as its classes are
    "__contains__": contains_item,
    "__exit__": leave_with,
}
LAYERED: dict[str, Any] = {
    **{name: packages.make_sharing_method(name) for name in allowed_types.TOGETHER},
    **{name: packages.make_comparing_method(name) for name in packages.COMPARED},
    "__hash__": Layered.__hash__,
}


class CannotCross(BaseException):
    """The tests use something that exists only in their own process. Not an Exception, so that no test swallows it."""


class EndedLoop(RuntimeError):
    """What becomes of an exception of the code that would end a loop of the tests, as in Python's own generators."""

    def __init__(self, ending: BaseException) -> None:
        super().__init__(f"the code raised {type(ending).__name__}")
        self._line = vars(ending).get("_line")


class Link:
    """Asks the process of the code, and answers when that process calls something the tests passed to it."""

    def __init__(self, channel: Channel, text: SuiteText) -> None:
        self.channel = channel
        self.text = text
        self.standins = StandIns(self)
        self.exported: list[Any] = []
        self.export_numbers: dict[Any, int] = {}
        self.may_end: set[int] = set()
        """Numbers of methods that may end a loop of the tests."""
        self.expects_endings = any(kind.__name__ in text.tests for kind in ENDINGS)
        """True when the tests name such an exception: then they look for it themselves."""
        self.stuck = ""
        """Why these tests need the code in their own process; empty while they do not."""

    def ask(self, kind: str, number: int, *words: Any) -> Any:
        """One request and its outcome: a value, or an exception as the code raised it."""
        session = JudgeSession(self, modules=kind == "name")
        is_ending = kind in ("get", "special") and words[0] in ENDING_METHODS
        request = [kind, number, *(pack(word, session) for word in words)]
        value = self.exchange(request, session, kind == "special" and is_ending)
        if kind == "get" and is_ending and isinstance(value, Remote):
            self.may_end.add(value._number)
        return value

    def exchange(self, request: list[Tree], session: "JudgeSession", may_end: bool) -> Any:
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
        session = JudgeSession(self)
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
        session = JudgeSession(self)
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
            if is_failure(error) or self.text.are_skipped(error, is_block=False):
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


class JudgeSession(Session):
    """How values that are not plain data leave and enter the judge."""

    def __init__(self, link: Link, modules: bool = False) -> None:
        super().__init__()
        self.link = link
        self.modules = modules
        """True when a module may come back: only for a name that the tests use."""

    def pack_other(self, value: Any) -> Tree:
        """A name, a number, or something to call back; what is none of these cannot cross."""
        match value:
            case Remote():
                return ["H", value._number]
            case types.TracebackType():
                return None  # what a `with` of the tests tells: frames of theirs are not for the code
            case type():
                return self.pack_class(value)
            case BaseException():
                return self.pack_error(value)
            case types.ModuleType():
                return ["N", value.__name__, ""]
        if isinstance(value, FUNCTIONS) and getattr(value, "__module__", None) in (*allowed_types.MODULES, "builtins"):
            return ["N", value.__module__, value.__name__]
        if hasattr(value, "__next__"):
            return ["I", self.link.export(value)]
        if callable(value):
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
        if kind in allowed_types.NAMES:
            return ["T", allowed_types.NAMES[kind]]
        if issubclass(kind, BaseException) and allowed_types.name_error_class(kind):
            return ["X", allowed_types.name_error_class(kind)]
        return ["K", self.link.export(kind), kind.__name__, kind.__doc__]

    def unpack_other(self, tree: list[Tree]) -> Any:
        """What the code's process means. It is not trusted: only these few things can be meant."""
        standins = self.link.standins
        match tree:
            case ["h", number, shape]:
                return standins.get_object(number, shape)
            case ["v", number, shape, value]:
                return standins.get_value(number, shape, unpack(value, self))
            case ["n", number, shape, item]:
                return standins.get_number(number, shape, unpack(item, self))
            case ["k", number, meta, shape]:
                return standins.get_class(number, meta, shape)
            case ["K", number]:
                return self.link.exported[number]
            case ["T", name]:
                return allowed_types.TYPES[name]
            case ["m", name] if self.modules and name in allowed_types.MODULES:
                return importlib.import_module(name)
            case ["X" | "x", *_]:
                return standins.get_error_class(tree)
            case ["E", *_]:
                return standins.make_error(tree, self)
        raise ValueError(f"unknown tag {tree[0]!r}")


class Solution(types.ModuleType):
    """The module `solution` as the tests see it."""

    def __init__(self, link: Link, offered: dict[str, Tree], names: list[str]) -> None:
        super().__init__("solution")
        session = JudgeSession(link)
        own = {str(name): unpack(tree, session) for name, tree in offered.items()}
        link.standins.makers = {value._number: name for name, value in own.items() if isinstance(value, Remote)}
        vars(self).update(_link=link, _own=own, _names={str(name) for name in names})

    def __getattr__(self, name: str) -> Any:
        if name in self._own:
            value = self._own[name]
        elif name in self._names:
            value = self._link.ask("name", 0, name)
        else:
            raise AttributeError(f"module 'solution' has no attribute {name!r}")
        if isinstance(value, RemoteClass) and name in self._link.text.classes:
            self._link.standins.named_classes.add(value._describes)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("__"):
            self._link.share("the tests change the module of the code")
        super().__setattr__(name, value)
