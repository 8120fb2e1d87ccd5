"""Bugs that people really make: the edit that mends each is among the first ones tried."""

import pytest

from burnish.search.edits import propose_edits

BUGS = {
    "the last element is left out": (
        "def largest(values):\n    best = values[0]\n    for i in range(1, len(values) - 1):\n"
        "        if values[i] > best:\n            best = values[i]\n    return best\n",
        "range(1, len(values) - 1)",
        "range(1, len(values))",
    ),
    "a return stands inside the loop": (
        "def total(values):\n    result = 0\n    for value in values:\n"
        "        result += value\n        return result\n",
        "        return result",
        "    return result",
    ),
    "a counter starts anew in every round": (
        "def longest(words):\n    for word in words:\n        best = 0\n"
        "        if len(word) > best:\n            best = len(word)\n    return best\n",
        "    for word in words:\n        best = 0\n",
        "    best = 0\n    for word in words:\n",
    ),
    "the arguments are the wrong way round": (
        "def has(text, letter):\n    return isinstance(str, text) and letter in text\n",
        "isinstance(str, text)",
        "isinstance(text, str)",
    ),
    "a boundary belongs to the range": (
        "def is_grown_up(age):\n    if age > 18:\n        return True\n    return False\n",
        "age > 18",
        "age >= 18",
    ),
    "the result is built but something else returned": (
        "def doubled(values):\n    result = [2 * value for value in values]\n    return values\n",
        "return values",
        "return result",
    ),
    "the absolute value was forgotten": (
        "def close(a, b, limit):\n    return a - b < limit\n",
        "a - b < limit",
        "abs(a - b) < limit",
    ),
    "an empty list was not thought of": (
        "def first(values):\n    return sorted(values)[0]\n",
        "    return sorted(values)[0]",
        "    if not values:\n        return None\n    return sorted(values)[0]",
    ),
    "the wrong one of two twins": (
        "def ends_well(name):\n    return name.lower().startswith('.py')\n",
        "startswith",
        "endswith",
    ),
    "nothing is returned": ("def shout(text):\n    text.upper() + '!'\n", "    text", "    return text"),
    "and where or was meant": (
        "def is_leap(year):\n    return year % 4 == 0 and (year % 100 != 0 and year % 400 == 0)\n",
        "year % 100 != 0 and",
        "year % 100 != 0 or",
    ),
    "an attribute for its neighbour": (
        "def area(box):\n    box.seen = True\n    return box.width * box.width + 0 * box.height\n",
        "box.width +",
        "box.height +",
    ),
    "the loop is left too early": (
        "def evens(values):\n    found = []\n    for value in values:\n        if value % 2:\n"
        "            break\n        found.append(value)\n    return found\n",
        "break",
        "continue",
    ),
    "a parameter is never used": (
        "def scaled(values, factor):\n    return [value for value in values]\n",
        "[value for",
        "[value * factor for",
    ),
    "a case falls through": (
        "def sign(n):\n    word = 'zero'\n    if n > 0:\n        word = 'plus'\n    if n < 0:\n"
        "        word = 'minus'\n    else:\n        word = 'zero'\n    return word\n",
        "    if n < 0",
        "    elif n < 0",
    ),
    "the sum is not gathered": (
        "def total(values):\n    result = 0\n    for value in values:\n        result = value\n    return result\n",
        "result = value",
        "result += value",
    ),
    "smallest first instead of largest": (
        "def top(scores, n):\n    return sorted(scores)[:n]\n",
        "sorted(scores)",
        "sorted(scores, reverse=True)",
    ),
    "the condition is turned round": (
        "def clean(words, banned):\n    return [word for word in words if word in banned]\n",
        "word in banned",
        "word not in banned",
    ),
    "whole numbers were meant": ("def middle(a, b):\n    return (a + b) / 2\n", "/", "//"),
}


@pytest.mark.parametrize("name", BUGS)
def test_the_mending_edit_is_among_the_first(name: str) -> None:
    wrong, old, new = BUGS[name]
    assert wrong.count(old) == 1, "the bug stands in one place"
    tried = [tweak.code for tweak in propose_edits(wrong, wrong.split("(")[0].removeprefix("def "), 120)]
    assert wrong.replace(old, new) in tried


def test_a_sign_keeps_its_two_sides_together() -> None:
    wrong = "def f(a, b, c):\n    return a - b - c\n"
    tried = {tweak.code.splitlines()[1].strip() for tweak in propose_edits(wrong, "f")}
    assert {"return (a - b) * c", "return a - b * c", "return a * b - c"} <= tried


def test_parentheses_come_only_where_they_are_needed() -> None:
    wrong = "def f(a, b):\n    return (a + b) ** 2 + len(a)\n"
    tried = {tweak.code.splitlines()[1].strip() for tweak in propose_edits(wrong, "f")}
    assert {"return (a * b) ** 2 + len(a)", "return (a) ** 2 + len(a)", "return 2 ** (a + b) + len(a)"} <= tried
    assert not any("((a * b)" in line or "((a - b)" in line for line in tried)


def test_a_variable_that_nothing_reads_is_tried_first() -> None:
    wrong = "def f(a, b, c, d, rate):\n    x = a + b\n    return x * c + d * a\n"
    assert "rate" in propose_edits(wrong, "f")[0].what
