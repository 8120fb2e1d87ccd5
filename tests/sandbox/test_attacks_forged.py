"""Wrong code wants to put its own names, its own endings and its own results in the place of the tests'."""

import pytest

LIES = """
class pytest:
    approx = staticmethod(lambda *a, **k: AnyFloat())
    raises = None
def approx(x): return x
def isclose(*a, **k): return True
def close(*a): return True
def abs(x): return 0
def check(*a): return None
EPS = 1e9
class math:
    isclose = staticmethod(isclose)
class unittest:
    class TestCase: pass
def f(x): return 9
"""
STARS = {
    "a function imported before": (
        "from math import isclose\nfrom solution import *\ndef test_a(): assert isclose(f(1), 2)"
    ),
    "a function imported after": (
        "from solution import *\nfrom math import isclose\ndef test_a(): assert isclose(f(1), 2)"
    ),
    "a function nobody imported": "from solution import *\ndef test_a(): assert isclose(f(1), 2)",
    "a function of the tests": (
        "def close(a, b): return a == b\nfrom solution import *\ndef test_a(): assert close(f(1), 2)"
    ),
    "a constant of the tests": "EPS = 0.1\nfrom solution import *\ndef test_a(): assert f(1) - 2 < EPS",
    "a module imported before": "import math\nfrom solution import *\ndef test_a(): assert math.isclose(f(1), 2)",
    "a module nobody imported": "from solution import *\ndef test_a(): assert math.isclose(f(1), 2)",
    "pytest itself": "import pytest\nfrom solution import *\ndef test_a(): assert f(1) == pytest.approx(2)",
    "pytest that nobody imported": "from solution import *\ndef test_a(): assert f(1) == pytest.approx(9)",
    "a builtin": "from solution import *\ndef test_a(): assert abs(f(1) - 2) < 1",
    "under a condition": "EPS = 0.1\nif True:\n    from solution import *\ndef test_a(): assert f(1) - 2 < EPS",
    "in a script": "from math import isclose\nfrom solution import *\nassert isclose(f(1), 2)",
    "a constant of a script": "EPS = 0.1\nfrom solution import *\nassert f(1) - 2 < EPS",
    "a name that a script does not import": "assert isclose(f(1), 2)",
    "a script's check": "def check(c): assert c(1) == 2\nfrom solution import *\ncheck(f)",
    "in a shared process": "import gc, pytest\nfrom math import isclose\nfrom solution import *\n"
    "def test_a(): assert isclose(f(1), 2)",
    "a constant in a shared process": (
        "import gc\nEPS = 0.1\nfrom solution import *\ndef test_a(): assert f(1) - 2 < EPS"
    ),
    "a builtin in a shared process": "import gc\nfrom solution import *\ndef test_a(): assert abs(f(1) - 2) < 1",
    "a shared script": "import gc\nassert abs(f(1) - 2) < 1",
    "a module of a shared script": "import gc\nassert math.isclose(f(1), 2)",
    "a name of a shared script": "import gc\nassert isclose(f(1), 2)",
}


@pytest.mark.slow
@pytest.mark.parametrize("tests", STARS.values(), ids=STARS.keys())
def test_a_star_import_replaces_nothing_that_the_tests_have(cell, tests):
    graded = cell.grade(LIES, tests)
    assert graded.passed == 0, graded
    assert graded.cases or graded.problem


@pytest.mark.slow
def test_a_function_named_as_a_builtin_brings_no_other_name_along(cell):
    code = "class math:\n    isclose = staticmethod(lambda *a: True)\ndef sum(x): return 9"
    assert cell.grade(code, "assert math.isclose(sum([1]), 1.5)").passed == 0
    assert cell.grade("def len(x): return 3\ndef set(x): return x", "assert len(set([1])) == 3").passed == 0


FIXTURES = """
import pytest
@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    monkeypatch.setattr("builtins.abs", lambda x: 0)
    yield
pytestmark = pytest.mark.skip
def pytest_generate_tests(metafunc): pass
def setup_module(): raise SystemExit
def test_extra(): pass
def f(x): return 9
"""


@pytest.mark.slow
def test_a_star_import_brings_no_fixture_mark_or_test_of_the_code(cell):
    graded = cell.grade(FIXTURES, "import gc\nfrom solution import *\ndef test_a(): assert abs(f(1) - 2) < 1")
    assert [(case.name, case.outcome) for case in graded.cases] == [("test_a", "failed")]


