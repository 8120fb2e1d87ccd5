"""A suite is one pytest file in which each test keeps its own name."""

import ast
from collections.abc import Iterator

import pytest

from burnish.checks import Suite
from burnish.checks.bench.run_calls import run_calls
from burnish.checks.tests import grade, grade_script
from burnish.events import Case, Graded, SpecAgreed, WordedExample
from burnish.sandbox import Sandbox, open_sandbox
from burnish.tasks import Task
from tests.snapshots import assert_snapshot

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


def test_a_given_test_takes_the_place_of_an_example_in_words_that_says_something_else() -> None:
    worded = tuple(WordedExample(test=f"assert f({n}) == 5", quote=f"{n} gives 5") for n in (1, 2))
    spec = SpecAgreed(entry_point="f", signature="f(n)", given_tests=("assert f(1) == 6",), worded=worded)
    assert Suite.for_task(Task(id="f", prompt="1 gives 5, 2 gives 5"), spec).worded == ("assert f(2) == 5",)


def test_why_a_test_is_set_aside_depends_on_where_it_came_from() -> None:
    suite = Suite(entry_point="f", model=("assert f(1)",), added=("assert f(2)",), pinned=("assert f(3)",))
    text = suite.render(("assert f(3)", "assert f(2)", "assert f(1)"))
    assert_snapshot(text, "bench/tests that are set aside")
    aside = suite.set_aside(("assert f(3)", "assert f(2)", "assert f(1)"))
    assert list(aside.values()) == [["assert f(1)"], ["assert f(2)"], ["assert f(3)"]]
    assert list(suite.set_aside(("assert f(3)",))) == list(aside)[2:], "nobody's test is called the model's"


@pytest.mark.parametrize("mark", ["\r", "\r\n", "\n\x0c", "\n  \x0c", "\n", "\x0b", "\x1c", "\x85", "\u2028"])
def test_no_text_of_a_test_leads_out_of_its_comment_or_function(mark: str) -> None:
    planted = f"assert True{mark}import os"
    aside = Suite(entry_point="f", model=(planted,)).render((planted,))
    assert [type(node) for node in ast.parse(aside).body] == [ast.ImportFrom]
    if mark.startswith(("\r", "\n")):
        inside = ast.parse(Suite(entry_point="f", model=(planted,)).render())
        assert [type(node) for node in inside.body] == [ast.ImportFrom, ast.FunctionDef]


def test_a_test_that_is_missing_from_the_result_was_not_run() -> None:
    suite = Suite(entry_point="f", given=("assert f(1) == 1",), model=("assert f(2) == 2",))
    graded = Graded(cases=(Case(name="test_solution.py::test_given_1", outcome="passed"),))
    assert suite.outcomes(graded) == {"assert f(1) == 1": "passed", "assert f(2) == 2": "not_run"}


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with open_sandbox() as sandbox:
        yield sandbox


MODULE = "def f(n):\n    return n\n\n\ndef g(n):\n    return f(n) + 1\n"


@pytest.mark.slow
def test_further_names_that_a_test_uses_are_imported(box: Sandbox) -> None:
    suite = Suite.of("f", ("assert f(g(1)) == 2",), ("assert g(0) == 1",), also=("g", "unused", "f"))
    assert suite.imports == ("g",)
    assert "from solution import f, g\n" in suite.render()
    assert set(suite.outcomes(grade(MODULE, suite, box)).values()) == {"passed"}


def test_plain_asserts_can_run_as_a_script_and_their_answers_find_their_way_back(box: Sandbox) -> None:
    suite = Suite.of("f", ("assert f(1) == 1", "assert f(\n    2\n) == 3", "assert g(1) == 2"), (), also=("g",))
    graded = grade_script(MODULE, suite.script(), box)
    assert list(suite.outcomes(graded).values()) == ["passed", "failed", "passed"]
    assert list(suite.failures(graded)) == ["assert f(\n    2\n) == 3"]


@pytest.mark.parametrize("given", [(), (RAISES,), ("x = f(1)\nassert x == 1",), ("assert f(1) == pytest.approx(1)",)])
def test_what_is_more_than_a_plain_assert_makes_no_script(given: tuple[str, ...]) -> None:
    assert Suite.of("f", given, ()).script() == ""


def test_the_hash_of_a_suite_changes_with_any_test() -> None:
    suites = [
        Suite.of("f", ("assert f(1) == 1",), ()),
        Suite.of("f", ("assert f(1) == 2",), ()),
        Suite.of("f", ("assert f(1) == 1",), ("assert f(2) == 2",)),
        Suite.of("f", ("assert f(1) == 1",), (), file="from solution import f\n"),
        Suite.of("f", ("assert f(1) == 1",), (), project=("tests/test_f.py::test_f",)),
        Suite(entry_point="f", given=("assert f(1) == 1",), files=(("tests/test_f.py", "0"),)),
        Suite(entry_point="f", given=("assert f(1) == 1",), files=(("tests/test_f.py", "1"),)),
    ]
    assert len({suite.sha256 for suite in suites}) == 7
    assert suites[0].sha256 == Suite.of("f", ("assert f(1) == 1",), ()).sha256


def test_of_a_test_with_parameters_every_case_must_pass() -> None:
    body = "# test_f, from your file\n@pytest.mark.parametrize('n', [1, 2])\ndef test_f(n):\n    assert f(n) == n"
    suite = Suite.of("f", (body,), (), file="...")
    cases = (Case(name="test_f[1]", outcome="passed"), Case(name="test_f[2]", outcome="failed", message="no"))
    assert suite.outcomes(Graded(cases=cases)) == {body: "failed"}
    assert suite.failures(Graded(cases=cases)) == {body: "no"}
    assert suite.outcomes(Graded(cases=cases[:1])) == {body: "passed"}


def test_a_test_that_needs_a_file_gets_one_and_is_no_plain_assert() -> None:
    suite = Suite(entry_point="f", given=("assert f(file_with('a')) == 1", "assert f('b') == 2"))
    text = suite.render()
    assert "def test_given_1(file_with):" in text
    assert "def test_given_2():" in text
    assert text.startswith("import pytest\n")
    assert suite.script() == ""
    assert "file_with" not in Suite(entry_point="f", given=("assert f('b') == 2",)).render()


def test_versions_that_read_a_file_are_told_apart_by_files(box: Sandbox) -> None:
    opens = "def f(path):\n    with open(path) as file:\n        return "
    calls = ["f(file_with('a\\n\\nb'))", "f(file_with(''))", "f('missing')"]
    told = run_calls({1: f"{opens}file.read()", 2: f"{opens}path", 3: f"{opens}len(file.readlines())"}, calls, box)
    assert told[1] == ("'a\\n\\nb'", "''", "raises FileNotFoundError")
    assert told[2] == ("'sample.txt'", "'sample.txt'", "raises FileNotFoundError")
    assert told[3] == ("3", "0", "raises FileNotFoundError")
