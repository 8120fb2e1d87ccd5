"""Which call is asked about: one that splits the votes, is short, and looks like the examples."""

from collections.abc import Iterable, Mapping

import pytest

from burnish.search.questions import Familiar, Split, choose_call, dress_calls, parts_alike, shrink_calls

RANKS = Familiar("rank", ['assert rank([("Ann", 3)]) == ["Ann"]'], "names by score")
NUMBERS = Familiar("f", ["assert f(7) == 3"], "a number")
LISTS = Familiar("f", ["assert f([3, 1, 2]) == 3"], "a list of numbers")


def chosen(familiar: Familiar, calls: Mapping[str, tuple[str, ...]], weights: tuple[float, ...] = ()) -> list[Split]:
    """The calls with what versions 1, 2 … give for them; each version has one vote, or that of `weights`."""
    versions = range(1, 1 + len(next(iter(calls.values()))))
    votes = dict(zip(versions, weights or [1.0] * len(versions), strict=True))

    def count(numbers: Iterable[int]) -> float:
        return sum(votes[number] for number in numbers)

    answers = {version: tuple(said[version - 1] for said in calls.values()) for version in versions}
    return choose_call(list(calls), answers, count, familiar)


def test_calls_on_which_all_agree_are_no_question() -> None:
    assert chosen(NUMBERS, {"f(1)": ("2", "2"), "f(2)": ("True", "1")}) == []


def test_the_call_that_splits_the_votes_best_comes_first() -> None:
    found = chosen(NUMBERS, {"f(1)": ("1", "1", "1", "9"), "f(2)": ("1", "1", "9", "9")})
    assert [split.call for split in found] == ["f(2)", "f(1)"]


def test_options_come_with_most_votes_first_and_name_their_versions() -> None:
    [split] = chosen(NUMBERS, {"f(1)": ("5", "6", "6")})
    assert [(option.value, option.versions, option.votes) for option in split.options] == [
        ("6", (2, 3), 2.0),
        ("5", (1,), 1.0),
    ]


def test_two_calls_that_part_the_known_versions_alike_are_one_question() -> None:
    earlier, same, other = chosen(NUMBERS, {"f(1)": ("5", "6", "6"), "f(2)": ("8", "9", "9"), "f(3)": ("1", "1", "2")})
    assert parts_alike(same.options, earlier.options)
    assert not parts_alike(other.options, earlier.options)
    [later] = chosen(NUMBERS, {"f(4)": ("5", "6", "6", "5")})
    assert parts_alike(later.options, earlier.options), "a version that came since counts on neither side"


@pytest.mark.parametrize(
    ("natural", "odd"),
    [
        ("f(2)", "f(-2)"),
        ("f(2)", "f(9731)"),
        ("f(2)", "f('2')"),
        ("f(2)", "f(2.7182818)"),
        ("f(2)", "f(0)"),
    ],
)
def test_numbers_like_those_of_the_examples_are_preferred(natural: str, odd: str) -> None:
    assert chosen(NUMBERS, {odd: ("1", "9"), natural: ("1", "9")})[0].call == natural


@pytest.mark.parametrize("odd", ["f([])", "f([1, 'a'])", "f([3, 1, 2, 5, 8, 7, 9])", "f([0.333333, 1, 2])"])
def test_lists_like_those_of_the_examples_are_preferred(odd: str) -> None:
    assert chosen(LISTS, {odd: ("1", "9"), "f([2, 1])": ("1", "9")})[0].call == "f([2, 1])"


def test_values_on_both_sides_are_preferred_to_an_error() -> None:
    found = chosen(NUMBERS, {"f(1)": ("raises ValueError", "1"), "f(12)": ("2", "1")})
    assert [split.call for split in found] == ["f(12)", "f(1)"]
    assert [option.value for option in found[1].options] == ["raises ValueError", "1"]


def test_short_answers_are_preferred_to_numbers_that_nobody_works_out() -> None:
    assert chosen(NUMBERS, {"f(3)": ("1.73205081", "1.7320508"), "f(16)": ("4", "2")})[0].call == "f(16)"


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param(("too slow", "no answer"), id="no value at all"),
        pytest.param(("raises ValueError", "raises TypeError"), id="errors only"),
        pytest.param(("Cart(total=3)", "Cart(total=4)"), id="objects"),
        pytest.param(("5.62949953e+14", "562949953421312"), id="the same number"),
        pytest.param(("too slow", "1"), id="a single option"),
        pytest.param(("'" + "a" * 90 + "'", "1"), id="too long to read"),
    ],
)
def test_what_nobody_could_answer_is_no_question(answers: tuple[str, str]) -> None:
    assert chosen(NUMBERS, {"f(1)": answers}) == []


def test_nobody_is_bothered_with_what_is_odd_and_decides_little() -> None:
    assert chosen(NUMBERS, {"f('\u202e', -9731)": ("1", *["raises ValueError"] * 9)}) == []


def test_versions_without_votes_do_not_make_a_question() -> None:
    assert chosen(NUMBERS, {"f(1)": ("1", "2")}, weights=(0.0, 0.0)) == []


def test_there_are_four_options_at_most() -> None:
    [split] = chosen(NUMBERS, {"f(1)": tuple(map(str, range(6)))})
    assert len(split.options) == 4


def test_smaller_calls_have_fewer_parts_or_simpler_values_and_keep_their_form() -> None:
    smaller = shrink_calls(["rank([('Ann', 30), ('Bob', 5)], 2)"], 100)
    assert {"rank([('Ann', 30)], 2)", "rank([('Bob', 5)], 2)", "rank([('Ann', 3), ('Bob', 5)], 2)"} <= {*smaller}
    assert all(call.startswith("rank([(") and call.endswith(")") for call in smaller)


@pytest.mark.parametrize("call", ["f()", "f(g(1))", "f(x for x in y)", "not python (", "f(True)", "f(None)"])
def test_a_call_that_cannot_be_smaller_gives_none(call: str) -> None:
    assert shrink_calls([call], 10) == ()


def test_odd_texts_become_words_like_those_of_the_examples() -> None:
    dressed = dress_calls(["rank([('zQ', 1), ('n', 4)])"], RANKS, 20)
    assert "rank([('Ann', 1), ('Bob', 4)])" in dressed
    assert dress_calls(["rank([('Ann', 1)])"], RANKS, 20) == ()
