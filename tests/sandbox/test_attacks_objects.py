"""Wrong code answers with an object of its own that agrees with whatever the tests compare it to."""

import pytest

LIAR = """
class Liar:
    def __init__(self, *args): pass
    def __sub__(self, other): return 0
    def __eq__(self, other): return True
    def __lt__(self, other): return True
    def __bool__(self): return True
    def __len__(self): return 3
    def __call__(self, *args, **named): return self
    def __getattr__(self, name):
        if name[:2] == "__": raise AttributeError(name)
        return self
    __hash__ = None
    __rsub__ = __add__ = __radd__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __and__ = __or__ = __sub__
    __ne__ = __gt__ = __le__ = __ge__ = __contains__ = __eq__
    __abs__ = __round__ = lambda self, *a: 0
"""
AS_CLASS = LIAR.replace("Liar", "f")
"""The tested function is a class."""
AS_RESULT = f"{LIAR}\ndef f(x): return Liar()\n"
"""The tested function returns an object of a class that nobody asked for."""
AS_ITEM = f"{LIAR}\ndef f(x): return [Liar(), Liar()]\n"
UNITTEST = "import unittest\nfrom solution import f\nclass T(unittest.TestCase):\n    def test_a(self): self."
PYTEST = "import pytest\nfrom solution import f\ndef test_a():\n    assert "
STARRED = "from solution import *\ndef test_a():\n    assert "

ASKED = {
    "a small difference": "assert abs(f(1) - 2.5) < 1e-6",
    "a small difference the other way": "assert abs(2.5 - f(1)) <= 1e-6",
    "more than": "assert f(1) > 3",
    "between": "assert 1 < f(1) < 3",
    "holds": "assert 3 in f(1)",
    "a remainder": "assert f(1) % 7 == 0",
    "almost equal": f"{UNITTEST}assertAlmostEqual(f(1), 2.5)\n",
    "greater, by unittest": f"{UNITTEST}assertGreater(f(1), 2.5)\n",
    "in, by unittest": f"{UNITTEST}assertIn(2.5, f(1))\n",
    "approximately": f"{PYTEST}f(1) == pytest.approx(2.5)\n",
    "a pytest file": f"{PYTEST}abs(f(1) - 2.5) < 1e-6\n",
    "a starred import": f"{STARRED}abs(f(1) - 2.5) < 1e-6\n",
    "a prefix": "assert f(1).startswith('a')",
    "a subset": "assert f(1).issubset({1, 2})",
    "a superset": "assert f(1).issuperset({1, 2})",
    "nothing in common": "assert f(1).isdisjoint({1, 2})",
    "a position": "assert f(1).index(7) >= 0",
    "a found text": "assert f(1).find('a') != -1",
    "a table that equals": "assert f(1).equals([1, 2])",
    "a method fetched by name": "assert getattr(f(1), 'endswith')('a')",
    "a method of a method's answer": "assert f(1).strip().startswith('a')",
    "a method of an attribute": "assert f(1).name.startswith('a')",
    "a keyword argument": "assert f(1).is_relative_to(other='/a')",
    "a yes without a question": "assert f(1).isdigit()",
    "all of it": "assert f(1).all()",
    "a called helper": "def check(c):\n    assert abs(c(1) - 2.5) < 1e-6\ncheck(f)",
}
BOTH = [(code, test) for code in ("a class", "a result") for test in ASKED]


@pytest.mark.slow
@pytest.mark.parametrize(("what", "test"), BOTH, ids=[f"{code}, {test}" for code, test in BOTH])
def test_an_object_that_agrees_with_everything_is_not_believed(does_not_fool, what, test):
    does_not_fool({"a class": AS_CLASS, "a result": AS_RESULT}[what], ASKED[test])


ITEMS = {
    "every item is large": "assert all(v > 3 for v in f(1))",
    "every item is close": "assert all(abs(a - b) < 1e-6 for a, b in zip(f(1), [1.5, 2.5]))",
    "the first item is more": "assert len(f(1)) == 2 and f(1)[0] > 3",
    "the items are texts that begin so": "assert all(v.startswith('a') for v in f(1))",
    "the largest item is more": "assert max(f(1)) >= 3",
}


