"""What a module does on given calls, as text to be compared. It ranks versions and never decides.

The values share a process with the code, so code that wants to can lie about them; it can neither break us nor keep us.
"""

import json
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

from burnish.sandbox.sandbox import Sandbox

INSIDE = Path(__file__).parent / "inside"
SCRIPTS = ("__init__", "canonical", "behave")
FOLDER = "burnish_behaviour"
EACH_SECONDS = 0.5
MODULE_SECONDS = 4.0
NO_ANSWER, TOO_SLOW = "no answer", "too slow"


def behave(
    module: str, calls: Sequence[str], sandbox: Sandbox, timeout_seconds: float = MODULE_SECONDS
) -> tuple[str, ...]:
    """One answer for each call, an expression over the module's names: its value or its error, as text.

    "raises ValueError" for an error, "too slow" after half a second, "no answer" where the module broke off. A second
    line tells which arguments the call changed. Raises SandboxError.
    """
    return behave_all({0: module}, calls, sandbox, timeout_seconds)[0]


def behave_all(
    modules: Mapping[int, str],
    calls: Sequence[str],
    sandbox: Sandbox,
    timeout_seconds: float = MODULE_SECONDS,
    hash_seed: int = 0,
) -> dict[int, tuple[str, ...]]:
    """What several modules answer, each in a process of its own, for the cost of one start. Raises SandboxError.

    Another `hash_seed` gives sets of texts another order.
    """
    if not modules or not calls:
        return {number: () for number in modules}
    nonce = secrets.token_hex(16)
    files = order(list(modules.values()), calls, nonce, timeout_seconds)
    command = ("env", f"PYTHONHASHSEED={hash_seed}", *COMMAND) if hash_seed else COMMAND
    ran = sandbox.run(command, files, timeout_seconds * len(modules) + 2)
    answers = read(ran.output, nonce, len(modules), len(calls))
    return dict(zip(modules, answers, strict=True))


COMMAND = ("python", "-B", "-c", f"from {FOLDER}.behave import main; main()")


def order(
    modules: Sequence[str],
    calls: Sequence[str],
    nonce: str,
    timeout_seconds: float = MODULE_SECONDS,
    name: str = "solution",
    file: str = "solution.py",
    paths: Sequence[str] = (),
) -> dict[str, str]:
    """The files of the job that `COMMAND` does; in a project, the last three say where the module belongs."""
    wanted = {
        "modules": list(modules),
        "calls": list(calls),
        "nonce": nonce,
        "each_seconds": EACH_SECONDS,
        "module_seconds": timeout_seconds,
        "name": name,
        "file": file,
        "paths": list(paths),
    }
    scripts = {f"{FOLDER}/{script}.py": (INSIDE / f"{script}.py").read_text("utf-8") for script in SCRIPTS}
    return scripts | {"order.json": json.dumps(wanted)}


def read(output: str, nonce: str, modules: int, calls: int) -> list[tuple[str, ...]]:
    """The answers in what the job printed: always so many modules, each with so many answers."""
    told: object = None
    for line in output.splitlines():
        if line.startswith(nonce):
            try:
                told = json.loads(line[len(nonce) :])
            except ValueError:
                continue
    rows = told if isinstance(told, list) and len(told) == modules else [[]] * modules
    return [_row(row, calls) for row in rows]


def _row(row: object, calls: int) -> tuple[str, ...]:
    said = [str(text) for text in row] if isinstance(row, list) else []
    return tuple((said + [NO_ANSWER] * calls)[:calls])
