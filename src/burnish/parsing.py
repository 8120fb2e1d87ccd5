"""Which texts are taken as Python source, and Python's own parser, safe to call from many threads at once.

`explain_refusal` decides for every door (answers, tests, projects, evidence): what is judged as text must be what
Python would import from a file with the same bytes, line for line.

Up to Python 3.12 all threads share the parser's depth counter: one that is switched away in the middle of building a
tree makes another fail with SystemError on sound code. So ours take turns; and since libraries parse as well, a parse
that fell over one of theirs is made again. Warnings about the text (an odd escape, say) are nobody's news here.
"""

import ast
import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

PARSE_ERRORS = (SyntaxError, ValueError, MemoryError, RecursionError)
"""What `ast.parse` and `ast.literal_eval` raise for text that is no Python, or too much of it."""
TRIES = 20
_turn = threading.Lock()
_ENCODING_LINE = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.ASCII)
_NO_CODE = re.compile(r"[ \t\f]*(?:#.*)?")
_LINE_END = re.compile(r"\r\n|\r|\n")
_NOT_TAKEN = re.compile("\0|\r(?!\n|\\Z)|[\ud800-\udfff]")


class ForeignSource(SyntaxError):
    """A source that Python imports, and as other lines than a reader of UTF-8 sees."""


def explain_refusal(source: str | bytes) -> str:
    """Why a text or the bytes of a file are not taken as Python source; "" when they are."""
    flaw = find_flaw(source)
    return flaw.msg if flaw else ""


def decode_source(data: bytes) -> str:
    """The text of a source file, without a byte order mark; its line ends stay. Raises SyntaxError for one refused."""
    if flaw := find_flaw(data):
        raise flaw
    return data.decode("utf-8-sig")


def find_flaw(source: str | bytes) -> SyntaxError | None:
    """What keeps a source from being taken; None when nothing does.

    An encoding line (PEP 263) may name nothing but UTF-8: Python obeys it on import, and `compile` of a text does not.
    A lone carriage return ends a line for Python and for few readers, and half a character cannot be written to a file.
    """
    if isinstance(source, bytes):
        data = source
        try:
            source = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            return _find_foreign_encoding(data.decode("latin-1")) or _error(f"line {line} is not UTF-8 text", line)
    if found := _NOT_TAKEN.search(source):
        line = len(_LINE_END.findall(source, 0, found.start())) + 1
        if found[0] == "\r":
            return _error(f"line {line} ends with a lone carriage return", line, ForeignSource)
        what = f"half a character (U+{ord(found[0]):04X})" if ord(found[0]) else "a zero byte"
        return _error(f"there is {what} in line {line}", line)
    return _find_foreign_encoding(source)


def _find_foreign_encoding(text: str) -> SyntaxError | None:
    """What is wrong with an encoding line; the second line counts only below one without code, as Python has it."""
    for number, line in enumerate(_LINE_END.split(text.removeprefix("\ufeff"), 2)[:2], 1):
        if found := _ENCODING_LINE.match(line):
            name = found[1].lower().replace("_", "-")
            if name in ("utf-8", "utf8") or name.startswith("utf-8-"):
                return None
            message = f"line {number} names the encoding {found[1][:40]!r}, and source must be UTF-8"
            return _error(message, number, ForeignSource)
        if not _NO_CODE.fullmatch(line):
            return None
    return None


def _error(message: str, line: int, kind: type[SyntaxError] = SyntaxError) -> SyntaxError:
    return kind(message, (None, line, None, None))


def parse(text: str) -> ast.Module:
    """The tree of a module; raises what `ast.parse` raises for text that is no Python, SyntaxError for one refused."""
    tree: ast.Module = _parse(text, "exec")
    return tree


def parse_expression(text: str) -> ast.expr:
    """The tree of one expression; raises as `parse` does."""
    found: ast.expr = _parse(text, "eval").body
    return found


def try_parse(text: str) -> ast.Module | None:
    """The tree of a module, or None for what is no Python."""
    try:
        return parse(text)
    except PARSE_ERRORS:
        return None


def try_parse_expression(text: str) -> ast.expr | None:
    """The tree of one expression, or None for what is none."""
    try:
        return parse_expression(text)
    except PARSE_ERRORS:
        return None


def explain_syntax_error(text: str) -> str:
    """Why a text is no Python, with the line; empty when it is."""
    try:
        parse(text)
    except SyntaxError as error:
        return f"line {error.lineno}: {type(error).__name__}: {error.msg}"
    except PARSE_ERRORS as error:
        return f"{type(error).__name__}: {error}"
    return ""


@contextmanager
def silence_warnings() -> Iterator[None]:
    """No warnings, for one thread at a time: Python's warning filters belong to the whole process."""
    with _turn, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _parse(text: str, mode: Literal["exec", "eval"]) -> Any:
    if flaw := find_flaw(text):
        raise flaw
    for _ in range(TRIES):
        with silence_warnings():
            try:
                return ast.parse(text, mode=mode)
            except SystemError:
                continue
    raise RecursionError("the parser was interrupted too often")