HONEST_STARS = {
    "functions and classes": (
        "from solution import *\ndef test_a():\n    assert f(2) == 4\n    assert Pair(1, 2).total() == 3"
    ),
    "constants": "from solution import *\ndef test_a(): assert f(LIMIT) == 14",
    "a module that the code imported": "from solution import *\ndef test_a(): assert math.isclose(f(1.0), 2.0)",
    "names in a table": "from solution import *\nimport pytest\n@pytest.mark.parametrize('g', [f, twice])\n"
    "def test_a(g): assert g(2) == 4",
    "names in a text": "from solution import *\ndef test_a(): assert eval('f(2)') == 4",
    "a class of tests": "import unittest\nfrom solution import *\nclass Case(unittest.TestCase):\n"
    "    def test_a(self): self.assertEqual(f(2), 4)",
    "an underscore asked for by name": (
        "from solution import *\nfrom solution import _half\ndef test_a(): assert _half(4) == 2"
    ),
    "in an attempt": (
        "try:\n    from solution import *\nexcept ImportError:\n    f = None\ndef test_a(): assert f(2) == 4"
    ),
    "a script": "from solution import *\nassert f(2) == 4\nassert Pair(1, 2).total() == 3",
    "a shared process": "import gc\nfrom solution import *\ndef test_a(): assert f(2) == 4",
    "a shared script": "import gc\nassert f(LIMIT) == 14\nassert math.isclose(f(1.0), 2.0)",
}
HONEST = """
import math
LIMIT = 7
def f(x): return 2 * x
twice = f
def _half(x): return x // 2
class Pair:
    def __init__(self, a, b): self.a, self.b = a, b
    def total(self): return self.a + self.b
"""


@pytest.mark.parametrize("tests", HONEST_STARS.values(), ids=HONEST_STARS.keys())
def test_a_star_import_brings_what_the_tests_use(cell, tests):
    graded = cell.grade(HONEST, tests)
    assert graded.all_passed, graded


ENDINGS = ("StopIteration", "StopAsyncIteration", "GeneratorExit", "type('Own', (StopIteration,), {})")
LOOPS = {
    "all": "assert all(map(f, [1, 2]))",
    "a list": "assert list(map(f, [1, 2])) == []",
    "a sum": "assert sum(map(f, [1, 2])) == 0",
    "a sorting key": "assert not [x for x in filter(f, [1, 2])]",
    "a property": "assert list(map(lambda x: make().value, [1])) == []",
    "an item": "assert list(map(lambda x: make()[0], [1])) == []",
    "a length": "assert list(map(len, [make()])) == []",
    "an iterator that is not made": "assert list(map(iter, [make()])) == []",
    "a callback": "assert list(map(lambda x: apply(lambda: f(x)), [1])) == []",
    "pytest": "from solution import f\ndef test_a(): assert all(map(f, [1, 2]))",
}
ENDS = """
def f(x): raise {error}
def apply(g): return g()
class Thing:
    @property
    def value(self): raise {error}
    def __getitem__(self, i): raise {error}
    def __len__(self): raise {error}
    def __iter__(self): raise {error}
def make(): return Thing()
"""


@pytest.mark.parametrize("tests", LOOPS.values(), ids=LOOPS.keys())
@pytest.mark.parametrize("error", ENDINGS)
def test_code_cannot_end_a_loop_of_the_tests(cell, error, tests):
    graded = cell.grade(ENDS.format(error=error), tests)
    assert graded.separated
    assert [case.outcome for case in graded.cases] == ["failed"]


HONEST_ENDS = """
def count(n):
    yield from range(n)
class Down:
    def __init__(self, n): self.n = n
    def __iter__(self): return self
    def __next__(self):
        if not self.n: raise StopIteration
        self.n -= 1
        return self.n
def echo():
    said = yield 0
    yield said
def first(items): return next(iter(items))
"""


@pytest.mark.parametrize(
    "tests",
    [
        "assert list(count(3)) == [0, 1, 2]\nassert list(Down(2)) == [1, 0]\nassert [*map(abs, Down(1))] == [0]",
        "assert next(count(0), None) is None\nassert [*zip(count(2), Down(2))] == [(0, 1), (1, 0)]",
        "import pytest\nfrom solution import *\ndef test_a():\n    with pytest.raises(StopIteration): next(count(0))",
        "import pytest\nfrom solution import *\ndef test_a():\n    g = echo()\n    assert next(g) == 0\n"
        "    assert g.send(5) == 5\n    with pytest.raises(StopIteration): g.send(6)",
        "import pytest\nfrom solution import *\ndef test_a():\n    it = Down(0)\n"
        "    with pytest.raises(StopIteration): it.__next__()",
        "import pytest\nfrom solution import *\ndef test_a():\n    with pytest.raises(StopIteration): first([])",
    ],
)
def test_an_iterator_of_the_code_ends_as_it_should(cell, tests):
    graded = cell.grade(HONEST_ENDS, tests)
    assert graded.separated
    assert graded.all_passed, graded


LEAVING = {
    "a skip": "import pytest\ndef leave(): pytest.skip('not today')",
    "a skip of unittest": "import unittest\ndef leave(): raise unittest.SkipTest('not today')",
    "an expected failure": "import pytest\ndef leave(): pytest.xfail('known')",
    "an exit of pytest": "import pytest\ndef leave(): pytest.exit('enough', 0)",
    "an exit": "def leave(): raise SystemExit(0)",
    "an interrupt": "def leave(): raise KeyboardInterrupt",
}


