"""Which texts are taken as Python source, and Python's own parser, safe to call from many threads at once.

`refusal` decides for every door (answers, tests, projects, evidence): what is judged as text must be what Python would
import from a file with the same bytes, line for line.

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

TRIES = 20
_turn = threading.Lock()
_ENCODING_LINE = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.ASCII)
_NO_CODE = re.compile(r"[ \t\f]*(?:#.*)?")
_LINE_END = re.compile(r"\r\n|\r|\n")
_NOT_TAKEN = re.compile("\0|\r(?!\n|\\Z)|[\ud800-\udfff]")


class ForeignSource(SyntaxError):
    """A source that Python imports, and as other lines than a reader of UTF-8 sees."""


def refusal(source: str | bytes) -> str:
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
            return _foreign_encoding(data.decode("latin-1")) or _error(f"line {line} is not UTF-8 text", line)
    if found := _NOT_TAKEN.search(source):
        line = len(_LINE_END.findall(source, 0, found.start())) + 1
        if found[0] == "\r":
            return _error(f"line {line} ends with a lone carriage return", line, ForeignSource)
        what = f"half a character (U+{ord(found[0]):04X})" if ord(found[0]) else "a zero byte"
        return _error(f"there is {what} in line {line}", line)
    return _foreign_encoding(source)


def _foreign_encoding(text: str) -> SyntaxError | None:
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
    if flaw := find_flaw(text):
        raise flaw
    for _ in range(TRIES):
        with quiet():
            try:
                return ast.parse(text, mode=mode)
            except SystemError:
                continue
    raise RecursionError("the parser was interrupted too often")
