"""What `single` and `retry` ask, and how much of the tests they show."""

import pytest

from burnish.evals.strategies.prompts import cut_tests, find_asserts, fix, write
from burnish.evals.strategies.strategy import Puzzle, show_task
from burnish.tasks import Task
from tests.evals.strategies.at_work import MARK, TASK, TO_WRITE

CHECK = "def check(double):\n    assert double(1) == 2\n    assert double([\n        1]) == [1, 1]\n\ncheck(double)\n"


def of(task: Task) -> Puzzle:
    return show_task(task, "visible")


def test_a_known_signature_becomes_a_stub_with_the_examples_in_its_docstring() -> None:
    asked = write(of(TASK))
    assert "import math\n\n\ndef floor_half(n: float) -> int:\n" in asked
    assert ">>> floor_half(5)\n    2\n" in asked
    assert "ceil" not in asked, "never the buggy code"


def test_an_example_that_the_description_gives_is_not_given_twice() -> None:
    told = TASK.model_copy(update={"prompt": "Half of n.\n>>> floor_half(5)\n2"})
    assert write(of(told)).count("floor_half(5)") == 1
    assert write(of(told)).count("floor_half(9)") == 1


def test_without_a_signature_the_examples_are_shown_as_asserts() -> None:
    asked = write(of(TO_WRITE.model_copy(update={"signature": ""})))
    assert "`floor_half`" in asked
    assert "assert floor_half(5) == 2" in asked
    assert "import math" in asked
    assert "def floor_half" not in asked


def test_tests_that_are_no_plain_asserts_are_shown_as_they_are() -> None:
    loop = "for n in (2, 4):\n    assert floor_half(n) == n / 2"
    assert loop in write(of(TASK.model_copy(update={"visible_tests": (loop,)})))


def test_to_fix_is_the_code_with_its_description_and_tests() -> None:
    asked = fix(of(TASK))
    for part in ("math.ceil(half)", TASK.prompt, "assert floor_half(9) == 4", "This Python function"):
        assert part in asked


def test_in_a_file_of_several_functions_the_one_to_repair_is_named() -> None:
    several = TASK.model_copy(update={"base_code": TASK.base_code + "\n\ndef other():\n    return 1\n", "prompt": ""})
    asked = fix(of(several))
    assert "The function `floor_half` in this Python file" in asked
    assert "def other" in asked
    assert "What it should do" not in asked


def test_under_oracle_the_scoring_tests_are_shown() -> None:
    puzzle = show_task(TASK, "oracle")
    assert MARK in write(puzzle)
    assert MARK in fix(puzzle)


@pytest.mark.slow
def test_long_tests_are_cut_at_the_end_of_a_line() -> None:
    lines = [f"assert floor_half({n}) == {n // 2}" for n in range(200)]
    shown = cut_tests("\n".join(lines))
    assert len(shown) <= 1500
    assert shown.split("\n") == lines[: shown.count("\n") + 1]
    assert cut_tests("x" * 2000) == "x" * 1500
    assert len(fix(of(TASK.model_copy(update={"visible_tests": tuple(lines)})))) < 2500


def test_the_asserts_of_a_script_are_found_also_in_a_check_function() -> None:
    assert find_asserts("assert a(1)\nassert a(2)", "a") == ("assert a(1)", "assert a(2)")
    assert find_asserts(CHECK, "double") == ("assert double(1) == 2", "assert double([\n        1]) == [1, 1]")


def test_what_is_more_than_asserts_is_not_taken_apart() -> None:
    assert find_asserts("x = 1\nassert a(x)", "a") == ()
    assert find_asserts(CHECK, "half") == (), "the parameter has another name there"
    assert find_asserts("assert (", "a") == ()
    assert find_asserts("", "a") == ()
