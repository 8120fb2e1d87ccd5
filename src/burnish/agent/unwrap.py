"""The ways in which an answer as a whole can be wrapped: JSON, a web page, escapes, thoughts. Each is undone here."""

import html
import json
import re
from collections.abc import Iterator

from burnish.text import plain

FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+#.-]*)[^\n]*\n(.*?)(?:^[ \t]*\1|\Z)", re.DOTALL | re.MULTILINE)
_PRE = re.compile(r"<(pre|code|textarea)\b[^>]*>(.*?)</\1>", re.DOTALL | re.IGNORECASE)
_INLINE = re.compile(r"(?<!`)`((?:async )?def [^`]+)`(?!`)")
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]*>")
_KEYS = ("code", "solution", "answer", "python", "function", "content", "implementation", "text", "result", "output")
_CODE = re.compile(r"\b(?:def|class|return|import)\b")


def readings(answer: str) -> Iterator[tuple[str, str]]:
    """The answer as it is, then each way to unwrap it that applies, with what was done to it in words.

    None holds an escape code, not even one that the wrapping had spelled out.
    """
    for inner, done in _layers(plain(answer)):
        yield plain(inner), done


def _layers(text: str) -> Iterator[tuple[str, str]]:
    if "</think>" in text:
        yield text.rsplit("</think>", 1)[1], ""  # what stands above are thoughts
    yield text, ""
    for inner in _out_of_json(text):
        yield inner, "taken out of a JSON wrapper"
    page = _out_of_page(text)
    if page:
        yield page, "taken out of a web page"
    for span in _INLINE.findall(text):
        yield span, "taken out of a sentence"
    if _is_escaped(text):
        yield _unescaped(text), "escaped line ends put right"


def blocks_of(text: str) -> list[tuple[str, str]]:
    """Every fenced block: its language in small letters, and what it holds."""
    return [(match[2].lower(), match[3]) for match in FENCE.finditer(text)]


def is_open(text: str) -> bool:
    """Whether the last fenced block never ends; an answer without any block has no end either."""
    found = list(FENCE.finditer(text))
    return not found or not found[-1][0].rstrip().endswith(found[-1][1])


def _out_of_json(text: str) -> Iterator[str]:
    for body in [text, *(block for _, block in blocks_of(text))]:
        start, end = body.find("{"), body.rfind("}")
        listed = body.strip().startswith(("[", '"'))
        piece = body.strip() if listed else body[start : end + 1] if start >= 0 else ""
        try:
            value = json.loads(piece, strict=False) if piece else None
        except (ValueError, RecursionError):
            continue
        yield from (_unescaped(found) if _is_escaped(found) else found for found in _strings(value))


def _strings(value: object, depth: int = 0) -> list[str]:
    """The strings in a JSON value that hold code, those under a telling name first."""
    if isinstance(value, str):
        return [value] if _CODE.search(value) else []
    if depth > 4:
        return []
    if isinstance(value, list):
        if value and all(isinstance(line, str) for line in value):
            joined = "\n".join(str(line).rstrip("\n") for line in value)
            return [joined] if _CODE.search(joined) else []
        return [found for item in value for found in _strings(item, depth + 1)]
    if isinstance(value, dict):
        named = sorted(value.items(), key=lambda item: str(item[0]).lower() not in _KEYS)
        return [found for _, item in named for found in _strings(item, depth + 1)]
    return []


def _out_of_page(text: str) -> str:
    """What stands in <pre> and <code>, as fenced blocks."""
    parts = []
    for match in _PRE.finditer(text):
        inner = _TAG.sub("", re.sub(r"<br\s*/?>", "\n", match[2], flags=re.IGNORECASE))
        if _CODE.search(inner):
            parts.append(f"```python\n{html.unescape(inner).strip(chr(10))}\n```")
    return "\n".join(parts)


def _is_escaped(text: str) -> bool:
    """Whether line ends are written out, as in a string that was escaped once too often."""
    return text.count("\\n") > text.strip().count("\n") and bool(re.search(r"\b(?:def|class)\s.*:\s*\\n", text))


def _unescaped(text: str) -> str:
    swaps = {"\\n": "\n", "\\t": "\t", '\\"': '"', "\\'": "'", "\\\\": "\\"}
    return re.sub(r"\\[nt\"'\\]", lambda match: swaps[match[0]], text.strip().strip('"'))
