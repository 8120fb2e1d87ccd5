"""Stand-ins: objects in the judge for objects that stayed in the process of the code under test.

A stand-in asks that process for its attributes and methods. It does not ask it whether it equals something plain:
the answer is no. Nor does it ask what only plain values are asked, such as `startswith`, unless the tests or the task
name its class. So nothing the code defines can decide a comparison with an expected value. Where its class comes from
the layer the judge compares by value, or says that these tests must share a process with the code.
"""

import weakref
from typing import TYPE_CHECKING, Any

from burnish.sandbox.inside import arrays, known, order, shapes
from burnish.sandbox.inside.checks import is_failure
from burnish.sandbox.inside.classes import Asked
from burnish.sandbox.inside.plain import Tree

if TYPE_CHECKING:
    from burnish.sandbox.inside.remote import Link


class NotAnswered(AssertionError):
    """An object was asked as only plain values are, and is none."""


class Remote:
    """An object of the code, known by number."""

    _number: int
    _link: "Link"
    _shape: int

    def __getattr__(self, name: str) -> Any:
        closed = name in shapes.QUESTIONS and not (self._is_object or self._is_named() or self._is_opened(name))
        if closed and self._holds:
            held = self._held()
            if hasattr(held, name):
                return getattr(held, name)
        found = self._link.ask("get", self._number, name)
        if isinstance(found, Remote):
            vars(found)["_question"] = (self, name) if closed else None
        if name not in shapes.PLAIN_NAMES and name[0] != "_":
            vars(self)["_is_object"] = True
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        self._link.ask("set", self._number, name, value)

    def __delattr__(self, name: str) -> None:
        self._link.ask("del", self._number, name)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, Remote) and self._may("__eq__"):
            return self._link.ask("special", self._number, "__eq__", (other,)) is True
        if isinstance(other, Remote) and self._is_twin(other):
            return self._link.ask("special", self._number, "__eq__", (other,)) is True
        return bool(self._held() == plain_of(other)) if self._holds else False

    def __ne__(self, other: object) -> bool:
        return not self == other

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
        return self._shape in self._link.standins.named

    def _is_twin(self, other: "Remote") -> bool:
        """True for another object of the same class: what the code gave is compared with what the code gave."""
        return other._shape == self._shape and "__eq__" in self._methods and not self._holds

    def _is_opened(self, method: str) -> bool:
        """True when the tests use the method's answers as objects, or what the function answers that made this one."""
        standins = self._link.standins
        uses = standins.asked.uses
        return method in uses.object_methods or standins.makers.get(self._maker) in uses.object_makers

    def __copy__(self) -> Any:
        return self._link.ask("copy", self._number, False)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self._link.ask("copy", self._number, True)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call it, unless it is a method that could only agree with what it is told."""
        if self._question:
            owner, name = self._question
            owner._check(name, is_told=bool(args or kwargs))
        return self._link.call(self._number, args, kwargs)

    def _check(self, name: str, is_told: bool) -> None:
        """Refuse to call a method that is told something, or that says only yes or no."""
        if is_told or name in shapes.PREDICATES:
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
        """Make an object of the class, where the class is."""
        return self._call(args, kwargs)

    def _is_named(self) -> bool:
        """True when this very class is named."""
        return self._describes in self._link.standins.named

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, Remote) and self._link.ask("isa", value._number, self) is True

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[Any, ...]:
        """A subclass would live in the judge, its parent elsewhere."""
        self._link.share("the tests make a subclass of a class of the code")


class Layered(Remote):
    """An object of a class of the layer. No operator of it is answered by the code while both are apart."""

    _item: bool | int | None = None
    """What a whole number or a boolean of NumPy stands for."""

    def _known(self) -> arrays.Known | None:
        """Its value as plain data, where that can be compared."""
        return ([], [self._item]) if self._item is not None else arrays.heard(self._link.ask("content", self._number))

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
        self.asked = Asked("", {})
        self.makers: dict[int, str] = {}
        """Functions and classes that the code defines, by number."""
        self.values: dict[int, Any] = {}
        """Members of enumerations and the like, which cannot be referred to weakly."""
        self.kinds: dict[int, type] = {}
        for kind, number in shapes.COMMON.items():
            self.kind([number, kind.__name__, "", "", shapes.special_methods(kind), False])
        self.errors: dict[int, type] = {}
        self.named: set[int] = set()
        """Classes that the tests or the task name."""
        self.objects: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()

    def object(self, number: int, shape: Tree) -> Any:
        """The stand-in for an object."""
        found = self.objects.get(number)
        if found is None:
            kind = self.kind(shape)
            found = self.objects[number] = settle(object.__new__(kind), self.link, number, shape[0])
        else:
            self.kind(shape)
        return found

    def value(self, number: int, shape: Tree, value: Any) -> Any:
        """The stand-in for an object of a subclass of int, str, tuple…: it has the value, and asks for the rest."""
        kind = self.kind(shape)
        made: Any = kind.__new__(kind, value)
        found = self.values.get(number)
        if type(found) is kind and isinstance(made, int | str) and found == made:
            return found
        self.values[number] = settle(made, self.link, number, shape[0])
        return made

    def number(self, number: int, shape: Tree, item: Any) -> Any:
        """The stand-in for a whole number or a boolean of NumPy."""
        found = self.object(number, shape)
        if not isinstance(found, Layered) or type(item) not in (bool, int):
            raise ValueError("not a number of NumPy")
        vars(found)["_item"] = item
        return found

    def remote_class(self, number: int, meta: Tree, shape: Tree) -> Any:
        """The stand-in for a class."""
        self.kind(meta)
        self.kind(shape)
        found = self.objects.get(number)
        if found is None:
            kind = type("class", (RemoteClass, self.kinds[meta[0]]), {})
            found = self.objects[number] = settle(kind(), self.link, number, meta[0])
            vars(found)["_describes"] = shape[0]
            vars(found)["__name__"] = self.kinds[shape[0]].__name__
        return found

    def kind(self, shape: Tree) -> type:
        """The class of stand-ins for objects of one class of the code."""
        number = shape[0]
        if number not in self.kinds:
            _, name, value, holds, methods, is_layered = shape
            if is_layered is True and len(order.PLACES) > 1 and not value:
                self.kinds[number] = layered(str(name), methods)
                return self.kinds[number]
            bases = (Remote, known.TYPES[value]) if value in VALUE_NAMES else (Remote,)
            body = {"_methods": frozenset(methods), "_holds": str(holds)}
            kept = PLAIN - {"__repr__"} if is_layered is True else PLAIN
            offered = [method for method in methods if method in SPECIAL and not (value and method in kept)]
            name = f"solution.{name}" if name in PLAIN_KINDS else str(name)
            self.kinds[number] = type(name, bases, body | {method: SPECIAL[method] for method in offered})
            if value in VALUE_NAMES:
                self.kinds[number].__eq__ = known.TYPES[value].__eq__  # type: ignore[method-assign]
                self.kinds[number].__ne__ = known.TYPES[value].__ne__  # type: ignore[method-assign]
                self.kinds[number].__hash__ = known.TYPES[value].__hash__  # type: ignore[method-assign]
        return self.kinds[number]

    def error_class(self, tree: Tree) -> type[BaseException]:
        """An exception class of the code, as a class that tests can catch."""
        if tree[0] == "X":
            found = known.error_class(tree[1])
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
            self.errors[number] = type(str(name), (self.error_class(parent),), body)
        return self.errors[number]

    def ask_error(self, error: BaseException, name: str) -> Any:
        """What the class of an exception of the code has besides the exception's own attributes."""
        number = vars(error).get("_number", -1)
        if name[:2] == "__" or number < 0:
            raise AttributeError(f"{type(error).__name__!r} object has no attribute {name!r}")
        found = self.link.ask("get", number, name)
        if isinstance(found, Remote) and name in shapes.QUESTIONS:
            vars(found)["_question"] = (found, name)
        return found

    def error(
        self, kind: Tree, args: tuple[Any, ...], text: str, own: dict[str, Any], line: tuple[int, str]
    ) -> BaseException:
        """An exception of the code, ready to be raised here."""
        made = self.error_class(kind)
        try:
            error = made(*args)
        except Exception:
            error = made.__new__(made)
            error.args = args
        for name, value in own.items():
            if isinstance(value, Remote) and name in shapes.QUESTIONS:
                vars(value)["_question"] = (value, name)
        vars(error).update({str(name): value for name, value in own.items()}, _line=line)
        if hasattr(made, "_class_number"):
            vars(error)["_text"] = text
        return error


