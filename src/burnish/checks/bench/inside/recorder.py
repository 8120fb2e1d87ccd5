"""Writes down with which arguments a function is called while tests run, as Python would write them.

The function's file has a note at the function's start, which calls us (`record_calls` outside). What cannot be written
is left out: a value is a literal, a name of the module, or an object whose making was seen. Words that Python 3.9
understands.
"""

from __future__ import annotations

import builtins
import dataclasses
import enum
import re
from typing import Any

NOTE = "__burnish_call__"
LONGEST = 300
MOST_OF_TEST, MOST_MADE, DEEPEST = 20, 500, 6
NUMBERS = ("decimal", "fractions")
Scope = dict[str, Any]


class CallRecorder:
    """The calls of one function, and what objects of its module were made from."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.calls: list[dict[str, Any]] = []
        self.made: dict[int, tuple[Any, str]] = {}
        """By identity: the object, kept so that no other takes its number, and the call that made it."""
        self.at_work = False
        setattr(builtins, NOTE, self.note)

    def take(self) -> list[dict[str, Any]]:
        """The calls since the last time."""
        taken, self.calls = self.calls, []
        return taken

    def note(self, call: tuple[str, Scope, list[Any], dict[str, Any]]) -> None:
        """A function begins. Nothing that goes wrong here may reach it."""
        if self.at_work:
            return
        self.at_work = True
        try:
            self.keep(*call)
        except Exception:  # noqa: S110 - it cannot be written
            pass
        finally:
            self.at_work = False

    def keep(self, name: str, scope: Scope, plain: list[Any], named: dict[str, Any]) -> None:
        """Write the call down, if it is the function's own; of a new object, what it is made from."""
        own, makes = name == self.name, name.endswith(".__init__")
        if makes and id(plain[0]) not in self.made and len(self.made) < MOST_MADE:
            kind = type(plain[0]).__name__
            if scope.get(kind) is type(plain[0]):
                words = [self.write(value, scope) for value in plain[1:]]
                words += [f"{key}={self.write(value, scope)}" for key, value in named.items()]
                self.made[id(plain[0])] = (plain[0], shorten(f"{kind}({', '.join(words)})"))
        if own and len(self.calls) < MOST_OF_TEST:
            head = [""] if makes else []
            call = {
                "plain": head + [self.write(value, scope) for value in plain[len(head) :]],
                "named": {key: self.write(value, scope) for key, value in named.items()},
            }
            if call not in self.calls:
                self.calls.append(call)

    def write(self, value: Any, scope: Scope, depth: int = 0) -> str:
        """An expression that gives this value in the module. Raises ValueError where there is none."""
        kind = type(value)
        if depth > DEEPEST:
            raise ValueError("too deep")
        if value is None or kind in (bool, int, str, bytes):
            return shorten(repr(value))
        if kind is float:
            return repr(value) if value - value == 0 else f"float({str(value)!r})"
        if kind in (list, tuple, set, frozenset):
            inside = ", ".join([self.write(item, scope, depth + 1) for item in value])
            if kind is list:
                return shorten(f"[{inside}]")
            if kind is tuple:
                return shorten(f"({inside}{',' * (len(value) == 1)})")
            return shorten(f"{kind.__name__}([{inside}])")
        if kind is dict:
            pairs = [(self.write(k, scope, depth + 1), self.write(v, scope, depth + 1)) for k, v in value.items()]
            return shorten("{" + ", ".join(f"{key}: {one}" for key, one in pairs) + "}")
        return shorten(self.write_object(value, kind, scope, depth))

    def write_object(self, value: Any, kind: type, scope: Scope, depth: int) -> str:
        """By a name of the module, by how it was made, or from its parts."""
        named = getattr(value, "__name__", None)
        if isinstance(named, str) and named in vars(builtins) and vars(builtins)[named] is value:
            return named
        for name, known in scope.items():
            if known is value and not name.startswith("__"):
                return name
        if id(value) in self.made and self.made[id(value)][0] is value:
            return self.made[id(value)][1]
        if kind.__module__ == "datetime":
            return repr(value)
        if kind.__module__ in NUMBERS:
            return f"{kind.__module__}.{value!r}"
        if isinstance(value, re.Pattern):
            return f"re.compile({value.pattern!r}, {value.flags})"
        name = kind.__name__
        if scope.get(name) is not kind:
            raise ValueError("of a kind that the module does not name")
        if isinstance(value, enum.Enum):
            return f"{name}.{value.name}"
        fields = (
            [field.name for field in dataclasses.fields(kind) if field.init]
            if hasattr(kind, "__dataclass_fields__")
            else None
        )
        if fields is None and issubclass(kind, tuple):
            fields = list(getattr(kind, "_fields", ()))
        if fields is None:
            raise ValueError("nobody saw how it was made")
        return f"{name}({', '.join(f'{one}={self.write(getattr(value, one), scope, depth + 1)}' for one in fields)})"


def shorten(text: str) -> str:
    """The text. Raises ValueError for one that is too long to be of use."""
    if len(text) > LONGEST:
        raise ValueError("too long")
    return text
