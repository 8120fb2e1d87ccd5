"""Mutants that nobody could notice do not count; those that an input tells apart are named with it."""

from pathlib import Path
from typing import Any

import pytest

from burnish.checks.mutation.check import MutationDetails
from burnish.checks.mutation.equivalence import find_lines, has_unseen_effects, propose_inputs
from burnish.events import Evidence
from tests.checks.mutation.support import findings, judged
from tests.snapshots import assert_snapshot

CLAMP = """\
def clamp(value: int, low: int, high: int) -> int:
    if value < low:
        return low
    if value > high:
        return high
    return value
"""
FULL = """\
from solution import clamp

def test_clamp():
    assert clamp(5, 1, 10) == 5
    assert clamp(-3, 1, 10) == 1

def test_above():
    assert clamp(42, 1, 10) == 10
"""


def judge(folder: Path, code: str, tests: str, **settings: Any) -> tuple[Evidence, MutationDetails]:
    evidence = judged(folder, {"solution.py": code, "test_solution.py": tests}, **settings)
    return evidence, MutationDetails.read(evidence)


@pytest.mark.slow
def test_a_fully_tested_function_passes_though_mutmut_finds_nothing_but_equivalent_changes(tmp_path: Path) -> None:
    evidence, details = judge(tmp_path, CLAMP, FULL)
    assert evidence.verdict == "passed"
    assert (details.equivalent, len(details.equivalents)) >= (1, 1)
    assert details.inputs > 100
    assert details.tried == details.mutants - details.equivalent
    assert details.equivalents[0].diff


@pytest.mark.slow
def test_a_branch_that_no_test_looks_at_fails_the_check_and_is_named_with_an_input(tmp_path: Path) -> None:
    evidence, _ = judge(tmp_path, CLAMP, FULL.split("def test_above")[0])
    assert evidence.verdict == "failed"
    assert_snapshot(findings(evidence)[0].what, "mutation/a branch without a test")
    assert_snapshot(evidence.why, "mutation/enough but for a branch")


@pytest.mark.slow
def test_with_many_mutants_the_score_alone_decides(tmp_path: Path) -> None:
    sums = "".join(f"def add_{n}(a, b):\n    return a * {n} + b - {n}\n\n\n" for n in range(2, 15))
    tests = "".join(f"    assert solution.add_{n}(5, 11) == 5 * {n} + 11 - {n}\n" for n in range(2, 15))
    full = FULL.split("def test_above")[0] + f"\nimport solution\n\ndef test_sums():\n{tests}"
    evidence, details = judge(tmp_path, sums + CLAMP, full)
    assert details.mutants >= 50
    assert evidence.verdict == "passed"
    assert not [key for key in details.outcomes if "__branch_" in key]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "tests"),
    [
        ("import itertools\n\nIDS = itertools.count()\n\ndef name(x):\n    return x + next(IDS) % 2", "name(1) > 0"),
        ("def name(x):\n    print('hello', x)\n    return x", "name(1) == 1"),
        ("SEEN = []\n\ndef name(x):\n    SEEN.append(x + 1)\n    return x", "name(1) == 1"),
        ("import random\n\ndef name(x):\n    return x + random.randint(0, 9)", "name(1) > 0"),
        (
            "class Row:\n    def __init__(self, n):\n        self._n = n\n\ndef name(x):\n    return Row(x + 1)",
            "name(1)",
        ),
        ("def name(x):\n    def add(y):\n        return x + y\n    return add", "name(1)"),
        ("def name(x, more=0):\n    return x + more * 2", "name(1) == 1"),
    ],
)
def test_what_is_not_all_in_its_value_makes_no_mutant_equivalent(tmp_path: Path, code: str, tests: str) -> None:
    _, details = judge(tmp_path, f"{code}\n", f"from solution import name\n\ndef test_it():\n    assert {tests}\n")
    assert details.equivalent == 0
    assert details.survived > 0


