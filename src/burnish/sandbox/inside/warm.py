"""What process 1 imports before the first job, so that no job pays for it."""

import importlib

from burnish.sandbox.inside.known import words

COMMON = words(
    "abc array ast base64 bisect calendar cmath collections contextlib copy csv dataclasses datetime decimal enum "
    "fractions functools hashlib heapq io itertools json math operator random re statistics string struct textwrap "
    "time typing unicodedata uuid"
)
"""Modules that small programs use."""


def up() -> None:
    """Import them."""
    for name in COMMON:
        importlib.import_module(name)
