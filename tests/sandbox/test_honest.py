"""Honest modules that return all kinds of things: each is accepted and judged apart, and its wrong twin is refused."""

import re
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Module:
    """A module, its tests, and one change that makes it wrong."""

    right: str
    wrong: str
    code: str
    tests: str

    def as_pytest(self) -> str:
        """The same asserts in a pytest file that imports the names which it uses."""
        body = self.tests.strip().replace("\n", "\n    ")
        names = re.findall(r"^(?:def|class) (\w+)|^(\w+) = ", self.code, re.MULTILINE)
        used = [name for pair in names for name in pair if name and re.search(rf"\b{name}\b", self.tests)]
        return f"from solution import {', '.join(used)}\n\n\ndef test_it():\n    {body}\n"


MODULES = {
    "numbers in an array": Module(
        "k * k",
        "k + k",
        """
import array
def squares(n):
    return array.array('i', [k * k for k in range(n)])
""",
        """
assert list(squares(4)) == [0, 1, 4, 9]
assert len(squares(2)) == 2
assert squares(3)[-1] == 4
assert squares(3).tolist() == [0, 1, 4]
assert sum(squares(4)) == 14
assert squares(3).index(4) == 2
""",
    ),
    "an array compared with an array": Module(
        "/ 2",
        "/ 3",
        """
import array
def halves(xs):
    return array.array('d', [x / 2 for x in xs])
""",
        """
import array
assert halves([1, 2]) == array.array('d', [0.5, 1.0])
assert halves([]).typecode == 'd'
""",
    ),
    "a view of memory": Module(
        "[:n]",
        "[n:]",
        """
def head(data, n):
    return memoryview(data)[:n]
""",
        """
assert head(b'abcd', 2).tobytes() == b'ab'
assert bytes(head(b'abcd', 3)) == b'abc'
assert len(head(b'ab', 1)) == 1
""",
    ),
    "a matrix of lists": Module(
        "zip(*rows)",
        "rows",
        """
def turned(rows):
    return [list(row) for row in zip(*rows)]
""",
        """
assert turned([[1, 2], [3, 4]]) == [[1, 3], [2, 4]]
assert turned([]) == []
assert turned([[1, 2]])[1][0] == 2
""",
    ),
    "rows of a table": Module(
        "list(",
        "tuple(",
        """
import csv, io
def rows(text):
    return list(csv.DictReader(io.StringIO(text)))
""",
        r"""
assert rows('a,b\n1,2\n') == [{'a': '1', 'b': '2'}]
assert rows('a\n1\n2\n')[1]['a'] == '2'
assert rows('') == []
""",
    ),
    "columns of a table": Module(
        "append(value)",
        "append(key)",
        """
from collections import defaultdict
def columns(rows):
    found = defaultdict(list)
    for row in rows:
        for key, value in row.items():
            found[key].append(value)
    return found
""",
        """
assert columns([{'a': 1}, {'a': 2, 'b': 3}]) == {'a': [1, 2], 'b': [3]}
assert sorted(columns([{'b': 1}])) == ['b']
assert columns([{'a': 1}]).get('a') == [1]
assert 'c' not in columns([{'a': 1}])
""",
    ),
    "a pivoted table": Module(
        "sorted(count.items())",
        "reversed(sorted(count.items()))",
        """
from collections import Counter, OrderedDict
def pivot(pairs):
    count = Counter(pairs)
    return OrderedDict(sorted(count.items()))
""",
        """
assert pivot([('a', 1), ('a', 1), ('b', 2)]) == {('a', 1): 2, ('b', 2): 1}
assert list(pivot('ba')) == ['a', 'b']
assert list(pivot('aab').items())[0] == ('a', 2)
""",
    ),
    "dates": Module(
        "% 7",
        "% 6",
        """
import datetime
def weekend(day):
    return day + datetime.timedelta((5 - day.weekday()) % 7)
""",
        """
from datetime import date
assert weekend(date(2024, 1, 1)) == date(2024, 1, 6)
assert weekend(date(2024, 1, 6)).day == 6
assert weekend(date(2024, 1, 7)) == date(2024, 1, 13)
assert weekend(date(2024, 1, 1)).isoformat().startswith('2024')
""",
    ),
    "times in zones": Module(
        "hours=hours",
        "hours=-hours",
        """
from datetime import datetime, timedelta, timezone
def at(text, hours):
    return datetime.fromisoformat(text).replace(tzinfo=timezone(timedelta(hours=hours)))
""",
        """
from datetime import datetime, timezone
assert at('2024-01-01T12:00', 2) == datetime(2024, 1, 1, 10, tzinfo=timezone.utc)
assert at('2024-01-01', 0).utcoffset().total_seconds() == 0
""",
    ),
    "time spans": Module(
        "minutes=m",
        "seconds=m",
        """
from datetime import timedelta
def span(text):
    h, m = map(int, text.split(':'))
    return timedelta(hours=h, minutes=m)
""",
        """
from datetime import timedelta
assert span('1:30') == timedelta(minutes=90)
assert span('2:00') > span('1:59')
assert abs(span('0:30').total_seconds() - 1800) < 1e-9
assert span('0:01') + span('0:02') == timedelta(minutes=3)
""",
    ),
    "decimals": Module(
        "1.19",
        "1.20",
        """
from decimal import Decimal, ROUND_HALF_UP
def with_tax(price):
    return (Decimal(price) * Decimal('1.19')).quantize(Decimal('0.01'), ROUND_HALF_UP)
""",
        """
from decimal import Decimal
assert with_tax('10') == Decimal('11.90')
assert str(with_tax('1')) == '1.19'
assert with_tax('0.5') - Decimal('0.6') == 0
assert with_tax('2') > 2 and round(with_tax('3'), 1) == Decimal('3.6')
""",
    ),
    "fractions": Module(
        "len(xs)",
        "len(xs) + 1",
        """
from fractions import Fraction
def mean(xs):
    return Fraction(sum(xs), len(xs))
""",
        """
from fractions import Fraction
assert mean([1, 2]) == Fraction(3, 2)
assert mean([1, 2]).denominator == 2
assert abs(mean([1, 2]) - 1.5) < 1e-9
assert mean([2, 4]) == 3
""",
    ),
    "a generator": Module(
        "!= xs[n - 1]",
        "== xs[n - 1]",
        """
def runs(xs):
    for n, x in enumerate(xs):
        if n == 0 or x != xs[n - 1]:
            yield x
""",
        """
assert list(runs([1, 1, 2])) == [1, 2]
assert next(runs('aab')) == 'a'
assert sorted(runs('bba')) == ['a', 'b']
assert 2 in runs([1, 2])
assert sum(runs([3, 3])) == 3
assert [x for x in runs([])] == []
""",
    ),
    "an endless generator": Module(
        "n = 2",
        "n = 3",
        """
def primes():
    found = []
    n = 2
    while True:
        if all(n % p for p in found):
            found.append(n)
            yield n
        n += 1
""",
        """
import itertools
assert list(itertools.islice(primes(), 4)) == [2, 3, 5, 7]
g = primes()
next(g)
assert next(g) == 3
""",
    ),
    "a generator that is told things": Module(
        "total / count",
        "total",
        """
def average():
    total = count = 0
    value = None
    while True:
        got = yield value
        total += got
        count += 1
        value = total / count
""",
        """
a = average()
next(a)
assert a.send(4) == 4
assert a.send(6) == 5
a.close()
""",
    ),
    "lazy built-in iterators": Module(
        "xs[1:]",
        "xs[2:]",
        """
import itertools
def pairs(xs):
    return zip(xs, xs[1:])
def big(xs):
    return filter(lambda x: x > 2, map(abs, xs))
def both(a, b):
    return itertools.chain(a, b)
""",
        """
assert list(pairs([1, 2, 3])) == [(1, 2), (2, 3)]
assert dict(pairs('ab')) == {'a': 'b'}
assert list(big([-3, 1])) == [3]
assert sorted(both([2], [1])) == [1, 2]
assert max(both([2], [5])) == 5
""",
    ),
    "dataclasses nobody names": Module(
        "int(age)",
        "int(age) + 1",
        """
from dataclasses import dataclass
@dataclass
class Person:
    name: str
    age: int
    def older(self, years):
        return Person(self.name, self.age + years)
def parse(line):
    name, age = line.split(',')
    return Person(name, int(age))
""",
        """
p = parse('Ann,30')
assert p.name == 'Ann'
assert p.age == 30 and p.age > 20
assert p.name.startswith('A')
assert p.older(2).age == 32
assert [x.name for x in map(parse, ['a,1', 'b,2'])] == ['a', 'b']
""",
    ),
    "dataclasses that the tests name": Module(
        "text.split('.')",
        "reversed(text.split('.'))",
        """
from dataclasses import dataclass
@dataclass(frozen=True, order=True)
class Version:
    major: int
    minor: int = 0
def parse(text):
    return Version(*map(int, text.split('.')))
""",
        """
assert parse('1.2') == Version(1, 2)
assert parse('1') < parse('1.1') < Version(2)
assert max(parse('1.5'), parse('1.10')).minor == 10
assert isinstance(parse('1'), Version)
assert len({parse('1'), Version(1, 0)}) == 1
assert sorted([Version(2), Version(1)])[0] == Version(1)
""",
    ),
    "named tuples": Module(
        "at + len(part)",
        "at",
        """
from typing import NamedTuple
class Span(NamedTuple):
    start: int
    end: int
    def length(self):
        return self.end - self.start
def find(text, part):
    at = text.find(part)
    return Span(at, at + len(part))
""",
        """
assert find('abc', 'bc') == (1, 3)
assert find('abc', 'c').start == 2
assert find('abc', 'bc').length() == 2
start, end = find('abc', 'a')
assert end == 1
assert find('abc', 'b') > (1, 1)
assert find('ab', 'b').index(2) == 1
""",
    ),
    "enumerations": Module(
        "Light.RED: Light.GREEN",
        "Light.RED: Light.RED",
        """
import enum
class Light(enum.Enum):
    RED = 1
    GREEN = 2
    AMBER = 3
def after(light):
    return {Light.RED: Light.GREEN, Light.GREEN: Light.AMBER}.get(light, Light.RED)
""",
        """
assert after(Light.RED) == Light.GREEN
assert after(Light.GREEN) is Light.AMBER
assert after(Light['AMBER']).name == 'RED'
assert [light.value for light in Light] == [1, 2, 3]
assert len(Light) == 3
assert Light(2) is Light.GREEN
assert Light.RED in {Light.RED}
assert Light.RED in list(Light)
""",
    ),
    "enumerations of whole numbers": Module(
        "n > 9",
        "n > 99",
        """
import enum
class Level(enum.IntEnum):
    LOW = 1
    HIGH = 5
def level(n):
    return Level.HIGH if n > 9 else Level.LOW
""",
        """
assert level(10) == 5
assert level(10) > level(1)
assert level(3).name == 'LOW'
assert level(3) + 1 == 2
assert level(3) is Level.LOW or level(3) == Level.LOW
""",
    ),
    "sets": Module(
        "&",
        "|",
        """
def shared(a, b):
    return set(a) & set(b)
""",
        """
assert shared('abc', 'bcd') == {'b', 'c'}
assert shared('ab', 'b').issubset({'b'})
assert 'a' not in shared('ab', 'b')
assert len(shared('ab', 'cd')) == 0
assert shared('ab', 'ab') >= {'a'}
""",
    ),
    "frozen sets of frozen sets": Module(
        "combinations(xs, n)",
        "combinations(xs, n - 1)",
        """
from itertools import combinations
def subsets(xs, n):
    return frozenset(frozenset(c) for c in combinations(xs, n))
""",
        """
assert subsets('abc', 2) == {frozenset('ab'), frozenset('ac'), frozenset('bc')}
assert frozenset('a') in subsets('ab', 1)
""",
    ),
    "nested structures": Module(
        "append(nodes[child])",
        "append(child)",
        """
def tree(pairs):
    nodes = {}
    for parent, child in pairs:
        nodes.setdefault(parent, {'name': parent, 'kids': []})
        nodes.setdefault(child, {'name': child, 'kids': []})
        nodes[parent]['kids'].append(nodes[child])
    return nodes[pairs[0][0]]
""",
        """
t = tree([('a', 'b'), ('b', 'c')])
assert t == {'name': 'a', 'kids': [{'name': 'b', 'kids': [{'name': 'c', 'kids': []}]}]}
assert t['kids'][0]['kids'][0]['name'].upper() == 'C'
""",
    ),
    "bytes": Module(
        ">I",
        "<I",
        """
import struct
def packed(n):
    return struct.pack('>I', n)
def buffer(n):
    return bytearray(n)
""",
        r"""
assert packed(1) == b'\x00\x00\x00\x01'
assert packed(256).hex() == '00000100'
assert packed(1).endswith(b'\x01')
b = buffer(2)
b[0] = 7
assert b == b'\x07\x00'
assert packed(3)[3] == 3
""",
    ),
    "paths": Module(
        "with_suffix(suffix)",
        "with_name(suffix)",
        """
from pathlib import Path
def beside(path, suffix):
    return Path(path).with_suffix(suffix)
""",
        """
from pathlib import Path
assert beside('a/b.txt', '.md') == Path('a/b.md')
assert beside('a/b.txt', '.md').name.endswith('.md')
assert beside('/a/b', '.c').is_relative_to('/a')
assert beside('x.py', '').parts == ('x',)
assert str(beside('a', '.b')) == 'a.b'
""",
    ),
    "identifiers and addresses": Module(
        "[n]",
        "[-n]",
        """
import ipaddress, uuid
def host(text, n):
    return ipaddress.ip_network(text)[n]
def ident(text):
    return uuid.uuid5(uuid.NAMESPACE_DNS, text)
""",
        """
import ipaddress, uuid
assert host('10.0.0.0/8', 1) == ipaddress.ip_address('10.0.0.1')
assert str(host('10.0.0.0/8', 2)) == '10.0.0.2'
assert ident('a') == uuid.uuid5(uuid.NAMESPACE_DNS, 'a')
assert host('10.0.0.0/8', 1) < ipaddress.ip_address('10.0.0.2')
""",
    ),
    "closures": Module(
        "n += step",
        "n = step",
        """
def counter(step):
    n = 0
    def more():
        nonlocal n
        n += step
        return n
    return more
def compose(*fs):
    def run(x):
        for f in fs:
            x = f(x)
        return x
    return run
""",
        """
c = counter(2)
c()
assert c() == 4
assert counter(3)() == 3
assert compose(lambda x: x + 1, str)(1) == '2'
assert compose()(5) == 5
""",
    ),
    "decorators": Module(
        "f(f(x))",
        "f(x)",
        """
import functools
def twice(f):
    @functools.wraps(f)
    def inner(x):
        return f(f(x))
    return inner
@functools.lru_cache
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
""",
        """
assert twice(lambda x: x * 3)(2) == 18
assert fib(30) == 832040
assert fib.cache_info().currsize > 5
assert fib.__wrapped__(1) == 1
""",
    ),
    "objects that can be called": Module(
        "x * self.by",
        "x + self.by",
        """
class Scale:
    def __init__(self, by):
        self.by = by
    def __call__(self, x):
        return x * self.by
def scale(by):
    return Scale(by)
double = Scale(2)
""",
        """
assert scale(3)(4) == 12
assert double(4) == 8
assert list(map(double, [1, 2])) == [2, 4]
assert scale(5).by == 5
""",
    ),
    "context managers": Module(
        "self.now += 1",
        "self.now += 2",
        """
import contextlib
@contextlib.contextmanager
def tag(out, name):
    out.append('<' + name)
    yield out
    out.append(name + '>')
class Depth:
    def __init__(self):
        self.now = 0
    def __enter__(self):
        self.now += 1
        return self
    def __exit__(self, *_):
        self.now -= 1
def depth():
    return Depth()
""",
        """
out = []
d = depth()
with d as inner:
    assert inner.now == 1
assert d.now == 0
with tag(out, 'b') as seen:
    assert seen == ['<b']
""",
    ),
    "errors of its own": Module(
        "raise TooLow(n, 3)",
        "raise TooLow(3, n)",
        """
class TooLow(ValueError):
    def __init__(self, got, least):
        super().__init__(f'{got} is below {least}')
        self.least = least
def check(n):
    if n < 3:
        raise TooLow(n, 3)
    return n
""",
        """
assert check(3) == 3
try:
    check(1)
except TooLow as error:
    kept = error
assert kept.least == 3
assert str(kept).startswith('1 is')
assert isinstance(kept, ValueError)
""",
    ),
    "an object from a factory": Module(
        "> self.size",
        "> self.size + 1",
        """
class _Cache:
    def __init__(self, size):
        self.size, self.kept = size, {}
    def put(self, key, value):
        self.kept[key] = value
        if len(self.kept) > self.size:
            del self.kept[next(iter(self.kept))]
    def get(self, key, default=None):
        return self.kept.get(key, default)
    def count(self, value):
        return list(self.kept.values()).count(value)
def make_cache(size):
    return _Cache(size)
""",
        """
c = make_cache(2)
c.put('a', 1)
c.put('b', 1)
c.put('c', 2)
assert c.get('a') is None
assert c.get('c') == 2
assert c.get('x', 5) == 5
assert c.count(1) == 1
assert make_cache(3).size == 3
""",
    ),
    "a stack": Module(
        "self._items.append(x)",
        "self._items.insert(0, x)",
        """
class Stack:
    def __init__(self, items=()):
        self._items = list(items)
    def push(self, x):
        self._items.append(x)
        return self
    def pop(self):
        if not self._items:
            raise IndexError('empty')
        return self._items.pop()
    def index(self, x):
        return self._items[::-1].index(x)
    def __len__(self):
        return len(self._items)
    def __contains__(self, x):
        return x in self._items
    def __iter__(self):
        return iter(self._items[::-1])
""",
        """
s = Stack([1])
s.push(2).push(3)
assert s.pop() == 3
assert len(s) == 2 and 1 in s and 9 not in s
assert list(s) == [2, 1]
assert s.index(1) == 1
assert not Stack()
""",
    ),
    "a queue with limits": Module(
        "self.popleft()",
        "self.pop()",
        """
from collections import deque
class Queue(deque):
    def put(self, x):
        self.append(x)
    def take(self):
        return self.popleft()
""",
        """
q = Queue()
q.put(1)
q.put(2)
assert q.take() == 1
assert len(q) == 1 and q[0] == 2
assert 2 in q
assert list(q) == [2]
""",
    ),
    "a matrix with operators": Module(
        "a * b for",
        "a + b for",
        """
class Matrix:
    def __init__(self, rows):
        self.rows = [list(row) for row in rows]
    def __matmul__(self, other):
        columns = list(zip(*other.rows))
        return Matrix([[sum(a * b for a, b in zip(r, c)) for c in columns] for r in self.rows])
    def __mul__(self, k):
        return Matrix([[k * x for x in row] for row in self.rows])
    __rmul__ = __mul__
    def __eq__(self, other):
        return isinstance(other, Matrix) and self.rows == other.rows
    def __getitem__(self, at):
        return self.rows[at[0]][at[1]]
""",
        """
a = Matrix([[1, 2], [3, 4]])
assert a @ Matrix([[1, 0], [0, 1]]) == a
assert (2 * a)[1, 1] == 8
assert a * 2 == 2 * a
assert a != Matrix([[1]])
assert (a @ a).rows == [[7, 10], [15, 22]]
""",
    ),
    "money": Module(
        "self.cents + other.cents",
        "self.cents",
        """
import functools
@functools.total_ordering
class Money:
    def __init__(self, cents):
        self.cents = cents
    def __add__(self, other):
        return Money(self.cents + other.cents)
    def __radd__(self, other):
        return self if other == 0 else NotImplemented
    def __eq__(self, other):
        return self.cents == other.cents
    def __lt__(self, other):
        return self.cents < other.cents
    def __hash__(self):
        return hash(self.cents)
    def __str__(self):
        return f'{self.cents / 100:.2f}'
    def __bool__(self):
        return self.cents != 0
""",
        """
assert Money(5) + Money(6) == Money(11)
assert Money(5) < Money(6) and Money(6) >= Money(6)
assert str(Money(150)) == '1.50'
assert sum([Money(1), Money(2)]) == Money(3)
assert sorted([Money(3), Money(1)])[0].cents == 1
assert not Money(0)
assert len({Money(1), Money(1)}) == 1
assert max(Money(1), Money(4)) == Money(4)
""",
    ),
    "an iterator class": Module(
        "return self.n + 1",
        "return self.n",
        """
class Countdown:
    def __init__(self, n):
        self.n = n
    def __iter__(self):
        return self
    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return self.n + 1
""",
        """
assert list(Countdown(3)) == [3, 2, 1]
assert next(Countdown(5)) == 5
assert sum(Countdown(2)) == 3
assert 2 in Countdown(4)
assert [x * x for x in Countdown(2)] == [4, 1]
""",
    ),
    "properties and descriptors": Module(
        "value <= 0",
        "value <= -5",
        """
class Positive:
    def __set_name__(self, owner, name):
        self.name = '_' + name
    def __get__(self, obj, owner=None):
        return getattr(obj, self.name)
    def __set__(self, obj, value):
        if value <= 0:
            raise ValueError('not positive')
        setattr(obj, self.name, value)
class Box:
    width = Positive()
    def __init__(self, width):
        self.width = width
    @property
    def area(self):
        return self.width ** 2
    @classmethod
    def unit(cls):
        return cls(1)
""",
        """
b = Box(3)
assert b.area == 9
b.width = 4
assert b.area == 16
assert Box.unit().width == 1
failed = False
try:
    b.width = -1
except ValueError:
    failed = True
assert failed
assert b.width == 4
""",
    ),
    "a container with slices": Module(
        "self.xs[at % len(self.xs)]\n",
        "self.xs[at % 2]\n",
        """
class Ring:
    def __init__(self, xs):
        self.xs = list(xs)
    def __getitem__(self, at):
        if isinstance(at, slice):
            return [self[n] for n in range(at.start, at.stop)]
        return self.xs[at % len(self.xs)]
    def __setitem__(self, at, value):
        self.xs[at % len(self.xs)] = value
    def __len__(self):
        return len(self.xs)
    def __contains__(self, x):
        return x in self.xs
    def __reversed__(self):
        return reversed(self.xs)
""",
        """
r = Ring('abc')
assert r[4] == 'b'
assert r[2:5] == ['c', 'a', 'b']
r[3] = 'z'
assert r[0] == 'z' and 'z' in r and 'q' not in r
assert len(r) == 3
assert list(reversed(r)) == ['c', 'b', 'z']
""",
    ),
    "a dictionary asked for by name": Module(
        "super().__setitem__(key.lower(), value)",
        "super().__setitem__(key, value)",
        """
class LowerDict(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key.lower(), value)
    def __getitem__(self, key):
        return super().__getitem__(key.lower())
    def __contains__(self, key):
        return super().__contains__(key.lower())
""",
        """
d = LowerDict()
d['A'] = 1
assert d['a'] == 1 and d['A'] == 1
assert 'A' in d and 'b' not in d
assert d == {'a': 1}
assert len(d) == 1
assert list(d.items()) == [('a', 1)]
""",
    ),
    "a list asked for by name": Module(
        "is kind",
        "is not kind",
        """
class Bag(list):
    def only(self, kind):
        return Bag(x for x in self if type(x) is kind)
    def index(self, x):
        return super().index(x) + 1
""",
        """
b = Bag([1, 'a', 2])
assert b.only(int) == [1, 2]
b.append(3)
assert len(b) == 4 and b[-1] == 3
assert b.index('a') == 2
assert sorted(b.only(int)) == [1, 2, 3]
assert isinstance(b.only(str), Bag)
""",
    ),
    "a text asked for by name": Module(
        "text.lower()",
        "text.upper()",
        """
class Slug(str):
    def __new__(cls, text):
        return super().__new__(cls, text.lower().replace(' ', '-'))
    def words(self):
        return self.split('-')
""",
        """
s = Slug('Big Red Dog')
assert s == 'big-red-dog'
assert s.words() == ['big', 'red', 'dog']
assert s.startswith('big')
assert isinstance(s, str)
assert s + '!' == 'big-red-dog!'
assert len(s) == 11 and s[0] == 'b'
""",
    ),
    "subclasses that nobody names": Module(
        "value=v)",
        "value=k)",
        """
class Row(dict):
    def __getattr__(self, name):
        return self[name]
class Rows(list):
    pass
def rows(pairs):
    return Rows(Row(key=k, value=v) for k, v in pairs)
""",
        """
r = rows([('a', 1), ('b', 2)])
assert r == [{'key': 'a', 'value': 1}, {'key': 'b', 'value': 2}]
assert r[1].value == 2
assert len(r) == 2
assert r[0]['key'] == 'a'
assert [x['value'] for x in r] == [1, 2]
assert sorted(r[0].keys()) == ['key', 'value']
""",
    ),
    "linked nodes": Module(
        "reversed(xs)",
        "list(xs)",
        """
class Node:
    def __init__(self, value, after=None):
        self.value, self.after = value, after
def linked(xs):
    head = None
    for x in reversed(xs):
        head = Node(x, head)
    return head
def values(node):
    while node:
        yield node.value
        node = node.after
""",
        """
n = linked([1, 2, 3])
assert n.value == 1
assert n.after.after.value == 3
assert n.after.after.after is None
assert list(values(n)) == [1, 2, 3]
assert linked([]) is None
n.after = None
assert list(values(n)) == [1]
""",
    ),
    "matches of patterns": Module(
        "(?P<value>\\w*)",
        "(?P<value>\\w?)x",
        r"""
import re
def pair(text):
    return re.match(r'(?P<key>\w+)=(?P<value>\w*)', text)
""",
        """
assert pair('a=1').group('key') == 'a'
assert pair('a=1')['value'] == '1'
assert pair('?') is None
assert pair('ab=c').groups() == ('ab', 'c')
assert pair('a=1').span() == (0, 3)
assert pair('a=1').groupdict() == {'key': 'a', 'value': '1'}
""",
    ),
    "patterns": Module(
        "+",
        "*",
        """
import re
def word(letters):
    return re.compile(f'[{letters}]+', re.IGNORECASE)
""",
        """
assert word('ab').match('AB')
assert word('ab').fullmatch('') is None
assert word('ab').match('c') is None
assert word('ab').split('1a2') == ['1', '2']
assert word('ab').pattern.startswith('[ab]')
""",
    ),
    "a tree of elements": Module(
        "text.split()",
        "text",
        """
import xml.etree.ElementTree as ET
def listed(text):
    root = ET.Element('list')
    for word in text.split():
        ET.SubElement(root, 'item', size=str(len(word))).text = word
    return root
""",
        """
assert listed('ab c').find('item').text == 'ab'
assert listed('ab c').find('item').get('size') == '2'
first = listed('abc').find('item')
assert first.tag == 'item'
assert [item.text for item in listed('a b')] == ['a', 'b']
assert len(listed('')) == 0
""",
    ),
    "namespaces and views": Module(
        "split(';')",
        "split(',')",
        """
import types
def config(text):
    pairs = dict(part.split('=') for part in text.split(';'))
    return types.SimpleNamespace(**pairs)
def frozen(text):
    return types.MappingProxyType(vars(config(text)))
""",
        """
assert config('a=1;b=2').b == '2'
assert frozen('a=1')['a'] == '1'
assert dict(frozen('a=1;b=2')) == {'a': '1', 'b': '2'}
assert 'a' in frozen('a=1')
assert sorted(frozen('b=1;a=2')) == ['a', 'b']
assert len(frozen('a=1')) == 1
""",
    ),
    "complex numbers and ranges": Module(
        "- 4 * a",
        "+ 4 * a",
        """
def roots(a, b, c):
    d = (b * b - 4 * a * c) ** 0.5
    return ((-b + d) / (2 * a), (-b - d) / (2 * a))
def evens(n):
    return range(0, n, 2)
""",
        """
assert roots(1, -3, 2) == (2.0, 1.0)
assert abs(roots(1, 0, 1)[0] - 1j) < 1e-9
assert roots(1, 0, 1)[0].imag > 0.9
assert evens(5) == range(0, 6, 2)
assert list(evens(4)) == [0, 2]
assert evens(9).index(4) == 2
""",
    ),
    "an object with methods named like those of several plain types": Module(
        "parent[a] = b",
        "pass",
        """
class _UF:
    def __init__(self,n): self.parent=list(range(n))
    def find(self,x):
        while self.parent[x]!=x: x=self.parent[x]
        return x
    def union(self,a,b):
        parent=self.parent
        a,b=self.find(a),self.find(b)
        parent[a] = b
def make(n): return _UF(n)
""",
        """
uf = make(4)
uf.union(0,1)
assert uf.find(0) == uf.find(1)
assert uf.find(2) != uf.find(3)
""",
    ),
    "a document with methods named like those of a text": Module(
        "self.text.count(w)",
        "0",
        """
class Document:
    def __init__(self, text): self.text=text
    def count(self, w): return self.text.count(w)
    def replace(self, a, b): return Document(self.text.replace(a,b))
def open_doc(t): return Document(t)
""",
        """
d = open_doc('a b a')
assert d.count('a') == 2
assert d.replace('a', 'c').text == 'c b c'
""",
    ),
    "a linked list from a function": Module(
        "self.size += 1",
        "self.size += 2",
        """
class Node:
    def __init__(self,v,n=None): self.value=v; self.next=n
class LinkedList:
    def __init__(self): self.head=None; self.size=0
    def append(self,v):
        self.size += 1
        if not self.head: self.head=Node(v); return
        n=self.head
        while n.next: n=n.next
        n.next=Node(v)
    def insert(self,i,v):
        self.size += 1
        if i==0: self.head=Node(v,self.head)
    def index(self,v):
        for i,x in enumerate(self):
            if x==v: return i
        raise ValueError(v)
    def __iter__(self):
        n=self.head
        while n: yield n.value; n=n.next
    def __len__(self): return self.size
    def __getitem__(self,i): return list(self)[i]
    def __eq__(self,o): return list(self)==list(o)
def from_list(xs):
    l=LinkedList()
    for x in xs: l.append(x)
    return l
""",
        """
l = from_list([1,2,3])
assert len(l) == 3
assert list(l) == [1,2,3]
assert l[0] == 1 and l[1:] == [2,3]
assert 2 in l
assert l.index(3) == 2
assert l.head.value == 1
l.append(4)
assert len(l) == 4
""",
    ),
    "errors with methods": Module(
        "404",
        "405",
        """
class HttpError(Exception):
    code = 404
    def describe(self): return f"{self.code}: {self.args[0]}"
    @property
    def is_client(self): return 400 <= self.code < 500
def get(x): raise HttpError(x)
""",
        """
import pytest
with pytest.raises(HttpError) as e:
    get('a')
assert e.value.code == 404
assert e.value.describe() == '404: a'
assert e.value.is_client
""",
    ),
    "errors with a cause": Module(
        "from e",
        "from None",
        """
class ConfigError(Exception): pass
def load(d, k):
    try: return d[k]
    except KeyError as e: raise ConfigError(k) from e
""",
        """
import pytest
with pytest.raises(ConfigError) as e:
    load({}, 'a')
assert isinstance(e.value.__cause__, KeyError)
""",
    ),
    "callbacks that are taken away again": Module(
        "*args)",
        "*args[1:])",
        """
class EventEmitter:
    def __init__(self): self.handlers={}
    def on(self, name, fn): self.handlers.setdefault(name, []).append(fn)
    def off(self, name, fn): self.handlers[name].remove(fn)
    def emit(self, name, *args):
        for h in list(self.handlers.get(name, [])): h(*args)
""",
        """
seen = []
e = EventEmitter()
e.on('a', seen.append)
e.emit('a', 3)
e.emit('b', 4)
assert seen == [3]
def handler(x):
    seen.append(x * 2)
e.on('a', handler)
e.emit('a', 5)
assert seen == [3, 5, 10]
e.off('a', handler)
e.emit('a', 1)
assert seen[-1] == 1
""",
    ),
    "callbacks whose errors are collected": Module(
        "pass",
        "raise",
        """
class Bus:
    def __init__(self): self.subs=[]; self.errors=[]
    def subscribe(self, f):
        self.subs.append(f)
        return lambda: self.subs.remove(f)
    def publish(self, x):
        for f in list(self.subs):
            try: f(x)
            except Exception as e:
                self.errors.append(str(e))
                pass
""",
        """
b = Bus()
got = []
def bad(x):
    raise ValueError('boom')
b.subscribe(bad)
stop = b.subscribe(got.append)
b.publish(1)
assert got == [1]
assert b.errors == ['boom']
stop()
b.publish(2)
assert got == [1]
""",
    ),
    "decorated functions of the tests": Module(
        "range(n)",
        "range(1)",
        """
import functools
def retry(n, errors=(Exception,)):
    def deco(fn):
        @functools.wraps(fn)
        def inner(*a, **k):
            for i in range(n):
                try: return fn(*a, **k)
                except errors as e: last = e
            raise last
        return inner
    return deco
""",
        """
calls = []
@retry(3, (ValueError,))
def flaky(x):
    calls.append(x)
    if len(calls) < 3:
        raise ValueError('no')
    return x * 2
assert flaky(4) == 8
assert len(calls) == 3
assert flaky.__name__ == 'flaky'
""",
    ),
    "a context that swallows errors": Module(
        "return issubclass",
        "return not issubclass",
        """
class suppress_errors:
    def __init__(self, *kinds): self.kinds=kinds; self.caught=None
    def __enter__(self): return self
    def __exit__(self, t, v, tb):
        self.caught = v
        return issubclass(t or int, self.kinds)
""",
        """
with suppress_errors(ZeroDivisionError) as s:
    1 / 0
assert isinstance(s.caught, ZeroDivisionError)
reached = []
with suppress_errors(KeyError):
    {}['a']
    reached.append(1)
assert reached == []
with suppress_errors(ValueError) as s2:
    raise ValueError('x')
assert str(s2.caught) == 'x'
""",
    ),
    "enumerations of whole numbers by identity": Module(
        "return Level.HIGH if n > 5",
        "return Level.LOW if n > 5",
        """
from enum import IntEnum, Flag
class Level(IntEnum):
    LOW = 1
    HIGH = 2
class Perm(Flag):
    R = 4
    W = 2
def level(n): return Level.HIGH if n > 5 else Level.LOW
""",
        """
assert level(9) is Level.HIGH
assert level(9) > level(1)
assert level(1) == 1
assert Perm.R | Perm.W == Perm(6)
assert Perm.R in (Perm.R | Perm.W)
""",
    ),
    "enumerations of texts by identity": Module(
        "'on' if x",
        "'off' if x",
        """
from enum import Enum
class Mode(str, Enum):
    ON = 'on'
    OFF = 'off'
def mode(x): return Mode('on' if x else 'off')
""",
        """
assert mode(1) is Mode.ON
assert mode(1) == 'on'
assert mode(0).value == 'off'
assert mode(0) in (Mode.OFF,)
""",
    ),
    "results compared with each other": Module(
        "x + 1",
        "x + 2",
        """
from dataclasses import dataclass
@dataclass(frozen=True)
class Point:
    x: int
    y: int
def move(x, y): return Point(x + 1, y)
""",
        """
assert move(1, 2).x == 2
assert move(1, 2) == move(1, 2)
assert move(1, 2) != move(3, 2)
assert len({move(1, 2), move(1, 2)}) == 1
""",
    ),
    "objects that the tests copy": Module(
        "self.n += 1",
        "self.n += 2",
        """
class Counter2:
    def __init__(self): self.n=0
    def inc(self): self.n += 1
""",
        """
import copy
a = Counter2()
b = copy.deepcopy(a)
b.inc()
assert (a.n, b.n) == (0, 1)
""",
    ),
    "callbacks that check": Module(
        "cb(x * 2)",
        "cb(x * 3)",
        """
def each(xs, cb):
    for x in xs: cb(x * 2)
""",
        """
def cb(x):
    assert x % 2 == 0 and x % 3 != 0
each([1, 2], cb)
got = []
each([4], got.append)
assert got == [8]
""",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("style", ["script", "pytest"])
@pytest.mark.parametrize("what", MODULES)
def test_an_honest_module_is_accepted_and_its_wrong_twin_is_not(cell, what, style):
    module = MODULES[what]
    tests = module.tests if style == "script" else module.as_pytest()
    graded = cell.grade(module.code, tests)
    assert graded.all_passed, graded
    assert graded.separated
    assert module.right in module.code
    wrong = cell.grade(module.code.replace(module.right, module.wrong), tests)
    assert not wrong.all_passed
    assert wrong.separated


SHARED = {
    "warnings": (
        "import warnings\ndef f(): warnings.warn('old', DeprecationWarning)",
        "import pytest\nfrom solution import f\ndef test_a():\n    with pytest.warns(DeprecationWarning): f()",
    ),
    "an exception of the tests in a context of the code": (
        "class Store:\n    def __enter__(self): return self\n    def __exit__(s, *a): s.told = a[0].__name__",
        "import pytest\nfrom solution import Store\nclass Boom(Exception): pass\ndef test_a():\n    s = Store()\n"
        "    with pytest.raises(Boom):\n        with s: raise Boom\n    assert s.told == 'Boom'",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", SHARED)
def test_what_must_share_is_accepted_and_labelled(cell, what):
    graded = cell.grade(*SHARED[what])
    assert graded.all_passed
    assert not graded.separated


def test_standard_output_and_standard_error_are_told_apart(cell):
    code = "import sys\ndef f():\n    print('a')\n    print('b', file=sys.stderr)"
    tests = "from solution import f\ndef test_a(capsys):\n    f()\n    assert capsys.readouterr() == ('a\\n', 'b\\n')"
    graded = cell.grade(code, tests)
    assert graded.all_passed
    assert graded.separated