@pytest.mark.slow
def test_a_mutant_in_a_line_that_no_input_reaches_is_no_equivalent_one(tmp_path: Path) -> None:
    code = "def name(x: int) -> int:\n    if x * x == 98765 * 98765:\n        return 10 * x\n    return x\n"
    tests = "from solution import name\n\ndef test_it():\n    assert [name(x) for x in (1, 2, 5)] == [1, 2, 5]\n"
    _, details = judge(tmp_path, code, tests)
    unreached = [one for one in details.findings if one.line == 3]
    assert unreached
    assert not [one for one in details.equivalents if one.line == 3]


@pytest.mark.slow
def test_a_mutant_that_never_ends_where_the_code_does_is_told_apart(tmp_path: Path) -> None:
    code = "def count(n: int) -> int:\n    total = 0\n    while total < n:\n        total += 1\n    return total\n"
    tests = "from solution import count\n\ndef test_it():\n    assert count(0) == 0\n"
    evidence, details = judge(tmp_path, code, tests)
    assert evidence.verdict == "failed"
    assert any("is too slow" in one.what for one in details.findings)


@pytest.mark.slow
def test_methods_and_modules_of_a_project_are_compared_too(tmp_path: Path) -> None:
    till = "from shop.rates import RATE\n\n\nclass Till:\n    def fee(self, age: int) -> int:\n"
    till += "        if age < 6:\n            return 0\n        return max(RATE, 0)\n"
    files = {
        "shop/__init__.py": "",
        "shop/rates.py": "RATE = 10\n",
        "shop/till.py": till,
        "test_till.py": "from shop.till import Till\n\ndef test_it():\n    assert Till().fee(2) == 0\n"
        "    assert Till().fee(5) == 0\n    assert Till().fee(6) == 10\n",
    }
    evidence = judged(tmp_path, files)
    details = MutationDetails.read(evidence)
    assert evidence.verdict == "passed"
    assert details.equivalent == details.mutants - details.killed == 1  # max(RATE, 1)


def test_a_function_whose_effects_are_elsewhere_is_not_compared() -> None:
    assert not has_unseen_effects("def f(x):\n    seen = []\n    seen.append(x)\n    return seen\n", "f")
    for body in (
        "global X\n    X = x",
        "print(x)",
        "x.name = 1",
        "LOG[x] = 1",
        "LOG.append(x)",
        "return open(x).read()",
    ):
        assert has_unseen_effects(f"def f(x):\n    {body}\n", "f"), body
    assert has_unseen_effects("class A:\n    def f(self, x):\n        self.x = x\n", "A.f")
    assert has_unseen_effects("async def f(x):\n    return x\n", "f")
    assert has_unseen_effects("", "f")


def test_inputs_come_from_tests_constants_and_types() -> None:
    code = "def f(size: int, unit: str) -> int:\n    return size * 512 if unit == 'blocks' else size\n"
    inputs = propose_inputs(code, "f", ["from solution import f\n\ndef test_it():\n    assert f(3, 'bytes') == 3\n"])
    assert {"f(3, 'bytes')", "f(3, 'blocks')", "f(512, 'bytes')", "f(513, 'bytes')", "f(511, 'bytes')"} <= {*inputs}
    nested = "def f(items):\n    return [one for one in items if isinstance(one, list)]\n"
    assert "f([1, [1, 2]])" in propose_inputs(nested, "f", ["def test_it():\n    assert f([1]) == []\n"])
    assert propose_inputs(code, "g", []) == []
    assert propose_inputs("def f(:\n", "f", ["def f(:\n"]) == []


def test_the_lines_of_a_statement_are_those_without_its_blocks() -> None:
    text = "def f(a,\n      b):\n    if (a and\n            b):\n        return 1\n    return 2\n"
    assert find_lines(text, 4) == {3, 4}
    assert find_lines(text, 5) == {5}
    assert find_lines(text, 2) == {1, 2}
    assert find_lines("def f(:\n", 7) == {7}
