"""A suite is one pytest file in which each test keeps its own name."""

import ast

from burnish.checks import Suite
from burnish.events import Case, Graded

RAISES = "with pytest.raises(ValueError):\n    f(0)"


def test_every_test_stands_in_the_file_under_its_own_name() -> None:
    suite = Suite(entry_point="f", given=("assert f(1) == 1", RAISES), model=("assert f(2) == 2",))
    text = suite.render()
    names = [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    assert names == ["test_given_1", "test_given_2", "test_model_1"]
    assert text.startswith("import pytest\nfrom solution import f\n")


def test_pytest_is_imported_only_where_it_is_used() -> None:
    assert "import pytest" not in Suite(entry_point="f", given=("assert f(1) == 1",)).render()


def test_a_disputed_test_is_shown_but_not_run() -> None:
    wrong = "assert f(2) == 3"
    text = Suite(entry_point="f", given=("assert f(1) == 1",), model=(wrong, "assert f(4) == 4")).render((wrong,))
    assert f"# {wrong}" in text
    names = [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    assert names == ["test_given_1", "test_model_2"]


def test_a_test_that_is_missing_from_the_result_was_not_run() -> None:
    suite = Suite(entry_point="f", given=("assert f(1) == 1",), model=("assert f(2) == 2",))
    graded = Graded(cases=(Case(name="test_solution.py::test_given_1", outcome="passed"),))
    assert suite.outcomes(graded) == {"assert f(1) == 1": "passed", "assert f(2) == 2": "not_run"}
