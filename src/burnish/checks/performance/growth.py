"""Names the growth of a cost from what was measured at growing sizes, out of the lines that the cell said.

Lines of Python run are counted, so they are the same each time and decide wherever they tell the whole story. Work
inside C (a sort, a search in a list) runs no lines: where the time per line keeps growing, the time decides. Time alone
cannot tell n log n from linear, because memory gets slower with size; it is believed when a sort or a heap was seen.
"""

import ast
import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import linear_regression, median
from typing import Any

from burnish.checks.check import DetailRow
from burnish.checks.performance.calls import CalledFunction
from burnish.checks.performance.inside.inputs import NEVER

ORDER = ("constant", "log", "linear", "n log n", "quadratic", "worse")
FEWEST = 4
"""Sizes without which nothing is named."""
TAIL = 5
"""The largest sizes say most: so many of them, and all within a factor of four."""
MEASURABLE = 1e-6
"""Seconds below which the time of a call is mostly the call itself."""
HIDDEN = 0.45
"""How fast the time per line must grow to say that work is hidden in C; a busy machine can make up for less."""
ENDINGS = {
    "RecursionError": "the recursion limit was reached at {n}",
    "MemoryError": "memory ran out at {n}",
    "late": "a call at {n} did not finish",
    "gone": "the process was ended by the code at {n}",
    "raised": "raised {error} at {n}",
}
STEADY_SECONDS = 0.08
"""A call that takes longer is believed without being repeated."""
HUNG_SECONDS = 0.8
"""A call that was under way for so long when its time was over hangs; a shorter one was only interrupted."""
LARGE = 64
"""A function that takes inputs up to this size, and refuses larger ones, has shown how it grows."""


Points = Sequence[tuple[int, float]]
Line = dict[str, Any]


