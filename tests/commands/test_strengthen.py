"""`burnish.strengthen` on small projects, in a real sandbox: weak tests become strong, what is there stays."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import burnish
from burnish import ScriptedModel
from burnish.checks.mutation.check import MutationDetails
from burnish.checks.verdict import Watcher
from burnish.commands.strengthen import read_new_tests, render_diff
from burnish.events import Decided, FilesWritten, Mutated, Strengthened
from burnish.runs import Run, Store
from tests.support import assert_words, block, refused

PRICES = '''"""Prices."""


def discounted(price, percent):
    """The price with a discount.

    >>> discounted(50, 50)
    25.0
    """
    if percent > 100:
        raise ValueError("no such discount")
    return price * (100 - percent) / 100


class Cart:
    def __init__(self, prices):
        self.prices = prices

    def total(self, tax=0):
        return sum(self.prices) + tax * 2
'''
WEAK = """from shop.prices import Cart, discounted


def test_discounted():
    assert discounted(100, 0) == 100


def test_total():
    assert Cart([1, 2]).total() == 3
"""
STRONG = """from shop.prices import size


def test_size():
    assert [size(n) for n in (-1, 8, 9, 10, 11, 12)] == ["small", "small", "small", "large", "large", "large"]
"""
SIZE = 'def size(n):\n    """In words."""\n    return "small" if n < 10 else "large"\n'
LEAST = "def least(a, b):\n    return a if a < b else b\n"
TEST_LEAST = "from shop.prices import least\n\n\ndef test_it():\n    assert [least(1, 2), least(3, 2)] == [1, 2]\n"

Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """A project with a package `shop`, its module `prices` and a file of tests."""

    def made(code: str = PRICES, tests: str = WEAK) -> Path:
        root = tmp_path / "project"
        for name, text in {
            "pyproject.toml": "",
            "shop/__init__.py": "",
            "shop/prices.py": code,
            "tests/test_prices.py": tests,
        }.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return root

    return made


def strengthened(root: Path, store: Store, model: object = None, **more: object) -> Run:
    return burnish.strengthen(root / "tests", root / "shop", model, store=store, **more)  # type: ignore[arg-type]


def last(run: Run) -> Strengthened:
    done = run.last(Strengthened)
    assert done is not None
    return done


def before(run: Run) -> Mutated:
    found = run.last(Mutated)
    assert found is not None
    return found


def on_disk(root: Path) -> dict[str, str]:
    return {str(file.relative_to(root)): file.read_text() for file in root.rglob("*") if file.is_file()}


@pytest.mark.slow
def test_a_weak_suite_becomes_strong_and_says_who_vouches_for_what(make, store):
    root = make()
    was = on_disk(root)
    run = strengthened(root, store)
    assert run.verdict == "proven", run.why
    assert run.started.verb == "strengthen"
    done = last(run)
    origins = {test.test: test.origin for test in done.tests}
    assert origins["assert discounted(50, 50) == 25.0"] == "spec"
    assert any(test.startswith("with pytest.raises(ValueError)") for test in origins)
    assert any(".total(tax=" in test for test in origins), "an option that no test sets is set"
    assert before(run).noticed < done.noticed, "what the docstring vouches for"
    assert done.noticed + done.pinned >= before(run).mutants - 4, "the words of the error are all that is left"
    assert_words(run.why)
    assert on_disk(root) == was, "nothing is written without being asked"
    [text] = read_new_tests(run, store).values()
    assert "from shop.prices import Cart, discounted\n" in text
    assert text.count("# Pinned: ") == sum(origin == "pinned" for origin in origins.values())
    assert "--- /dev/null\n+++ b/tests/test_prices_more.py\n" in render_diff(read_new_tests(run, store))


@pytest.mark.slow
def test_applied_twice_the_second_file_has_nothing_to_add_and_no_file_is_touched(make, store):
    root = make()
    (root / "tests/test_prices_more.py").write_text('"""Mine."""\n')
    run = strengthened(root, store, apply=True)
    written = run.last(FilesWritten)
    assert written is not None
    assert written.files == ("tests/test_prices_more_2.py",)
    assert (root / "tests/test_prices_more.py").read_text() == '"""Mine."""\n'
    assert (root / "tests/test_prices.py").read_text() == WEAK
    assert sorted(file.name for file in (root / "tests").iterdir()) == [
        "test_prices.py",
        "test_prices_more.py",
        "test_prices_more_2.py",
    ], "nothing half written is left"
    again = strengthened(root, store, apply=True)
    assert before(again).noticed == last(run).noticed + last(run).pinned
    assert not last(again).tests
    assert again.last(FilesWritten) is None
    assert not any("_3" in file.name for file in (root / "tests").iterdir())


@pytest.mark.slow
def test_code_whose_changes_are_all_noticed_gets_nothing(make, store):
    run = strengthened(make(SIZE, STRONG), store)
    assert before(run).mutants == before(run).noticed > 0
    assert (last(run).tests, read_new_tests(run, store)) == ((), {})
    assert_words(run.why)


@pytest.mark.slow
def test_a_change_that_no_input_tells_apart_does_not_count_and_is_told_apart(make, store):
    run = strengthened(make(LEAST, TEST_LEAST), store)
    assert (before(run).noticed, before(run).mutants, before(run).survivors) == (3, 3, ())
    assert (before(run).equivalent, last(run).tests) == (1, ())
    assert_words(run.why)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "tests", "settings"),
    [
        (PRICES, WEAK, ""),
        (LEAST, TEST_LEAST, ""),
        (PRICES, WEAK, "[tool.burnish]\nmutants = 5\n"),
        (PRICES, WEAK, "[tool.pytest.ini_options]\naddopts = '--doctest-modules'\n"),
    ],
    ids=["branches", "equivalent", "a sample", "examples that the project runs"],
)
def test_mutants_count_as_check_counts_them(code, tests, settings, make, store):
    root = make(code, tests)
    (root / "pyproject.toml").write_text(settings)
    checked = burnish.check(root / "shop", root / "tests", ["mutation"])["mutation"]
    found = MutationDetails.read(checked)
    was = before(strengthened(root, store))
    assert was.figure == checked.figure
    assert (was.mutants, was.noticed) == (found.tried, found.killed + found.timeout + found.suspicious)
    assert (was.equivalent, was.inputs) == (found.equivalent, found.inputs)
    assert {one.key for one in was.survivors} == {one.rule for one in found.findings}


@pytest.mark.slow
def test_a_docstring_that_says_something_else_than_the_code_is_a_finding_and_no_test(make, store):
    code = 'def size(n):\n    """Sizes.\n\n    >>> size(12)\n    \'big\'\n    """\n' + SIZE.split("\n", 2)[2]
    run = strengthened(make(code, STRONG), store, apply=True)
    assert run.verdict == "failed"
    [exposing] = last(run).exposing
    assert_words(exposing)
    assert run.last(FilesWritten) is None


