"""The pictures of an evaluation, and of two side by side, as SVG text. The same results give the same bytes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from burnish.evals import svg
from burnish.evals.compare import solved_by_call
from burnish.evals.metrics import STATE_LABELS, round_states, sort_key
from burnish.evals.report_text import report_title
from burnish.evals.schema import Interval, Results
from burnish.evals.svg import LINE_HEIGHT, SMALL
from burnish.intervals import wilson
from burnish.text import one_line, plural

HUES = ("solved", "curve-2", "curve-3", "curve-4", "curve-5", "curve-6", "curve-7")
SHAPES = ("circle", "square", "diamond", "triangle")
EDGE = 12
"""What stays empty along the edges of a picture."""
LABEL = 12.0
APART = 6.0
"""Markers of several curves above the same number stand side by side, so that each interval can be seen."""
CALLS = "model calls, at most"
GRID_WIDTH = 640


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
class StyledSeries:
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

    def line(self, places: Sequence[tuple[float, float]], **attributes: str | float) -> str:
        """A line in its colour, dashed where it is."""
        if self.series.dashed:
            attributes["stroke_dasharray"] = "6 4"
        return svg.line(places, self.hue, 2, **attributes)

    def marker(self, x: float, y: float) -> str:
        """Its sign at a place."""
        rim: dict[str, str | float] = {"fill": self.hue, "stroke": "paper", "stroke_width": 1}
        if self.shape == "circle":
            return svg.mark("circle", cx=x, cy=y, r=4, **rim)
        if self.shape == "square":
            return svg.mark("rect", x=x - 3.6, y=y - 3.6, width=7.2, height=7.2, **rim)
        corners = {"diamond": "M{x} {t}L{r} {y}L{x} {b}L{l} {y}Z", "triangle": "M{x} {t}L{r} {b}L{l} {b}Z"}[self.shape]
        sides = {"x": x, "y": y, "t": y - 4.8, "b": y + 4.8, "l": x - 4.8, "r": x + 4.8}
        return svg.mark("path", d=corners.format_map({name: f"{side:.2f}" for name, side in sides.items()}), **rim)


def draw_plots(results: Results, *, captioned: bool = True) -> dict[str, str]:
    """Each plot's name and its SVG; none before the first attempt is finished.

    A caption says what was measured; a page that says it anyway has its copies without.
    """
    if not results.finished:
        return {}
    engine = one_line(results.engine, 60)
    caption = f"{report_title(results)} · {engine} · 95\u00a0% Wilson intervals" if captioned else ""
    shares, intervals = results.pass_at_1_by_call, results.pass_at_1_by_call_interval
    by_call = Series("", range(1, len(shares) + 1), shares, intervals)
    by_tokens = Series("", results.tokens_by_call, shares, intervals)
    tokens = "tokens per task, read and written (mean)"
    return {
        "pass_by_call": draw_curves([by_call], CALLS, caption=caption),
        "solved_by_tokens": draw_curves([by_tokens], tokens, caption=caption, from_zero=True),
        "grid": _draw_grid(results, caption),
    }


def draw_comparison(a: Sequence[Results], b: Sequence[Results]) -> str:
    """pass@1 by call of two sides, over the tasks that both finished."""
    tasks, *sides = solved_by_call(a, b)
    series = []
    for letter, side, shares in zip("AB", (a, b), sides, strict=True):
        names = (
            " · ".join(one_line(name, 60) for name in (run.model, run.strategy, run.protocol, run.engine) if name)
            for run in side
        )
        label = f"{letter}: {' + '.join(dict.fromkeys(names))}"
        intervals = [wilson(share * tasks, tasks) for share in shares]
        series.append(Series(label, range(1, len(shares) + 1), shares, intervals))
    suite = f"{a[0].suite} ({a[0].variant})" if a[0].variant else a[0].suite
    caption = f"{plural(tasks, 'task')} that both finished · 95\u00a0% Wilson intervals of each side alone"
    return draw_curves(series, CALLS, title=suite, caption=caption)


def draw_curves(
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
    curves = [
        StyledSeries(
            one,
            hue=HUES[place % len(HUES)],
            shape=SHAPES[place % len(SHAPES)],
            aside=(place - (len(series) - 1) / 2) * min(APART, 30 / len(series)),
            banded=len(series) <= 2,
        )
        for place, one in enumerate(series)
    ]
    head, top = _draw_head(curves, y_label, title, width)
    numbers = [x for one in series for x in one.x]
    low, high = (min(numbers), max(numbers)) if numbers else (0.0, 1.0)
    air = max(0.5 if low == high else 0.0, (high - low) * 0.06)
    span = (0.0, (high or 1.0) * 1.04) if from_zero else (low - air, high + air)
    # A round share above everything that is drawn, 1 at most.
    highest = max([0.0, *(share for one in series for share in (*one.shares, *(top for _, top in one.intervals)))])
    step = svg.ticks(0, max(highest, 0.01))[1]
    ceiling = next((tick for tick in svg.ticks(0, 1, round(1 / step)) if tick >= highest - 1e-9), 1.0) or step
    frame = Frame(EDGE + 28, top, width - EDGE - 36, top + tall, span, ceiling)
    axes, below = _draw_axes(frame, x_label, numbers)
    marks = [
        *head,
        *axes,
        *(part for curve in curves for part in _draw_curve(curve, frame)),
        *(part for curve in curves for part in _draw_markers(curve, frame, x_label)),
        *(_label_lone_curve(curves[0], frame) if alone else _label_ends(curves, frame)),
    ]
    return _close_picture(marks, width, below, caption, title or caption or y_label)


def _close_picture(marks: Sequence[str], width: float, below: float, caption: str, name: str) -> str:
    """The picture, with its caption under what ends at `below`."""
    if not caption:
        return svg.picture(width, below, name, marks)
    lines = svg.wrap_text(caption, SMALL, width - 2 * EDGE)
    height = below + len(lines) * SMALL * LINE_HEIGHT + EDGE / 2
    return svg.picture(width, height, name, [*marks, svg.paragraph(lines, EDGE, below + 10, SMALL, "muted")])


def _draw_head(curves: Sequence[StyledSeries], y_label: str, title: str, width: float) -> tuple[list[str], float]:
    """Title, legend and the name of the axis at the left; and where the axes may begin."""
    marks, y = [], float(EDGE)
    for line in svg.wrap_text(one_line(title, 200), 14, width - 2 * EDGE) if title else []:
        y += 14 * 1.3
        marks.append(svg.text_line(line, EDGE, y - 4, 14, font_weight="bold"))
    if len(curves) > 1:
        y += 4
        for curve in curves:
            lines = svg.wrap_text(one_line(curve.series.label, 240), LABEL, width - 2 * EDGE - 36)
            marks += [curve.line([(EDGE, y + 7), (EDGE + 28, y + 7)]), curve.marker(EDGE + 14, y + 7)]
            marks.append(svg.paragraph(lines, EDGE + 36, y + 11, LABEL, "ink"))
            y += len(lines) * LABEL * LINE_HEIGHT + 2
        y += 6
    lines = svg.wrap_text(y_label, LABEL, width - 2 * EDGE)
    marks.append(svg.paragraph(lines, EDGE, y + 9, LABEL, "muted"))
    return marks, y + 8 + len(lines) * LABEL * LINE_HEIGHT


def _draw_axes(frame: Frame, x_label: str, numbers: Sequence[float]) -> tuple[list[str], float]:
    """Both axes with their numbers and lines; and where they end."""
    marks = []
    for share in svg.ticks(0, frame.y):
        y = frame.up(share)
        marks.append(svg.line([(frame.left, y), (frame.right, y)], "line" if share else "muted"))
        marks.append(svg.text_line(f"{100 * share:.3g}", frame.left - 7, y + 4, LABEL, "muted", text_anchor="end"))
    # Round numbers below, as many as have room; counts have no halves and none before the first.
    low, high = frame.x
    counts = low != 0 and all(float(number).is_integer() for number in numbers)
    if counts and numbers:
        low, high = min(numbers), max(numbers)
    room = int((frame.right - frame.left) / (svg.text_width(_format_number(high), LABEL) + 18))
    for number in svg.ticks(low, high, min(room, 12), least=1.0 if counts else 0.0):
        x, label = frame.across(number), _format_number(number)
        marks.append(svg.line([(x, frame.bottom), (x, frame.bottom + 4)], "muted"))
        marks.append(svg.text_line(label, x, frame.bottom + 17, LABEL, "muted", text_anchor="middle"))
    middle, lines = (frame.left + frame.right) / 2, svg.wrap_text(x_label, LABEL, frame.right - frame.left)
    marks.append(svg.paragraph(lines, middle, frame.bottom + 36, LABEL, "ink", text_anchor="middle"))
    return marks, frame.bottom + 32 + len(lines) * LABEL * LINE_HEIGHT


def _draw_curve(curve: StyledSeries, frame: Frame) -> Iterator[str]:
    """Band, whiskers and line, in this order from below."""
    places = curve.places(frame)
    whiskers = [
        ((x, frame.up(low)), (x, frame.up(high)))
        for (x, _), (low, high) in zip(places, curve.series.intervals, strict=False)
    ]
    if curve.banded and len(whiskers) > 1:
        edge = [high for _, high in whiskers] + [low for low, _ in reversed(whiskers)]
        yield svg.area(edge, curve.hue, 0.12)
    for low, high in whiskers:
        yield svg.line([low, high], curve.hue, 1, stroke_opacity=0.7)
        for x, y in (low, high):
            yield svg.line([(x - 2.5, y), (x + 2.5, y)], curve.hue, 1, stroke_opacity=0.7)
    if len(places) > 1:
        yield curve.line(places, stroke_linejoin="round")


def _draw_markers(curve: StyledSeries, frame: Frame, x_label: str) -> Iterator[str]:
    """A marker for each point, with a spot around it that shows the figures under a pointer."""
    series = curve.series
    for place, (x, y) in enumerate(curve.places(frame)):
        figure = f"{100 * series.shares[place]:.1f} %"
        if place < len(series.intervals):
            low, high = series.intervals[place]
            figure += f" (95 % interval {100 * low:.1f} to {100 * high:.1f} %)"
        lines = (one_line(series.label, 240), f"{x_label}: {_format_number(series.x[place])}", figure)
        spot = svg.mark("circle", cx=x, cy=y, r=9, fill="paper", fill_opacity=0)
        yield svg.with_tooltip("\n".join(filter(None, lines)), curve.marker(x, y), spot)


def _label_lone_curve(curve: StyledSeries, frame: Frame) -> Iterator[str]:
    """The first and the last value of a curve that is alone."""
    places, shares = curve.places(frame), curve.series.shares
    for place in sorted({0, len(places) - 1} if places else ()):
        x, y = places[place]
        last = place == len(places) - 1
        down = 4 if last else -8 if y > frame.bottom - 20 else 16  # clear of the axis, and of a line that rises
        yield svg.text_line(f"{100 * shares[place]:.1f}", x + 7, y + down, LABEL, "ink", font_weight="bold")


def _label_ends(curves: Sequence[StyledSeries], frame: Frame) -> Iterator[str]:
    """The last value of each curve, in its colour, right of all its points; those that would touch are moved apart."""
    beyond = max((curve.aside for curve in curves), default=0.0) + 9
    ends = [
        (frame.up(curve.series.shares[-1]), frame.across(curve.series.x[-1]) + beyond, curve)
        for curve in curves
        if curve.series.x
    ]
    taken: list[tuple[float, float]] = []
    for y, x, curve in sorted(ends, key=lambda end: end[:2]):
        for other_x, other_y in taken:
            if abs(x - other_x) < 32 and y < other_y + 12:
                y = other_y + 12
        taken.append((x, y))
        label = f"{100 * curve.series.shares[-1]:.1f}"
        width = svg.text_width(label, LABEL)
        yield svg.mark("rect", x=x - 2, y=y - 6, width=width + 2, height=12, fill="paper", fill_opacity=0.75)
        yield svg.text_line(label, x, y + 4, LABEL, curve.hue, font_weight="bold")


def _format_number(number: float) -> str:
    return f"{number:,.0f}" if float(number).is_integer() or abs(number) >= 100 else f"{number:.3g}"


def _draw_grid(results: Results, caption: str) -> str:
    """Tasks × rounds: a column for each attempt, what was solved soonest on the left."""
    rounds = len(results.pass_at_1)
    columns = [round_states(attempt, rounds) for attempt in sorted(results.attempts, key=sort_key)]
    marks, top = _draw_legend()
    row = 20 if rounds <= 12 else 11
    left, right, bottom = EDGE + 26, GRID_WIDTH - EDGE, top + row * rounds
    scale = (right - left) / len(columns)
    for place, states in enumerate(zip(*columns, strict=True)):
        x, y = float(left), top + row * place
        if row > LABEL or place % 5 == 0:
            marks.append(svg.text_line(str(place), left - 8, y + row / 2 + 3, LABEL, "muted", text_anchor="end"))
        # Neighbours of one state are one rectangle: no seams, and a small file.
        for state, run in groupby(states):
            wide = len(list(run))
            piece = svg.mark("rect", x=x, y=y, width=wide * scale, height=row - 2, fill=state)
            tooltip = f"round {place}: {plural(wide, 'attempt')}, {STATE_LABELS[state]}"
            marks.append(svg.with_tooltip(tooltip, piece))
            x += wide * scale
    below = f"{len(columns)} attempts, tasks times seeds" if len(results.seeds) > 1 else plural(len(columns), "task")
    marks.append(svg.text_line(below, (left + right) / 2, bottom + 16, LABEL, "ink", text_anchor="middle"))
    return _close_picture(marks, GRID_WIDTH, bottom + 26, caption, report_title(results))


def _draw_legend() -> tuple[list[str], float]:
    """A sample of each state and what it means, the name of the axis at the left, and where the rows may begin."""
    marks, x, y = [], float(EDGE), float(EDGE)
    for state, label in STATE_LABELS.items():
        wide = 16 + svg.text_width(label, LABEL)
        if x + wide > GRID_WIDTH - EDGE:
            x, y = EDGE, y + 18
        marks.append(svg.mark("rect", x=x, y=y, width=11, height=11, fill=state))
        marks.append(svg.text_line(label, x + 16, y + 10, LABEL))
        x += wide + 14
    return [*marks, svg.text_line("round", EDGE, y + 34, LABEL, "muted")], y + 42
