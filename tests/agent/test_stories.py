"""Tests that build something first: paragraphs, lines with semicolons, test functions."""

import pytest

from burnish.agent.model_tests import extract_tests
from tests.support import block

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
