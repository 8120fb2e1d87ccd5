"""Failing tests point at the function that is broken, and those it cannot reach are left aside."""

import sys
from pathlib import Path

import pytest

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.bench.fault_localisation import (
    OriginalRun,
    choose_deciding,
    is_example_of,
    rank_functions,
    run_original,
)
from burnish.checks.bench.project_finder import find_project
from burnish.checks.bench.project_run import CaseReport
from tests.checks.shop import CART, COUNT, ELSEWHERE, EXAMPLE, TAX, TOTAL, shop


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> OriginalRun:
    project = find_project([shop(tmp_path_factory.mktemp("shop")) / "shop/cart.py"], python=sys.executable)
    with CheckContext(project) as context:
        return run_original(project, context, Path("shop/cart.py"), CART)


@pytest.mark.slow
def test_the_function_that_failing_tests_share_and_passing_ones_do_not_comes_first(before):
    assert rank_functions(before) == ["Cart.total", "Cart.__init__"]


@pytest.mark.slow
def test_a_test_that_fails_for_another_reason_is_left_aside(before):
    count = choose_deciding(before, "Cart.total")
    assert set(count.failing) == {TOTAL, f"{TAX}[0.1]", f"{TAX}[0.2]", EXAMPLE}
    assert count.aside == (ELSEWHERE,)
    assert COUNT in count.deciding_tests, "what passed must pass again"


def test_named_tests_are_the_ones_that_count(before):
    assert choose_deciding(before, "Cart.total", [TAX]).deciding_tests == (f"{TAX}[0.1]", f"{TAX}[0.2]")
    assert COUNT in choose_deciding(before, "Cart.total", ["tests"]).deciding_tests


def said(*names: str) -> dict[str, CaseReport]:
    return {name: CaseReport(name, "failed") for name in names}


def test_a_function_in_which_the_failure_is_raised_is_suspected_more():
    touched = {"a": frozenset({"t1"}), "b": frozenset({"t1"})}
    assert rank_functions(OriginalRun(failing=said("t1"), touched=touched, raised={"t1": "b"})) == ["b", "a"]


def test_a_failing_example_speaks_of_its_own_function():
    test = "m.py::m.Box.get"
    touched = {"Box.__init__": frozenset({test}), "Box.get": frozenset({test})}
    assert rank_functions(OriginalRun(failing=said(test), touched=touched))[0] == "Box.get"
    assert is_example_of("a/m.py::a.m.f", "f")
    assert not is_example_of("test_m.py::test_f", "f")


def test_where_the_file_does_not_parse_the_files_that_import_it_decide():
    broken = {"tests/test_a.py": CaseReport("tests/test_a.py", "failed")}
    assert choose_deciding(OriginalRun(broken=broken), "f", parses=False).failing == ("tests/test_a.py",)
    assert choose_deciding(OriginalRun(broken=broken), "f").aside == ("tests/test_a.py",)
