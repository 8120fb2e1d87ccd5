"""Failing tests point at the function that is broken, and those it cannot reach are left aside."""

import sys
from pathlib import Path

import pytest

from burnish.checks.bench.check_context import CheckContext
from burnish.checks.bench.fault_localisation import (
    OriginalRun,
    choose_deciding,
    is_example_of,
    rank_places,
    read_original,
    run_watched,
    show_test,
)
from burnish.checks.bench.project_finder import find_project
from burnish.checks.bench.project_run import CaseReport
from tests.checks.project_support import made
from tests.checks.shop import CART, COUNT, ELSEWHERE, EXAMPLE, TAX, TOTAL, shop


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> OriginalRun:
    project = find_project([shop(tmp_path_factory.mktemp("shop")) / "shop/cart.py"], python=sys.executable)
    with CheckContext(project) as context:
        source = Path("shop/cart.py")
        return read_original(run_watched(project, context, (source,)), source, CART)


def rank(before: OriginalRun, text: str = "", root: Path = Path("/nowhere")) -> list[str]:
    return [place.function for place in rank_places(before, Path("m.py"), text, root)]


@pytest.mark.slow
def test_the_function_that_failing_tests_share_and_passing_ones_do_not_comes_first(before):
    assert rank(before, CART) == ["Cart.total", "Cart.__init__"]


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
    assert rank(OriginalRun(failing=said("t1"), touched=touched, frames={"t1": ("b",)})) == ["b", "a"]


def test_a_failing_example_speaks_of_its_own_function():
    test = "m.py::m.Box.get"
    touched = {"Box.__init__": frozenset({test}), "Box.get": frozenset({test})}
    assert rank(OriginalRun(failing=said(test), touched=touched))[0] == "Box.get"
    assert is_example_of("a/m.py::a.m.f", "f")
    assert not is_example_of("test_m.py::test_f", "f")


def test_where_the_file_does_not_parse_the_files_that_import_it_decide():
    broken = {"tests/test_a.py": CaseReport("tests/test_a.py", "failed")}
    assert choose_deciding(OriginalRun(broken=broken), "f", parses=False).failing == ("tests/test_a.py",)
    assert choose_deciding(OriginalRun(broken=broken), "f").aside == ("tests/test_a.py",)


MODULE = """\
def parse(text):
    return clean(text).split(",")


def clean(text):
    return text.lower()


class Box:
    def __init__(self, size):
        self._size = size

    @property
    def size(self):
        return self._size

    @size.setter
    def size(self, value):
        raise ValueError(value)


def run_at_import():
    return clean(1)


def no_size(text):
    return len(text)
"""
TESTS = """\
import threading

import m


def test_refused():
    assert m.parse("a", strict=True) == ["a"]


def test_setter():
    m.Box(1).size = 2


def test_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(m.no_size("a")))
    thread.start()
    thread.join()
    assert found == [2]


def test_value():
    found = m.parse("A")
    assert found == ["A"]
"""


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> tuple[OriginalRun, Path]:
    root = tmp_path_factory.mktemp("odd")
    (root / "pyproject.toml").touch()
    (root / "m.py").write_text(MODULE)
    (root / "test_m.py").write_text(TESTS)
    (root / "test_import.py").write_text("import m\n\nVALUE = m.run_at_import()\n\n\ndef test_it():\n    pass\n")
    project = find_project([root / "m.py"], tests=[root / "test_m.py", root / "test_import.py"], python=sys.executable)
    with CheckContext(project) as context:
        return read_original(run_watched(project, context, (Path("m.py"),)), Path("m.py"), MODULE), root


@pytest.mark.slow
@pytest.mark.parametrize(
    ("test", "function"),
    [
        ("test_m.py::test_refused", "parse"),  # the call does not fit, so no line of it ever runs
        ("test_m.py::test_setter", "Box.size"),  # the name belongs to the getter as well
        ("test_m.py::test_thread", "no_size"),
        ("test_m.py::test_value", "parse"),  # what the failing line speaks of was made by it
        ("test_import.py", "clean"),  # the file cannot be imported, so there is no test that runs it
    ],
)
def test_no_failing_test_is_said_to_run_nothing_of_the_file_that_it_fails_in(odd, test, function):
    before, root = odd
    found = rank_places(before, Path("m.py"), MODULE, root, [test])
    assert found[0].function == function
    assert test in choose_deciding(before, function, [test]).failing


@pytest.mark.slow
def test_the_function_that_a_suspect_calls_comes_after_it(odd):
    before, root = odd
    found = rank_places(before, Path("m.py"), MODULE, root, ["test_m.py::test_value"])
    assert [place.function for place in found[:2]] == ["parse", "clean"]
    assert "called" in found[1].clues


def test_where_nothing_was_measured_the_names_in_the_test_still_point(tmp_path):
    (tmp_path / "test_m.py").write_text(TESTS)
    touched = dict.fromkeys(("no_size", "parse", "clean"), frozenset[str]())
    failing = said("test_m.py::test_value")
    assert rank(OriginalRun(failing=failing, touched=touched, has_cover=False), MODULE, tmp_path)[0] == "parse"
    assert choose_deciding(OriginalRun(failing=failing, touched=touched, has_cover=False), "parse").failing


LONG = "".join(f"    value_{n} = {'x' * 90!r}\n" for n in range(20))
SHOWN = f'''\
class TestPage:
    def test_head(self, text):
        """About heads."""
        page = make(text)
        assert page.head == "A"  # the one that fails
        assert page.tail == "Z"


def test_long():
{LONG}    assert value_19 == value_18
'''


def test_a_failing_test_is_shown_as_far_as_it_came(tmp_path):
    (tmp_path / "test_page.py").write_text(SHOWN)
    name = "test_page.py::TestPage::test_head"
    report = CaseReport(name, "failed", file="test_page.py", line=5)
    assert show_test(tmp_path, f"{name}[one two]", report).splitlines() == [
        "def test_head(self, text):  # with one two",
        "    page = make(text)",
        "    assert page.head == 'A'",
    ]
    assert "tail" in show_test(tmp_path, name, CaseReport(name, "failed")), "all of it where the line is not known"


def test_of_a_long_failing_test_the_end_is_shown_and_of_none_nothing(tmp_path):
    (tmp_path / "test_page.py").write_text(SHOWN)
    name = "test_page.py::test_long"
    shown = show_test(tmp_path, name, CaseReport(name, "failed", file="test_page.py", line=30)).splitlines()
    assert (shown[0], shown[1].strip(), shown[-1]) == ("def test_long():", "...", "    assert value_19 == value_18")
    assert sum(map(len, shown)) < 1000
    for gone in ("test_page.py::test_gone", "gone.py::test_long", "words.txt", name.replace("test_long", "TestPage")):
        assert show_test(tmp_path, gone, CaseReport(gone, "failed")) == ""


@pytest.mark.slow
def test_a_test_that_passes_only_while_lines_are_watched_fails(tmp_path: Path) -> None:
    """A debugger, and what measures coverage, are seen by `sys.gettrace`."""
    code = "import sys\n\n\ndef is_watched():\n    return sys.gettrace() is not None\n"
    test = "from code_ import is_watched\n\n\ndef test_it():\n    assert is_watched()\n"
    project = made(tmp_path, {"code_.py": code, "test_it.py": test})
    with CheckContext(project) as context:
        run = run_watched(project, context, [Path("code_.py")])
    assert [test.id for test in run.failures] == ["test_it.py::test_it"]
    assert rank(read_original(run, Path("code_.py"), code), code) == ["is_watched"]
