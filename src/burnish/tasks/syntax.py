"""Python text as a syntax tree, without a word: benchmark code is full of escapes that Python warns about."""

import ast
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

UNREADABLE = (SyntaxError, ValueError, MemoryError, RecursionError)
_ONE_AT_A_TIME = threading.Lock()
"""Python's warning filters belong to the whole process: two threads that change them would undo each other."""


def parsed(text: str) -> ast.Module | None:
    """The syntax tree, or None for what is no Python."""
    try:
        return tree_of(text)
    except UNREADABLE:
        return None


def tree_of(text: str) -> ast.Module:
    """The syntax tree; raises SyntaxError or one of its kin for what is no Python."""
    with _quiet():
        return ast.parse(text)


def compiles(text: str) -> bool:
    """Whether Python would run it: stricter than parsing, which lets a `break` outside a loop pass."""
    try:
        with _quiet():
            compile(text, "text", "exec", dont_inherit=True)
    except UNREADABLE:
        return False
    return True


@contextmanager
def _quiet() -> Iterator[None]:
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
