"""A planted bug is proven: the reference passes, the mutant does not."""

from pathlib import Path

import pytest

from burnish.evals.suites import is_wrong_result, load_planted_bugs
from burnish.events import Case, Graded
from burnish.sandbox import Sandbox
from burnish.tasks import Task
from burnish.tasks.mbpp import load_mbpp


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "suites"


def task(number: int, gold: str = "return x + {number}", tests: str = "") -> Task:
    name = f"up{number}"
    usual = "".join(f"assert {name}({n}) == {n + number}\n" for n in (1, 2))
    return Task(
        id=f"mbpp-{number}",
        prompt="Add.",
        entry_point=name,
        gold=f"def {name}(x):\n    {gold.format(number=number)}\n",
        visible_tests=(usual.split("\n")[0],),
        hidden_tests=tests or usual,
        split="tune",
    )


TASKS = [task(number) for number in range(2, 8)]


@pytest.mark.slow
def test_every_bug_fails_the_tests_that_the_reference_passes(box: Sandbox) -> None:
    bugs = load_planted_bugs(TASKS, box)
    assert [bug.id for bug in bugs] == [one.id for one in TASKS]
    for bug, one in zip(bugs, TASKS, strict=True):
        graded = box.grade(bug.code, one.hidden_tests)
        assert is_wrong_result(graded), bug
        assert graded.cases[bug.failing].outcome == "failed"
        assert len(bug.neighbours) == 4


def test_a_task_whose_reference_fails_gets_no_bug(box: Sandbox) -> None:
    assert load_planted_bugs([task(1, tests="assert up1(1) == 7\n")], box) == []


def test_a_task_whose_tests_notice_nothing_gets_no_bug(box: Sandbox) -> None:
    assert load_planted_bugs([task(1, gold="return None", tests="assert up1(1) != 77\n")], box) == []


def test_a_crash_is_taken_only_when_nothing_else_is_to_be_had(box: Sandbox) -> None:
    (bug,) = load_planted_bugs([task(1, gold="return x.real", tests="assert up1(1) == 1\n")], box) or [None]
    assert bug is None or bug.failing == 0


SCRIPT = "def score(up):\n    assert [up(n) for n in range(9)] == [abs(n - 4) for n in range(9)]\nscore(up1)\n"
"""Scores by inputs that are never shown."""


@pytest.mark.parametrize(
    ("asserts", "failing"),
    [("assert up1(5) == 1\nassert up1(0) == 4\n", (0, 1)), ("assert up1(4) == 0\n", (0,)), ("assert 1\n", (None,))],
)
def test_a_bug_that_a_test_to_be_shown_notices_is_preferred(
    box: Sandbox, asserts: str, failing: tuple[int | None, ...]
) -> None:
    one = task(1, gold="return abs(x - 4)", tests=SCRIPT)
    (bug,) = load_planted_bugs([one], box, asserts={one.id: asserts})
    assert bug.failing in failing
    assert not box.grade(bug.code, one.hidden_tests).all_passed
    graded = box.grade(bug.code, asserts)
    assert [case.outcome for case in graded.cases].count("passed") == (bug.failing or 0 if "0" in asserts else 1)
    assert bug.neighbours == ()


def test_a_reference_that_fails_what_may_be_shown_gets_no_bug(box: Sandbox) -> None:
    one = task(1, gold="return abs(x - 4)", tests=SCRIPT)
    assert load_planted_bugs([one], box, asserts={one.id: "assert up1(5) == 7\n"}) == []


def test_a_wrong_value_is_told_from_a_crash_and_from_no_end() -> None:
    wrong = Case(name="a", outcome="failed", how="wrong_value")
    crash = Case(name="a", outcome="failed", how="raised")
    assert is_wrong_result(Graded(cases=(wrong,)))
    assert not is_wrong_result(Graded(cases=(wrong, crash)))
    assert not is_wrong_result(Graded(cases=(wrong,), problem="the time limit was reached"))


def test_planting_twice_gives_the_same_and_the_second_time_from_the_cache(box: Sandbox, cache: Path) -> None:
    steps: list[int] = []
    first = load_planted_bugs(TASKS, box, lambda done, *_: steps.append(done))
    assert steps == [1, 2, 3, 4, 5, 6]
    assert load_planted_bugs(TASKS, box, lambda done, *_: steps.append(done)) == first
    assert len(steps) == 6


@pytest.mark.slow
def test_a_torn_or_edited_cache_is_planted_anew(box: Sandbox, cache: Path) -> None:
    first = load_planted_bugs(TASKS, box)
    (kept,) = cache.iterdir()
    kept.write_text(kept.read_text().replace("misuse", "masuse").replace("logic", "lagic"))
    assert load_planted_bugs(TASKS, box) == first
    kept.write_text(kept.read_text()[:-20])
    assert load_planted_bugs(TASKS, box) == first


def test_other_tasks_have_a_cache_of_their_own(box: Sandbox, cache: Path) -> None:
    load_planted_bugs(TASKS[:1], box)
    load_planted_bugs(TASKS[1:2], box)
    assert len(list(cache.iterdir())) == 2


@pytest.mark.slow
def test_real_tasks_get_real_bugs(data: Path, box: Sandbox) -> None:
    tasks = load_mbpp("tune", data)[:15]
    bugs = load_planted_bugs(tasks, box)
    assert len(bugs) == 15
    assert len({bug.bug for bug in bugs}) >= 3