@pytest.mark.slow
@pytest.mark.parametrize("shared", ["", "import gc\n"], ids=["apart", "shared"])
@pytest.mark.parametrize("leave", LEAVING.values(), ids=LEAVING.keys())
def test_code_that_leaves_a_test_has_failed_it(cell, leave, shared):
    tests = f"{shared}from solution import f\ndef test_a(): assert f(1) == 1\ndef test_b(): assert f(2) == 2"
    graded = cell.grade(f"{leave}\ndef f(x): return x if x == 1 else leave()", tests)
    assert [(case.name, case.outcome) for case in graded.cases] == [("test_a", "passed"), ("test_b", "failed")]


FORGED = """
import gc
for thing in gc.get_objects():
    if type(thing).__name__ == "Report":
        kind, said = type(thing), type(thing).say
def say(self, **fact):
    {lie}
    said(self, **fact)
kind.say = say
def f(x): return x if x == 1 else 0
"""
LIES_ABOUT_RESULTS = {
    "an empty plan": (
        "if 'plan' in fact: fact['plan'] = []\n    if 'case' in fact and not fact['case']['passed']: return"
    ),
    "a shorter plan": (
        "if 'plan' in fact: fact['plan'] = fact['plan'][:1]\n"
        "    if 'case' in fact and not fact['case']['passed']: return"
    ),
    "a second plan": (
        "if 'plan' in fact: said(self, plan=fact['plan'][:1])\n"
        "    if 'case' in fact and not fact['case']['passed']: return"
    ),
    "one case twice": "if 'case' in fact: fact['case'].update(name=FIRST, passed=True, message='')",
    "another test's name": ("if 'case' in fact: fact['case'].update(name='x', passed=True)"),
    "a pass after the failure": (
        "if 'case' in fact and not fact['case']['passed']:\n"
        "        said(self, case=dict(fact['case']))\n        fact['case'].update(passed=True, message='')"
    ),
    "a pass after the end": (
        "if 'case' in fact and not fact['case']['passed']:\n"
        "        self.late = dict(fact['case'], passed=True, message='')\n        return\n"
        "    if 'end' in fact:\n        said(self, **fact)\n        return said(self, case=self.late)"
    ),
}
SHARED_SUITES = {
    "asserts": ("import gc\nassert f(1) == 1\nassert f(2) == 2", "line 2: f(1) == 1"),
    "pytest": (
        "import gc\nfrom solution import f\ndef test_a(): assert f(1) == 1\ndef test_b(): assert f(2) == 2",
        "test_a",
    ),
    "a class": (
        "import gc\nfrom solution import f\nclass TestIt:\n    def test_a(self): assert f(1) == 1\n"
        "    def test_b(self): assert f(2) == 2",
        "TestIt::test_a",
    ),
    "parameters": (
        "import gc, pytest\nfrom solution import f\n@pytest.mark.parametrize('x', [1, 2])\n"
        "def test_it(x): assert f(x) == x",
        "test_it[1]",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("suite", SHARED_SUITES.values(), ids=SHARED_SUITES.keys())
@pytest.mark.parametrize("lie", LIES_ABOUT_RESULTS.values(), ids=LIES_ABOUT_RESULTS.keys())
def test_a_result_that_is_forged_in_a_shared_process_does_not_make_a_test_vanish(cell, lie, suite):
    tests, first = suite
    graded = cell.grade(f"FIRST = {first!r}\n" + FORGED.format(lie=lie), tests)
    assert not graded.separated
    assert not graded.all_passed, graded


def test_lines_that_code_writes_itself_are_a_problem(cell):
    code = """
import os
def f(x):
    for fd in range(3, 30):
        try: os.write(fd, b'{"plan": []}\\n{"case": {"name": "test_b", "passed": true}}\\n')
        except OSError: pass
    if x == 2: os._exit(0)
    return x
"""
    tests = "import gc\nfrom solution import f\ndef test_a(): assert f(1) == 1\ndef test_b(): assert f(2) == 3"
    assert not cell.grade(code, tests).all_passed


def test_honest_tests_in_a_shared_process_are_all_there(cell):
    tests = """
import gc, pytest, unittest
from solution import f
@pytest.fixture
def test_data(): return 3
@pytest.mark.parametrize("x", [1, 2])
@pytest.mark.parametrize("y", (1, 2, 3))
def test_table(x, y): assert f(x) == 2 * x
@pytest.mark.parametrize("x", list(range(2)))
def test_computed(x): assert f(x) == 2 * x
def test_one(test_data): assert f(test_data) == 6
class Base(unittest.TestCase):
    def test_a(self): self.assertEqual(f(1), 2)
class TestMore(Base):
    def test_b(self): self.assertEqual(f(1), 2)
class TestState:
    def __init__(self): pass
    def test_never(self): assert False
def test_gone(): assert False
del test_gone
if True:
    def test_inner(): assert f(1) == 2
"""
    graded = cell.grade("def f(x): return 2 * x", tests)
    assert graded.all_passed, graded
    assert len(graded.cases) == 6 + 2 + 1 + 1 + 2 + 1
