"""Python text as a syntax tree, or the plain answer that it is none."""

import ast

from burnish.parsing import parse


def parsed(text: str) -> ast.Module | None:
    """The syntax tree, or None for what is no Python."""
    try:
        return parse(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
