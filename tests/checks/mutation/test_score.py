"""The numbers: what counts as noticed, what an interval is, and what a cell may say."""

import pytest

from burnish.checks.bench.inside.facts import FactReader
from burnish.checks.mutation.mutate_project import MutationRun


def outcomes(**counts: int) -> dict[str, str]:
    return {f"{word}{number}": word for word, count in counts.items() for number in range(count)}


def test_timeouts_and_crashes_are_noticed_and_code_without_tests_is_not() -> None:
    run = MutationRun(outcomes=outcomes(killed=5, timeout=2, suspicious=1, survived=1, no_tests=1, invalid=7))
    assert (run.tried, run.percent, run.figure()) == (10, 80.0, "80 %")
    assert run.interval == (80.0, 80.0)


def test_an_early_stop_shows_interval_and_numbers() -> None:
    assert (
        MutationRun(outcomes=outcomes(killed=94, survived=26, not_tried=190)).figure()
        == "78 % (70 to 85), 120 of 310 tried"
    )


def test_changed_code_is_counted_and_the_rest_is_estimated_from_its_sample() -> None:
    changed = {f"new{number}": "survived" for number in range(10)}
    run = MutationRun(outcomes=changed | outcomes(killed=10, not_tried=80), changed=frozenset(changed))
    assert run.percent == pytest.approx(90), "nine tenths of the code are as they were, and its sample was noticed"
    low, high = run.interval
    assert (run.tried, low < 90, high == pytest.approx(90)) == (20, True, True)
    alone = MutationRun(outcomes=changed | outcomes(not_tried=80), changed=frozenset(changed))
    assert (alone.percent, alone.interval) == (0.0, (0.0, 0.0)), "of the rest nothing is known, and nothing is said"
    assert MutationRun(outcomes=outcomes(killed=29, survived=71)).percent == 29.0


def test_a_score_is_never_rounded_up() -> None:
    assert MutationRun(outcomes=outcomes(killed=599, survived=401)).figure() == "59 %"


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"), [(0, 10, 0.0, 27.75), (10, 10, 72.25, 100.0), (5, 10, 23.66, 76.34)]
)
def test_wilsons_interval_is_the_published_one(successes: int, n: int, low: float, high: float) -> None:
    run = MutationRun(outcomes=outcomes(killed=successes, survived=n - successes, not_tried=1))
    assert run.interval == (pytest.approx(low, abs=0.01), pytest.approx(high, abs=0.01))


def test_a_cell_can_only_speak_of_known_mutants_in_known_words_and_once() -> None:
    trial = MutationRun(outcomes={"a": "not_tried", "b": "not_tried"})
    listen = FactReader("7:", trial.hear)
    listen(b'7:{"mutant": "c", "was": "killed"}\n7:{"mutant": "b", "was": "wonderful"}\n7:[1]\n7:nonsense\n')
    listen(b'7:{"baseline": 3}\n{"mutant": "a", "was": "killed"}\n8:{"mutant": "a", "was": "killed"}\n7:{"mut')
    listen(b'ant": "a", "was": "survived"}\n')
    assert trial.outcomes == {"a": "survived", "b": "not_tried"}
    assert not trial.problem
    listen(b'7:{"mutant": "a", "was": "killed"}\n')
    assert trial.outcomes == {"a": "survived", "b": "not_tried"}
    assert trial.problem, "a mutant of which two things were told says nothing of the tests"
