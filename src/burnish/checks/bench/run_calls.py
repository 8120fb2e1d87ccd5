"""What a module does on given calls, as text to be compared. It ranks versions and never decides.

The values share a process with the code, so code that wants to can lie about them; it can neither break us nor keep us.
"""

import ast
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

from burnish.checks.check import Finding
from burnish.checks.suite import Suite
from burnish.errors import SandboxError
from burnish.events import CommandRan
from burnish.parsing import parse
from burnish.text import one_line

INSIDE = Path(__file__).parent / "inside"
SCRIPTS = ("__init__", "canonical", "answer_calls")
FOLDER = "burnish_behaviour"
COMMAND = ("-B", "-c", f"from {FOLDER}.answer_calls import main; main()")
EACH_SECONDS = 0.5
MODULE_SECONDS = 4.0
NO_ANSWER, TOO_SLOW = "no answer", "too slow"
SET_ORDER_RULE = "depends-on-set-order"
SET_ORDER_SEEDS = (0, 1, 2, 3, 4, 5)
"""The first is the cell's own."""
MOST_TESTS = 200
_MAKES_SETS = frozenset({"set", "frozenset", "hash", "keys", "items", "fromkeys"})


class Runner(Protocol):
    """A sandbox, or a check's context."""

    def run(
        self, argv: Sequence[str], files: Mapping[str, str] | None = None, timeout_seconds: float = 10.0
    ) -> CommandRan:
        """Run one command in a fresh folder that holds `files`, and say how it ended."""
        ...


@dataclass(frozen=True)
class ModulePlace:
    """Where a module belongs: alone, or in the place of a file of a project."""

    name: str = "solution"
    file: str = "solution.py"
    paths: tuple[str, ...] = ()
    """What is importable besides."""


ALONE = ModulePlace()


def run_calls(
    modules: Mapping[int, str],
    calls: Sequence[str],
    runner: Runner,
    hash_seed: int = 0,
    place: ModulePlace = ALONE,
    python: str = "python",
) -> dict[int, tuple[str, ...]]:
    """What several modules answer, each in a process of its own, for the cost of one start. Raises SandboxError.

    One answer for each call, an expression over the module's names: its value as text, "raises ValueError" for an
    error, "too slow" after half a second, "no answer" where the module broke off. A second line tells which arguments
    the call changed. Another `hash_seed` gives sets of texts another order.
    """
    if not modules or not calls:
        return {number: () for number in modules}
    nonce = secrets.token_hex(16)
    order = {
        "modules": list(modules.values()),
        "calls": list(calls),
        "nonce": nonce,
        "each_seconds": EACH_SECONDS,
        "module_seconds": MODULE_SECONDS,
        **asdict(place),
    }
    seeded = ("env", f"PYTHONHASHSEED={hash_seed}") if hash_seed else ()
    files = {**_inside_files(), "order.json": json.dumps(order)}
    ran = runner.run((*seeded, python, *COMMAND), files, MODULE_SECONDS * len(modules) + 2)
    answers = read_answers(ran.output, nonce, len(modules), len(calls))
    return dict(zip(modules, answers, strict=True))


@cache
def _inside_files() -> dict[str, str]:
    return {f"{FOLDER}/{script}.py": (INSIDE / f"{script}.py").read_text("utf-8") for script in SCRIPTS}


def read_answers(output: str, nonce: str, modules: int, calls: int) -> list[tuple[str, ...]]:
    """The answers in what the job printed: always so many modules, each with so many answers."""
    told: object = None
    for line in output.splitlines():
        if line.startswith(nonce):
            try:
                told = json.loads(line[len(nonce) :])
            except ValueError:
                continue
    rows = told if isinstance(told, list) and len(told) == modules else [[]] * modules
    answers = [[str(text) for text in row] if isinstance(row, list) else [] for row in rows]
    return [tuple((row + [NO_ANSWER] * calls)[:calls]) for row in answers]


def find_set_order_dependence(
    code: str, suite: Suite, disputed: Sequence[str], runner: Runner, file: str = "solution.py"
) -> list[Finding]:
    """One finding for each plain test whose answer changes with the order of sets; none for code that has no set.

    A cell has a fixed hash seed, so that a run can be repeated; a user's Python has another one at each start. Code
    that takes the first of a set would pass its tests in every cell, and fail them elsewhere.
    """
    tests = [test for test in suite.names.values() if test not in disputed]
    plain = {test: condition for test in tests[:MOST_TESTS] if (condition := _read_condition(test))}
    if not plain or not _has_sets(code):
        return []
    try:
        told = [run_calls({0: code}, list(plain.values()), runner, seed)[0] for seed in SET_ORDER_SEEDS]
    except SandboxError:
        return []  # the tests have passed; that this look could not be had says nothing against them
    found = []
    for test, said in zip(plain, zip(*told, strict=True), strict=True):
        if said[0].startswith("True") and any(one.startswith(("False", "raises")) for one in said):
            what = f"`{one_line(test, 120)}` fails where Python orders sets otherwise, as it may at each start."
            found.append(Finding(file=file, what=what, rule=SET_ORDER_RULE, severity="high", confidence="high"))
    return found


def _read_condition(test: str) -> str:
    """What a test asserts, where that is all it does."""
    try:
        [node] = parse(test).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    return ast.unparse(node.test) if isinstance(node, ast.Assert) else ""


def _has_sets(code: str) -> bool:
    """Whether anything in the code makes a set or asks for a hash."""
    nodes = list(ast.walk(parse(code)))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return not names.isdisjoint(_MAKES_SETS) or any(isinstance(node, ast.Set | ast.SetComp) for node in nodes)
