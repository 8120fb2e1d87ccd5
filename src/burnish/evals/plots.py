"""Plots for papers and reports, as SVG text. The one file that knows Matplotlib.

The same results give the same bytes: no date, fixed ids, and the user's own Matplotlib settings are not read.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from itertools import groupby
from typing import TYPE_CHECKING

from burnish.evals import states
from burnish.evals.figures import Results
from burnish.evals.wording import title
from burnish.text import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, MUTED, LINE = "#1c2530", "#66717e", "#dde2e8"
COLOURS = {
    states.SOLVED: "#12856c",
    states.KEPT: "#b9ddd2",
    states.UNSOLVED: "#ecc078",
    states.UNREACHED: "#eceff2",
    states.BROKE: "#b3326b",
}
CAPTION_INCHES = 0.17
ACCENT = COLOURS[states.SOLVED]
STYLE = {
    "svg.fonttype": "none",  # text stays text: smaller, and can be searched and restyled
    "text.parse_math": False,  # a dollar sign in somebody's words is a dollar sign
    "font.family": "sans-serif",
    "font.size": 9.5,
    "text.color": INK,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": LINE,
    "grid.linewidth": 0.7,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
}


def plots(results: Results) -> dict[str, str]:
    """Each plot's name and its SVG; none before the first attempt is finished."""
    if not results.finished:
        return {}
    return {"pass_by_call": by_call(results), "solved_by_tokens": by_tokens(results), "grid": grid(results)}


def by_call(results: Results) -> str:
    """pass@1 after each model call, with its interval."""
    with _figure(5.6, 3.5) as (figure, axes):
        calls = list(range(1, len(results.pass_at_1_by_call) + 1))
        _curve(axes, results, [float(call) for call in calls])
        axes.set_xlim(0.6, max(calls) + 0.6)
        axes.set_xticks(calls if len(calls) <= 12 else calls[:: len(calls) // 8])
        axes.set_xlabel("model calls, at most")
        return _svg(figure, results, "pass_by_call")


def by_tokens(results: Results) -> str:
    """pass@1 against what it cost to get there: mean tokens for each task, read and written."""
    with _figure(5.6, 3.5) as (figure, axes):
        _curve(axes, results, list(results.tokens_by_call))
        axes.set_xlim(0, max(1.0, max(results.tokens_by_call)) * 1.12)
        axes.set_xlabel("tokens per task, read and written (mean); one point a call")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        return _svg(figure, results, "solved_by_tokens")


def grid(results: Results) -> str:
    """Tasks × rounds: a column for each attempt, what was solved soonest on the left."""
    rounds = len(results.pass_at_1)
    columns = [states.states(attempt, rounds) for attempt in sorted(results.attempts, key=states.order)]
    with _figure(7.2, 0.8 + 0.24 * rounds) as (figure, axes):
        for place in range(rounds):
            left = 0
            for state, run in groupby(column[place] for column in columns):
                wide = len(list(run))
                axes.broken_barh([(left, wide)], (place - 0.44, 0.88), facecolors=COLOURS[state], linewidth=0)
                left += wide
        axes.grid(visible=False)
        axes.set_xlim(0, len(columns))
        axes.set_ylim(rounds - 0.5, -0.5)
        axes.set_yticks(range(rounds))
        axes.set_ylabel("round")
        axes.set_xlabel("tasks" if len(results.seeds) == 1 else "tasks, each seed a column")
        _legend(axes)
        return _svg(figure, results, "grid")


def _curve(axes: "Axes", results: Results, places: list[float]) -> None:
    shares = [100 * share for share in results.pass_at_1_by_call]
    low, high = ([100 * edge[side] for edge in results.pass_at_1_by_call_interval] for side in (0, 1))
    errors = [
        [share - edge for share, edge in zip(shares, low, strict=True)],
        [edge - share for share, edge in zip(shares, high, strict=True)],
    ]
    axes.fill_between(places, low, high, color=ACCENT, alpha=0.13, linewidth=0)
    axes.errorbar(places, shares, yerr=errors, color=ACCENT, marker="o", markersize=4.5, linewidth=1.8, elinewidth=1)
    top = min(100.0, max(high) * 1.15)
    for place in sorted({0, len(places) - 1}):
        down = 5 if shares[place] < top / 15 else -4 if place else -13  # clear of the axis and of the rising line
        spot = (places[place], shares[place])
        axes.annotate(f"{shares[place]:.1f}", spot, (7, down), textcoords="offset points", fontweight="bold")
    axes.set_ylim(0, top)
    axes.set_ylabel("solved, pass@1 in %")


def _legend(axes: "Axes") -> None:
    from matplotlib.patches import Patch

    patches = [Patch(color=COLOURS[state], label=states.WORDS[state]) for state in COLOURS]
    axes.legend(handles=patches, loc="lower right", bbox_to_anchor=(1, 1), ncols=5, fontsize=8, handlelength=0.9)


@contextmanager
def _figure(width: float, height: float) -> "Iterator[tuple[Figure, Axes]]":
    """A figure of its own, drawn in our style whatever the user's is."""
    from matplotlib import style
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    with style.context(STYLE, after_reset=True):
        below = (0, CAPTION_INCHES / height, 1, 1 - CAPTION_INCHES / height)
        figure = Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(rect=below))
        figure.patch.set_alpha(0)
        axes = figure.add_subplot()
        axes.patch.set_alpha(0)
        yield figure, axes


def _svg(figure: "Figure", results: Results, name: str) -> str:
    from matplotlib import rcParams

    said = f"{title(results)} · {one_line(results.engine, 40)} · 95 % Wilson intervals"
    figure.text(0.01, 0.015, said, fontsize=6, color=MUTED, gid="caption")
    rcParams["svg.hashsalt"] = name
    text = StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": "Burnish", "Title": title(results)})
    return text.getvalue()
