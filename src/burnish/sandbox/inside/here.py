"""How values leave and enter the process of the code: plain data as it is, anything else as a number."""

import types
from typing import TYPE_CHECKING, Any

from burnish.sandbox.inside import arrays, faults, known, shapes
from burnish.sandbox.inside.plain import Session, Tree, contents, pack, parts, unpack

if TYPE_CHECKING:
    from burnish.sandbox.inside.candidate import Server


def changes(session: "Here") -> Tree:
    """The containers among the arguments that are not as they were."""
    found = []
    for number, old in enumerate(session.before):
        value = session.objects[number]
        new = parts(value)
        if len(new) != len(old) or any(one is not other for one, other in zip(new, old, strict=True)):
            found.append([number, contents(value, session)])
    return found


class Here(Session):
    """How values that are not plain data leave and enter this process."""

    def __init__(self, server: "Server") -> None:
        super().__init__()
        self.server = server
        self.before: list[list[Any]] = []

    def remember(self) -> None:
        """Note what the arguments hold before the code gets them."""
        if self.objects:
            self.before = [parts(value) for value in self.objects]

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
        item = arrays.item_of(value) if arrays.is_layered(kind) else None
        return ["h", number, self.shape(kind)] if item is None else ["n", number, self.shape(kind), pack(item, self)]

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
            faults.text_of(error),
            pack(own, self),
            *faults.line_of(error),
            -1 if known.error_name(type(error)) else self.server.number_of(error),
            pack(error.__cause__, self),
        ]

    def shape(self, kind: type) -> Tree:
        """The number of a class and, the first time, what its objects can do."""
        if kind in self.server.classes:
            return [self.server.classes[kind]]
        number = self.server.classes[kind] = len(self.server.classes)
        value, holder = (shapes.base_of(kind, bases) for bases in (shapes.VALUES, shapes.HOLDERS))
        names = [base.__name__ if base else "" for base in (value, holder)]
        return [number, kind.__name__, *names, shapes.special_methods(kind), arrays.is_layered(kind)]

    def unpack_other(self, tree: list[Tree]) -> Any:
        """What the judge means. It is trusted: it may name anything."""
        tag, word = tree[0], tree[1]
        if tag == "H":
            return self.server.handles[word]
        if tag == "K":
            return self.server.callbacks.setdefault(word, Callback(self.server, *tree[1:]))
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

    def __init__(self, server: "Server", number: int, name: str, doc: str | None) -> None:
        self.server = server
        self.number = number
        self.__name__ = self.__qualname__ = name
        self.__doc__ = doc

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Ask the judge to call it."""
        return self.server.call_back("callback", self.number, args, kwargs)


class Items:
    """An iterator of the tests that was passed to the code."""

    def __init__(self, server: "Server", number: int) -> None:
        self.server = server
        self.number = number

    def __iter__(self) -> "Items":
        return self

    def __next__(self) -> Any:
        return self.server.call_back("next", self.number)
