"""A file of tests that a person edited: what they changed is theirs, what is unchanged stays, the rest is gone."""

import pytest

from burnish.agent.nodes.review import NotTaken
from burnish.agent.nodes.write_tests import find_test_on_line, read_edited_tests, replace_value
from burnish.checks.suite import Suite
from tests.snapshots import assert_snapshot

GIVEN = ("assert f(1) == 1", "with pytest.raises(ValueError):\n    f(-1)")
MODEL = ("assert f(2) == 2", "assert f(3) == 3")
SUITE = Suite.of("f", GIVEN, MODEL)
TEXT = SUITE.render()
NAMES = {"f", "helper"}


def read(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return read_edited_tests(text, SUITE, NAMES)


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


TESTS_REFUSED = (
    "def test_x(tmp_path):\n    assert f(1)\n",
    "def test_x():\n    f(1)\n",
    "def test_x():\n    assert True\n",
    "assert f(1) == 1\nassert f(1) == 2\n",
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def test_x(:\n", "line 1"),
        ("import numpy\n", "numpy"),
        ("from . import f\n", r"\."),
        ("from __future__ import annotations\n", "__future__"),
        ("from solution import f, g\n", "'g'.*solution.*f, helper"),
        ("from solution import *\n", "line 1"),
        ("from math import *\n", "line 1"),
        ("import solution\n", "line 1"),
        (TESTS_REFUSED[0], "test_x"),
        ("@slow\ndef test_x():\n    assert f(1)\n", "test_x"),
        ("def helper():\n    pass\n", "line 1"),
        ("x = 1\n", "line 1"),
        ("class TestX:\n    def test_y(self):\n        assert f(1)\n", "line 1"),
        (TESTS_REFUSED[1], "test_x"),
        (TESTS_REFUSED[2], "test_x.*f or helper"),
        (TESTS_REFUSED[3], r"`assert f\(1\) == 1`.*`assert f\(1\) == 2`"),
        ("async def test_x():\n    assert f(1)\n", "line 1"),
        ("\0", "Python"),
        ("(" * 5000, "Python"),
    ],
)
def test_what_cannot_be_taken_whole_is_refused_and_what_is_wrong_is_named(text: str, names: str) -> None:
    with pytest.raises(NotTaken, match=names):
        read(text)


def test_why_a_file_cannot_be_taken_is_said_in_plain_words() -> None:
    refusals = []
    for text in ("import numpy\n", "from solution import g\n", "from math import *\n", "x = 1\n", *TESTS_REFUSED):
        with pytest.raises(NotTaken) as refused:
            read(text)
        refusals.append(str(refused.value))
    assert_snapshot("\n".join(refusals), "agent/edited tests: why a file cannot be taken")


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
