"""Pictures as SVG text: marks, words that fit, and round numbers for axes.

Everything is a pure function of what is drawn, so the same picture is the same bytes, from any number of threads.
Colours are attributes, the weakest way to set them: a file stands alone on white paper in any program, and a page that
holds a copy gives it its own colours by class ("fill-ink", "stroke-solved").
"""

import math
import re
from collections.abc import Sequence
from html import escape
from unicodedata import east_asian_width

from burnish.text import one_line, strip_controls

COLOURS = {
    "paper": "#ffffff",
    "ink": "#1c2530",
    "muted": "#66717e",
    "line": "#dde2e8",
    "solved": "#12856c",
    "kept": "#b9ddd2",
    "unsolved": "#ecc078",
    "unreached": "#e3e7ec",
    "broke": "#b3326b",
    "curve-2": "#c4561b",
    "curve-3": "#3a5fb0",
    "curve-4": "#8a3f97",
    "curve-5": "#8a6d00",
    "curve-6": "#43494f",
    "curve-7": "#b3326b",
}
FONTS = "system-ui, 'Segoe UI', Roboto, Helvetica, Arial, 'DejaVu Sans', sans-serif"
SMALL, USUAL = 9.0, 12.0
"""Sizes of words, in the units of the picture."""
LINE_HEIGHT = 1.4
EDGE = 12
"""What stays empty along the edges of a picture."""

Place = tuple[float, float]

_NARROW, _WIDE = frozenset("iljI.,:;'|!()[]/ ·-tfr"), frozenset("mwMW@%…—→")
_NOT_XML = re.compile("[\ufffe\uffff]")


class Picture:
    """A picture that is filled from the top: `bottom` is where the next block begins."""

    def __init__(self, width: float) -> None:
        self.width = width
        self.bottom = float(EDGE)
        self.marks: list[str] = []

    def write(self, text: str, size: float, fill: str = "ink", indent: float = 0, **attributes: str | float) -> None:
        """Add a paragraph below all that is there, in lines that fit; an empty text adds nothing."""
        lines = wrap_text(text, size, self.width - 2 * EDGE - indent) if text else []
        first, step = self.bottom + size * 1.1, size * LINE_HEIGHT
        spans = [
            mark("tspan", _escape(line) + " ", x=EDGE + indent, y=first + place * step)
            for place, line in enumerate(lines)
        ]
        self.marks += [mark("text", *spans, font_size=size, fill=fill, **attributes)] if spans else []
        self.bottom += len(lines) * step

    def render(self, name: str) -> str:
        """The whole SVG; `name` is what a screen reader says of it."""
        width, height = _number(self.width), _number(self.bottom + EDGE / 2)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="img" aria-label="{_escape(one_line(name, 300))}" '
            f'font-family="{FONTS}" font-size="{_number(USUAL)}">'
        )
        paper = mark("rect", width=self.width, height=self.bottom + EDGE / 2, fill="paper")
        return "\n".join([head, paper, *self.marks, "</svg>", ""])


def mark(tag: str, *inside: str, **attributes: str | float) -> str:
    """One element. `fill` and `stroke` are names of `COLOURS`, or "none"."""
    parts, classes = [], []
    for name, value in attributes.items():
        if name in ("fill", "stroke") and value in COLOURS:
            classes.append(f"{name}-{value}")
            value = COLOURS[str(value)]
        text = value if isinstance(value, str) else _number(value)
        parts.append(f'{name.replace("_", "-")}="{_escape(text)}"')
    if classes:
        parts.append(f'class="{" ".join(classes)}"')
    return f"<{' '.join([tag, *parts])}>{''.join(inside)}</{tag}>"


def with_tooltip(tip: str, *marks: str) -> str:
    """Marks that say something under a pointer."""
    return f"<g><title>{_escape(tip)}</title>{''.join(marks)}</g>"


def line(places: Sequence[Place], stroke: str, width: float = 1, **attributes: str | float) -> str:
    """A line through some places."""
    return mark("path", d=path(places), fill="none", stroke=stroke, stroke_width=width, **attributes)


def area(places: Sequence[Place], fill: str, opacity: float) -> str:
    """A filled shape with these corners."""
    return mark("path", d=f"{path(places)}Z", fill=fill, fill_opacity=opacity)


def path(places: Sequence[Place]) -> str:
    """Lines from place to place, as a path says it."""
    return "M" + "L".join(f"{_number(x)} {_number(y)}" for x, y in places)


def text_line(text: str, x: float, y: float, size: float = USUAL, fill: str = "ink", **attributes: str | float) -> str:
    """One line of text, as text: it can be searched, and nothing in it is obeyed."""
    return mark("text", _escape(text), x=x, y=y, font_size=size, fill=fill, **attributes)


def text_width(text: str, size: float) -> float:
    """How wide a text is in the widest of the usual fonts: rather too much, so that nothing runs over an edge."""
    return size * sum(_character_width(char) for char in text)


def _character_width(char: str) -> float:
    if char in _NARROW:
        return 0.42
    if char in _WIDE or east_asian_width(char) in "WF":
        return 1.02
    return 0.7 if char.isupper() else 0.63


def wrap_text(text: str, size: float, width: float) -> list[str]:
    """The text in lines that fit; a word that fits in no line is broken, a no-break space is kept."""
    lines = [""]
    for word in filter(None, re.split(r"[ \n\t]", strip_controls(text))):
        longer = f"{lines[-1]} {word}".strip()
        if text_width(longer, size) <= width:
            lines[-1] = longer
            continue
        if lines[-1]:
            lines.append("")
        for char in word:
            if lines[-1] and text_width(lines[-1] + char, size) > width:
                lines.append("")
            lines[-1] += char
    return lines


def ticks(low: float, high: float, about: int = 5, least: float = 0.0) -> list[float]:
    """Round numbers from `low` to `high`, about so many; no closer to each other than `least`."""
    rough = (high - low) / max(1, about)
    step = 1.0
    if rough > 0:  # the smallest of 1, 2, 5 times a power of ten that is not below it
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
    step = max(step, least)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [place * step for place in range(first, last + 1)]


def _number(value: float) -> str:
    """Hundredths are finer than any screen; the sum makes a zero of minus zero."""
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")


def _escape(text: str) -> str:
    return escape(_NOT_XML.sub("", strip_controls(text)))
