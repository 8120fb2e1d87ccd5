"""Tests that pass in one order of sets and not in another.

A cell has a fixed hash seed, so that a run can be repeated; a user's Python has another one at each start. Code that
takes the first of a set would pass its tests in every cell, and fail them elsewhere.
"""

import ast
from collections.abc import Iterator, Sequence

from burnish.checks.behaviour import behave_all
from burnish.checks.finding import Finding
from burnish.checks.suite import Suite
from burnish.errors import SandboxError
from burnish.parsing import parse
from burnish.sandbox.sandbox import Sandbox
from burnish.text import one_line

RULE = "depends-on-set-order"
SEEDS = (0, 1, 2, 3, 4, 5)
"""The first is the cell's own."""
MOST_TESTS = 200
_MAKES_SETS = frozenset({"set", "frozenset", "hash", "keys", "items", "fromkeys"})


def order_findings(
    code: str, suite: Suite, disputed: Sequence[str], sandbox: Sandbox, file: str = "solution.py"
) -> list[Finding]:
    """One finding for each plain test whose answer changes with the order of sets; none for code that has no set."""
    tests = [test for test in suite.names.values() if test not in disputed]
    plain = {test: call for test in tests[:MOST_TESTS] if (call := _condition(test))}
    if not plain or not _has_sets(code):
        return []
    try:
        told = [behave_all({0: code}, list(plain.values()), sandbox, hash_seed=seed)[0] for seed in SEEDS]
    except SandboxError:
        return []  # the tests have passed; that this look could not be had says nothing against them
    return list(_differing(list(plain), told, file))


def _differing(tests: Sequence[str], told: Sequence[Sequence[str]], file: str) -> Iterator[Finding]:
    for test, said in zip(tests, zip(*told, strict=True), strict=True):
        if said[0].startswith("True") and any(one.startswith(("False", "raises")) for one in said):
            what = f"`{one_line(test, 120)}` fails where Python orders sets otherwise, as it may at each start."
            yield Finding(file=file, what=what, rule=RULE, severity="high", confidence="high")


def _condition(test: str) -> str:
    """What a test asserts, where that is all it does."""
    try:
        [node] = parse(test).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    return ast.unparse(node.test) if isinstance(node, ast.Assert) else ""


def _has_sets(code: str) -> bool:
    """Whether anything in the code makes a set or asks for a hash."""
    for node in ast.walk(parse(code)):
        if isinstance(node, ast.Set | ast.SetComp):
            return True
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        if name in _MAKES_SETS:
            return True
    return False
