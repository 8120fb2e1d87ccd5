"""Repairs that please the tests without doing what the function is for, and honest ones that look like them."""

import pytest

from burnish.search.shortcuts import Shortcut, find_shortcuts

CLAMP = "def clamp(x, low, high):\n    if x < low:\n        return low\n    return min(x, low)\n"
EQUAL = "class Money:\n    def __eq__(self, other):\n        return self.cents == other.cents\n"
TESTS = ("assert clamp(17, 0, 10) == 10", "assert clamp(-5, 0, 10) == 0")


def method(*lines: str) -> str:
    return "class Money:\n    def __eq__(self, other):\n" + "".join(f"        {line}\n" for line in lines)


def clamp(*lines: str) -> str:
    return "def clamp(x, low, high):\n" + "".join(f"    {line}\n" for line in lines)


OLD_LINES = ("if x < low:", "    return low", "return min(x, low)")


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        (EQUAL, method("return False", "return self.cents == other.cents"), {"UNREACHABLE", "CONSTANT", "IGNORED"}),
        (EQUAL, method("if False:", "    return self.cents == other.cents", "return other is self"), {"UNREACHABLE"}),
        (EQUAL, method("while True:", "    return self.cents > other.cents", "return 1"), {"UNREACHABLE"}),
        (CLAMP, clamp("return 10"), {"CONSTANT", "IGNORED"}),
        (CLAMP, clamp("if x < low:", "    return low", "else:", "    return x", "return high"), {"UNREACHABLE"}),
        (CLAMP, clamp("if x > low:", "    return 10", "return 10"), {"CONSTANT"}),
        (CLAMP, clamp("return max(low, high)"), {"IGNORED"}),
        (CLAMP, clamp("if x == 17:", "    return high", *OLD_LINES), {"SPECIAL_CASE"}),
        (CLAMP, clamp("if (x, low) == (17, 0):", "    return high", *OLD_LINES), {"SPECIAL_CASE"}),
        (CLAMP, clamp("match x:", "    case 17:", "        return high", *OLD_LINES), {"SPECIAL_CASE"}),
        (CLAMP, clamp("return {17: high}.get(x, min(x, low))"), {"SPECIAL_CASE"}),
        (CLAMP, clamp("if x in (17, 18):", "    return high", *OLD_LINES), {"SPECIAL_CASE"}),
    ],
)
def test_a_shortcut_is_found(old: str, new: str, found: set[str]) -> None:
    seen = find_shortcuts(old, new, TESTS)
    # Whether `high` is used is another matter: the old code did not use it.
    assert {one.name for one in seen} == found, new


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (CLAMP, CLAMP.replace("min(x, low)", "min(x, high)")),
        (CLAMP, clamp("if low > high:", "    raise ValueError", "return max(low, min(x, high))")),
        (CLAMP, clamp("if x == 0:", "    return max(low, 0)", "return max(low, min(x, high))")),
        (CLAMP, clamp("while True:", "    if x > high:", "        break", "    return max(low, x)", "return high")),
        (EQUAL, method("if not isinstance(other, Money):", "    return NotImplemented", "return self == other.x")),
        (EQUAL, method("try:", "    return self.cents == other.cents", "except AttributeError:", "    return False")),
        ("def f(n):\n    return 1\n", "def f(n):\n    return 3\n"),
        ("def f(n):\n    return n\n    print(n)\n", "def f(n):\n    return -n\n    print(n)\n"),
        ("def f(n):\n    if n == 17:\n        return 1\n", "def f(n):\n    if n == 17:\n        return 2\n"),
        ("def f(n:\n", "def f(n):\n    return 1\n"),
    ],
)
def test_an_honest_repair_and_what_was_there_before_are_none(old: str, new: str) -> None:
    assert find_shortcuts(old, new, (*TESTS, "assert f(17) == 2")) == ()


def test_a_value_that_the_words_name_may_be_singled_out() -> None:
    new = clamp("if x == 17:", "    return high", "return max(low, min(x, high))")
    assert find_shortcuts(CLAMP, new, TESTS) == (Shortcut.SPECIAL_CASE,)
    assert find_shortcuts(CLAMP, new, TESTS, "Of 17 it gives the upper end.") == ()
