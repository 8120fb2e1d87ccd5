"""Code and tests in two processes: whatever tests usually do with code works all the same."""

import pytest

CODE = """
import math
from dataclasses import dataclass
from collections import namedtuple
from enum import Enum

class BankError(Exception):
    pass

class Insufficient(BankError):

    def __init__(self, need, have):
        super().__init__(f'need {need}')
        self.need = need

class Account:
    bonus = 5

    def __init__(self, b=0):
        self.balance = b
        self._h = []

    def deposit(self, x):
        if x <= 0:
            raise ValueError('bad amount')
        self.balance += x
        return self

    def withdraw(self, x):
        if x > self.balance:
            raise Insufficient(x, self.balance)
        self.balance -= x

    @property
    def empty(self):
        return self.balance == 0

    @classmethod
    def rich(cls):
        return cls(100)

    @staticmethod
    def add(a, b):
        return a + b

    def __len__(self):
        return self.balance

    def __iter__(self):
        return iter([1, 2, 3])

    def __getitem__(self, i):
        return i * 2

    def __contains__(self, x):
        return x == 7

    def __enter__(self):
        return self

    def __exit__(self, *a):
        self.balance = -1

@dataclass
class P:
    x: int
    y: int = 0

    def __add__(self, o):
        return P(self.x + o.x, self.y + o.y)

    def __mul__(self, k):
        return P(self.x * k, self.y * k)

class V:

    def __init__(self, x):
        self.x = x

    def __lt__(self, o):
        return self.x < o.x

    def __repr__(self):
        return f'V({self.x})'
NT = namedtuple('NT', 'a b')

class Color(Enum):
    RED = 1
    BLUE = 2

class Stack(list):

    def push(self, x):
        self.append(x)

def gen(n):
    for i in range(n):
        yield i

def inf():
    i = 0
    while True:
        yield i
        i += 1

def apply(f, xs):
    return [f(x) for x in xs]

def sort_in_place(l):
    l.sort()

def mutate(d):
    d['k'] = [1]
    d['k'].append(2)

def alias(l):
    l.append(l)
    return l

def nt():
    return NT(1, 2)

def counter(s):
    from collections import Counter
    return Counter(s)

def deco(f):

    def g(*a):
        return f(*a) + 1
    return g

def say(x):
    print('hello', x)

def boom():
    return {}['x']

def rd(it):
    return list(it)

def closure():
    n = 0

    def inc():
        nonlocal n
        n += 1
        return n
    return inc

def pp(d):
    return (d.get('a'), type(d))
K = [1, 2]
"""

HEADER = """
import pytest, math
import solution
from solution import *
"""

