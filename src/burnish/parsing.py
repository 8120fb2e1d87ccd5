"""Python's own parser, safe to call from many threads at once.

Up to Python 3.12 all threads share the parser's depth counter: one that is switched away in the middle of building a
tree makes another fail with SystemError on sound code. So ours take turns; and since libraries parse as well, a parse
that fell over one of theirs is made again. Warnings about the text (an odd escape, say) are nobody's news here.
"""

import ast
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

TRIES = 20
_turn = threading.Lock()


def parse(text: str) -> ast.Module:
    """The tree of a module; raises what `ast.parse` raises for text that is no Python."""
    tree: ast.Module = _parsed(text, "exec")
    return tree


def parse_expression(text: str) -> ast.expr:
    """The tree of one expression."""
    found: ast.expr = _parsed(text, "eval").body
    return found


@contextmanager
def quiet() -> Iterator[None]:
    """No warnings, for one thread at a time: Python's warning filters belong to the whole process."""
    with _turn, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _parsed(text: str, mode: Literal["exec", "eval"]) -> Any:
    for _ in range(TRIES):
        with quiet():
            try:
                return ast.parse(text, mode=mode)
            except SystemError:
                continue
    raise RecursionError("the parser was interrupted too often")
