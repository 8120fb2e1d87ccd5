"""A version meets the tests of its project, in the place of the file it repairs, and nothing on disk changes."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from burnish.checks.bench.bench import ProjectBench, UsualRun, change_of
from burnish.checks.bench.project_finder import find_project
from burnish.checks.suite import Suite
from tests.checks.project_support import TEST, made
from tests.checks.shop import CART, COUNT, ELSEWHERE, EXAMPLE, FIXED, TAX, TESTS, TOTAL, shop

PROCESS = """

def test_process():
    line = "from shop.cart import Cart; print(Cart([4]).total())"
    assert subprocess.run([sys.executable, "-c", line], capture_output=True, text=True).stdout == "4.0\\n"
"""
IN_PROCESS = "tests/test_cart.py::test_process"
SUITE = Suite(
    entry_point="Cart.total",
    given=("assert Cart([1]).total() == 1",),
    model=("assert Cart([]).total() == 5",),
    project=(TOTAL, TAX, COUNT, EXAMPLE, IN_PROCESS),
)


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProjectBench]:
    root = shop(tmp_path_factory.mktemp("shop"), {"tests/test_cart.py": TESTS + PROCESS})
    project = find_project([root / "shop/cart.py"], python=sys.executable)
    with ProjectBench(project, Path("shop/cart.py"), usual=UsualRun(0.5, failing=(TOTAL,))) as opened:
        yield opened


@pytest.mark.slow
def test_the_bug_is_seen_by_the_projects_tests_with_what_was_got_instead(ground):
    graded = ground.grade(CART, SUITE)
    outcomes = SUITE.outcomes(graded)
    assert [outcomes[test] for test in SUITE.project] == ["failed", "failed", "passed", "failed", "failed"]
    assert outcomes[SUITE.given[0]] == "failed"
    total = next(case for case in graded.cases if case.name == TOTAL)
    assert total.message.startswith("assert 4.0 == 3")
    assert not graded.separated


@pytest.mark.slow
def test_a_repair_passes_them_all_and_the_file_stays_as_it_is(ground):
    graded = ground.grade(FIXED, SUITE, SUITE.model)
    assert graded.all_passed, [case for case in graded.cases if case.outcome != "passed"]
    assert len(graded.cases) == 6, "one for each id, and the example; the disputed one is not run"
    assert (ground.project.root / "shop/cart.py").read_text() == CART


@pytest.mark.slow
def test_the_projects_settings_hold_beside_tests_of_its_users(tmp_path: Path) -> None:
    code = 'def double(n):\n    """Twice.\n\n    >>> double(2)\n    4   \n    """\n    return 2 * n\n'
    ini = "[tool.pytest.ini_options]\ndoctest_optionflags = ['NORMALIZE_WHITESPACE']\n"
    made(tmp_path, {"code_.py": code, "test_it.py": TEST, "pyproject.toml": ini})
    project = find_project([tmp_path / "code_.py"], python=sys.executable)
    tests = ("code_.py::code_.double", "test_it.py")
    with ProjectBench(project, Path("code_.py")) as bench:
        suite = Suite(entry_point="double", given=("assert double(1) == 2",), project=tests)
        assert bench.grade(code, suite).all_passed


@pytest.mark.slow
def test_code_that_does_not_parse_is_a_problem_without_a_run(ground):
    graded = ground.grade("def f(:\n", SUITE)
    assert "SyntaxError" in graded.problem
    assert not graded.all_passed
    assert not graded.cases


@pytest.mark.slow
def test_a_version_that_ends_the_process_or_cannot_be_imported_passes_nothing(ground):
    for planted in ("import os; os._exit(0)\n", "raise SystemExit(0)\n", "import no_such_module\n"):
        graded = ground.grade(planted + FIXED, SUITE)
        assert not graded.all_passed
        assert not graded.passed


@pytest.mark.slow
def test_of_many_edits_those_that_pass_are_found_in_one_job(ground):
    suite = SUITE.model_copy(update={"project": (TOTAL, TAX, COUNT, EXAMPLE)})
    edits = [CART.replace("result = 1.0", f"result = {number}.0") for number in (2, 0, 3)]
    edits += [CART.replace("result = 1.0", "while True: pass"), FIXED.replace("len(cart.prices)", "0"), "not python ("]
    assert ground.passing(edits, suite, seconds=30) == (1,)


def test_calls_see_the_projects_other_modules(ground):
    said = ground.run_calls({1: CART, 2: FIXED}, ["Cart([1.5]).total()", "count(3)"])
    assert said == {1: ("2.5", "raises AttributeError"), 2: ("1.5", "raises AttributeError")}


def test_the_files_of_the_tests_that_decide_can_be_read_to_learn_calls_from(ground):
    told = ground.test_texts(SUITE)
    assert any("def test_process" in text for text in told)
    gone = SUITE.model_copy(update={"project": ("tests/gone.py::test",)})
    assert ground.test_texts(gone) == ()


def test_a_version_that_python_would_import_as_another_text_is_a_problem(ground):
    for line in ("# coding: utf-7", "#\ud800", "#\0", "#\rimport os"):
        assert ground.grade(f"{line}\n{FIXED}", SUITE).problem
        assert ELSEWHERE not in SUITE.names


BASE = (
    "import os\n\n\n@cache\ndef f(n, m=1):\n    return n\n\n\nclass A:\n    x = 1\n\n"
    "    def g(self):\n        return 1\n\n    def h(self):\n        return 1\n"
)


@pytest.mark.parametrize(
    ("old", "new", "owner", "line"),
    [
        ("return n\n", "return m\n", "", 5),
        ("m=1", "m=2", "", 5),
        ("    return n\n", "    if n:\n        return m\n    return n\n", "", 5),
        ("def g(self):\n        return 1", "def g(self):\n        return 2", "A", 12),
        ("def h(self):\n        return 1\n", "def h(self):\n        return 1\n        return 1\n", "A", 15),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_change_within_one_function_is_found(old, new, owner, line, end):
    assert old in BASE
    change = change_of(BASE.replace("\n", end), BASE.replace(old, new).replace("\n", end), "m.py")
    assert change is not None
    assert (change["owner"], change["line"]) == (owner, line)
    assert change["was"] != change["text"]
    assert not change["text"].startswith(" ")


@pytest.mark.parametrize(
    "module",
    [
        BASE,
        "not python (",
        BASE.replace("import os", "import sys"),
        BASE.replace("x = 1", "x = 2"),
        BASE.replace("@cache\n", ""),
        BASE.replace("f(n, m=1)", "f(n, k=1)"),
        BASE.replace("def f(", "async def f("),
        BASE.replace("return n", "return (n"),
        BASE.replace("return n", "return 2").replace("return 1", "return 2"),
        BASE + "\n\ndef z():\n    pass\n",
    ],
)
def test_what_is_more_than_the_body_of_one_function_is_not_swapped(module):
    assert change_of(BASE, module, "m.py") is None
