"""Python text as a syntax tree, without a word: benchmark code is full of escapes that Python warns about."""

import ast

from burnish.parsing import parse, quiet

UNREADABLE = (SyntaxError, ValueError, MemoryError, RecursionError)


def parsed(text: str) -> ast.Module | None:
    """The syntax tree, or None for what is no Python."""
    try:
        return tree_of(text)
    except UNREADABLE:
        return None


def tree_of(text: str) -> ast.Module:
    """The syntax tree; raises SyntaxError or one of its kin for what is no Python."""
    return parse(text)


def compiles(text: str) -> bool:
    """Whether Python would run it: stricter than parsing, which lets a `break` outside a loop pass."""
    try:
        with quiet():
            compile(text, "text", "exec", dont_inherit=True)
    except UNREADABLE:
        return False
    return True
