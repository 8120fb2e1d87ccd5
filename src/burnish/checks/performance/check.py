"""The performance check: what do time and memory do when inputs grow?

Code that looks for the measurer in its own process can lie about its time; nothing else can.
"""

import json
import secrets
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.bench.inside.facts import FactReader
from burnish.checks.check import Details, Finding
from burnish.checks.performance.calls import CalledFunction, find_called_functions
from burnish.checks.performance.growth import ORDER, FunctionGrowth, parse_measurement
from burnish.checks.performance.inside.measure import PACKAGE
from burnish.checks.project import Project
from burnish.errors import CheckError
from burnish.events import Evidence
from burnish.text import plural

SECONDS = 8.0
"""For all functions together."""
EACH_SECONDS = 2.0
LEAST_SECONDS = 0.4
FEW = 6
"""Functions that are all tried with two calls of the tests; of more, one call each."""
CPU_SECONDS = 11.0


class PerformanceDetails(Details):
    """What the performance check found, the worst function first."""

    functions: tuple[FunctionGrowth, ...] = ()


class PerformanceCheck:
    """Does it stay fast when inputs grow? Make the inputs of the tests larger, and name how the time grows."""

    name = "performance"

    def judge(self, project: Project, context: CheckContext) -> Evidence:
        """Failed if the time of one function grows faster than the settings allow."""
        most = project.settings.growth
        evidence = partial(Evidence, check=self.name, threshold=f"at most {most}")
        functions = find_called_functions(project)
        if not functions:
            return evidence(verdict="not_run", why="no test calls a function with an input that can be grown")
        found = sorted(measure(functions, context), key=lambda one: one.rank, reverse=True)
        named = [one for one in found if one.growth]
        if not named:
            why = f"no function could be measured: {found[0].name}: {found[0].note}"
            return evidence(verdict="not_run", why=why, details=PerformanceDetails(functions=tuple(found)).dump())
        over = [one for one in named if ORDER.index(one.growth) > ORDER.index(most)]
        slow = f"{plural(len(over), 'function')} slower" if over else "no function is slower"
        worst, (n, seconds, _) = named[0], named[0].points[-1]
        findings = tuple(_make_finding(one, most) for one in over)
        return evidence(
            verdict="failed" if over else "passed",
            why=f"{slow} than {most} as inputs grow ({len(named)} of {plural(len(found), 'function')} measured)",
            figure=f"{worst.name}: {worst.growth}, {_duration(seconds)} at {f'{n:,}'.replace(',', ' ')}",
            details=PerformanceDetails(functions=tuple(found), findings=findings).dump(),
        )


def measure(functions: Sequence[CalledFunction], context: CheckContext) -> list[FunctionGrowth]:
    """Grow the inputs of each function and name what its time and memory do. Raises CheckError when nothing came."""
    nonce = secrets.token_hex(16)
    modules: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for place, function in enumerate(functions):
        calls = [call.model_dump() for call in function.calls[: 2 if len(functions) <= FEW else 1]]
        modules[function.folder, function.module].append({"id": place, "name": function.name, "calls": calls})
    order = {
        "nonce": nonce,
        "seconds": SECONDS,
        "each_seconds": min(EACH_SECONDS, max(LEAST_SECONDS, SECONDS / len(functions))),
        "modules": [
            {"folder": f"{context.root}/{folder}", "module": module, "functions": entries}
            for (folder, module), entries in modules.items()
        ],
    }
    inside = (Path(__file__).parent / "inside").glob("*.py")
    files = {f"{PACKAGE}/{file.name}": file.read_text("utf-8") for file in inside}
    files["order.json"] = json.dumps(order)
    reader = FactReader(nonce)  # nobody but the first process knows the number
    ran = context.run([context.python, "-m", f"{PACKAGE}.measure"], files, CPU_SECONDS, reader)
    if not reader.facts:
        end = ran.output.strip()[-200:] or "nothing was printed"
        raise CheckError(f"the measurement did not come to its end: {end}")
    said = reader.facts[0]["said"]
    return [parse_measurement(place, function, said) for place, function in enumerate(functions)]


def _make_finding(one: FunctionGrowth, most: str) -> Finding:
    """A function that gets slow too fast."""
    n, seconds, _ = one.points[-1]
    remark = f" ({one.note})" if one.note else ""
    end = f"{_duration(seconds)} at {n}; at most {most} is allowed"
    return Finding(
        file=one.file,
        line=one.line,
        what=f"{one.name} grows {one.growth} with {one.argument}{remark}: {end}",
        rule="growth",
        severity="high" if one.growth == "worse" else "medium",
    )


def _duration(seconds: float) -> str:
    """A time with the unit that suits it."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"
