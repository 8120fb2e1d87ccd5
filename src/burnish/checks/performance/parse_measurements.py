"""What was measured of one function, out of the lines that its worker said."""

import ast
from typing import Any

from burnish.checks.check import DetailRow
from burnish.checks.performance.calls import CalledFunction
from burnish.checks.performance.growth import FEWEST, ORDER, name_growth, name_memory_growth
from burnish.checks.performance.inside.inputs import NEVER

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
        note = _explain_nothing(function, said, killed)
        return FunctionGrowth(name=function.name, file=function.file, line=function.line, note=note)
    ways = [_parse_way(function, lines, killed) for lines in by_way.values()]
    whole = [one for one, lines in zip(ways, by_way.values(), strict=True) if one.growth and not _was_refused(lines)]
    return max(whole or ways, key=lambda one: one.rank)


def _was_refused(said: list[Line]) -> bool:
    """Whether growing ended because the function raised an error of its own."""
    return any(str(line.get("ended")).startswith("raised") for line in said)


def _explain_nothing(function: CalledFunction, said: list[Line], killed: float) -> str:
    """Why nothing is known of a function."""
    if killed:
        return "it did not finish"
    errors = {line["unimportable"]: line["error"] for line in said if "unimportable" in line}
    if function.module in errors:
        return f"{function.module} cannot be imported: {errors[function.module]}"
    return "no time was left for it, or its module ended the process"


def _parse_way(function: CalledFunction, said: list[Line], killed: float) -> FunctionGrowth:
    """What one way of growing showed."""
    lines = sorted((line["n"], float(line["lines"])) for line in said if "lines" in line)
    first = {line["n"]: line["seconds"] for line in said if "seconds" in line}
    best = {line["n"]: line["best"] for line in said if "best" in line}
    steady = {n: seconds for n, seconds in first.items() if seconds > STEADY_SECONDS} | best
    held = {line["n"]: line["bytes"] for line in said if "bytes" in line}
    growth, note = name_growth(lines, sorted(steady.items()), any(line.get("sorts") for line in said))
    ended, at = _find_ending(said, killed)
    if ended == "late" and len(lines) >= FEWEST:
        growth = "worse"
    too_small = _was_refused(said) and (not lines or lines[-1][0] < LARGE)
    if too_small or (ended and said[0]["way"].endswith(NEVER)):
        growth = ""
    remarks = [part for part in (note, ENDINGS.get(ended, ended and ended + " at {n}").format(n=at)) if part]
    return FunctionGrowth(
        name=function.name,
        file=function.file,
        line=function.line,
        argument=_name_arguments(function, said[0]),
        growth=growth,
        memory_growth=name_memory_growth(sorted(held.items())),
        points=tuple((n, seconds, held.get(n)) for n, seconds in sorted((first | best).items())),
        note="; ".join(remarks),
    )


def _find_ending(said: list[Line], killed: float) -> tuple[str, int]:
    """How growing came to an early end, and at which size; nothing when it ended by itself."""
    tries = [line for line in said if "trying" in line]
    at = tries[-1]["trying"] if tries else 0
    ended = [str(line["ended"]) for line in said if "ended" in line]
    if ended or any(line.get("n") == at for line in said):
        return (ended[0] if ended else ""), at
    if not killed:
        return "gone", at
    return ("late" if tries and killed - tries[-1]["at"] > HUNG_SECONDS else ""), at


def _name_arguments(function: CalledFunction, line: Line) -> str:
    """The names of what was grown, as the function calls them, and of what went along."""
    names = dict(enumerate(function.parameters))

    def join_names(keys: list[str]) -> str:
        return ", ".join(names.get(int(key), f"argument {int(key) + 1}") if key.isdigit() else key for key in keys)

    call = next((call for call in function.calls if call.line == line["line"]), None)
    value = ast.literal_eval(call.given).get(line["grow"][0]) if call else None
    following = join_names(line["follow"])
    more = " (its value)" if isinstance(value, int) else f" (with {following})" if following else ""
    return join_names(line["grow"]) + more
