"""Packages in a cell: where modules are looked for, and how far the judge compares values of a layer's classes.

Python's own modules come first, then pytest and what it needs.
The judge has no more than this: nothing of a layer can be imported where code is judged from another process. For code
the task's layer comes before pytest's needs, as it would at the user's: whoever asked for an older `packaging` gets it.

Values of a layer's classes stay with the code, as all its objects do, and the judge never has the layer. Of NumPy's
whole numbers and booleans the value crosses along, and an array's items when it is compared. What this file cannot
compare exactly as NumPy would "must share".
"""

# ruff: noqa: PTH110

import math
import operator
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

from burnish.sandbox.inside import allowed_types

OURS = ("pytest", "_pytest", "pluggy")
"""What runs the tests; it stays what it is also where code shares its process."""
PLACES: list[str] = []
"""The folder with pytest and what it needs, and the layer where there is one."""
MOST_ITEMS = 1_000_000
LARGEST = 2**53
"""Beyond it NumPy compares whole numbers differently from Python, and one version of it from another."""
PLAIN = (bool, int, float, str)
COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    f"__{name}__": getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")
}
Known = tuple[list[int], list[Any]]
"""A shape, which is empty for a single value, and all items in one list."""


def extend_search_path(packages: str, layer: str) -> None:
    """The order for process 1 and the judge."""
    PLACES[:] = filter(None, (packages, layer))
    sys.path += filter(None, [packages])


def prefer_layer() -> None:
    """The order for this process from here on: code will run in it."""
    if len(PLACES) < 2:
        return
    packages, layer = PLACES
    sys.path.remove(packages)
    sys.path += [layer, packages]
    for name in [name for name in sys.modules if is_loaded_from(packages, name)]:
        top = name.partition(".")[0]
        if top not in OURS and (os.path.exists(f"{layer}/{top}") or os.path.exists(f"{layer}/{top}.py")):
            del sys.modules[name]


def is_loaded_from(folder: str, name: str) -> bool:
    """Whether a module that is loaded came from a folder."""
    return str(getattr(sys.modules[name], "__file__", None) or "").startswith(f"{folder}/")


def is_layered(kind: type) -> bool:
    """Whether a class is what a module of the layer has under its name. Asked where the code is."""
    module = sys.modules.get(kind.__module__)
    if len(PLACES) < 2 or module is None or not is_loaded_from(PLACES[1], kind.__module__):
        return False
    return getattr(module, kind.__name__, None) is kind


def item_of(value: Any) -> bool | int | None:
    """The number that a whole number or boolean of NumPy stands for; None for anything else."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(value, numpy.generic) or value.dtype.kind not in "biu":
        return None
    item = value.item()
    return item if type(item) in (bool, int) else None


def content_of(value: Any) -> Known | None:
    """Shape and items of an array that the judge can compare; None for anything else."""
    numpy = sys.modules.get("numpy")
    if numpy is None or type(value) is not numpy.ndarray or value.size > MOST_ITEMS:
        return None
    if value.dtype.kind not in "biuU" and value.dtype.str[1:] != "f8":
        return None
    return list(value.shape), value.ravel().tolist()


def check_content(content: Any) -> Known | None:
    """What the code's process said of an array, if it is that: exact plain values, as many as the shape has places."""
    if type(content) is not tuple or len(content) != 2 or any(type(part) is not list for part in content):
        return None
    shape, items = content
    if any(type(length) is not int or length < 0 for length in shape):
        return None
    return content if math.prod(shape) == len(items) and all(type(item) in PLAIN for item in items) else None


def read_literal(value: Any) -> Known | None:
    """What tests compare with: a plain value, or lists and tuples of them that have one shape."""
    if type(value) in (list, tuple):
        parts = [read_literal(part) for part in value]
        shapes = [part[0] for part in parts if part]
        if len(shapes) < len(parts) or any(shape != shapes[0] for shape in shapes):
            return None
        return [len(parts), *(shapes[0] if shapes else [])], [item for part in parts if part for item in part[1]]
    base = allowed_types.find_base(type(value), (float, str))
    if base is not None:
        return [], [allowed_types.VALUE_OF[base](value)]
    return ([], [value]) if type(value) in PLAIN else None


def compare_items(name: str, left: Known, right: Known) -> Known | None:
    """Item by item; None where NumPy has rules of its own."""
    (shape, items), (other, others) = left, right
    if shape and other and shape != other:
        return None
    # A single value is compared with every item.
    lefts, rights = items if shape else items * len(others), others if other else others * len(items)
    if not all(map(is_clear, lefts, rights)):
        return None
    return shape or other, list(map(COMPARED[name], lefts, rights))


def is_clear(one: Any, other: Any) -> bool:
    """Whether Python and NumPy surely say the same of two items."""
    if type(one) is str or type(other) is str:
        return type(one) is type(other)
    return all(type(item) is float or -LARGEST <= item <= LARGEST for item in (one, other))


class Truths:
    """What a comparison gave: one truth or many, as NumPy answers. What else is asked of it must share."""

    def __init__(self, link: Any, shape: list[int], items: list[bool]) -> None:
        self._link = link
        """The link to the code, which knows how to share."""
        self.shape = tuple(shape)
        """How many there are, in each direction."""
        self._items = tuple(items)

    def all(self) -> "Truths":
        """Whether every one is true."""
        return Truths(self._link, [], [all(self._items)])

    def any(self) -> "Truths":
        """Whether at least one is true."""
        return Truths(self._link, [], [any(self._items)])

    def tolist(self) -> Any:
        """The truths in lists, a single one as it is."""
        return nest_items(self.shape, iter(self._items))

    def __bool__(self) -> bool:
        if len(self._items) == 1:
            return self._items[0]
        raise ValueError("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()")

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("object of type 'numpy.bool' has no len()")
        return self.shape[0]

    def __iter__(self) -> Iterator["Truths"]:
        if len(self.shape) != 1:
            self._link.share("the tests go through a comparison of arrays")
        return iter([Truths(self._link, [], [item]) for item in self._items])

    def __repr__(self) -> str:
        return f"array({self.tolist()})" if self.shape else f"np.{self._items[0]}"

    def __hash__(self) -> int:
        if self.shape:
            raise TypeError("unhashable type: 'numpy.ndarray'")
        return hash(self._items[0])

    def __getattr__(self, name: str) -> Any:
        return self._link.share(f"the tests use {name} of a comparison of arrays")


def make_sharing_method(name: str) -> Any:
    """A special method that only the layer's own class can answer."""

    def method(self: Any, *args: Any) -> Any:
        return self._link.share(f"the tests use {name} of a {type(self).__name__}")

    return method


def make_comparing_method(name: str) -> Any:
    """A comparison that the judge decides by value, or that must share."""

    def method(self: Any, other: Any) -> Any:
        left = self._known()
        right = other._known() if hasattr(type(other), "_known") else read_literal(other)
        found = compare_items(name, left, right) if left and right else None
        if found is None:
            return self._link.share(f"the tests compare a {type(self).__name__} with a {type(other).__name__}")
        return Truths(self._link, *found)

    return method


def nest_items(shape: tuple[int, ...], items: Iterator[Any]) -> Any:
    """Items in lists of that shape."""
    return [nest_items(shape[1:], items) for _ in range(shape[0])] if shape else next(items)


for _name in (*allowed_types.TOGETHER, "__invert__", "__abs__", "__getitem__", "__int__", "__float__", "__index__"):
    if _name not in ("__hash__", "__contains__"):
        setattr(Truths, _name, make_sharing_method(_name))
