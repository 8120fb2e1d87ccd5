"""What a repair adds that could reach the tests in its own process is found, and nothing else is."""

import pytest

from burnish.checks.security.reach import RULE, find_added_reaches

BEFORE = """
import json
import os
from shop.money import rounded

class Cart:
    def __init__(self, prices): self.prices = prices

    def total(self):
        return BODY
"""
USES = "import sys\nimport operator\nimport types\n"
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
OTHER_SPELLINGS = {
    "memory": "return open('/proc/self/mem', 'rb').read(9)",
    "fd": "return open(3, 'wb')",
    "attrgetter": "return operator.attrgetter('_get' + 'frame')(sys)(1)",
    "methodcaller": "return operator.methodcaller('_get' + 'frame')(sys)",
    "getattr const of unknown": "return getattr([sys][0], '_get' + 'frame')(1)",
    "getattr as value": "import functools\n        return functools.reduce(getattr, ['_get' + 'frame'], sys)",
    "getattr mapped": "return list(map(getattr, [sys], ['_get' + 'frame']))",
    "table": "return [sys][0].__dict__['_get' + 'frame']",
    "table update": "json.__dict__.update(loads=None)",
    "match": "match sys:\n            case types.ModuleType(_getframe=look): return look(1)",
    "resolve": "import pkgutil\n        return pkgutil.resolve_name('sys:_get' + 'frame')",
    "formatter": "import string\n        return string.Formatter().get_field('0._get' + 'frame', (sys,), {})",
    "timeit": "import timeit\n        return timeit.timeit('x()')",
    "code": "import code\n        code.InteractiveInterpreter().runsource('x')",
    "cprofile": "import cProfile\n        cProfile.run('x')",
    "dictconfig": "import logging.config\n        logging.config.dictConfig({})",
    "for target": "for json.loads in [None]: pass",
    "tuple target": "json.loads, x = None, 1",
    "with target": "with self as json.loads: pass",
    "comprehension target": "[0 for json.loads in [None]]",
    "nested def in class": "class Any:\n            if True:\n                def __eq__(self, other): return True\n        return Any()",  # noqa: E501
    "annotated op": "class Any:\n            __eq__: object = lambda *a: True\n        return Any()",
    "second target": "class Any:\n            x = __eq__ = lambda *a: True\n        return Any()",
    "tuple op": "class Any:\n            x, __eq__ = 1, lambda *a: True\n        return Any()",
    "for op": "class Any:\n            for __eq__ in [lambda *a: True]: pass\n        return Any()",
    "imported op": "class Any:\n            from shop.money import rounded as __eq__\n        return Any()",
    "walrus op": "class Any:\n            (__eq__ := rounded)\n        return Any()",
    "type alias": "kind = type\n        return kind('Any', (), {'__' + 'eq__': None})",
    "new_class": "return types.new_class('Any', (), {}, lambda names: names.update(__eq__=None))",
    "type.__new__": "return type.__new__(type, 'Any', (), {'__eq__': None})",
    "class of class": "return type(self).__class__('Any', (), {'__eq__': None})",
    "make_dataclass": "import dataclasses\n        return dataclasses.make_dataclass('Any', [], namespace={'__eq__': None})",  # noqa: E501
    "environb": "return os.environb[b'PYTEST_CURRENT_TEST']",
    "posix": "import posix\n        posix.kill(1, 9)",
    "_signal": "import _signal\n        _signal.alarm(1)",
    "killpg": "os.killpg(1, 9)",
    "exec": "os.execv('/bin/true', ['true'])",
    "spawn": "os.posix_spawn('/bin/true', [], {})",
    "fileinput": "import fileinput\n        return fileinput.input('tests/test_cart.py')",
    "shutil": "import shutil\n        shutil.copyfile('tests/test_cart.py', 'x')",
    "fileio": "import io\n        return io.FileIO('x' * 2)",
    "remove test": "os.remove('tests/test_cart.py')",
    "raise alias": "end = StopIteration\n        raise end",
    "type hints": "import typing\n        return typing.get_type_hints(self)",
    "coverage": "import coverage\n        coverage.Coverage.current().stop()",
    "hypothesis": "import hypothesis\n        hypothesis.assume(False)",
    "read fd": "return os.pread(3, 9, 0)",
}
HONEST = {
    "an attribute by a plain text": "import operator\n        return sorted(self.prices, key=operator.attrgetter('real'))",  # noqa: E501
    "its own table": "return self.__dict__['prices']",
    "fields of a pattern": "match self:\n            case Cart(prices=[]): return 0",
    "two attributes at once": "self.low, self.high = 0, 1\n        return self.low",
    "its own module": "return 0 if __name__ == '__main__' else 1",
    "fields with types": "class Row:\n            price: int = 0\n        return Row()",
    "a name with test in it": "return 'a/contest/b', 'the test_ of time'",
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
        *(USES + BEFORE.replace("return BODY", one) for one in OTHER_SPELLINGS.values()),
    ],
    ids=[*REACHES, *STATEMENTS, *OTHER_SPELLINGS],
)
def test_what_could_reach_the_tests_is_found_where_it_is_added(after: str) -> None:
    before = USES + BEFORE.replace("BODY", "0")
    found = find_added_reaches(before, after, "shop/cart.py")
    assert {(one.rule, one.severity, one.file) for one in found} == {(RULE, "high", "shop/cart.py")}
    assert all(one.line for one in found)
    assert not find_added_reaches(after, after, "shop/cart.py"), "what was there before is not held against the repair"


@pytest.mark.parametrize("body", HONEST.values(), ids=HONEST.keys())
def test_an_ordinary_repair_reaches_for_nothing(body: str) -> None:
    assert not find_added_reaches(BEFORE.replace("BODY", "0"), BEFORE.replace("return BODY", body), "shop/cart.py")


def test_a_second_use_of_what_was_there_once_is_added() -> None:
    once = "import sys\nx = sys._getframe()\n"
    assert [one.line for one in find_added_reaches(once, once + "y = sys._getframe()\n", "a.py")] == [3]


def test_operators_of_a_class_that_the_tests_name_are_what_is_tested() -> None:
    code = "class Money:\n    def __eq__(self, other): return True\n"
    assert find_added_reaches("", code, "solution.py")
    assert not find_added_reaches("", code, "solution.py", tests="assert Money() == Money()")


def test_words_of_code_that_did_not_parse_count_as_there() -> None:
    broken = "import inspect\ndef f(:\n    return inspect.stack()\n"
    fixed = broken.replace("(:", "():")
    assert not find_added_reaches(broken, fixed, "a.py")
    assert find_added_reaches(broken, fixed + "import gc\n", "a.py")
