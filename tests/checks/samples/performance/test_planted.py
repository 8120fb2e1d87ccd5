import planted
import pytest
from planted import bubble_sort, fibonacci, in_order, is_palindrome, lookup, merge_sort, shout, total, without_repeats


def test_lookup():
    assert lookup({"a": 1, "b": 2}, "b") == 2


def test_binary_search():
    numbers = [1, 3, 5, 7, 9]
    assert planted.binary_search(numbers, 7) == 3


@pytest.mark.parametrize(("numbers", "expected"), [([1, 2, 3], 6), ([4, 5], 9), ([], 0)])
def test_total(numbers, expected):
    assert total(numbers) == expected


def test_texts():
    assert shout(["good", "day"]) == "GOOD-DAY"
    assert is_palindrome("abcba")
    assert not is_palindrome("ab")


def test_sorting():
    assert in_order([3, 1, 2]) == [1, 2, 3]
    assert merge_sort([3, 1, 2]) == [1, 2, 3]
    assert bubble_sort([3, 1, 2]) == [1, 2, 3]


def test_pairs_and_triples():
    assert without_repeats([3, 1, 2, 5]) == [3, 1, 2, 5]
    assert planted.common([1, 2], [2, 3]) == [(2, 2)]
    assert planted.triples([1, 2, 3], 6) == 7


def test_fibonacci():
    assert fibonacci(10) == 55