def layered(name: str, methods: list[str]) -> type:
    """The class of stand-ins for objects of one class of the layer."""
    alone = {method: SPECIAL[method] for method in methods if method in shapes.ALONE}
    return type(name, (Layered,), alone | LAYERED)


def settle(made: Any, link: "Link", number: int, shape: int) -> Any:
    """Tell a new stand-in who it is."""
    vars(made).update(_link=link, _number=number, _shape=shape)
    return made


def special(name: str) -> Any:
    """A special method that asks the code's process."""

    def method(self: Remote, *args: Any) -> Any:
        return self._link.ask("special", self._number, name, args)

    return method


def gated(name: str) -> Any:
    """A special method that only a class that is named may answer; for any other the plain value in it does."""

    def method(self: Remote, *args: Any) -> Any:
        if self._may(name):
            return self._link.ask("special", self._number, name, args)
        answer = getattr(self._held(), name, None) if self._holds else None
        return answer(*map(plain_of, args)) if answer else NotImplemented

    return method


def leave(self: Remote, kind: Any, error: Any, trace: Any) -> Any:
    """The end of a `with`: the code may swallow an exception, but neither a failed check nor one not yet reached."""
    is_failed = error is not None and is_failure(error)
    is_kept = is_failed or (error is not None and self._link.checks.are_skipped(error, is_block=True))
    words = (AssertionError if is_failed else kind, error, trace)
    try:
        answer = self._link.ask("special", self._number, "__exit__", words)
    except Exception:
        if is_kept:
            return False  # another exception in its place would hide it as well
        raise
    return bool(answer) and not is_kept


