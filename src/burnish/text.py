"""Words that somebody else wrote, made safe and short. What a model wrote is data: never markup, never escape codes."""

import re
import unicodedata
from collections.abc import Sequence
from html import escape

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor movement
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\|$)"  # OSC, DCS, SOS, PM, APC: titles, links, clipboard
    r"|\x1b[ -/]*[0-~]",  # the short ones
    re.DOTALL,
)
_KEPT = {"\n", "\t", "\u200c", "\u200d"}
"""Line ends, tabs, and the two joiners without which some scripts are misspelt."""
_CONTROLS = {"Cc", "Cf", "Cs", "Co"}
"""Unicode's categories: control, format, surrogate, private use."""


def strip_controls(text: str) -> str:
    """The text without terminal escapes, control and invisible direction characters; a file may hold this."""
    if text.isprintable():  # by far the most, and a look at each character costs
        return text
    text = _ESCAPES.sub("", text.replace("\r\n", "\n"))
    return "".join(char for char in text if char in _KEPT or unicodedata.category(char) not in _CONTROLS)


def escape_json(text: str) -> str:
    """JSON text in which control and invisible direction characters are spelled out: a terminal obeys none of them."""

    def spell(char: str) -> str:
        units = char.encode("utf-16-be", "surrogatepass").hex()
        return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))

    hidden = {char for char in text if char != "\n" and unicodedata.category(char) in _CONTROLS}
    return text.translate({ord(char): spell(char) for char in hidden})


def replace_surrogates(text: str) -> str:
    """The text with a mark in place of each lone surrogate: no file can hold one, and no terminal show it."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def one_line(text: str, most: int = 100) -> str:
    """The text on one line, cut with an ellipsis."""
    flat = " ".join(strip_controls(text).split())
    return flat if len(flat) <= most else flat[: most - 1].rstrip() + "…"


def html_line(text: object, most: int = 400) -> str:
    """Anything as one line of a page, without any meaning in HTML."""
    return escape(one_line(str(text), most))


def slug(text: str, most: int = 32) -> str:
    """A short name for a folder: letters, digits and dashes."""
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z0-9]+", ascii_text.lower())
    name = ""
    for word in words:
        if len(name) + len(word) + 1 > most and name:
            break
        name = f"{name}-{word[:most]}" if name else word[:most]
    return name or "task"


def fence_code(text: str, language: str = "") -> str:
    """The text as a Markdown code block that nothing inside it can close."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def plural(number: int, noun: str) -> str:
    """A number with its noun in the right form: "1 test", "2 tests"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def every(number: int, noun: str) -> str:
    """All of them, in words: "the one test", "all 2 tests"."""
    return f"the one {noun}" if number == 1 else f"all {number} {noun}s"


def join_words(items: Sequence[str], last: str = "and") -> str:
    """As people list things: "a, b and c"."""
    return f"{', '.join(items[:-1])} {last} {items[-1]}" if len(items) > 1 else "".join(items)
