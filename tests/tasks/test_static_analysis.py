"""What the text of a module tells of a function: what it depends on, and through which others a test gets at it."""

import pytest

from burnish.tasks.static_analysis import (
    find_entry_points,
    find_nondeterminism,
    find_raise_lines,
    find_raised_errors,
    is_private,
)

CODE = '''
import datetime as dt
import random as dice
import time


def _now():
    return dt.datetime.now()


def age(born):
    """Years, e.g. today or now."""
    return _now().year - born


def waits(n):
    return time.sleep(n)


def doubled(n):
    now = n * 2
    return now


def kept(open):
    return open + 1


class Cart:
    def total(self):
        return self._read()

    def _read(self):
        with open("prices") as file:
            return file.read()

    def count(self, sample):
        if not sample:
            raise ValueError("none")
        raise errors.Empty
'''


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        ("age", "the clock"),
        ("waits", "the clock"),
        ("Cart.total", "files"),
        ("doubled", ""),
        ("kept", ""),
        ("Cart.count", ""),
        ("nobody", ""),
    ],
)
def test_what_a_function_leans_on_is_found_through_its_helpers_and_not_in_its_own_names(
    function: str, kind: str
) -> None:
    assert find_nondeterminism(CODE, function) == kind


def test_the_errors_that_a_module_means_to_raise() -> None:
    assert find_raised_errors(CODE) == {"ValueError", "Empty"}
    assert find_raised_errors("no python (") == set()


def test_the_words_of_an_error_are_where_it_is_raised_and_where_they_are_made() -> None:
    code = 'def f(n):\n    words = "bad"\n    m = n\n    if m:\n        raise ValueError(words)\n    return m\n'
    assert find_raise_lines(code) == {2, 5}


NESTED = """
def _inner(n):
    return n

def _middle(n):
    return _inner(n)

def outer(n):
    return _middle(n)

def near(n):
    return _inner(n)

class Cart:
    def _sum(self):
        return 1

    def total(self):
        return self._sum()

def lonely(n):
    return n
"""


def test_a_private_function_is_got_at_through_public_ones_those_that_tests_speak_of_first() -> None:
    assert find_entry_points(NESTED, "_inner", []) == ["near", "outer"]
    assert find_entry_points(NESTED, "_inner", ["outer(1)"]) == ["outer", "near"]
    assert find_entry_points(NESTED, "Cart._sum", []) == ["Cart.total"]


def test_a_public_function_and_one_that_tests_name_are_called_as_they_are() -> None:
    assert find_entry_points(NESTED, "lonely", []) == ["lonely"]
    assert find_entry_points(NESTED, "_inner", ["assert _inner(1)"]) == ["_inner"]
    assert not is_private("Cart.__init__")


def test_where_nothing_public_leads_there_is_no_door() -> None:
    assert find_entry_points("def _a():\n    return _a()\n", "_a", []) == []
    assert find_entry_points("no python (", "_a", []) == []
