"""Who says what is right: two others in other code, nobody against it; else it is only pinned.

A call is usual when it is of the kind that the tests make; near when it is only at an edge of that.
"""

import pytest

from burnish.strengthening.oracle import CallFilter, Expectation, Sample, expect

OWN = Sample("10", "own")
TESTS = ("assert f([3, 1], 2) == 1", "assert f([1, 2, 3], 3) == 2")
"""The second argument is the length of the first; no number is below one."""


def said(*others: tuple[str, str], near: bool = True, usual: bool = True, needed: int = 2) -> Expectation:
    found = expect(OWN, [Sample(*other) for other in others], near, usual, needed)
    assert found
    return found


def test_two_others_that_say_the_same_agree() -> None:
    found = said(("10", "a"), ("10", "b"))
    assert (found.origin, found.answer, found.exposes) == ("agreed", "10", False)
    assert found.why.startswith("3 of 3 ")


def test_one_of_them_may_be_a_copy_of_the_version() -> None:
    assert said(("10", "own"), ("10", "b")).origin == "agreed"


@pytest.mark.parametrize(
    "others",
    [
        [],
        [("10", "a")],
        [("10", "own"), ("10", "own")],
        [("10", "a"), ("11", "b")],
        [("10", "a"), ("10", "b"), ("11", "c")],
        [("10", "a"), ("no answer", "b")],
    ],
    ids=["nobody", "one voice", "only copies", "two opinions", "one against", "a silent one"],
)
def test_otherwise_only_the_code_says_so(others: list[tuple[str, str]]) -> None:
    found = said(*others)
    assert (found.origin, found.answer, found.exposes) == ("pinned", "10", False)


def test_what_a_call_far_from_the_known_ones_gives_is_only_pinned() -> None:
    assert said(("10", "a"), ("10", "b"), near=False, usual=False).origin == "pinned"
    assert said(("10", "a"), ("10", "b"), near=True, usual=False).origin == "agreed"


def test_all_others_together_expose_the_version() -> None:
    found = said(("0", "a"), ("0", "b"))
    assert (found.origin, found.answer, found.exposes) == ("agreed", "0", True)


@pytest.mark.parametrize(
    "others",
    [
        [("0", "a")],
        [("0", "a"), ("0", "a")],
        [("0", "a"), ("0", "b"), ("10", "c")],
        [("0", "a"), ("1", "b")],
        [("raises ValueError", "a"), ("raises ValueError", "b")],
    ],
    ids=["one voice", "one code twice", "somebody on its side", "two opinions", "errors"],
)
def test_less_than_that_does_not_expose_it(others: list[tuple[str, str]]) -> None:
    assert not said(*others).exposes


def test_an_unusual_call_exposes_nothing() -> None:
    assert not said(("0", "a"), ("0", "b"), usual=False).exposes


def test_of_a_strong_model_one_other_voice_is_enough() -> None:
    assert said(("10", "a"), needed=1).origin == "agreed"
    assert not said(("0", "a"), needed=1).exposes


def test_an_error_that_nobody_shares_says_nothing() -> None:
    assert expect(Sample("raises ValueError", "own"), [], near=True, usual=True) is None


@pytest.mark.parametrize(
    ("call", "usual", "near"),
    [
        ("f([5, 6], 2)", True, True),
        ("f([0, 6], 2)", False, True),
        ("f([], 0)", False, True),
        ("f([-1, 6], 2)", False, False),
        ("f([5, 6], 7)", False, False),
        ("f('ab', 2)", False, False),
        ("f([5, 6])", False, False),
        ("f(", False, False),
    ],
)
def test_signs_types_and_relations_make_a_call_usual(call: str, usual: bool, near: bool) -> None:
    known = CallFilter(("f",), TESTS)
    assert (known.is_usual(call), known.is_near(call)) == (usual, near)


def test_without_a_known_call_nothing_is_usual() -> None:
    assert not CallFilter(("f",), ()).is_usual("f(1)")
    assert not CallFilter(("f",), ()).is_near("f(1)")
