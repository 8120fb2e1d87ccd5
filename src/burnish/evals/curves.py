"""Labelled curves of shares in one picture, with their intervals: for one evaluation, for two, for a paper."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from burnish.evals import drawing
from burnish.evals.drawing import LINE_HEIGHT, SMALL
from burnish.evals.figures import Interval
from burnish.text import one_line

HUES = ("solved", "curve-2", "curve-3", "curve-4", "curve-5", "curve-6", "curve-7")
SHAPES = ("circle", "square", "diamond", "triangle")
EDGE = 12
"""What stays empty along the edges of a picture."""
LABEL = 12.0
APART = 6.0
"""Markers of several curves above the same number stand side by side, so that each interval can be seen."""


@dataclass(frozen=True)
class Series:
    """A curve and its name. Shares are between 0 and 1; a published curve may have no intervals, and be dashed."""

    label: str
    x: Sequence[float]
    shares: Sequence[float]
    intervals: Sequence[Interval] = ()
    dashed: bool = False


@dataclass(frozen=True)
class Frame:
    """Where the axes lie on the paper."""

    left: float
    top: float
    right: float
    bottom: float
    x: tuple[float, float]
    y: float
    """The highest share; the lowest is 0."""

    def across(self, value: float) -> float:
        """The place of a number on the axis below."""
        low, high = self.x
        return self.left + (value - low) / (high - low) * (self.right - self.left)

    def up(self, share: float) -> float:
        """The place of a share on the axis at the left."""
        return self.bottom - share / self.y * (self.bottom - self.top)


@dataclass(frozen=True)
class Drawn:
    """A curve with its looks."""

    series: Series
    hue: str
    shape: str
    aside: float
    banded: bool

    def places(self, frame: Frame) -> list[tuple[float, float]]:
        """Its points on the paper."""
        pairs = zip(self.series.x, self.series.shares, strict=True)
        return [(frame.across(x) + self.aside, frame.up(share)) for x, share in pairs]


def curves(
    series: Sequence[Series],
    x_label: str,
    y_label: str = "solved, pass@1 in %",
    title: str = "",
    caption: str = "",
    *,
    from_zero: bool = False,
) -> str:
    """The SVG of some curves. `from_zero`: the axis below begins at 0, also where no curve does."""
    alone = len(series) == 1
    width, tall = (400, 195) if alone else (640, 300)
    drawn = [_looks(one, place, len(series)) for place, one in enumerate(series)]
    head, top = _head(drawn, y_label, title, width)
    numbers = [x for one in series for x in one.x]
    frame = Frame(EDGE + 28, top, width - EDGE - 36, top + tall, _span(numbers, from_zero), _highest(series))
    axes, below = _axes(frame, x_label, numbers)
    said = drawing.wrapped(caption, SMALL, width - 2 * EDGE) if caption else []
    marks = [
        *head,
        *axes,
        *(part for one in drawn for part in _curve(one, frame)),
        *(part for one in drawn for part in _markers(one, frame, x_label)),
        *(_values(drawn[0], frame) if alone else _ends(drawn, frame)),
        *([drawing.paragraph(said, EDGE, below + 10, SMALL, "muted")] if said else []),
    ]
    height = below + (len(said) * SMALL * LINE_HEIGHT + EDGE / 2 if said else 0)
    return drawing.picture(width, height, title or caption or y_label, marks)


def _looks(series: Series, place: int, of: int) -> Drawn:
    return Drawn(
        series,
        hue=HUES[place % len(HUES)],
        shape=SHAPES[place % len(SHAPES)],
        aside=(place - (of - 1) / 2) * min(APART, 30 / of),
        banded=of <= 2,
    )


def _span(numbers: Sequence[float], from_zero: bool) -> tuple[float, float]:
    """What the axis below shows, with some air at its ends."""
    low, high = (min(numbers), max(numbers)) if numbers else (0.0, 1.0)
    if from_zero:
        return 0.0, (high or 1.0) * 1.04
    air = max(0.5 if low == high else 0.0, (high - low) * 0.06)
    return low - air, high + air


def _highest(series: Sequence[Series]) -> float:
    """A round share above everything that is drawn, 1 at most."""
    highest = max((share for one in series for share in one.shares), default=0.0)
    highest = max([highest, *(edge for one in series for _, edge in one.intervals)], default=0.0)
    step = drawing.ticks(0, max(highest, 0.01))[1]
    return next((tick for tick in drawing.ticks(0, 1, round(1 / step)) if tick >= highest - 1e-9), 1.0) or step


def _head(drawn: Sequence[Drawn], y_label: str, title: str, width: float) -> tuple[list[str], float]:
    """Title, legend and the name of the axis at the left; and where the axes may begin."""
    marks, y = [], float(EDGE)
    for text in drawing.wrapped(one_line(title, 200), 14, width - 2 * EDGE) if title else []:
        y += 14 * 1.3
        marks.append(drawing.words(text, EDGE, y - 4, 14, font_weight="bold"))
    if len(drawn) > 1:
        y += 4
        for one in drawn:
            lines = drawing.wrapped(one_line(one.series.label, 240), LABEL, width - 2 * EDGE - 36)
            marks += _sample(one, EDGE, y + 7)
            marks.append(drawing.paragraph(lines, EDGE + 36, y + 11, LABEL, "ink"))
            y += len(lines) * LABEL * LINE_HEIGHT + 2
        y += 6
    lines = drawing.wrapped(y_label, LABEL, width - 2 * EDGE)
    marks.append(drawing.paragraph(lines, EDGE, y + 9, LABEL, "muted"))
    return marks, y + 8 + len(lines) * LABEL * LINE_HEIGHT


def _sample(one: Drawn, x: float, y: float) -> Iterator[str]:
    yield drawing.line([(x, y), (x + 28, y)], one.hue, 2, **_dashes(one.series))
    yield _marker(one, x + 14, y)


def _axes(frame: Frame, x_label: str, numbers: Sequence[float]) -> tuple[list[str], float]:
    """Both axes with their numbers and lines; and where they end."""
    marks = []
    for share in drawing.ticks(0, frame.y):
        y = frame.up(share)
        marks.append(drawing.line([(frame.left, y), (frame.right, y)], "line" if share else "muted"))
        marks.append(drawing.words(f"{100 * share:.3g}", frame.left - 7, y + 4, LABEL, "muted", text_anchor="end"))
    for number in _numbers_below(frame, numbers):
        x = frame.across(number)
        marks.append(drawing.line([(x, frame.bottom), (x, frame.bottom + 4)], "muted"))
        marks.append(drawing.words(_said(number), x, frame.bottom + 17, LABEL, "muted", text_anchor="middle"))
    middle, lines = (frame.left + frame.right) / 2, drawing.wrapped(x_label, LABEL, frame.right - frame.left)
    marks.append(drawing.paragraph(lines, middle, frame.bottom + 36, LABEL, "ink", text_anchor="middle"))
    return marks, frame.bottom + 32 + len(lines) * LABEL * LINE_HEIGHT


def _numbers_below(frame: Frame, numbers: Sequence[float]) -> list[float]:
    """Round numbers for the axis below, as many as have room; counts have no halves and none before the first."""
    low, high = frame.x
    counts = low != 0 and all(float(number).is_integer() for number in numbers)
    if counts and numbers:
        low, high = min(numbers), max(numbers)
    room = int((frame.right - frame.left) / (drawing.width_of(_said(high), LABEL) + 18))
    return drawing.ticks(low, high, min(room, 12), least=1.0 if counts else 0.0)


def _curve(one: Drawn, frame: Frame) -> Iterator[str]:
    """Band, line and whiskers, in this order from below."""
    places = one.places(frame)
    whiskers = [
        ((x, frame.up(low)), (x, frame.up(high)))
        for (x, _), (low, high) in zip(places, one.series.intervals, strict=False)
    ]
    if one.banded and len(whiskers) > 1:
        edge = [high for _, high in whiskers] + [low for low, _ in reversed(whiskers)]
        yield drawing.area(edge, one.hue, 0.12)
    for low, high in whiskers:
        yield drawing.line([low, high], one.hue, 1, stroke_opacity=0.7)
        for x, y in (low, high):
            yield drawing.line([(x - 2.5, y), (x + 2.5, y)], one.hue, 1, stroke_opacity=0.7)
    if len(places) > 1:
        yield drawing.line(places, one.hue, 2, stroke_linejoin="round", **_dashes(one.series))


def _markers(one: Drawn, frame: Frame, x_label: str) -> Iterator[str]:
    """A marker for each point, with a spot around it that shows the figures under a pointer."""
    for place, (x, y) in enumerate(one.places(frame)):
        spot = drawing.mark("circle", cx=x, cy=y, r=9, fill="paper", fill_opacity=0)
        yield drawing.tipped(_tip(one.series, place, x_label), _marker(one, x, y), spot)


def _marker(one: Drawn, x: float, y: float) -> str:
    rim: dict[str, str | float] = {"fill": one.hue, "stroke": "paper", "stroke_width": 1}
    if one.shape == "circle":
        return drawing.mark("circle", cx=x, cy=y, r=4, **rim)
    if one.shape == "square":
        return drawing.mark("rect", x=x - 3.6, y=y - 3.6, width=7.2, height=7.2, **rim)
    corners = {"diamond": "M{x} {t}L{r} {y}L{x} {b}L{l} {y}Z", "triangle": "M{x} {t}L{r} {b}L{l} {b}Z"}[one.shape]
    sides = {"x": x, "y": y, "t": y - 4.8, "b": y + 4.8, "l": x - 4.8, "r": x + 4.8}
    return drawing.mark("path", d=corners.format_map({name: f"{side:.2f}" for name, side in sides.items()}), **rim)


def _tip(series: Series, place: int, x_label: str) -> str:
    figure = f"{100 * series.shares[place]:.1f} %"
    if place < len(series.intervals):
        low, high = series.intervals[place]
        figure += f" (95 % interval {100 * low:.1f} to {100 * high:.1f} %)"
    return "\n".join(filter(None, (one_line(series.label, 240), f"{x_label}: {_said(series.x[place])}", figure)))


def _values(one: Drawn, frame: Frame) -> Iterator[str]:
    """The first and the last value of a curve that is alone."""
    places, shares = one.places(frame), one.series.shares
    for place in sorted({0, len(places) - 1} if places else ()):
        x, y = places[place]
        last = place == len(places) - 1
        down = 4 if last else -8 if y > frame.bottom - 20 else 16  # clear of the axis, and of a line that rises
        yield drawing.words(f"{100 * shares[place]:.1f}", x + 7, y + down, LABEL, "ink", font_weight="bold")


def _ends(drawn: Sequence[Drawn], frame: Frame) -> Iterator[str]:
    """The last value of each curve, in its colour, right of all its points; those that would touch are moved apart."""
    beyond = max((one.aside for one in drawn), default=0.0) + 9
    ends = [
        (frame.up(one.series.shares[-1]), frame.across(one.series.x[-1]) + beyond, one) for one in drawn if one.series.x
    ]
    taken: list[tuple[float, float]] = []
    for y, x, one in sorted(ends, key=lambda end: end[:2]):
        for other_x, other_y in taken:
            if abs(x - other_x) < 32 and y < other_y + 12:
                y = other_y + 12
        taken.append((x, y))
        said = f"{100 * one.series.shares[-1]:.1f}"
        width = drawing.width_of(said, LABEL)
        yield drawing.mark("rect", x=x - 2, y=y - 6, width=width + 2, height=12, fill="paper", fill_opacity=0.75)
        yield drawing.words(said, x, y + 4, LABEL, one.hue, font_weight="bold")


def _said(number: float) -> str:
    return f"{number:,.0f}" if float(number).is_integer() or abs(number) >= 100 else f"{number:.3g}"


def _dashes(series: Series) -> dict[str, str | float]:
    return {"stroke_dasharray": "6 4"} if series.dashed else {}