@pytest.mark.slow
def test_what_the_clock_decides_is_never_pinned(make, store):
    code = "import time\n\n\ndef age(born):\n    return time.gmtime().tm_year - born\n"
    tests = "from shop.prices import age\n\n\ndef test_it():\n    assert age(1) > 0\n"
    run = strengthened(make(code, tests), store)
    assert not last(run).tests
    [passed_over] = run.all(Decided)
    assert_words(f"{passed_over.reason}\n{run.why}")


@pytest.mark.slow
def test_what_an_array_or_a_date_holds_can_be_pinned(make, store):
    code = (
        "import datetime\n\n\nclass Row:\n    def __init__(self, items):\n        self._items = items\n\n"
        "    def tolist(self):\n        return self._items\n\n\n"
        "def row(n, step=1):\n    return Row([n, n + step])\n\n\n"
        "def day(n):\n    return datetime.date(2020, 1, n + 1)\n"
    )
    tests = "from shop.prices import day, row\n\n\ndef test_it():\n    assert row(1) and day(1)\n"
    run = strengthened(make(code, tests), store)
    added = [one.test for one in last(run).tests]
    assert any(".tolist() == [" in test for test in added)
    assert any(test.startswith("assert day(") and ".isoformat() == '2020-01-" in test for test in added)
    assert {one.origin for one in last(run).tests} == {"pinned"}


@pytest.mark.slow
def test_answers_that_no_test_can_state_are_not_called_functions_that_could_not_be_called(make, store):
    code = "import re\n\n\ndef pattern(n):\n    return re.compile(str(n + 1))\n"
    tests = "from shop.prices import pattern\n\n\ndef test_it():\n    assert pattern(1)\n"
    run = strengthened(make(code, tests), store)
    [passed_over] = run.all(Decided)
    assert_words(f"{passed_over.reason}\n{run.why}")