@pytest.mark.slow
@pytest.mark.parametrize("test", ITEMS)
def test_items_that_agree_with_everything_are_not_believed(does_not_fool, test):
    does_not_fool(AS_ITEM, ITEMS[test])


BASES = {
    "a list that has every position": ("list", "index", "assert f(1).index(7) == 0"),
    "a list that counts one of everything": ("list", "count", "assert f(1).count(7) == 1"),
    "a set that is in every set": ("set", "issubset", "assert f(1).issubset({8})"),
    "a set that is what is left": ("set", "intersection", "assert not f(1).intersection({7})"),
    "a text that begins with everything": ("str", "startswith", "assert f(1).startswith('a')"),
    "a number that is everything": ("float", "__sub__", "assert not abs(f(1) - 2.5) > 1e-6"),
    "a tuple that has every position": ("tuple", "index", "assert f(1).index(7) == 0"),
    "a table that has it": ("dict", "__contains__", "assert 7 in f(1)"),
    "a deque that has every position": ("deque", "index", "assert f(1).index(7) == 0"),
    "a date after every date": ("date", "__gt__", "import datetime\nassert f(1) > datetime.date(2020, 1, 1)"),
    "a decimal that is close": (
        "Decimal",
        "compare",
        "from decimal import Decimal\nassert not f(1).compare(Decimal(4))",
    ),
    "a path below everything": ("PurePosixPath", "is_relative_to", "assert f(1).is_relative_to('/a')"),
}
ARGUMENTS = {"date": "1999, 1, 1", "set": "[7]", "float": "9", "Decimal": "9", "PurePosixPath": "'/b'"}


@pytest.mark.slow
@pytest.mark.parametrize("what", BASES)
def test_a_subclass_of_a_plain_type_does_not_answer_for_it(does_not_fool, what):
    base, method, test = BASES[what]
    answer = {"index": "0", "__sub__": "0", "intersection": "0", "compare": "0"}
    imports = "from collections import deque\nfrom datetime import date\nfrom decimal import Decimal\n"
    imports += "from pathlib import PurePosixPath\n"
    code = f"class Liar({base}):\n    def {method}(self, *a): return {answer.get(method, 'True')}\n"
    does_not_fool(f"{imports}{code}def f(x): return Liar({ARGUMENTS.get(base, '')})\n", test)


