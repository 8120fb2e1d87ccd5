"""What a test may pin down: only what the arguments alone decide."""

import pytest

from burnish.tasks.steady import leans_on, lines_of_raises, raised_in

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
    assert leans_on(CODE, function) == kind


def test_the_errors_that_a_module_means_to_raise() -> None:
    assert raised_in(CODE) == {"ValueError", "Empty"}
    assert raised_in("no python (") == set()


def test_the_words_of_an_error_are_where_it_is_raised_and_where_they_are_made() -> None:
    code = 'def f(n):\n    words = "bad"\n    m = n\n    if m:\n        raise ValueError(words)\n    return m\n'
    assert lines_of_raises(code) == {2, 5}
