"""What a small model is shown about a failure: the assertion as written, then what was got instead."""

import pytest

ROMAN = "def roman(n):\n    return 'I' * n\ndef half(x):\n    return 1 / x\ndef nothing(x):\n    pass"


def message(cell, tests: str, code: str = ROMAN) -> str:
    (failed,) = [case.message for case in cell.grade(code, tests).cases if case.outcome == "failed"]
    return failed


def test_the_assertion_and_what_was_got(cell):
    assert message(cell, "assert roman(4) == 'IV'") == "assert roman(4) == 'IV'\ngot: 'IIII'"


def test_the_same_in_a_check_function(cell):
    tests = "def check(candidate):\n    assert candidate(1) == 'I'\n    assert candidate(4) == 'IV'\ncheck(roman)"
    assert message(cell, tests) == "assert candidate(4) == 'IV'\ngot: 'IIII'"


def test_the_same_in_a_pytest_file(cell):
    tests = "from solution import roman\ndef test_four():\n    assert roman(4) == 'IV'"
    assert message(cell, tests) == "assert roman(4) == 'IV'\ngot: 'IIII'"


def test_an_expected_value_on_the_left(cell):
    assert message(cell, "assert 'IV' == roman(4)") == "assert 'IV' == roman(4)\ngot: 'IIII'"


def test_an_assertion_in_a_loop_says_where_it_was(cell):
    tests = "def check(f):\n    for n in range(1, 9):\n        assert len(f(n)) < 4\ncheck(roman)"
    assert message(cell, tests) == "assert len(f(n)) < 4\ngot: 4\nwith n = 4"


def test_an_expected_value_that_was_computed_is_shown(cell):
    assert "expected: 'IIIV'" in message(cell, "x = 'V'\nassert roman(4) == 'III' + str(x)")


def test_an_exception_and_the_line_that_raised_it(cell):
    wanted = "assert half(0) == 1\nraised ZeroDivisionError: division by zero\nin the code, line 4: return 1 / x"
    assert message(cell, "assert half(0) == 1") == wanted


def test_a_missing_name(cell):
    assert "NameError: name 'arabic' is not defined" in message(cell, "assert arabic('IV') == 4")


def test_nothing_returned(cell):
    assert message(cell, "assert nothing(1)") == "assert nothing(1)\ngot: None"


def test_an_exception_that_did_not_come(cell):
    test = "def test_a():\n    with pytest.raises(ValueError):\n        roman(0)"
    tests = f"import pytest\nfrom solution import roman\n{test}"
    assert "DID NOT RAISE" in message(cell, tests)


def test_long_values_are_cut(cell):
    assert len(message(cell, "assert roman(100000) == 'IV'")) < 400


def test_a_crash_is_a_problem_that_says_so(cell):
    graded = cell.grade("import os\ndef f(): os._exit(3)", "assert f() == 1")
    assert "ended its own process" in graded.problem


@pytest.mark.parametrize(("code", "words"), [("1/0", "ZeroDivisionError: division by zero (line 1: 1/0)")])
def test_code_that_breaks_on_import_says_where(cell, code, words):
    assert cell.grade(code, "assert f() == 1").problem == f"the code cannot be imported: {words}"
