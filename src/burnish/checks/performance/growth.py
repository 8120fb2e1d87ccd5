"""Names the growth of a cost from what was measured at growing sizes.

Lines of Python run are counted, so they are the same each time and decide wherever they tell the whole story. Work
inside C (a sort, a search in a list) runs no lines: where the time per line keeps growing, the time decides. Time alone
cannot tell n log n from linear, because memory gets slower with size; it is believed when a sort or a heap was seen.
"""

import math
from collections.abc import Sequence
from statistics import linear_regression, median

ORDER = ("constant", "log", "linear", "n log n", "quadratic", "worse")
FEWEST = 4
"""Sizes without which nothing is named."""
TAIL = 5
"""The largest sizes say most: so many of them, and all within a factor of four."""
MEASURABLE = 1e-6
"""Seconds below which the time of a call is mostly the call itself."""
HIDDEN = 0.45
"""How fast the time per line must grow to say that work is hidden in C; a busy machine can make up for less."""

Points = Sequence[tuple[int, float]]


def name_growth(lines: Points, seconds: Points, sorts: bool) -> tuple[str, str]:
    """The growth of time, and a remark on it; no name where there are too few sizes or they go up and down."""
    if len(lines) < FEWEST:
        return "", "too few sizes"
    if is_unsteady(lines):
        return "", "the work goes up and down with the size"
    counted, note = name_cost(lines)
    timed = [(n, cost) for n, cost in seconds if cost > MEASURABLE]
    if len(timed) < FEWEST:
        return counted, note
    per_line = [(n, cost / max(1, dict(lines)[n])) for n, cost in timed if n in dict(lines)]
    by_time, time_note = name_cost(timed, sorts=sorts, counted=False)
    hidden = exponent(largest(per_line)) if len(per_line) >= FEWEST else 0.0
    logarithmic = sorts and counted == "linear" and by_time == "n log n"
    if (hidden > HIDDEN or logarithmic) and ORDER.index(by_time) > ORDER.index(counted):
        return by_time, time_note
    return counted, note


def name_cost(points: Points, sorts: bool = False, counted: bool = True) -> tuple[str, str]:
    """The growth of a cost at growing sizes, and a remark."""
    tail = largest(points)
    slope = exponent(tail)
    if slope < 0.25:
        return name_flat(points, counted), ""
    if slope < 0.75:
        return "linear", f"about n^{slope:.1f}"
    if slope < 1.4:
        return tell_linear_or_more(points, slope, sorts, counted)
    if slope < (2.45 if counted else 2.6):  # memory gets slower with size, which adds to the slope of a time
        return "quadratic", "" if 1.75 < slope < 2.25 else f"about n^{slope:.1f}"
    return "worse", "about exponential" if accelerates(points) else f"about n^{slope:.1f}"


def largest(points: Points) -> Points:
    """The points that decide."""
    near = sum(n >= points[-1][0] / 4 for n, _ in points)
    return points[-max(TAIL, near) :]


def exponent(points: Points) -> float:
    """The slope through the points, both sides as logarithms: 2 for a quadratic cost.

    It is the middle one of the slopes between any two points, so one point that is off does not matter.
    """
    logs = [(math.log2(max(1, n)), math.log2(max(cost, 1e-12))) for n, cost in points]
    slopes = [(y - b) / (x - a) for place, (a, b) in enumerate(logs) for x, y in logs[place + 1 :] if x > a]
    return median(slopes) if slopes else 0.0


def name_flat(points: Points, counted: bool) -> str:
    """Constant or log: a logarithm adds about as much in the later doublings as in the earlier ones."""
    if not counted or len(points) < 6:
        return "constant"
    first, middle, last = points[0], points[len(points) // 2], points[-1]
    early = (middle[1] - first[1]) / math.log2(middle[0] / first[0])
    late = (last[1] - middle[1]) / math.log2(last[0] / middle[0])
    grows = last[1] >= 1.3 * first[1] and last[1] - first[1] >= 3
    return "log" if grows and early > 0 and late > 0.25 * early else "constant"


def tell_linear_or_more(points: Points, slope: float, sorts: bool, counted: bool) -> tuple[str, str]:
    """Linear or n log n: in the second, the cost of one element has a part that grows with the logarithm."""
    tail = [(n, cost) for n, cost in points if n >= 16][-7:]
    if len(tail) < FEWEST:
        return "linear", "n log n cannot be told apart at these sizes"
    each = [(math.log2(n), cost / n) for n, cost in tail]
    slope_of_each = linear_regression(*zip(*each, strict=True)).slope
    share = slope_of_each * each[-1][0] / each[-1][1]
    if counted and any(later[1] < 0.9 * earlier[1] for earlier, later in zip(each, each[1:], strict=False)):
        return "linear", ""
    if share > (0.35 if counted else 0.3) and slope > 1.03 and (counted or sorts):
        return "n log n", ""
    return "linear", "perhaps n log n" if share > 0.35 and counted else ""


def accelerates(points: Points) -> bool:
    """Whether the slope itself keeps growing, as that of an exponential does."""
    half = max(2, len(points) // 2)
    return exponent(points[-3:]) > max(4.0, 1.25 * exponent(points[:half]))


def is_unsteady(points: Points) -> bool:
    """Whether a larger size often costs far less than the one before."""
    tail = points[-8:]
    drops = sum(later[1] < 0.7 * earlier[1] for earlier, later in zip(tail, tail[1:], strict=False))
    return drops >= 2


def name_memory_growth(points: Points) -> str:
    """The growth of memory; what is below a page's worth is constant, and near ties are the lower."""
    if len(points) < FEWEST:
        return ""
    if max(cost for _, cost in points) < 2048:
        return "constant"
    held = [(n, max(1.0, cost)) for n, cost in points]
    found, _ = name_cost(held, counted=False)
    return "linear" if found == "quadratic" and exponent(held[-3:]) < 1.6 else found
