"""What the tests of a project do is read from their files, to make calls from."""

from burnish.agent.bodies import bodies_of

NAMES = {"Cart", "total"}


def test_each_test_stands_alone_in_the_words_of_the_module() -> None:
    text = """
import pkg.shop
from pkg import shop as s
from pkg.shop import Cart as C

def test_one():
    '''Sums.'''
    assert s.total([1]) == 1

def helper():
    return C([9])

class TestCart:
    def test_two(self):
        self.assertEqual(C([1]).size, pkg.shop.total([2]))
        self.assertTrue(C([]))
"""
    assert bodies_of(text, NAMES) == [
        "assert total([1]) == 1",
        "assert Cart([1]).size == total([2])\nCart([])",
    ]


def test_fixtures_and_the_first_parameters_stand_above() -> None:
    text = """
import pytest

@pytest.fixture
def cart():
    items = [1]
    yield Cart(items)

@pytest.mark.parametrize("a, b", [(n, 2) for n in range(3)])
@pytest.mark.parametrize("c", [3, 4, 5, 6, 7])
def test_it(cart, a, c):
    assert cart.add(c) == a
"""
    found = bodies_of(text, NAMES)
    assert len(found) == 4
    assert found[0] == "c = 3\nitems = [1]\ncart = Cart(items)\nassert cart.add(c) == a"


def test_what_is_no_python_has_no_body() -> None:
    assert bodies_of("def test(:", NAMES) == []
