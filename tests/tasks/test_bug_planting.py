"""Bugs to plant: small, of every kind, the same on every machine; and the three variants of a planted one."""

import ast
import os
import subprocess
import sys

import pytest

from burnish.evals.strategies.strategy import show_task
from burnish.tasks import Task
from burnish.tasks.assemble import assemble
from burnish.tasks.bug_planting import (
    SHARES,
    PlantedBug,
    as_docs,
    as_file,
    as_tests,
    build_file,
    edit_node,
    normalise_code,
    pick_neighbours,
    pick_number,
    propose_bugs,
)

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


def reference(number: int, name: str, body: str = "return x + 1", imports: str = "") -> Task:
    tests = [f"assert {name}({n}) == {n + 1}" for n in (1, 2, 3)]
    return Task(
        id=f"mbpp-{number}",
        prompt=f"Words about {name}.",
        entry_point=name,
        gold=f"{imports}def {name}(x):\n    {body}\n",
        visible_tests=(tests[0],),
        hidden_tests="\n".join(tests) + "\n",
        split="tune",
    )


TASK = reference(511, "up", imports="import math\n")
BUG = PlantedBug(id="mbpp-511", code="import math\n\ndef up(x):\n    return x - 1\n", bug="operator misuse", failing=1)
OTHERS = [reference(520 + number, f"up{number}", imports="import re\n") for number in range(6)]


def test_docs_has_the_words_in_a_docstring_and_the_first_assertion() -> None:
    task = as_docs(TASK, BUG)
    assert task.id == "mbppfix-511"
    assert task.base_code == 'import math\n\ndef up(x):\n    """Words about up."""\n    return x - 1\n'
    assert task.gold == task.base_code.replace("-", "+")
    assert (task.visible_tests, task.bug, task.signature) == (TASK.visible_tests, "operator misuse", "up(x)")
    assert task.prompt == TASK.prompt


def test_tests_shows_no_word_of_the_description_and_the_first_test_that_fails() -> None:
    documented = TASK.model_copy(update={"gold": TASK.gold.replace("return", '"""Words about up."""\n    return')})
    task = as_tests(documented, BUG.model_copy(update={"code": as_docs(TASK, BUG).base_code}))
    assert task.visible_tests == ("assert up(2) == 3",)
    assert "Words" not in show_task(task, "visible").model_dump_json()


def test_a_test_that_needs_preparation_brings_it() -> None:
    shown = TASK.model_copy(update={"visible_tests": ("x = 1\nassert up(1) == 2",)})
    assert as_tests(shown, BUG).visible_tests == ("x = 1\nassert up(2) == 3",)


def test_file_holds_five_functions_with_one_bug_among_them() -> None:
    around = pick_neighbours(TASK, [TASK, *OTHERS])
    assert len(around) == 4
    task = as_file(TASK, BUG, around)
    assert task.base_code.startswith("import")
    assert task.base_code.count("import re\n") == 1
    assert task.base_code.count("def ") == task.base_code.count('"""Words') == 5
    assert task.base_code.count("x - 1") == 1
    assert (
        assemble(task, "def up(x):\n    return x + 1\n").replace("    return", '    """Words about up."""\n    return')
        != ""
    )
    assert assemble(task, task.gold) == task.gold


def test_the_place_in_the_file_varies_with_the_task() -> None:
    around = OTHERS[:4]
    found = {build_file(TASK.gold, around, f"mbpp-{number}").index("def up(x)") for number in range(60)}
    assert len(found) == 5


def test_neighbours_are_single_functions_whose_names_are_free() -> None:
    clash = reference(530, "up")
    helped = reference(531, "g", "return x + 1\ndef other(x):\n    return x")
    builtin = reference(532, "sum")
    star = reference(533, "h", imports="from math import *\n")
    shadow = reference(534, "k", imports="from cmath import sqrt as math\n")
    assert pick_neighbours(TASK, [TASK, clash, helped, builtin, star, shadow]) == []
    assert pick_neighbours(TASK, OTHERS, avoid={OTHERS[0].id}) == pick_neighbours(TASK, OTHERS[1:])
