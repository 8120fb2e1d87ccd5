"""What process 1 imports before the first job, so that no job pays for it."""

import importlib

from burnish.sandbox.inside.known import words

COMMON = words(
    "bisect collections copy dataclasses datetime decimal enum fractions functools heapq itertools json math operator "
    "random re string typing"
)
"""Modules that small programs use."""


def up() -> None:
    """Import them."""
    for name in COMMON:
        importlib.import_module(name)