SUITES = {
    "objects keep their state and their methods": """
def test_account():
    a = Account(5)
    assert a.balance == 5
    assert a.deposit(5) is a
    assert len(a) == 10
    a.balance = 3
    assert a.balance == 3
    assert not a.empty
    assert list(a) == [1, 2, 3]
    assert a[4] == 8
    assert 7 in a
    assert 8 not in a
    assert Account.rich().balance == 100
    assert Account.add(1, 2) == 3
    assert isinstance(a, Account)
    assert Account.bonus == 5
    assert Account.__name__ == 'Account'
    with a as b:
        pass
    assert a.balance == -1
""",
    "exceptions of the code can be caught by their class": """
def test_exc():
    with pytest.raises(ValueError, match='bad amount'):
        Account().deposit(0)
    with pytest.raises(BankError) as e:
        Account(1).withdraw(5)
    assert e.value.need == 5
    assert str(e.value) == 'need 5'
    assert isinstance(e.value, Insufficient)
    with pytest.raises(KeyError):
        boom()
""",
    "operators of a class under test are its own": """
def test_dc():
    assert P(1, 2) + P(3, 4) == P(4, 6)
    assert P(1, 2) * 3 == P(3, 6)
    assert P(1) != P(2)
    assert repr(P(1, 2)) == 'P(x=1, y=2)'
    assert sorted([V(3), V(1)])[0].x == 1
    assert max([V(3), V(1)]).x == 3
    assert str(V(3)) == 'V(3)'
    assert f'{V(3)}' == 'V(3)'
""",
    "named tuples are tuples": """
def test_nt():
    assert nt() == (1, 2)
    assert nt().a == 1
    x, y = nt()
    assert y == 2
    assert NT(1, 2) == nt()
""",
    "enum members are the same each time": """
def test_enum():
    assert Color.RED.value == 1
    assert Color(2) is Color.BLUE
    assert Color.RED != Color.BLUE
    assert Color.RED.name == 'RED'
    assert Color.RED == Color.RED
""",
    "a subclass of list compares by what it holds": """
def test_stack():
    s = Stack()
    s.push(1)
    s.push(2)
    assert s == [1, 2]
    assert len(s) == 2
    assert s[-1] == 2
    assert s.pop() == 2
""",
    "generators may be endless": """
def test_gen():
    assert list(gen(3)) == [0, 1, 2]
    g = inf()
    assert next(g) == 0
    assert next(g) == 1
    assert sum(gen(4)) == 6
    assert [x for x in gen(2)] == [0, 1]
""",
    "functions of the tests can be passed to the code": """
def test_cb():
    assert apply(lambda x: x * 2, [1, 2]) == [2, 4]
    assert apply(str.upper, ['a']) == ['A']
    assert apply(len, ['ab']) == [2]
    assert deco(lambda x: x * 2)(4) == 9
    assert apply(P, [1]) == [P(1)]
""",
    "arguments are changed in place": """
def test_mut():
    l = [3, 1, 2]
    sort_in_place(l)
    assert l == [1, 2, 3]
    d = {}
    mutate(d)
    assert d == {'k': [1, 2]}
    z = [1]
    r = alias(z)
    assert r is z
    assert z[1] is z
""",
    "counters stay counters": """
def test_cnt():
    c = counter('aab')
    assert c == {'a': 2, 'b': 1}
    assert c['z'] == 0
    assert c.most_common(1) == [('a', 2)]
""",
    "what the code prints can be captured": """
def test_print(capsys):
    say(3)
    assert capsys.readouterr().out == 'hello 3\\n'
""",
    "iterators of the tests can be passed": """
def test_iter():
    assert rd(iter([1, 2])) == [1, 2]
    assert rd((x for x in 'ab')) == ['a', 'b']
    assert rd(map(abs, [-1])) == [1]
""",
    "closures keep their state": """
def test_clo():
    i = closure()
    i()
    assert i() == 2
""",
    "constants and modules are visible": """
def test_misc():
    assert pp({'a': 1}) == (1, dict)
    assert solution.K == [1, 2]
    assert callable(gen)
    assert hasattr(solution, 'gen')
    assert not hasattr(solution, 'nope')
    assert math.pi > 3
""",
    "files are shared": """
def test_tmp(tmp_path):
    (tmp_path / 'a').write_text('x')
    assert rd(open(tmp_path / 'a')) == ['x']
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("what", SUITES)
def test_tests_may_use_code_as_if_it_were_theirs(cell, what):
    graded = cell.grade(CODE, HEADER + SUITES[what])
    assert graded.separated
    assert graded.all_passed, graded.cases


SHARED = {
    "monkeypatch": """
def test_a(monkeypatch):
    monkeypatch.setattr("builtins.input", lambda: "5")
    assert ask() == 5
""",
    "mock": """
from unittest import mock
def test_a():
    with mock.patch("solution.helper", return_value=5):
        assert ask2() == 5
""",
    "an object of a class of the tests": """
class Duck:
    def quack(self): return 5
def test_a():
    assert hear(Duck()) == 5
""",
    "a subclass of a class of the code": """
class Two(One):
    def n(self): return 5
def test_a():
    assert Two().n() == 5
""",
}
SHARED_CODE = """
def ask(): return int(input())
def helper(): return 1
def ask2(): return helper()
def hear(duck): return duck.quack()
class One:
    def n(self): return 1
"""


@pytest.mark.slow
@pytest.mark.parametrize("what", SHARED)
def test_what_cannot_be_told_apart_shares_a_process_and_is_labelled(cell, what):
    graded = cell.grade(SHARED_CODE, "from solution import *\n" + SHARED[what])
    assert not graded.separated
    assert graded.all_passed, (graded.problem, graded.cases)


def test_wrong_code_fails_in_a_shared_process_too(cell):
    graded = cell.grade(SHARED_CODE, "from unittest import mock\nassert ask2() == 2")
    assert (graded.separated, graded.passed) == (False, 0)
