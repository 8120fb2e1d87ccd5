"""What was seen of one function, out of the lines that its worker said."""

import ast
from typing import Any

from burnish.checks.performance.calls import Function
from burnish.checks.performance.growth import FEWEST, ORDER, name, of_memory
from burnish.checks.performance.inside.inputs import NEVER
from burnish.events import Frozen

ENDINGS = {
    "RecursionError": "the recursion limit was reached at {n}",
    "MemoryError": "memory ran out at {n}",
    "late": "a call at {n} did not finish",
    "gone": "the process was ended by the code at {n}",
}

STEADY_SECONDS = 0.08
"""A call that takes longer is believed without being repeated."""
HUNG_SECONDS = 0.8
"""A call that was under way for so long when its time was over hangs; a shorter one was only interrupted."""
LARGE = 64
"""A function that takes inputs up to this size, and refuses larger ones, has shown how it grows."""

Line = dict[str, Any]


class Seen(Frozen):
    """What is known of one function: its worst steady growth, and the points that say so."""

    function: Function
    argument: str = ""
    growth: str = ""
    """Nothing when it could not be named."""
    memory_growth: str = ""
    points: tuple[tuple[int, float, int | None], ...] = ()
    """Size, seconds, bytes (None where there was no time to look)."""
    note: str = ""

    @property
    def rank(self) -> tuple[int, float]:
        """The larger, the worse: the growth, then the longest call."""
        return (ORDER.index(self.growth) if self.growth else -1, self.points[-1][1] if self.points else 0.0)


def seen(place: int, function: Function, said: list[Line]) -> Seen:
    """The worst of the steady ways in which the calls of the function at this place of the order were grown."""
    own = [line for line in said if line.get("function") == place and "way" in line]
    killed = max((line["killed"] for line in said if "killed" in line and line.get("function") == place), default=0.0)
    if not own:
        return Seen(function=function, note=why_nothing(function, said, killed))
    by_way: dict[str, list[Line]] = {}
    for line in own:
        by_way.setdefault(line["way"], []).append(line)
    ways = [one_way(function, lines, killed) for lines in by_way.values()]
    whole = [one for one, lines in zip(ways, by_way.values(), strict=True) if one.growth and not refused(lines)]
    return max(whole or ways, key=lambda one: one.rank)


def refused(said: list[Line]) -> bool:
    """Whether growing ended because the function raised an error of its own."""
    return any(str(line.get("ended")).startswith("raised") for line in said)


def why_nothing(function: Function, said: list[Line], killed: float) -> str:
    """Why nothing is known of a function."""
    if killed:
        return "it did not finish"
    problems = [line["problem"] for line in said if "problem" in line]
    own = [problem for problem in problems if problem.startswith(function.module + " ")]
    return own[0] if own else "no time was left for it, or its module ended the process"


def one_way(function: Function, said: list[Line], killed: float) -> Seen:
    """What one way of growing showed."""
    lines = sorted((line["n"], float(line["lines"])) for line in said if "lines" in line)
    first = {line["n"]: line["seconds"] for line in said if "seconds" in line}
    best = {line["n"]: line["best"] for line in said if "best" in line}
    steady = {n: seconds for n, seconds in first.items() if seconds > STEADY_SECONDS} | best
    held = {line["n"]: line["bytes"] for line in said if "bytes" in line}
    growth, note = name(lines, sorted(steady.items()), any(line.get("sorts") for line in said))
    ended, at = ending(said, killed)
    if ended == "late" and len(lines) >= FEWEST:
        growth = "worse"
    too_small = refused(said) and (not lines or lines[-1][0] < LARGE)
    if too_small or (ended and said[0]["way"].endswith(NEVER)):
        growth = ""
    remarks = [part for part in (note, ENDINGS.get(ended, ended and ended + " at {n}").format(n=at)) if part]
    return Seen(
        function=function,
        argument=grown_argument(function, said[0]),
        growth=growth,
        memory_growth=of_memory(sorted(held.items())),
        points=tuple((n, seconds, held.get(n)) for n, seconds in sorted((first | best).items())),
        note="; ".join(remarks),
    )


def ending(said: list[Line], killed: float) -> tuple[str, int]:
    """How growing came to an early end, and at which size; nothing when it ended by itself."""
    tries = [line for line in said if "trying" in line]
    at = tries[-1]["trying"] if tries else 0
    ended = [str(line["ended"]) for line in said if "ended" in line]
    if ended or any(line.get("n") == at for line in said):
        return (ended[0] if ended else ""), at
    if not killed:
        return "gone", at
    return ("late" if tries and killed - tries[-1]["at"] > HUNG_SECONDS else ""), at


def grown_argument(function: Function, line: Line) -> str:
    """The names of what was grown, as the function calls them, and of what went along."""
    call = next((call for call in function.calls if call.line == line["line"]), None)
    value = ast.literal_eval(call.given).get(line["grow"][0]) if call else None
    grown = ", ".join(called(function, key) for key in line["grow"])
    following = ", ".join(called(function, key) for key in line["follow"])
    return grown + (" (its value)" if isinstance(value, int) else f" (with {following})" if following else "")


def called(function: Function, key: str) -> str:
    """The function's own name for an argument given by its place."""
    if not key.isdigit():
        return key
    place = int(key)
    return function.parameters[place] if place < len(function.parameters) else f"argument {place + 1}"
