"""Larger inputs keep what made the small one what it was."""

import pytest

from burnish.checks.performance.inside.inputs import arguments, can_miss, grow_value, size


def test_sorted_stays_sorted_and_distinct_stays_distinct() -> None:
    numbers = grow_value([1, 3, 5], 1000, "like")
    assert numbers == sorted(set(numbers))
    assert len(numbers) == 1000
    assert grow_value([9, 5, 1], 50, "like") == sorted(grow_value([9, 5, 1], 50, "like"), reverse=True)


def test_repeated_numbers_stay_in_their_range() -> None:
    assert set(grow_value([0, 1, 1, 0, 1], 100, "like")) == {0, 1}


def test_the_same_input_each_time() -> None:
    assert grow_value([3, 1, 2], 500, "like") == grow_value([3, 1, 2], 500, "like")


def test_what_is_mirrored_stays_mirrored() -> None:
    letters = grow_value(["a", "b", "a"], 101, "like")
    assert letters == letters[::-1]
    assert grow_value("abcba", 100, "like") == "abcba" * 20


@pytest.mark.parametrize("value", [[3, 1], (3, 1), {3, 1}, {"b": 1, "a": 2}, "ab", b"ab", [1.5, 0.5], ["x", "y"]])
def test_the_type_stays_and_the_size_is_as_asked(value: object) -> None:
    larger = grow_value(value, 64, "like")
    assert type(larger) is type(value)
    assert size(larger) == 64


def test_a_square_table_grows_both_ways_and_rows_keep_their_length() -> None:
    table = grow_value([[1, 2], [3, 4]], 100, "like")
    assert (len(table), {len(row) for row in table}, size(table)) == (10, {10}, 100)
    assert {len(row) for row in grow_value([[1, 3], [2, 6], [8, 10]], 100, "like")} == {2}


def test_what_is_looked_for_stays_as_far_in() -> None:
    new = arguments({"0": [4, 7, 9], "1": 9}, ["0"], 100, "like")
    assert new["1"] == new["0"][-1]


def test_what_may_be_a_place_or_a_count_stays_as_it_is() -> None:
    new = arguments({"0": [1, 2, 3], "1": 2}, ["0"], 100, "like")
    assert new["1"] == 2
    assert 2 not in new["0"]


def test_what_was_not_there_does_not_come_in() -> None:
    new = arguments({"0": [1, 2, 3], "1": 5}, ["0"], 100, "like")
    assert new["1"] == 5
    assert 5 not in new["0"]
    assert can_miss({"0": [1, 2, 3], "1": 5}, "0")
    assert arguments({"0": [1, 2, 3], "1": 5}, ["0"], 100, "never")["1"] == -1
