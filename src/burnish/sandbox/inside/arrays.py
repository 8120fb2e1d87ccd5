"""NumPy's values as plain data: a number crosses as a number, an array as its items, and is made anew by the judge.

What the code sends is never believed to be more than that: the judge makes an exact array of its own NumPy.
"""

import importlib
import re
import sys
from typing import Any

from burnish.sandbox.inside import order

KINDS = "biufcSU"
"""Arrays of booleans, numbers and texts; any other stays where it is."""
MOST_ITEMS = 1_000_000
DTYPE = re.compile(rf"[<>|=][{KINDS}]\d{{1,4}}")


class Array:
    """An array on its way: its kind of items, its shape, and all items in one list."""

    def __init__(self, dtype: str, shape: list[int], items: list[Any]) -> None:
        self.tree = dtype, shape, items


def plain(value: Any) -> Any:
    """The value itself, the built-in one that it stands for, or an `Array`."""
    numpy = sys.modules.get("numpy")
    if numpy is None or type(value).__module__ != "numpy":
        return value
    if isinstance(value, numpy.generic) and value.dtype.kind in KINDS:
        return value.item()
    if type(value) is numpy.ndarray and value.dtype.kind in KINDS and value.size <= MOST_ITEMS:
        return Array(value.dtype.str, list(value.shape), value.ravel().tolist())
    return value


def made(dtype: Any, shape: Any, items: Any) -> Any:
    """The array that the code's process speaks of. Raises ValueError for anything else than plain data."""
    if len(order.PLACES) < 2 or not DTYPE.fullmatch(str(dtype)) or type(items) is not list:
        raise ValueError("not an array")
    numpy = importlib.import_module("numpy")
    return numpy.array(items, dtype=str(dtype)).reshape([int(length) for length in shape])
