"""What to say about an exception of the code: its text and the line that raised it."""

import traceback
from typing import Any

FILE = "solution.py"
SOURCE: list[str] = []
"""The lines of the code, for messages."""


def text_of(error: BaseException) -> str:
    """The message of an exception, whatever its class does."""
    try:
        return str(error)
    except Exception:
        return ""


def line_of(error: BaseException) -> list[Any]:
    """The last line of the code that the exception passed, and what stands there; 0 if it passed none."""
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == FILE]
    return written(lines[-1] if lines else 0)


def written(line: int) -> list[Any]:
    """A line of the code by its number."""
    return [line, SOURCE[line - 1].strip()] if 0 < line <= len(SOURCE) else [0, ""]


def describe(error: BaseException) -> str:
    """Why the code cannot even be imported."""
    is_syntax = isinstance(error, SyntaxError)
    line, text = written(error.lineno or 0) if is_syntax else line_of(error)  # type: ignore[attr-defined]
    words = error.msg if is_syntax else text_of(error)  # type: ignore[attr-defined]
    place = f" (line {line}: {text[:200]})" if line else ""
    return f"{type(error).__name__}: {words[:500]}{place}"
