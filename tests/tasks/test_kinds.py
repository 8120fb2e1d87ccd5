"""Whether a task asks for a function or for a class."""

import pytest

from burnish.tasks import Task
from burnish.tasks.kinds import asked_kinds, kinds_in_words

SAID = {
    "a function mean(xs) that averages": {"mean": "function"},
    "Write a function called `mean`.": {"mean": "function"},
    "functions encode(s) and decode(s)": {"encode": "function", "decode": "function"},
    "a class Stack and a function make(items)": {"Stack": "class", "make": "function"},
    "classes Stack, Queue and Deque": {"Stack": "class", "Queue": "class", "Deque": "class"},
    "a class named stack with push and pop": {"stack": "class"},
    "def mean(xs): averages": {"mean": "function"},
    "a function make(items) that returns a Stack": {"make": "function", "Stack": ""},
    "the mean of numbers, e.g. mean([1]) == 1": {"mean": ""},
}


@pytest.mark.parametrize("words", SAID)
def test_words_say_what_a_name_is_to_be(words: str) -> None:
    assert dict(kinds_in_words(words, SAID[words])) == {name: kind for name, kind in SAID[words].items() if kind}


def test_code_that_comes_with_the_task_says_it_too() -> None:
    task = Task(
        id="x", prompt="Repair it.", entry_point="Cart.total", also=("mean",), base_code="class Cart:\n    pass\n"
    )
    assert dict(asked_kinds(task)) == {"Cart": "class"}
    gold = "def Mean(xs):\n    return 0\n"
    assert dict(asked_kinds(Task(id="x", prompt="The mean.", entry_point="Mean", gold=gold))) == {"Mean": "function"}
