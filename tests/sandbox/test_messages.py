"""What a small model is shown about a failure: the assertion as written, then what was got instead."""

import pytest

from tests.snapshots import assert_snapshot

ENDLESS = "def spin():\n    while True: pass\ndef leave():\n    import os; os._exit(0)\n"
ROMAN = "def roman(n):\n    return 'I' * n\ndef half(x):\n    return 1 / x\ndef nothing(x):\n    pass"
PYTEST = "import pytest\nfrom solution import roman\ndef test_a():\n"
FAILING = {
    "the assertion and what was got": "assert roman(4) == 'IV'",
    "a check function": (
        "def check(candidate):\n    assert candidate(1) == 'I'\n    assert candidate(4) == 'IV'\ncheck(roman)"
    ),
    "a pytest file": f"{PYTEST}    assert roman(4) == 'IV'",
    "an expected value on the left": "assert 'IV' == roman(4)",
    "an assertion in a loop": "def check(f):\n    for n in range(1, 9):\n        assert len(f(n)) < 4\ncheck(roman)",
    "an expected value that was computed": "x = 'V'\nassert roman(4) == 'III' + str(x)",
    "an exception and the line that raised it": "assert half(0) == 1",
    "a missing name": "assert arabic('IV') == 4",
    "nothing returned": "assert nothing(1)",
    "an exception that did not come": f"{PYTEST}    with pytest.raises(ValueError):\n        roman(0)",
}


def message(cell, tests: str) -> str:
    (failed,) = [case.message for case in cell.grade(ROMAN, tests).cases if case.outcome == "failed"]
    return failed


@pytest.mark.slow
@pytest.mark.parametrize("what", FAILING)
def test_a_failure_is_said_with_the_assertion_as_written_and_what_was_got(cell, what):
    assert_snapshot(message(cell, FAILING[what]), f"sandbox/message: {what}")


@pytest.mark.parametrize(
    ("tests", "how"),
    [
        ("assert roman(4) == 'IV'", "wrong_value"),
        (f"{PYTEST}    assert roman(4) == 'IV'", "wrong_value"),
        ("assert half(0) == 1", "raised"),
        (f"{PYTEST}    raise ValueError('expected: raised')", "raised"),
        ("assert spin()", "timed_out"),
        ("assert leave()", "ended"),
        ("assert roman(1) == 'I'", ""),
    ],
)
def test_how_a_test_failed_is_a_field_of_its_own(cell, tests, how):
    assert [case.how for case in cell.grade(f"{ROMAN}\n{ENDLESS}", tests, timeout_seconds=1).cases] == [how]


def test_a_check_function_and_a_pytest_file_say_what_a_bare_assert_says(cell):
    said = [message(cell, FAILING[what]) for what in ("the assertion and what was got", "a pytest file")]
    assert said[0] == said[1]


def test_long_values_are_cut(cell):
    assert len(message(cell, "assert roman(100000) == 'IV'")) < 400


@pytest.mark.parametrize(
    ("what", "code"), [("a crash", "import os\ndef f(): os._exit(3)"), ("code that breaks on import", "1/0")]
)
def test_code_that_gives_no_answer_is_a_problem_that_says_why(cell, what, code):
    assert_snapshot(cell.grade(code, "assert f() == 1").problem, f"sandbox/problem: {what}")
