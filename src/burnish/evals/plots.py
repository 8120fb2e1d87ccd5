"""The pictures of an evaluation, and of two side by side, as SVG text. The same results give the same bytes."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from burnish.evals import drawing, states
from burnish.evals.compare import solved_by_call
from burnish.evals.curves import EDGE, LABEL, Series, curves
from burnish.evals.drawing import LINE_HEIGHT, SMALL
from burnish.evals.figures import Results
from burnish.evals.wording import title
from burnish.intervals import wilson
from burnish.text import one_line, plural

CALLS = "model calls, at most"
GRID_WIDTH = 640


def plots(results: Results, *, captioned: bool = True) -> dict[str, str]:
    """Each plot's name and its SVG; none before the first attempt is finished.

    A caption says what was measured; a page that says it anyway has its copies without.
    """
    if not results.finished:
        return {}
    caption = f"{title(results)} · {one_line(results.engine, 60)} · 95\u00a0% Wilson intervals" if captioned else ""
    return {
        "pass_by_call": by_call(results, caption),
        "solved_by_tokens": by_tokens(results, caption),
        "grid": grid(results, caption),
    }


def by_call(results: Results, caption: str = "") -> str:
    """pass@1 after each model call, with its interval."""
    calls = range(1, len(results.pass_at_1_by_call) + 1)
    return curves([_series(results, calls)], CALLS, caption=caption)


def by_tokens(results: Results, caption: str = "") -> str:
    """pass@1 against what it cost to get there: mean tokens for each task, read and written."""
    label = "tokens per task, read and written (mean)"
    return curves([_series(results, results.tokens_by_call)], label, caption=caption, from_zero=True)


def compared(a: Sequence[Results], b: Sequence[Results]) -> str:
    """pass@1 by call of two sides, over the tasks that both finished."""
    tasks, *sides = solved_by_call(a, b)
    series = [
        Series(
            f"{letter}: {who(side)}",
            range(1, len(shares) + 1),
            shares,
            [wilson(share * tasks, tasks) for share in shares],
        )
        for letter, side, shares in zip("AB", (a, b), sides, strict=True)
    ]
    suite = f"{a[0].suite} ({a[0].variant})" if a[0].variant else a[0].suite
    caption = f"{plural(tasks, 'task')} that both finished · 95\u00a0% Wilson intervals of each side alone"
    return curves(series, CALLS, title=suite, caption=caption)


def who(side: Sequence[Results]) -> str:
    """Model, strategy, protocol and engine of one or several results: what a curve is called in a legend."""
    names = [
        " · ".join(one_line(name, 60) for name in (run.model, run.strategy, run.protocol, run.engine) if name)
        for run in side
    ]
    return " + ".join(dict.fromkeys(names))


def _series(results: Results, x: Sequence[float]) -> Series:
    return Series("", x, results.pass_at_1_by_call, results.pass_at_1_by_call_interval)


def grid(results: Results, caption: str = "") -> str:
    """Tasks × rounds: a column for each attempt, what was solved soonest on the left."""
    rounds = len(results.pass_at_1)
    columns = [states.states(attempt, rounds) for attempt in sorted(results.attempts, key=states.order)]
    marks, top = _legend()
    row = 20 if rounds <= 12 else 11
    left, right, bottom = EDGE + 26, GRID_WIDTH - EDGE, top + row * rounds
    for place, states_then in enumerate(zip(*columns, strict=True)):
        y = top + row * place
        if row > LABEL or place % 5 == 0:
            marks.append(drawing.words(str(place), left - 8, y + row / 2 + 3, LABEL, "muted", text_anchor="end"))
        marks += _row(states_then, f"round {place}", (left, y, (right - left) / len(columns), row - 2))
    below = f"{len(columns)} attempts, tasks times seeds" if len(results.seeds) > 1 else plural(len(columns), "task")
    marks.append(drawing.words(below, (left + right) / 2, bottom + 16, LABEL, "ink", text_anchor="middle"))
    said = drawing.wrapped(caption, SMALL, GRID_WIDTH - 2 * EDGE) if caption else []
    marks += [drawing.paragraph(said, EDGE, bottom + 36, SMALL, "muted")] if said else []
    height = bottom + 26 + (len(said) * SMALL * LINE_HEIGHT + EDGE / 2 if said else 0)
    return drawing.picture(GRID_WIDTH, height, title(results), marks)


def _row(found: Sequence[str], name: str, where: tuple[float, float, float, float]) -> Iterator[str]:
    """Neighbours of one state are one rectangle: no seams, and a small file."""
    x, y, scale, height = where
    for state, run in groupby(found):
        wide = len(list(run))
        piece = drawing.mark("rect", x=x, y=y, width=wide * scale, height=height, fill=state)
        yield drawing.tipped(f"{name}: {plural(wide, 'attempt')}, {states.WORDS[state]}", piece)
        x += wide * scale


def _legend() -> tuple[list[str], float]:
    """A sample of each state and what it means, the name of the axis at the left, and where the rows may begin."""
    marks, x, y = [], float(EDGE), float(EDGE)
    for state, said in states.WORDS.items():
        wide = 16 + drawing.width_of(said, LABEL)
        if x + wide > GRID_WIDTH - EDGE:
            x, y = EDGE, y + 18
        marks.append(drawing.mark("rect", x=x, y=y, width=11, height=11, fill=state))
        marks.append(drawing.words(said, x + 16, y + 10, LABEL))
        x += wide + 14
    return [*marks, drawing.words("round", EDGE, y + 34, LABEL, "muted")], y + 42