def name_growth(lines: Points, seconds: Points, sorts: bool) -> tuple[str, str]:
    """The growth of time, and a remark on it; no name where there are too few sizes or they go up and down."""
    if len(lines) < FEWEST:
        return "", "too few sizes"
    # A larger size that often costs far less than the one before.
    if sum(later[1] < 0.7 * earlier[1] for earlier, later in pairwise(lines[-8:])) >= 2:
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
    # Memory gets slower with size, the more so on a busy machine, which adds to the slope of a time.
    if slope < (1.4 if counted else 1.6):
        return tell_linear_or_more(points, slope, sorts, counted)
    if slope < (2.45 if counted else 2.6):
        return "quadratic", "" if 1.75 < slope < 2.25 else f"about n^{slope:.1f}"
    # The slope of an exponential itself keeps growing.
    half = max(2, len(points) // 2)
    accelerates = exponent(points[-3:]) > max(4.0, 1.25 * exponent(points[:half]))
    return "worse", "about exponential" if accelerates else f"about n^{slope:.1f}"


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
    if counted and any(later[1] < 0.9 * earlier[1] for earlier, later in pairwise(each)):
        return "linear", ""
    if share > (0.35 if counted else 0.3) and slope > 1.03 and (counted or sorts):
        return "n log n", ""
    return "linear", "perhaps n log n" if share > 0.35 and counted else ""


def name_memory_growth(points: Points) -> str:
    """The growth of memory; what is below a page's worth is constant, and near ties are the lower."""
    if len(points) < FEWEST:
        return ""
    if max(cost for _, cost in points) < 2048:
        return "constant"
    held = [(n, max(1.0, cost)) for n, cost in points]
    found, _ = name_cost(held, counted=False)
    return "linear" if found == "quadratic" and exponent(held[-3:]) < 1.6 else found


class FunctionGrowth(DetailRow):
    """What is known of one function: its worst steady growth, and the points that say so."""

    name: str
    file: str = ""
    line: int = 0
    argument: str = ""
    growth: str = ""
    """Nothing when it could not be named; the note says why."""
    memory_growth: str = ""
    points: tuple[tuple[int, float, int | None], ...] = ()
    """Size, seconds, bytes (None where there was no time to look)."""
    note: str = ""

    @property
    def rank(self) -> tuple[int, float]:
        """The larger, the worse: the growth, then the longest call."""
        return (ORDER.index(self.growth) if self.growth else -1, self.points[-1][1] if self.points else 0.0)


def parse_measurement(place: int, function: CalledFunction, said: list[Line]) -> FunctionGrowth:
    """The worst of the steady ways in which the calls of the function at this place of the order were grown."""
    own = [line for line in said if line.get("function") == place]
    killed = max((line["killed"] for line in own if "killed" in line), default=0.0)
    by_way: dict[str, list[Line]] = {}
    for line in own:
        if "way" in line:
            by_way.setdefault(line["way"], []).append(line)
    if not by_way:
        errors = [line["error"] for line in said if line.get("unimportable") == function.module]
        note = "no time was left for it, or its module ended the process"
        if killed:
            note = "it did not finish"
        elif errors:
            note = f"{function.module} cannot be imported: {errors[-1]}"
        return FunctionGrowth(name=function.name, file=function.file, line=function.line, note=note)
    ways = [_parse_way(function, lines, killed) for lines in by_way.values()]
    whole = [one for one, was_refused in ways if one.growth and not was_refused]
    return max(whole or [one for one, _ in ways], key=lambda one: one.rank)


def _parse_way(function: CalledFunction, said: list[Line], killed: float) -> tuple[FunctionGrowth, bool]:
    """What one way of growing showed, and whether the function ended it by raising an error of its own."""
    lines, first, best, held = (
        {line["n"]: line[key] for line in said if key in line} for key in ("lines", "seconds", "best", "bytes")
    )
    counted = sorted((n, float(count)) for n, count in lines.items())
    steady = {n: seconds for n, seconds in first.items() if seconds > STEADY_SECONDS} | best
    growth, note = name_growth(counted, sorted(steady.items()), any(line.get("sorts") for line in said))
    ended, at = _find_ending(said, killed)
    was_refused = ended == "raised"
    if ended == "late" and len(lines) >= FEWEST:
        growth = "worse"
    if (was_refused and max(lines, default=0) < LARGE) or (ended and said[0]["way"].endswith(NEVER)):
        growth = ""
    error = next((str(line["error"]) for line in said if line.get("error")), "an error")
    remark = ENDINGS.get(ended, "").format(n=at, error=error)
    parsed = FunctionGrowth(
        name=function.name,
        file=function.file,
        line=function.line,
        argument=_name_arguments(function, said[0]),
        growth=growth,
        memory_growth=name_memory_growth(sorted(held.items())),
        points=tuple((n, seconds, held.get(n)) for n, seconds in sorted((first | best).items())),
        note="; ".join(filter(None, (note, remark))),
    )
    return parsed, was_refused


def _find_ending(said: list[Line], killed: float) -> tuple[str, int]:
    """How growing came to an early end, and at which size; nothing when it ended by itself."""
    tries = [(line["trying"], line["at"]) for line in said if "trying" in line]
    size, began = tries[-1] if tries else (0, killed)
    ended = [str(line["ended"]) for line in said if "ended" in line]
    if ended or any(line.get("n") == size for line in said):
        return "".join(ended[:1]), size
    if not killed:
        return "gone", size
    return ("late" if killed - began > HUNG_SECONDS else ""), size


def _name_arguments(function: CalledFunction, line: Line) -> str:
    """The names of what was grown, as the function calls them, and of what went along."""
    names = {str(place): name for place, name in enumerate(function.parameters)}

    def join_names(keys: list[str]) -> str:
        return ", ".join(names.get(key, f"argument {int(key) + 1}" if key.isdigit() else key) for key in keys)

    given = [ast.literal_eval(call.given) for call in function.calls if call.line == line["line"]]
    is_number = bool(given) and isinstance(given[0].get(line["grow"][0]), int)
    following = join_names(line["follow"])
    more = " (its value)" if is_number else f" (with {following})" if following else ""
    return join_names(line["grow"]) + more
