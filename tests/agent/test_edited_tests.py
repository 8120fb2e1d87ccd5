"""A file of tests that a person edited: what they changed is theirs, what is unchanged stays, the rest is gone."""

import re

import pytest

from burnish.agent.human_review import find_test_on_line, read_edited_tests, replace_value
from burnish.checks.suite import Suite

GIVEN = ("assert f(1) == 1", "with pytest.raises(ValueError):\n    f(-1)")
MODEL = ("assert f(2) == 2", "assert f(3) == 3")
SUITE = Suite.of("f", GIVEN, MODEL)
TEXT = SUITE.render()
NAMES = {"f", "helper"}


def read(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    found = read_edited_tests(text, SUITE, NAMES)
    assert not found.problem
    return found.given, found.model


def test_a_file_that_was_not_changed_changes_nothing() -> None:
    assert read(TEXT) == (GIVEN, MODEL)
    assert read("# mine\n" + TEXT.replace("f(2) == 2", "f(2)   ==  2  # yes")) == (GIVEN, MODEL), "nor does layout"


def test_a_changed_test_is_the_persons_and_decides() -> None:
    assert read(TEXT.replace("f(3) == 3", "f(3) == 4")) == ((*GIVEN, "assert f(3) == 4"), MODEL[:1])


def test_added_tests_decide_be_they_functions_or_lines() -> None:
    more = "\n\ndef test_mine():\n    # a story\n    x = f(4)\n    assert x == 4\n\nassert f(5) == 5\n"
    assert read(TEXT + more)[0] == (*GIVEN, "x = f(4)\nassert x == 4", "assert f(5) == 5")


def test_removed_tests_are_gone_given_ones_too() -> None:
    assert read("from solution import f\n\ndef test_model_2():\n    assert f(3) == 3\n") == ((), MODEL[1:])
    assert read("") == ((), ())


def test_a_test_takes_the_imports_that_it_leans_on_with_it() -> None:
    given, _ = read(f"import math\nimport json as j\n{TEXT}\n\ndef test_pi():\n    assert f(math.pi) == 3\n")
    assert given[-1] == "import math\nassert f(math.pi) == 3"


def test_lines_of_a_long_string_are_kept() -> None:
    given, _ = read(TEXT + '\n\ndef test_long():\n    assert f("""a\n  b\nc""") == 1\n')
    assert given[-1] == "assert f('a\\n  b\\nc') == 1"


def test_a_models_test_that_contradicts_a_persons_is_dropped() -> None:
    assert read(TEXT + "\n\nassert f(3) == 9\n") == ((*GIVEN, "assert f(3) == 9"), MODEL[:1])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("def test_x(:\n", r"not Python that can be read: line 1"),
        ("import numpy\n", r"it imports numpy, and tests can use only"),
        ("from . import f\n", r"it imports \."),
        ("from __future__ import annotations\n", r"it imports __future__"),
        ("from solution import f, g\n", r"imports 'g'; of solution there is only f, helper"),
        ("from solution import *\n", r"imports everything"),
        ("from math import *\n", r"line 1 imports everything"),
        ("import solution\n", r"imports everything"),
        ("def test_x(tmp_path):\n    assert f(1)\n", r"test_x has a decorator or parameters"),
        ("@slow\ndef test_x():\n    assert f(1)\n", r"test_x has a decorator or parameters"),
        ("def helper():\n    pass\n", r"line 1 is no test"),
        ("x = 1\n", r"line 1 is no test"),
        ("class TestX:\n    def test_y(self):\n        assert f(1)\n", r"line 1 is no test"),
        ("def test_x():\n    f(1)\n", r"test_x asserts nothing"),
        ("def test_x():\n    assert True\n", r"test_x does not use f or helper"),
        ("assert f(1) == 1\nassert f(1) == 2\n", r"contradict each other"),
        ("async def test_x():\n    assert f(1)\n", r"line 1 is no test"),
        ("\0", r"not Python"),
        ("(" * 5000, r"not Python"),
    ],
)
def test_what_cannot_be_taken_whole_is_said(text: str, why: str) -> None:
    found = read_edited_tests(text, SUITE, NAMES)
    assert (found.given, found.model) == ((), ())
    assert re.search(why, found.problem), found.problem


@pytest.mark.parametrize(
    ("test", "words", "made"),
    [
        ("assert f(2) == 4", "should be 5", "assert f(2) == 5"),
        ("assert f(2) == 4", "5", "assert f(2) == 5"),
        ("assert f(2) == 4", "== 5", "assert f(2) == 5"),
        ("assert f(2) == 4", "should be [1, 2].", "assert f(2) == [1, 2]"),
        ("assert f('a b') == 4", "must return 'x'", "assert f('a b') == 'x'"),
        ("assert f(2) == 4", "raises ValueError", "with pytest.raises(ValueError):\n    f(2)"),
        ("with pytest.raises(ValueError):\n    f(2)", "should be None", "assert f(2) == None"),
        ("assert not f(2)", "True", "assert f(2) == True"),
        ("s = f(1)\nassert f(2) == 4", "-> -1", "s = f(1)\nassert f(2) == -1"),
        ("assert f(2) == 4", "should be 5 where n is odd", ""),
        ("assert f(2) == 4", "5 instead of 4", ""),
        ("assert f(2) == 4", "should be five", ""),
        ("assert f(2) == 4", "", ""),
        ("assert [f(2)] == [4]", "should be 5", ""),
        ("assert f(2) == 4", "should be [bold]5[/]", ""),
        ("assert f(2) == 4", "should be __import__('os')", ""),
    ],
)
def test_a_plain_value_needs_no_model(test: str, words: str, made: str) -> None:
    assert replace_value(test, words) == made


def test_a_line_is_that_of_the_test_it_stands_in() -> None:
    lines = TEXT.split("\n")
    for line, text in enumerate(lines, 1):
        found = find_test_on_line(line, SUITE)
        assert (found == MODEL[0]) == ("f(2)" in text or "test_model_1" in text), text
    assert find_test_on_line(0, SUITE) == find_test_on_line(999, SUITE) == ""