OTHERS = {
    "a function with attributes": (
        "def f(x):\n    def g(): pass\n    g.startswith = lambda e: True\n    return g",
        "assert f(1).startswith('a')",
    ),
    "a class instead of an object": (
        "class Liar:\n    startswith = staticmethod(lambda e: True)\ndef f(x): return Liar",
        "assert f(1).startswith('a')",
    ),
    "a class as the method": (
        "class Liar:\n    class startswith:\n        def __init__(self, e): pass\ndef f(x): return Liar()",
        "assert f(1).startswith('a')",
    ),
    "a metaclass with operators": (
        "class Meta(type):\n    def __gt__(c, o): return True\nclass Liar(metaclass=Meta): pass\ndef f(x): return Liar",
        "assert f(1) > 3",
    ),
    "an exception with attributes": (
        "def f(x):\n    e = ValueError()\n    e.startswith = lambda e: True\n    return e",
        "assert f(1).startswith('a')",
    ),
    "a module with attributes": (
        "import types\ndef f(x):\n    m = types.ModuleType('m')\n    m.startswith = lambda e: True\n    return m",
        "assert f(1).startswith('a')",
    ),
    "a namespace with attributes": (
        "import types\ndef f(x): return types.SimpleNamespace(startswith=lambda e: True)",
        "assert f(1).startswith('a')",
    ),
    "a named tuple with attributes": (
        "import collections\nN = collections.namedtuple('N', 'equals')\ndef f(x): return N(lambda e: True)",
        "assert f(1).equals([1])",
    ),
    "an array that is itself compared": (
        "class f:\n    def __init__(s, x): pass\n    def __eq__(s, o): return s\n    def all(s): return True",
        "assert (f(1) == [1, 2]).all()",
    ),
    "a class called as a plain type": (
        "class Liar: pass\nLiar.__name__ = 'int'\ndef f(x): return Liar()",
        "assert type(f(1)).__name__ == 'int'",
    ),
    "a constant": (f"{LIAR}\nLIMIT = Liar()", "assert LIMIT > 3"),
    "the name of a class that the tests import": (
        f"{LIAR.replace('Liar', 'Decimal')}\ndef f(x): return Decimal()",
        "from decimal import Decimal as D\nassert f(1) > D(3)",
    ),
    "the same name for a class that the tests import": (
        f"{LIAR.replace('Liar', 'Decimal')}\nLiar = Decimal\ndef f(x): return Liar()",
        "from decimal import Decimal\nassert f(1) > Decimal(3)",
    ),
    "the name of a class that the tests define": (
        f"{LIAR.replace('Liar', 'Point')}\nLiar = Point\ndef f(x): return Liar()",
        "class Point: pass\nassert f(1) > 3",
    ),
    "a class of which a starred import brings the name": (
        AS_RESULT,
        f"{STARRED}f(1) > 3\n",
    ),
    "a class that calls itself an instance": (
        "class Meta(type):\n    def __instancecheck__(c, o): return True\n"
        f"class Money(metaclass=Meta): pass\n{AS_RESULT}",
        "assert isinstance(f(1), Money)",
    ),
    "a class made when it is needed": (
        "def f(x): return type('f', (), {'__gt__': lambda s, o: True})()",
        "assert f(1) > 3",
    ),
    "a function that is a class made by hand": (
        "f = type('f', (), {'__init__': lambda s, x: None, '__gt__': lambda s, o: True})",
        "assert f(1) > 3",
    ),
    "a class of another module's name": (
        f"{AS_CLASS}\nf.__module__ = 'math'",
        "assert f(1) > 3",
    ),
    "a callable object": (f"{AS_RESULT.replace('def f(x)', 'def g(x)')}\nf = Liar()", "assert f(1).startswith('a')"),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", OTHERS)
def test_there_is_no_other_way_to_agree_with_everything(does_not_fool, what):
    does_not_fool(*OTHERS[what])


COMPUTED = {
    "close": "import math\nassert math.isclose(f(1), 2.5)",
    "sorted": "assert sorted(f(1)) == [1, 2]",
    "a sum": "assert sum(f(1)) == 3",
    "a matched text": "import re\nassert re.match('a', f(1))",
    "its text": "assert str(f(1)) == 'a'",
    "its formatted text": "assert f'{f(1):.2f}' == '2.50'",
    "its JSON": "import json\nassert json.dumps(f(1)) == '3'",
    "its type": "assert isinstance(f(1), int)",
    "its exact type": "assert type(f(1)) is int",
    "a set of it": "assert {f(1)} == {3}",
    "a key": "assert {f(1): 1}[3] == 1",
    "a subset of its items": "assert set(f(1)) == {1, 2} and set(f(1)).issubset({1, 2, 3})",
    "its items twice": "r = f(1)\nassert list(r) == [1, 2] and sorted(r) == [1, 2]",
    "its length and first item": "assert len(f(1)) == 3 and f(1)[0] == 7",
    "its absolute value": "assert abs(f(1)) == 3",
    "its rounded value": "assert round(f(1), 1) == 2.5",
    "not itself": "assert not f(1) != 3",
    "a tuple with it": "assert (1, f(1)) == (1, 2)",
    "nothing": "assert f(1) is None",
}


@pytest.mark.parametrize("test", COMPUTED)
@pytest.mark.parametrize("code", [AS_CLASS, AS_RESULT], ids=["a class", "a result"])
def test_what_is_computed_from_it_is_not_believed_either(cell, code, test):
    graded = cell.grade(f"{code}\n{LIAR}    __class__ = int\n", COMPUTED[test], timeout_seconds=2)
    assert not graded.all_passed
    assert graded.separated


CLASSES = {
    "one that agrees": AS_CLASS,
    "one that is right": "class f(float): pass",
    "one that is an exception": "class f(Exception): pass",
    "one under another name": "class g(float): pass\nf = g",
}


@pytest.mark.parametrize("what", CLASSES)
@pytest.mark.parametrize("words", ["", "from unittest import mock\n"], ids=["apart", "together"])
def test_a_task_that_asks_for_a_function_accepts_no_class_in_its_place(cell, what, words):
    graded = cell.grade(CLASSES[what], f"{words}assert f(1)", kinds={"f": "function"})
    assert not graded.all_passed
    assert graded.problem


FUNCTIONS = {
    "a function": "def f(x): return x",
    "a cached one": "import functools\n@functools.lru_cache\ndef f(x): return x",
    "a part of another": "import functools\ndef g(y, x): return x\nf = functools.partial(g, 0)",
    "a lambda": "f = lambda x: x",
    "a built-in type": "f = int",
    "a method of an object": "class G:\n    def go(self, x): return x\nf = G().go",
    "a callable object": "class G:\n    def __call__(self, x): return x\nf = G()",
    "a decorated one": "class once:\n    def __init__(s, f): s.f = f\n    def __call__(s, x): return s.f(x)\n"
    "@once\ndef f(x): return x",
}


@pytest.mark.parametrize("what", FUNCTIONS)
def test_whatever_else_can_be_called_is_a_function(cell, what):
    graded = cell.grade(FUNCTIONS[what], "assert f(1) == 1\nassert abs(f(2) - 2) < 1e-6", kinds={"f": "function"})
    assert graded.all_passed
    assert graded.separated


def test_a_class_that_the_task_asks_for_answers_whatever_its_name_is(cell):
    code = "class money:\n    def __init__(s, n): s.n = n\n    def __gt__(s, o): return s.n > o\n"
    assert not cell.grade(code, "assert money(5) > 3").all_passed
    assert cell.grade(code, "assert money(5) > 3", kinds={"money": "class"}).all_passed
    assert not cell.grade(code.replace("money", "Money"), "assert Money(5) > 3", kinds={"Money": "function"}).all_passed


SWALLOWER = """
class Swallower:
    def __enter__(self): return GIVEN
    def __exit__(self, *told): return True
def f(): return Swallower()
"""
QUIET = "def f(g):\n    try: g(99)\n    except BaseException: pass\n"
TEST = "import pytest, contextlib\nfrom solution import f\ndef test_a():\n"
SWALLOWED = {
    "a failed assert in a with": (SWALLOWER.replace("GIVEN", "9"), "    with f() as r:\n        assert r == 3"),
    "an assert that is not reached": (
        SWALLOWER.replace("GIVEN", "None"),
        "    with f() as r:\n        rows = r.query()\n        assert rows == [3]",
    ),
    "an expected exception that is not reached": (
        SWALLOWER.replace("GIVEN", "None"),
        "    with f() as r:\n        with pytest.raises(ValueError): r.go()",
    ),
    "an expected exception that does not come": (
        SWALLOWER.replace("GIVEN", "int"),
        "    with f() as r:\n        with pytest.raises(ValueError): r('1')",
    ),
    "a stack of contexts": (
        SWALLOWER.replace("GIVEN", "9"),
        "    with contextlib.ExitStack() as stack:\n        r = stack.enter_context(f())\n        assert r == 3",
    ),
    "a generator as a context": (
        "import contextlib\n@contextlib.contextmanager\ndef f():\n    try: yield 9\n    except BaseException: pass",
        "    with f() as r:\n        assert r == 3",
    ),
    "another exception in its place": (
        SWALLOWER.replace("GIVEN", "9").replace("return True", "raise ValueError"),
        "    with pytest.raises(ValueError):\n        with f() as r:\n            assert r == 3",
    ),
    "a failed assert in a callback": (QUIET, "    def g(x): assert x == 3\n    f(g)"),
    "an assert that a callback does not reach": (QUIET, "    def g(x):\n        assert x.name == 'a'\n    f(g)"),
    "a callback that must not be called": (QUIET, "    f(lambda x: pytest.fail('called'))"),
    "an exception instead of a callback's": (
        QUIET.replace("pass", "raise ValueError"),
        "    def g(x): assert x == 3\n    with pytest.raises(ValueError): f(g)",
    ),
    "an iterator of the tests": (
        "def f(items):\n    try: return list(items)\n    except BaseException: return []",
        "    def g():\n        yield 1\n        assert 1 == 2\n    assert f(g()) == []",
    ),
    "a decorated helper": (
        "def f(g):\n    def h(*a):\n        try: return g(*a)\n        except BaseException: pass\n    return h",
        "    @f\n    def g(x): assert x == 4\n    g(3)",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", SWALLOWED)
def test_code_cannot_swallow_a_check_of_the_tests(does_not_fool, what):
    code, test = SWALLOWED[what]
    does_not_fool(code, f"{TEST}{test}\n")


def test_a_test_that_the_code_decorates_is_not_left_out_unseen(cell):
    tests = "from solution import f\n@f\ndef test_a(): assert 1 == 2\ndef test_b(): assert f\n"
    graded = cell.grade("def f(g):\n    def h(): pass\n    return h", tests)
    assert {case.name for case in graded.cases} == {"test_a", "test_b"}
    assert not graded.separated


@pytest.mark.slow
def test_a_variable_of_another_test_does_not_open_a_question(does_not_fool):
    code = f"{AS_RESULT}\nclass Box: volume = 3\ndef make(): return Box()\n"
    tests = "from solution import f, make\ndef test_a():\n    r = f(1).startswith('a')\n    assert r\n"
    does_not_fool(code, f"{tests}def test_b():\n    r = make()\n    assert r.volume == 3\n")


@pytest.mark.slow
def test_an_object_that_another_function_gave_before_is_asked_no_more_questions(does_not_fool):
    code = (
        f"{AS_RESULT.replace('return Liar()', 'return ONE')}\ndef make(): return ONE\nLiar.volume = 3\nONE = Liar()\n"
    )
    tests = "from solution import f, make\ndef test_a():\n    box = make()\n    assert box.volume == 3\n"
    does_not_fool(code, f"{tests}    assert f(1).startswith('a')\n")


def test_a_well_known_class_that_the_task_does_not_ask_for_is_the_real_one(cell):
    code = f"{LIAR.replace('Liar', 'Decimal')}\ndef f(x): return Decimal(9)"
    for tests in ("assert f(1) == Decimal('1.5')", f"{STARRED}f(1) == Decimal('1.5')\n"):
        graded = cell.grade(code, tests, kinds={"f": "function"})
        assert not graded.all_passed
        assert graded.separated


@pytest.mark.parametrize("name", ["Decimal", "NoneType", "defaultdict", "generator"])
def test_a_class_that_is_called_as_a_known_one_is_told_apart(cell, name):
    graded = cell.grade(f"class {name}: pass\ndef f(x): return {name}()", f"assert type(f(1)).__name__ == {name!r}")
    assert not graded.all_passed
    assert graded.separated


@pytest.mark.slow
def test_objects_of_two_classes_are_not_compared_by_the_one_that_nobody_names(does_not_fool):
    code = "class Point:\n    def __init__(s, *a): pass\nclass Liar(Point):\n    def __eq__(s, o): return True\n"
    does_not_fool(
        f"{code}def f(x): return Liar()\n", f"{PYTEST.replace('import f', 'import f, Point')}f(1) == Point(1)\n"
    )


@pytest.mark.slow
def test_an_exception_does_not_answer_what_a_plain_value_is_asked(does_not_fool):
    code = "class Wrong(ValueError):\n    def startswith(s, e): return True\ndef f(x): raise Wrong\n"
    does_not_fool(code, f"{TEST}    with pytest.raises(ValueError) as e: f(1)\n    assert e.value.startswith('a')\n")