def plain_of(value: Any) -> Any:
    """The plain value in an object that holds one and may not answer for itself; anything else as it is."""
    return value._held() if isinstance(value, Remote) and value._holds and not value._is_named() else value


def call(self: Remote, *args: Any, **kwargs: Any) -> Any:
    """Call a function of the code."""
    return self._call(args, kwargs)


def contains(self: Remote, item: Any) -> bool:
    """`in`: by the code's own method if the tests name its class, else by looking at what it holds."""
    if self._may("__contains__"):
        return self._link.ask("special", self._number, "__contains__", (item,)) is True
    if self._holds:
        return item in self._held()
    return any(found is item or found == item for found in iter(self))


PLAIN_KINDS = frozenset(kind.__name__ for kind in shapes.VALUE_TYPES) | known.TYPES.keys()
VALUE_NAMES = frozenset(kind.__name__ for kind in shapes.VALUES)
PLAIN = frozenset((*shapes.ALONE, *shapes.TOGETHER)) - {"__call__"}
"""What an object with a built-in value does by that value."""
SPECIAL: dict[str, Any] = {
    **{name: special(name) for name in shapes.ALONE},
    **{name: gated(name) for name in shapes.TOGETHER if name not in ("__eq__", "__hash__")},
    "__call__": call,
    "__contains__": contains,
    "__exit__": leave,
}
LAYERED: dict[str, Any] = {
    **{name: arrays.sharing(name) for name in shapes.TOGETHER},
    **{name: arrays.comparing(name) for name in arrays.COMPARED},
    "__hash__": Layered.__hash__,
}
