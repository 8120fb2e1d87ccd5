"""The pictures of an evaluation, and of two side by side, as SVG text. The same results give the same bytes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from burnish.evals.compare import solved_by_call
from burnish.evals.metrics import STATE_LABELS, round_states, sort_key
from burnish.evals.reports import svg
from burnish.evals.reports.report_text import report_title
from burnish.evals.reports.svg import EDGE, SMALL, USUAL, Picture, Place
from burnish.evals.schema import Interval, ReliabilityBin, Results
from burnish.intervals import wilson
from burnish.text import one_line, plural

HUES = ("solved", "curve-2", "curve-3", "curve-4", "curve-5", "curve-6", "curve-7")
SHAPES = (
    "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0Z",
    "m-3.6-3.6h7.2v7.2h-7.2Z",
    "m0-4.8l4.8 4.8l-4.8 4.8l-4.8-4.8Z",
    "m0-4.8l4.8 9.6h-9.6Z",
)
"""Markers around a point: a circle, a square, a diamond, a triangle."""
APART = 6.0
"""Markers of several curves above the same number stand side by side, so that each interval can be seen."""
CALLS = "model calls, at most"
SOLVED = "solved, pass@1 in %"
GRID_WIDTH = 640
DOT = 4.5
"""The radius of one run in a strip."""


@dataclass(frozen=True)
class Series:
    """A curve and its name. Shares are between 0 and 1; a published curve may have no intervals, and be dashed."""

    label: str
    x: Sequence[float]
    shares: Sequence[float]
    intervals: Sequence[Interval] = ()
    dashed: bool = False
    is_guide: bool = False
    """A thin line to hold the curves against, without name, markers or figures."""


@dataclass(frozen=True)
class Frame:
    """Where the axes lie on the paper, and the numbers at their ends; shares begin at 0."""

    left: float
    top: float
    right: float
    bottom: float
    x: tuple[float, float]
    highest: float

    def place(self, x: float, share: float, aside: float = 0.0) -> Place:
        """Where a point lies."""
        low, high = self.x
        across = self.left + (x - low) / (high - low) * (self.right - self.left)
        return across + aside, self.bottom - share / self.highest * (self.bottom - self.top)


@dataclass(frozen=True)
class Look:
    """How a curve is told from the others."""

    hue: str
    shape: str
    aside: float
    dashed: bool

    def line(self, places: Sequence[Place], **attributes: str | float) -> str:
        """A line in its colour, dashed where it is."""
        dashes: dict[str, str | float] = {"stroke_dasharray": "6 4"} if self.dashed else {}
        return svg.line(places, self.hue, 2, **attributes, **dashes)

    def marker(self, place: Place) -> str:
        """Its sign at a place."""
        return svg.mark("path", d=svg.path([place]) + self.shape, fill=self.hue, stroke="paper", stroke_width=1)


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
    return _draw_verdicts(results, caption) | {
        "pass_by_call": draw_curves([by_call], CALLS, caption=caption),
        "solved_by_tokens": draw_curves([by_tokens], tokens, caption=caption, from_zero=True),
        "grid": _draw_grid(results, caption),
    }


def _draw_verdicts(results: Results, caption: str) -> dict[str, str]:
    """The reliability diagram and the risk-coverage curve; none where no attempt says how sure it is."""
    if not (verdicts := results.verdicts):
        return {}
    points = verdicts.risk_coverage
    risks = Series("", [100 * one.coverage for one in points], [one.risk for one in points])
    at_random = Series("", (0, 100), (points[-1].risk, points[-1].risk), is_guide=True)
    taken, wrong = "answers taken, the surest first, in %", "wrong among them, in %"
    return {
        "reliability": draw_reliability(verdicts.bins, caption),
        "risk_coverage": draw_curves([risks, at_random], taken, caption=caption, from_zero=True, y_label=wrong),
    }


def draw_reliability(
    bins: Sequence[ReliabilityBin], caption: str = "", x_label: str = "confidence in %", y_label: str = "right in %"
) -> str:
    """How often answers were right, by how sure they were said to be."""
    said, held = [100 * one.confidence for one in bins], [one.solved for one in bins]
    reliability = Series("", said, [one.value for one in held], [one.interval for one in held])
    as_said = Series("", (0, 100), (0, 1), is_guide=True)
    return draw_curves([reliability, as_said], x_label, caption=caption, from_zero=True, y_label=y_label)


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
    lines: Sequence[Series],
    x_label: str,
    title: str = "",
    caption: str = "",
    *,
    from_zero: bool = False,
    y_label: str = SOLVED,
) -> str:
    """The SVG of some curves. `from_zero`: the axis below begins at 0, also where no curve does."""
    series = [one for one in lines if not one.is_guide]
    several = len(series) > 1
    picture = Picture(640 if several else 400)
    looks = [
        Look(
            hue=HUES[place % len(HUES)],
            shape=SHAPES[place % len(SHAPES)],
            aside=(place - (len(series) - 1) / 2) * min(APART, 30 / len(series)),
            dashed=one.dashed,
        )
        for place, one in enumerate(series)
    ]
    if title:
        picture.write(one_line(title, 200), 14, font_weight="bold")
    for one, look in zip(series, looks, strict=True) if several else ():
        y = picture.bottom + 9
        picture.marks += [look.line([(EDGE, y), (EDGE + 28, y)]), look.marker((EDGE + 14, y))]
        picture.write(one_line(one.label, 240), USUAL, indent=36)
    picture.write(y_label, USUAL, "muted")
    frame = _lay_out(lines, picture, 300 if several else 195, from_zero)
    _draw_axes(picture, frame, x_label, [x for one in lines for x in one.x])
    for one in lines:
        if one.is_guide:
            ends = [frame.place(x, share) for x, share in zip(one.x, one.shares, strict=True)]
            picture.marks.append(svg.line(ends, "muted", 1, stroke_dasharray="4 4"))
    pairs = list(zip(series, looks, strict=True))
    for one, look in pairs:
        picture.marks += _draw_curve(one, look, frame, banded=len(series) <= 2)
    for one, look in pairs:
        picture.marks += _draw_markers(one, look, frame, x_label)
    picture.marks += _label_ends(pairs, frame)
    picture.write(caption, SMALL, "muted")
    return picture.render(title or caption or y_label)


@dataclass(frozen=True)
class Strip:
    """A row of runs, a dot for each, with their mean and its interval. Shares are between 0 and 1."""

    label: str
    shares: Sequence[float]
    tips: Sequence[str]
    """What each dot says under a pointer."""
    mean: float
    interval: Interval
    side: int = 0
    """Which colour and sign."""


def draw_strips(strips: Sequence[Strip], x_label: str, title: str = "", caption: str = "") -> str:
    """A strip plot: every run is a dot of its own; those that would cover each other stand one above the other."""
    picture = Picture(GRID_WIDTH)
    if title:
        picture.write(one_line(title, 200), 14, font_weight="bold")
    labels = [svg.wrap_text(one_line(strip.label, 80), USUAL, 170) for strip in strips]
    left = EDGE + 14 + max((svg.text_width(line, USUAL) for lines in labels for line in lines), default=0.0)
    frame = Frame(left, picture.bottom + 6, GRID_WIDTH - EDGE - 12, 0, (0.0, 1.0), 1.0)
    bottom, marks = frame.top, []
    for strip, lines in zip(strips, labels, strict=True):
        rows = [*_draw_strip(strip, frame)]
        bottom += max(2 * DOT * len(rows), USUAL * svg.LINE_HEIGHT * len(lines)) + 26
        marks += [
            svg.text_line(line, left - 12, bottom - 16 - USUAL * svg.LINE_HEIGHT * place, USUAL, text_anchor="end")
            for place, line in enumerate(reversed(lines))
        ]
        for place, row in enumerate(rows):
            marks.append(svg.mark("g", *row, transform=f"translate(0 {bottom - 12 - 2 * DOT * max(0, place - 1):.1f})"))
        marks.append(svg.line([(left, bottom), (frame.right, bottom)], "line"))
    for share in svg.ticks(0, 1):
        x, _ = frame.place(share, 0)
        picture.marks.append(svg.line([(x, frame.top), (x, bottom)], "line"))
        marks.append(svg.text_line(f"{100 * share:.3g}", x, bottom + 16, USUAL, "muted", text_anchor="middle"))
    picture.marks += marks
    picture.bottom = bottom + 22
    picture.write(x_label, USUAL, indent=left - EDGE)
    picture.write(caption, SMALL, "muted")
    return picture.render(title or x_label)


def _draw_strip(strip: Strip, frame: Frame) -> Iterator[list[str]]:
    """The mean with its interval, then the dots row by row from below, each around a height of 0."""
    look = Look(HUES[strip.side % len(HUES)], SHAPES[strip.side % len(SHAPES)], 0.0, dashed=False)
    low, mean, high = (frame.place(share, 0)[0] for share in (strip.interval[0], strip.mean, strip.interval[1]))
    told = f"mean {100 * strip.mean:.1f} %, 95 % interval {100 * strip.interval[0]:.1f} to "
    told += f"{100 * strip.interval[1]:.1f} %"
    ends = [svg.line([(x, 2), (x, 8)], look.hue, 1) for x in (low, high)]
    bar = [svg.line([(low, 5), (high, 5)], look.hue, 2, stroke_opacity=0.6), *ends]
    yield [svg.with_tooltip(told, *bar, svg.line([(mean, 1), (mean, 9)], "ink", 2.5))]
    rows: list[list[str]] = []
    ends_at: list[float] = []  # where the last dot of each row is
    for share, tip in sorted(zip(strip.shares, strip.tips, strict=True)):
        x, _ = frame.place(share, 0)
        row = next((row for row, end in enumerate(ends_at) if x - end >= 2 * DOT), len(rows))
        if row == len(rows):
            rows.append([])
            ends_at.append(x)
        ends_at[row] = x
        rows[row].append(svg.with_tooltip(one_line(tip, 300), look.marker((x, -6))))
    yield from rows


def _lay_out(series: Sequence[Series], picture: Picture, height: int, from_zero: bool) -> Frame:
    """Where the axes lie below what the picture holds, and what they reach to."""
    numbers = [x for one in series for x in one.x] or [0.0, 1.0]
    low, high = min(numbers), max(numbers)
    air = max(0.5 if low == high else 0.0, (high - low) * 0.06)
    span = (0.0, (high or 1.0) * 1.04) if from_zero else (low - air, high + air)
    # A round share above everything that is drawn, 1 at most.
    highest = max([0.01, *(share for one in series for share in (*one.shares, *(top for _, top in one.intervals)))])
    step = svg.ticks(0, highest)[1]
    ceiling = next((tick for tick in svg.ticks(0, 1, round(1 / step)) if tick >= highest - 1e-9), 1.0)
    top = picture.bottom + 8
    return Frame(EDGE + 28, top, picture.width - EDGE - 36, top + height, span, ceiling)


def _draw_axes(picture: Picture, frame: Frame, x_label: str, numbers: Sequence[float]) -> None:
    """Both axes with their numbers and lines."""
    for share in svg.ticks(0, frame.highest):
        _, y = frame.place(0, share)
        picture.marks += [
            svg.line([(frame.left, y), (frame.right, y)], "line" if share else "muted"),
            svg.text_line(f"{100 * share:.3g}", frame.left - 7, y + 4, USUAL, "muted", text_anchor="end"),
        ]
    # Round numbers below, as many as have room; counts have no halves and none before the first.
    low, high = frame.x
    counts = low != 0 and bool(numbers) and all(float(number).is_integer() for number in numbers)
    if counts:
        low, high = min(numbers), max(numbers)
    room = int((frame.right - frame.left) / (svg.text_width(_format_number(high), USUAL) + 18))
    for number in svg.ticks(low, high, min(room, 12), least=1.0 if counts else 0.0):
        x, bottom = frame.place(number, 0)
        picture.marks += [
            svg.line([(x, bottom), (x, bottom + 4)], "muted"),
            svg.text_line(_format_number(number), x, bottom + 17, USUAL, "muted", text_anchor="middle"),
        ]
    picture.bottom = frame.bottom + 24
    picture.write(x_label, USUAL, indent=frame.left - EDGE)


def _draw_curve(series: Series, look: Look, frame: Frame, banded: bool) -> Iterator[str]:
    """Band, whiskers and line, in this order from below."""
    edges = [
        [frame.place(x, share, look.aside) for share in interval]
        for x, interval in zip(series.x, series.intervals, strict=False)
    ]
    if banded and len(edges) > 1:
        yield svg.area([high for _, high in edges] + [low for low, _ in reversed(edges)], look.hue, 0.12)
    for edge in edges:
        caps = [[(x - 2.5, y), (x + 2.5, y)] for x, y in edge]
        yield from (svg.line(places, look.hue, 1, stroke_opacity=0.7) for places in (edge, *caps))
    places = [frame.place(x, share, look.aside) for x, share in zip(series.x, series.shares, strict=True)]
    if len(places) > 1:
        yield look.line(places, stroke_linejoin="round")


def _draw_markers(series: Series, look: Look, frame: Frame, x_label: str) -> Iterator[str]:
    """A marker for each point, with a spot around it that shows the figures under a pointer."""
    for number, (x, share) in enumerate(zip(series.x, series.shares, strict=True)):
        figure = f"{100 * share:.1f} %"
        if number < len(series.intervals):
            low, high = series.intervals[number]
            figure += f" (95 % interval {100 * low:.1f} to {100 * high:.1f} %)"
        lines = (one_line(series.label, 240), f"{x_label}: {_format_number(x)}", figure)
        across, up = place = frame.place(x, share, look.aside)
        spot = svg.mark("circle", cx=across, cy=up, r=9, fill="paper", fill_opacity=0)
        yield svg.with_tooltip("\n".join(filter(None, lines)), look.marker(place), spot)


def _label_ends(pairs: Sequence[tuple[Series, Look]], frame: Frame) -> Iterator[str]:
    """The last value of each curve, in its colour, right of all points, and of a lone curve the first value too.

    Labels that would touch are moved apart.
    """
    beyond = max((look.aside for _, look in pairs), default=0.0) + 9
    drawn = [(one, look) for one, look in pairs if one.x]
    ends = [(frame.place(one.x[-1], one.shares[-1], beyond), one.shares[-1], look.hue) for one, look in drawn]
    if len(pairs) == 1 and len(pairs[0][0].x) > 1:
        x, y = frame.place(pairs[0][0].x[0], pairs[0][0].shares[0], 7)
        down = -12 if y > frame.bottom - 20 else 12  # clear of the axis, and of a line that rises
        ends.append(((x, y + down), pairs[0][0].shares[0], "ink"))
    taken: list[Place] = []
    for (x, y), share, hue in sorted(ends):
        for other_x, other_y in sorted(taken, key=lambda place: place[1]):
            if abs(x - other_x) < 32 and abs(y - other_y) < 12:
                y = other_y + 12
        taken.append((x, y))
        label = f"{100 * share:.1f}"
        width = svg.text_width(label, USUAL)
        yield svg.mark("rect", x=x - 2, y=y - 6, width=width + 2, height=12, fill="paper", fill_opacity=0.75)
        yield svg.text_line(label, x, y + 4, USUAL, hue, font_weight="bold")


def _format_number(number: float) -> str:
    return f"{number:,.0f}" if float(number).is_integer() or abs(number) >= 100 else f"{number:.3g}"


def _draw_grid(results: Results, caption: str) -> str:
    """Tasks × rounds: a column for each attempt, what was solved soonest on the left."""
    rounds = len(results.pass_at_1)
    columns = [round_states(attempt, rounds) for attempt in sorted(results.attempts, key=sort_key)]
    picture = Picture(GRID_WIDTH)
    for state, label in STATE_LABELS.items():
        picture.marks.append(svg.mark("rect", x=EDGE, y=picture.bottom + 3, width=11, height=11, fill=state))
        picture.write(label, USUAL, indent=18)
    picture.write("round", USUAL, "muted")
    row = 20 if rounds <= 12 else 11
    left, top = EDGE + 26, picture.bottom + 4
    scale = (GRID_WIDTH - EDGE - left) / len(columns)
    for place, states in enumerate(zip(*columns, strict=True)):
        x, y = float(left), top + row * place
        if row > USUAL or place % 5 == 0:
            picture.marks.append(
                svg.text_line(str(place), left - 8, y + row / 2 + 3, USUAL, "muted", text_anchor="end")
            )
        # Neighbours of one state are one rectangle: no seams, and a small file.
        for state, run in groupby(states):
            wide = len(list(run))
            piece = svg.mark("rect", x=x, y=y, width=wide * scale, height=row - 2, fill=state)
            tooltip = f"round {place}: {plural(wide, 'attempt')}, {STATE_LABELS[state]}"
            picture.marks.append(svg.with_tooltip(tooltip, piece))
            x += wide * scale
    picture.bottom = top + row * rounds + 4
    below = f"{len(columns)} attempts, tasks times seeds" if len(results.seeds) > 1 else plural(len(columns), "task")
    picture.write(below, USUAL, indent=left - EDGE)
    picture.write(caption, SMALL, "muted")
    return picture.render(report_title(results))