@pytest.mark.slow
def test_versions_that_a_model_writes_from_the_docstring_vouch_for_values(make, store):
    code = 'def size(n):\n    """\'small\' below ten, else \'large\'."""\n' + SIZE.split("\n", 2)[2]
    tests = "from shop.prices import size\n\n\ndef test_it():\n    assert size(3) == 'small'\n"
    answer = block('def size(n):\n    if n >= 10:\n        return "large"\n    return "small"')
    wrong = block('def size(n):\n    return "tiny"')
    model = ScriptedModel({"": [answer, wrong, answer, answer]})
    run = strengthened(make(code, tests), store, model)
    assert {test.origin for test in last(run).tests} == {"agreed"}
    assert_words(last(run).tests[0].why)
    assert (last(run).noticed, last(run).pinned) == (before(run).mutants, 0)
    assert not any('"large"' in message.content for asked in model.asked for message in asked.messages), "no body"


@pytest.mark.slow
def test_versions_that_all_contradict_the_code_are_a_finding(make, store):
    code = 'def size(n):\n    """\'small\' below eleven, else \'large\'."""\n' + SIZE.split("\n", 2)[2]
    tests = "from shop.prices import size\n\n\ndef test_it():\n    assert size(3) == 'small'\n    assert size(20)\n"
    one = block('def size(n):\n    return "small" if n < 11 else "large"')
    other = block('def size(n):\n    if n > 10:\n        return "large"\n    return "small"')
    run = strengthened(make(code, tests), store, ScriptedModel({"": [one, other]}))
    assert run.verdict == "failed"
    assert_words(last(run).exposing[0])


HOSTILE = """import os
import pathlib


def forever(n):
    while n > 3:
        pass
    return n


def leaves(n):
    if n > 5:
        os._exit(0)
    return n + 1


def scribbles(n):
    try:
        pathlib.Path(__file__).with_name("scribble.txt").touch()
        pathlib.Path("{outside}").touch()
    except OSError:
        pass
    return n + 1
"""


@pytest.mark.slow
def test_hostile_code_does_no_harm(make, store, tmp_path):
    outside = tmp_path / "outside.txt"
    names = ("forever", "leaves", "scribbles")
    calls = "".join(f"    assert {name}(1) is not None\n" for name in names)
    tests = f"from shop.prices import {', '.join(names)}\n\n\ndef test_it():\n{calls}"
    root = make(HOSTILE.replace("{outside}", str(outside)), tests)
    was = on_disk(root)
    run = strengthened(root, store, seconds=40)
    assert run.verdict == "proven", run.why
    assert on_disk(root) == was
    assert not outside.exists()
    assert not any(word in test.test for test in last(run).tests for word in ("forever(4", "leaves(6", "leaves(7"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "tests"),
    [
        (PRICES, "def test_it():\n    assert 1 == 2\n"),
        (PRICES, "import nosuch\n"),
        (PRICES, "x = 1\n"),
        ("X = 1\n", "def test_it():\n    assert True\n"),
        ("def f(:\n", "def test_it():\n    assert True\n"),
    ],
    ids=["failing", "broken", "no test", "nothing to change", "no Python"],
)
def test_what_cannot_be_strengthened_is_one_paragraph_and_no_run(code, tests, make, store):
    with refused():
        strengthened(make(code, tests), store)
    assert not store.list()


def test_a_function_that_is_not_there_gets_the_nearest_names(make, store):
    with refused():
        strengthened(make(), store, function="Cart.totl")


@pytest.mark.slow
def test_one_function_alone_can_be_meant_and_only_what_somebody_vouches_for_be_written(make, store):
    run = strengthened(make(), store, function="discounted", pinned=False)
    assert before(run).survivors
    assert all("discounted__" in one.key for one in before(run).survivors)
    assert {test.origin for test in last(run).tests} == {"spec"}
    assert last(run).pinned == 0


@pytest.mark.slow
def test_ctrl_c_is_on_record_and_leaves_nothing_behind(make, store):
    class Impatient(Watcher):
        def begin(self, check: str) -> None:
            if check == "mutants":
                raise KeyboardInterrupt

    root = make()
    was = on_disk(root)
    with pytest.raises(KeyboardInterrupt):
        strengthened(root, store, apply=True, watch=Impatient())
    run = store.open("last")
    assert run.state == "interrupted"
    assert on_disk(root) == was


def test_a_folder_that_cannot_be_written_is_refused_before_any_work(make, store, monkeypatch):
    root = make()
    monkeypatch.setattr(os, "access", lambda place, mode: False)
    with refused():
        strengthened(root, store, apply=True)
