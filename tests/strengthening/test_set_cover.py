"""A few tests notice as much as many."""

from burnish.strengthening.oracle import Expectation, Origin
from burnish.strengthening.set_cover import Candidate, choose_tests


def candidate(test: str, notices: str, origin: Origin = "agreed", exposes: bool = False) -> Candidate:
    return Candidate(test, test, Expectation("1", origin, "", exposes), frozenset(notices))


def picked(*candidates: Candidate, most: int = 8) -> list[str]:
    return [one.test for one in choose_tests(candidates, most)]


def test_the_test_that_notices_most_makes_others_needless() -> None:
    assert picked(candidate("one", "a"), candidate("two", "ab"), candidate("three", "b")) == ["two"]


def test_of_equal_ones_the_shortest_is_taken() -> None:
    assert picked(candidate("longer", "a"), candidate("short", "a")) == ["short"]


def test_a_pinned_test_is_taken_only_for_what_no_other_notices() -> None:
    assert picked(candidate("p", "abc", "pinned"), candidate("agreed", "ab")) == ["agreed", "p"]
    assert picked(candidate("p", "ab", "pinned"), candidate("agreed", "ab")) == ["agreed"]


def test_what_exposes_the_version_comes_first_and_need_not_notice_anything() -> None:
    found = picked(candidate("agreed", "a"), candidate("exposing", "", exposes=True))
    assert found == ["exposing", "agreed"]


def test_there_are_never_more_than_wanted() -> None:
    assert len(picked(*(candidate(f"t{n:02}", chr(97 + n)) for n in range(20)))) == 8
