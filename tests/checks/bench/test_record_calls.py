"""What a function is called with is written down as Python would write it, and read as a user would write the call."""

import builtins
import collections
import dataclasses
import datetime
import decimal
import enum
from collections.abc import Iterator
from typing import Any

import pytest

from burnish.checks.bench.inside.recorder import NOTE, CallRecorder
from burnish.checks.bench.record_calls import insert_notes, write_call

MODULE = '''
class Money:
    """An amount."""

    def __init__(self, cents, *, unit="EUR"):
        self.cents = cents

    def __eq__(self, other):
        return self.cents == other.cents

    def __len__(self):
        return self.cents

    def add(self, more):
        self.cents += more

    def plus(self, more):
        return Money(self.cents + more)

    @property
    def whole(self):
        return self.cents // 100

    @classmethod
    def of(cls, text):
        return cls(int(text))

    @staticmethod
    def zero(unit):
        return Money(0)


def pay(first, /, *rest, by="card", **more):
    """Pay."""
    return first
'''


class Colour(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Point:
    x: int


Pair = collections.namedtuple("Pair", "a b")


@pytest.fixture(autouse=True)
def _no_note() -> Iterator[None]:
    yield
    vars(builtins).pop(NOTE, None)


def record(name: str, *calls: str) -> list[str]:
    """Run a module with notes in it, make these calls, and write down those of one function."""
    recorder = CallRecorder(name)
    kinds = {"Colour": Colour, "Point": Point, "Pair": Pair}
    scope: dict[str, Any] = {**kinds, "datetime": datetime, "decimal": decimal}
    exec(insert_notes(MODULE, name), scope)  # the module is ours
    for call in calls:
        eval(call, scope)
    return [write_call(MODULE, name, one["plain"], one["named"]) for one in recorder.take()]


@pytest.mark.parametrize(
    ("name", "call", "written"),
    [
        ("pay", "pay(1, 'a', b'b', by=None, to=2.5)", "pay(1, 'a', b'b', by=None, to=2.5)"),
        ("pay", "pay([1, (2,), {3}, {'k': float('inf')}])", "pay([1, (2,), set([3]), {'k': float('inf')}], by='card')"),
        ("pay", "pay(Colour.RED, Point(3), Pair(1, b=2))", "pay(Colour.RED, Point(x=3), Pair(a=1, b=2), by='card')"),
        ("pay", "pay(int, len, Money, pay)", "pay(int, len, Money, pay, by='card')"),
        ("pay", "pay(decimal.Decimal('1.5'))", "pay(decimal.Decimal('1.5'), by='card')"),
        ("pay", "pay(datetime.date(2020, 1, 2))", "pay(datetime.date(2020, 1, 2), by='card')"),
        ("pay", "pay(Money(3, unit='USD'))", "pay(Money(3, unit='USD'), by='card')"),
        ("Money.__eq__", "Money(3) == Money(4)", "Money(3, unit='EUR') == Money(4, unit='EUR')"),
        ("Money.__len__", "len(Money(3))", "len(Money(3, unit='EUR'))"),
        ("Money.__init__", "Money(3)", "Money(3, unit='EUR')"),
        ("Money.plus", "Money(3).plus(more=4)", "Money(3, unit='EUR').plus(4)"),
        ("Money.add", "Money(3).add(4)", "[(made := Money(3, unit='EUR')), made.add(4)]"),
        ("Money.whole", "Money(300).whole", "Money(300, unit='EUR').whole"),
        ("Money.of", "Money.of('3')", "Money.of('3')"),
        ("Money.zero", "Money.zero('EUR')", "Money.zero('EUR')"),
    ],
)
def test_a_call_is_written_as_a_user_would_write_it(name: str, call: str, written: str) -> None:
    assert record(name, call) == [written]


def test_what_cannot_be_written_is_left_out_and_nothing_is_disturbed() -> None:
    assert record("pay", "pay(object())", "pay(lambda: 1)", "pay('x' * 1000)", "pay([[[[[[[[1]]]]]]]])", "pay(7)") == [
        "pay(7, by='card')"
    ]


def test_a_call_that_is_made_often_is_kept_once_and_many_are_cut() -> None:
    assert record("pay", *["pay(1)"] * 5) == ["pay(1, by='card')"]
    assert len(record("pay", *(f"pay({n})" for n in range(90)))) == 20


def test_without_a_listener_notes_do_nothing() -> None:
    scope: dict[str, Any] = {}
    exec(insert_notes(MODULE, "pay"), scope)
    assert scope["pay"](3) == 3
    assert scope["pay"].__doc__ == "Pay."
