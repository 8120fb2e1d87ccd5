"""Python text as a syntax tree, or the plain answer that it is none."""

import ast

from burnish.parsing import parse


def parsed(text: str) -> ast.Module | None:
    """The syntax tree, or None for what is no Python."""
    try:
        return parse(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def complaint(text: str) -> str:
    """Why a text is no Python, with the line; empty when it is."""
    try:
        parse(text)
    except SyntaxError as error:
        return f"line {error.lineno}: {type(error).__name__}: {error.msg}"
    except (ValueError, MemoryError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"
    return ""
