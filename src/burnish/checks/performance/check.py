"""The performance check: what do time and memory do when inputs grow?

`details["functions"]` holds, worst first, `{name, file, line, argument, growth, memory_growth, points, note}` with
points `[size, seconds, bytes or null]`; a growth of "" means that it could not be named, and the note says why.
Code that looks for the measurer in its own process can lie about its time; nothing else can.
"""

from collections.abc import Sequence

from burnish.checks.finding import Finding
from burnish.checks.lab import Lab
from burnish.checks.performance.calls import find
from burnish.checks.performance.growth import ORDER
from burnish.checks.performance.measuring import measure
from burnish.checks.performance.seen import Seen
from burnish.checks.project import Project
from burnish.events import Evidence
from burnish.text import plural


class PerformanceCheck:
    """Does it stay fast when inputs grow? Make the inputs of the tests larger, and name how the time grows."""

    name = "performance"

    def judge(self, project: Project, lab: Lab) -> Evidence:
        """Failed if the time of one function grows faster than the settings allow."""
        most = project.settings.growth
        functions = find(project)
        threshold = f"at most {most}"
        if not functions:
            why = "no test calls a function with an input that can be grown"
            return Evidence(check=self.name, verdict="not_run", why=why, threshold=threshold)
        seen = sorted(measure(functions, lab), key=lambda one: one.rank, reverse=True)
        named = [one for one in seen if one.growth]
        details: dict[str, object] = {"functions": [entry(one) for one in seen]}
        if not named:
            why = f"no function could be measured: {seen[0].function.name}: {seen[0].note}"
            return Evidence(check=self.name, verdict="not_run", why=why, threshold=threshold, details=details)
        over = [one for one in named if ORDER.index(one.growth) > ORDER.index(most)]
        details["findings"] = [finding(one, most).model_dump() for one in over]
        return Evidence(
            check=self.name,
            verdict="failed" if over else "passed",
            why=why_of(named, over, len(seen), most),
            figure=figure(named[0]),
            threshold=threshold,
            details=details,
        )


def why_of(named: Sequence[Seen], over: Sequence[Seen], all_of_them: int, most: str) -> str:
    """The verdict in one sentence, with how much of the code it is about."""
    measured = f"{len(named)} of {plural(all_of_them, 'function')} measured"
    if over:
        return f"{plural(len(over), 'function')} slower than {most} as inputs grow ({measured})"
    return f"no function is slower than {most} as inputs grow ({measured})"


def figure(one: Seen) -> str:
    """The worst function in a few words: "sort_list: n log n, 12 ms at 65 536"."""
    n, seconds, _ = one.points[-1]
    return f"{one.function.name}: {one.growth}, {duration(seconds)} at {f'{n:,}'.replace(',', ' ')}"


def duration(seconds: float) -> str:
    """A time with the unit that suits it."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def entry(one: Seen) -> dict[str, object]:
    """What is known of a function, as plain data."""
    return {
        "name": one.function.name,
        "file": one.function.file,
        "line": one.function.line,
        "argument": one.argument,
        "growth": one.growth,
        "memory_growth": one.memory_growth,
        "points": [list(point) for point in one.points],
        "note": one.note,
    }


def finding(one: Seen, most: str) -> Finding:
    """A function that gets slow too fast."""
    said = f"{one.function.name} grows {one.growth} with {one.argument}"
    n, seconds, _ = one.points[-1]
    remark = f" ({one.note})" if one.note else ""
    return Finding(
        file=one.function.file,
        line=one.function.line,
        what=f"{said}{remark}: {duration(seconds)} at {n}; at most {most} is allowed",
        rule="growth",
        severity="high" if one.growth == "worse" else "medium",
    )
