"""Going in circles is noticed, in each of its four forms; healthy work is left alone."""

import pytest

from burnish.agent.decide import why_stuck
from burnish.events import Event
from tests.agent.history import proposed, ran, work

A, B = "def f(n):\n    return 'a'\n", "def f(n):\n    return 'b'\n"


def versions(*said: tuple[str | None, str, str]) -> list[Event]:
    """A version a round: its code, its results, and what a failure says."""
    events: list[Event] = []
    for place, (code, outcome, message) in enumerate(said):
        events += [proposed(place + 1, code, round=place), ran(place + 1, outcome, message)]
    return events


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        (versions((A, "ff", "1"), (A, "ff", "1")), "the last round only repeated earlier code"),
        (versions((A, "ff", "1"), (A.replace("\n", "\n\n", 1), "ff", "1")), "only repeated earlier code"),
        ([*versions((A, "ff", "1"), (B, "ff", "2")), proposed(3, A, round=2), proposed(4, B, round=2)], "repeated"),
        (versions((None, "ff", "1"), (None, "ff", "1"), (None, "ff", "1")), "fail in the same way"),
        (versions((None, "pf", "1"), (None, "ff", "2"), (None, "ff", "3")), "no progress in 2 rounds"),
    ],
    ids=["repeat", "near-repeat", "both-repeat", "same-error", "no-progress"],
)
def test_each_kind_of_circle_is_named(events: list[Event], reason: str) -> None:
    assert reason in why_stuck(work(*events))


def test_answers_that_go_back_and_forth_are_noticed() -> None:
    """Beside something new in the same round, so that the round as a whole repeats nothing."""
    events = [proposed(1, A), ran(1, "ff", "1"), proposed(2, B, round=1), ran(2, "ff", "2")]
    events += [proposed(3, A, round=1), ran(3, "ff", "1"), proposed(4, B, round=1), ran(4, "ff", "2")]
    assert "back and forth" in why_stuck(work(*events))


@pytest.mark.parametrize(
    "events",
    [
        [],
        versions((None, "ff", "1")),
        versions((None, "ff", "1"), (None, "ff", "1")),
        versions((None, "ff", "1"), (None, "pf", "2"), (None, "pf", "3")),
        versions((None, "ff", "1"), (None, "ff", "2"), (None, "pf", "3")),
        versions((None, "pp", ""), (None, "pp", "")),
        [proposed(1, "", problem="no code"), proposed(2, "x", problem="the code does not parse", round=1)],
    ],
    ids=["nothing", "draft", "twice", "progress", "late-progress", "all-well", "two-problems"],
)
def test_healthy_work_is_left_alone(events: list[Event]) -> None:
    assert why_stuck(work(*events)) == ""


def test_three_answers_that_cannot_be_used_are_the_same_error_too() -> None:
    events = [proposed(n, f"{n}", round=n - 1, problem="the answer holds no code") for n in (1, 2, 3)]
    assert "fail in the same way" in why_stuck(work(*events))
