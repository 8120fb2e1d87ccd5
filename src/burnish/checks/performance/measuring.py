"""One job in the sandbox: all functions at growing sizes, and what was seen of each."""

import json
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from burnish.checks.lab import Lab
from burnish.checks.performance import inside
from burnish.checks.performance.calls import Function
from burnish.checks.performance.seen import Seen, seen
from burnish.errors import CheckError

SECONDS = 8.0
"""For all functions together."""
EACH_SECONDS = 2.0
LEAST_SECONDS = 0.4
FEW = 6
"""Functions that are all tried with two calls of the tests; of more, one call each."""
CPU_SECONDS = 11.0
SCRIPTS = ("__init__", "inputs", "measure", "worker", "conduct")
FOLDER = "burnish/checks/performance/inside"


def measure(functions: Sequence[Function], lab: Lab) -> list[Seen]:
    """Grow the inputs of each function and name what its time and memory do. Raises CheckError when nothing came."""
    nonce = secrets.token_hex(16)
    order = {
        "nonce": nonce,
        "seconds": SECONDS,
        "each_seconds": min(EACH_SECONDS, max(LEAST_SECONDS, SECONDS / len(functions))),
        "modules": modules(functions, lab),
    }
    files = scripts() | {"order.json": json.dumps(order)}
    ran = lab.run([lab.python, "-m", FOLDER.replace("/", ".") + ".conduct"], files, CPU_SECONDS)
    said = believed(ran.output, nonce)
    return [seen(place, function, said) for place, function in enumerate(functions)]


def modules(functions: Sequence[Function], lab: Lab) -> list[dict[str, Any]]:
    """The order for each module: where it is and which calls to grow."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for place, function in enumerate(functions):
        calls = [call.model_dump() for call in function.calls[: 2 if len(functions) <= FEW else 1]]
        entry = {"id": place, "name": function.name, "calls": calls}
        found.setdefault((function.folder, function.module), []).append(entry)
    return [
        {"folder": f"{lab.root}/{folder}", "module": module, "functions": entries}
        for (folder, module), entries in found.items()
    ]


def scripts() -> dict[str, str]:
    """The files that the cell gets, under the names by which they import each other."""
    here = Path(inside.__file__).parent
    packages = ("burnish", "burnish/checks", "burnish/checks/performance")
    return {f"{package}/__init__.py": "" for package in packages} | {
        f"{FOLDER}/{script}.py": (here / f"{script}.py").read_text() for script in SCRIPTS
    }


def believed(output: str, nonce: str) -> list[dict[str, Any]]:
    """What the conductor printed; nobody else knows the number that its line begins with."""
    for line in output.splitlines():
        if line.startswith(nonce):
            try:
                said: list[dict[str, Any]] = json.loads(line[len(nonce) :])
                return said
            except ValueError:
                break
    raise CheckError(f"the measurement did not come to its end: {output.strip()[-200:] or 'nothing was printed'}")
