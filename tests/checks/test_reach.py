"""What a repair adds that could reach the tests in its own process is found, and nothing else is."""

import pytest

from burnish.checks.security.reach import RULE, added_reaches

BEFORE = """
import json
import os
from shop.money import rounded

class Cart:
    def __init__(self, prices): self.prices = prices

    def total(self):
        return BODY
"""
REACHES = {
    "a frame": "__import__('sys')._getframe(1).f_locals['expected']",
    "a frame by a name in parts": "getattr(os.sys, '_get' + 'frame')(1)",
    "a frame of a module in a list": "[os.sys][0]._getframe(1)",
    "an attribute named in a format": "'{0.f_back}'.format(self)",
    "an attribute by its own method": "object.__getattribute__(self, 'x' * 2)",
    "a table of builtins": "__builtins__['ev' + 'al']('1')",
    "an attribute in the middle": "(0 for _ in ()).gi_frame.x.y",
    "a module by a name in parts": "__import__('in' + 'spect').stack()",
    "text that is run": "eval('1')",
    "an attribute by a text": "json.operator.attrgetter('f_back')(self)",
    "an attribute by an unknown name": "getattr(self, chr(95))",
    "a list of loaded modules": "os.sys.modules['tests']",
    "the globals of a function": "rounded.__globals__",
    "a traceback": "ValueError().__traceback__",
    "the name of the test": "os.environ['PYTEST_CURRENT_TEST']",
    "a test file": "open('tests/test_cart.py').read()",
    "a file whose name is made": "open(''.join(['te', 'sts'])).read()",
    "another file beside it": "open(__file__).read()",
    "an exit": "os._exit(0)",
    "a class that is equal to all": "type('Any', (), {'__eq__': lambda *a: True})()",
    "a member that is set": "setattr(json, 'loads', None)",
    "a table that is changed": "vars(json).update(loads=None)",
    "a subclass list": "object.__subclasses__()",
}
STATEMENTS = {
    "pytest": "import pytest\n        pytest.skip()",
    "its inside": "from _pytest.outcomes import Skipped\n        raise Skipped",
    "unittest": "import unittest.mock as m\n        return m.ANY",
    "inspect": "import inspect as i\n        return i",
    "gc": "from gc import get_objects\n        return get_objects()",
    "ctypes": "import ctypes\n        return ctypes",
    "a tracer": "import sys\n        sys.settrace(print)",
    "an exit hook": "import atexit\n        atexit.register(print)",
    "another module": "json.dumps = None",
    "a class of another module": "json.JSONEncoder.default = None",
    "another module's table": "json.__dict__['dumps'] = None",
    "a function of the project": "rounded.__code__ = None",
    "a builtin": "import builtins\n        builtins.abs = None",
    "builtins by another name": "__builtins__['abs'] = None",
    "a reload": "from importlib import reload\n        reload(json)",
    "an object equal to all": "class Any:\n            def __eq__(self, other): return True\n        return Any()",
    "a difference of nothing": "class Any(float):\n            __sub__ = lambda *a: 0\n        return Any()",
    "an operator of a class that is there": "Cart.__eq__ = lambda *a: True",
    "an end of the test's loop": "raise StopIteration",
}
HONEST = {
    "a sum": "return rounded(sum(self.prices))",
    "json": "return json.dumps(self.prices)",
    "a path": "return os.path.join('a', 'b')",
    "an attribute of its own": "self.cache = {}\n        return self.cache",
    "a known attribute": "return getattr(self, 'prices', None)",
    "its class": "return self.__class__([]), type(self).__name__",
    "a data file": "return open('prices.txt').read()",
    "a small class": "class Row:\n            def __init__(self): self.a = 1\n        return Row()",
    "a helper": "def inner(x):\n            return x\n        return [inner(x) for x in self.prices]",
    "an iterator's end": "try:\n            next(self)\n        except StopIteration:\n            return 0",
    "words": "return 'the traceback of a test with pytest'",
}


@pytest.mark.parametrize(
    "after",
    [
        *(BEFORE.replace("BODY", one) for one in REACHES.values()),
        *(BEFORE.replace("return BODY", one) for one in STATEMENTS.values()),
    ],
    ids=[*REACHES, *STATEMENTS],
)
def test_what_could_reach_the_tests_is_found_where_it_is_added(after: str) -> None:
    before = BEFORE.replace("BODY", "0")
    found = added_reaches(before, after, "shop/cart.py")
    assert {(one.rule, one.severity, one.file) for one in found} == {(RULE, "high", "shop/cart.py")}
    assert all(one.line for one in found)
    assert not added_reaches(after, after, "shop/cart.py"), "what was there before is not held against the repair"


@pytest.mark.parametrize("body", HONEST.values(), ids=HONEST.keys())
def test_an_ordinary_repair_reaches_for_nothing(body: str) -> None:
    assert not added_reaches(BEFORE.replace("BODY", "0"), BEFORE.replace("return BODY", body), "shop/cart.py")


def test_a_second_use_of_what_was_there_once_is_added() -> None:
    once = "import sys\nx = sys._getframe()\n"
    assert [one.line for one in added_reaches(once, once + "y = sys._getframe()\n", "a.py")] == [3]


def test_operators_of_a_class_that_the_tests_name_are_what_is_tested() -> None:
    code = "class Money:\n    def __eq__(self, other): return True\n"
    assert added_reaches("", code, "solution.py")
    assert not added_reaches("", code, "solution.py", tests="assert Money() == Money()")


def test_words_of_code_that_did_not_parse_count_as_there() -> None:
    broken = "import inspect\ndef f(:\n    return inspect.stack()\n"
    fixed = broken.replace("(:", "():")
    assert not added_reaches(broken, fixed, "a.py")
    assert added_reaches(broken, fixed + "import gc\n", "a.py")
