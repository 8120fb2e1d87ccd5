"""Bugs to plant: small, of every kind, and the same on every machine."""

import ast
import os
import subprocess
import sys

import pytest

from burnish.tasks.bug_planting import SHARES, edit_node, normalise_code, pick_number, propose_bugs

CODE = '''
import math

def helper(x):
    return x + 1

def f(numbers, least):
    """Add up."""
    total = 0
    for number in sorted(numbers):
        if number > least and not number == 3:
            total += helper(number) * 2
        else:
            continue
    return abs(total)
'''


def codes(code: str = CODE, name: str = "a") -> list[str]:
    return [mutant.code for mutant in propose_bugs(code, "f", name)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a < b", "a <= b"),
        ("a == b", "a != b"),
        ("a in b", "a not in b"),
        ("a + b", "a - b"),
        ("a / b", "a // b"),
        ("a and b", "a or b"),
        ("a + 1", "a + 2"),
        ("a is True", "a is False"),
        ("a + 'xy'", "a + 'x'"),
        ("a - b", "b - b"),
        ("min(a)", "max(a)"),
        ("sorted(a)", "sorted(a, reverse=True)"),
        ("sorted(a, reverse=True)", "sorted(a)"),
        ("a.upper()", "a.lower()"),
        ("not a", "a"),
        ("abs(a)", "a"),
        ("a and b", "a"),
        ("a[1:b]", "a[:b]"),
        ("len(a)", "len(a) - 1"),
        ("range(a, b)", "range(a, b + 1)"),
        ("range(0, a, b)", "range(0, a - 1, b)"),
        ("a == b", "not a == b"),
        ("a.count(b)", "a.count(b) + 1"),
    ],
)
def test_an_expression_is_broken_in_the_ways_people_break_it(before: str, after: str) -> None:
    made = codes(f"def f(a, b):\n    return {before}\n")
    assert f"def f(a, b):\n    return {after}\n" in made


@pytest.mark.parametrize(
    ("gone", "kind"),
    [("total = 0", "missing logic"), ("total += helper(number) * 2", "missing logic"), ("else", "missing logic")],
)
def test_statements_and_branches_can_go(gone: str, kind: str) -> None:
    assert any(gone not in mutant.code and mutant.bug == kind for mutant in propose_bugs(CODE, "f", "a"))


def test_every_mutant_compiles_differs_and_comes_once() -> None:
    made = codes()
    assert len(made) == len(set(made)) > 30
    assert normalise_code(CODE) not in made
    for code in made:
        compile(code, "mutant", "exec")


def test_only_the_function_in_question_is_changed() -> None:
    for code in codes():
        assert code.startswith("import math\n\ndef helper(x):\n    return x + 1\n\ndef f(")


def test_all_kinds_of_bugs_come_up_and_none_has_another_name() -> None:
    code = CODE.replace("sorted(numbers)", "range(len(numbers))")
    assert {mutant.bug for mutant in propose_bugs(code, "f", "a")} <= set(SHARES)
    assert {mutant.bug for mutant in propose_bugs(CODE, "f", "a")} == set(SHARES)


@pytest.mark.slow
def test_the_name_decides_the_order_and_nothing_else_does() -> None:
    assert codes(name="a") == codes(name="a")
    assert codes(name="a") != codes(name="b")
    assert set(codes(name="a")) == set(codes(name="b"))


@pytest.mark.slow
def test_the_order_does_not_depend_on_the_hash_seed() -> None:
    imports = "import sys; from burnish.tasks.bug_planting import propose_bugs"
    program = f"{imports}; print([bug.code for bug in propose_bugs(sys.argv[1], 'f', 'a')])"
    said = {
        subprocess.run(
            [sys.executable, "-c", program, CODE],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert said == {f"{codes()}\n"}


@pytest.mark.slow
def test_kinds_come_first_about_as_often_as_their_share() -> None:
    first = [next(propose_bugs(CODE, "f", f"task {number}")).bug for number in range(200)]
    assert first.count("value misuse") > first.count("function misuse") > 0
    assert set(first) == set(SHARES)


def test_places_are_spread() -> None:
    assert {pick_number(f"task {number}", 5) for number in range(50)} == {0, 1, 2, 3, 4}


def test_a_node_without_anything_to_break_has_no_edits() -> None:
    assert list(edit_node(ast.Pass(), ["a"])) == []
