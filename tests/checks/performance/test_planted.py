"""Twelve functions of known growth, named right and each time the same."""

from collections.abc import Callable

import pytest

from burnish.events import Evidence

KNOWN = {
    "lookup": "constant",
    "binary_search": "log",
    "total": "linear",
    "shout": "linear",
    "is_palindrome": "linear",
    "in_order": "n log n",
    "merge_sort": "n log n",
    "bubble_sort": "quadratic",
    "without_repeats": "quadratic",
    "common": "quadratic",
    "triples": "worse",
    "fibonacci": "worse",
}


def growths(evidence: Evidence) -> dict[str, str]:
    return {function["name"]: function["growth"] for function in evidence.details["functions"]}  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def first(planted: Callable[[], Evidence]) -> dict[str, str]:
    return growths(planted())


@pytest.mark.slow
def test_at_least_ten_of_twelve_are_named_right(first: dict[str, str]) -> None:
    assert set(first) == set(KNOWN)
    assert sum(first[name] == growth for name, growth in KNOWN.items()) >= 10, first


@pytest.mark.slow
def test_three_runs_agree(first: dict[str, str], planted: Callable[[], Evidence]) -> None:
    second, third = (growths(planted()) for _ in range(2))
    assert first == second == third
