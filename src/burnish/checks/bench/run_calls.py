"""What a module does on given calls, as text to be compared. It ranks versions, tells mutants apart, and never decides
whether a version is right.

The values share a process with the code, so code that wants to can lie about them; it can neither break us nor keep us.
"""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from burnish.checks.bench.inside.facts import Fact
from burnish.checks.bench.project_run import OWN_PYTHON, Runner, send_job
from burnish.checks.check import Finding
from burnish.checks.suite import Suite, read_assert
from burnish.errors import SandboxError
from burnish.parsing import parse
from burnish.search.behaviour_groups import NO_ANSWER
from burnish.text import one_line

EACH_SECONDS = 0.1
"""Of the processor, so that a busy machine changes no answer."""
SILENT_SECONDS = 1.3
"""For one that waits instead, or never comes back from C."""
MODULE_SECONDS = 4.0
SET_ORDER_RULE = "depends-on-set-order"
SET_ORDER_SEEDS = (0, 1, 2, 3, 4, 5)
"""The first is the cell's own."""
MOST_TESTS = 200
_MAKES_SETS = frozenset({"set", "frozenset", "hash", "keys", "items", "fromkeys"})


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
    python: str = OWN_PYTHON,
) -> dict[int, tuple[str, ...]]:
    """What several modules answer, each in a process of its own, for the cost of one start. Raises SandboxError.

    One answer for each call, an expression over the module's names: its value as text, "raises ValueError" for an
    error, "too slow" after a tenth of a second, "no answer" where the module broke off. A second line tells which
    arguments the call changed. Another `hash_seed` gives sets of texts another order.
    """
    if not modules or not calls:
        return {number: () for number in modules}
    job = _describe_calls(list(modules.values()), calls, place)
    seeded = ("env", f"PYTHONHASHSEED={hash_seed}") if hash_seed else ()
    files = {place.file: ""} if place == ALONE else {}  # Python finds the file, and our text in its place
    command = (*seeded, python, "answer_calls")
    _, facts = send_job(runner, command, job, files, MODULE_SECONDS * len(modules) + 2)
    return dict(zip(modules, read_answers(facts, len(modules), len(calls)), strict=True))


def _describe_calls(modules: Sequence[str], calls: Sequence[str], place: ModulePlace) -> Fact:
    return {
        "modules": list(modules),
        "calls": list(calls),
        "each_seconds": EACH_SECONDS,
        "silent_seconds": SILENT_SECONDS,
        "module_seconds": MODULE_SECONDS,
        **asdict(place),
    }


@dataclass(frozen=True)
class OwnBehaviour:
    """What one module does on some calls: how it answers twice, and which of its lines run."""

    answers: tuple[str, ...]
    again: tuple[str, ...]
    lines: frozenset[int]
    """But for those of calls that are too slow when they are watched."""


def observe_calls(module: str, calls: Sequence[str], runner: Runner, place: ModulePlace, python: str) -> OwnBehaviour:
    """Make the calls twice, and once more to see which lines of the file run. Raises SandboxError."""
    job = {**_describe_calls([module] * 3, calls, place), "traced": 2}
    _, facts = send_job(runner, (python, "answer_calls"), job, {}, 3 * MODULE_SECONDS + 2)
    answers, again, _ = read_answers(facts, 3, len(calls))
    said: list[object] = next((fact["lines"] for fact in facts if isinstance(fact.get("lines"), list)), [])
    return OwnBehaviour(answers, again, frozenset(line for line in said if isinstance(line, int)))


def compare_calls(
    modules: Sequence[str], expected: Mapping[str, str], runner: Runner, place: ModulePlace, python: str
) -> list[tuple[str, ...]]:
    """What modules answer to calls, of which it is known what is expected. Raises SandboxError.

    One that is slow, or has given other answers a few times, is asked no more: "" stands for the answers it still owes.
    """
    job = {**_describe_calls(modules, list(expected), place), "expected": list(expected.values())}
    _, facts = send_job(runner, (python, "answer_calls"), job, {}, MODULE_SECONDS * len(modules) + 2)
    return read_answers(facts, len(modules), len(expected))


def read_answers(facts: Sequence[Fact], modules: int, calls: int) -> list[tuple[str, ...]]:
    """The answers in what the job told: always so many modules, each with so many answers."""
    said = [fact.get("answers") for fact in facts]
    rows = next((rows for rows in said if isinstance(rows, list) and len(rows) == modules), [()] * modules)
    answers = [list(map(str, row)) if isinstance(row, list) else [] for row in rows]
    return [tuple((row + [NO_ANSWER] * calls)[:calls]) for row in answers]


def find_set_order_dependence(
    code: str, suite: Suite, disputed: Sequence[str], runner: Runner, file: str = "solution.py"
) -> list[Finding]:
    """One finding for each plain test whose answer changes with the order of sets; none for code that has no set.

    A cell has a fixed hash seed, so that a run can be repeated; a user's Python has another one at each start. Code
    that takes the first of a set would pass its tests in every cell, and fail them elsewhere.
    """
    tests = [test for test in suite.names.values() if test not in disputed]
    plain = {test: ast.unparse(node.test) for test in tests[:MOST_TESTS] if (node := read_assert(test))}
    nodes = list(ast.walk(parse(code)))
    names = {getattr(node, "id", None) or getattr(node, "attr", None) for node in nodes}
    has_sets = not names.isdisjoint(_MAKES_SETS) or any(isinstance(node, ast.Set | ast.SetComp) for node in nodes)
    if not plain or not has_sets:
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
