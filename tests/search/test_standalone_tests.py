"""Tests that stand on their own: from the files of a project, and from answers of several steps."""

import pytest

from burnish.agent.nodes.write_tests import extract_tests
from burnish.search.standalone_tests import extract_bodies
from tests.support import block

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
    assert extract_bodies(text, NAMES) == [
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
    found = extract_bodies(text, NAMES)
    assert len(found) == 4
    assert found[0] == "c = 3\nitems = [1]\ncart = Cart(items)\nassert cart.add(c) == a"


def test_what_is_no_python_has_no_body() -> None:
    assert extract_bodies("def test(:", NAMES) == []


PUSHED = "s = Stack()\ns.push(1)\nassert s.pop() == 1"
EMPTY = "s = Stack()\nassert s.size() == 0"


@pytest.mark.parametrize(
    "answer",
    [
        block(f"{PUSHED}\n\n{EMPTY}"),
        block("s = Stack(); s.push(1); assert s.pop() == 1\ns = Stack(); assert s.size() == 0"),
        block(
            "def test_push():\n    s = Stack()\n    s.push(1)\n    assert s.pop() == 1\n\n"
            "def test_empty():\n    '''Nothing in it.'''\n    s = Stack()\n    assert s.size() == 0, 'empty'\n"
        ),
        "1. `s = Stack(); s.push(1); assert s.pop() == 1`\n2. `s = Stack(); assert s.size() == 0`",
        block(f"from solution import Stack\n\n# one\n{PUSHED}\n\n# two\n{EMPTY}"),
    ],
)
def test_each_story_is_one_test(answer: str) -> None:
    assert extract_tests(answer, "Stack", stories=True) == ([PUSHED, EMPTY], 0)


@pytest.mark.parametrize(
    "story",
    [
        "s.push(1)\nassert s.pop() == 1",
        "s = Stack()\ns.push(x)\nassert s.pop() == x",
        "q = Queue()\nassert q.size() == 0",
        "s = Stack()\nassert s.pop( == 1",
        "def helper():\n    return Stack()\n\nassert helper().size() == 0",
        "class Stack:\n    pass\ns = Stack()\nassert s",
    ],
)
def test_a_story_that_does_not_stand_on_its_own_is_dropped(story: str) -> None:
    kept, dropped = extract_tests(block(story), "Stack", stories=True)
    assert (kept, dropped > 0) == ([], True)


def test_steps_that_assert_nothing_are_no_test() -> None:
    assert extract_tests(block("s = Stack()\ns.push(1)"), "Stack", stories=True) == ([], 0)
