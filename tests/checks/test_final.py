"""The other checks on what a run hands over: each answer is made once, and some can be asked for alone."""

from collections.abc import Sequence

import pytest

from burnish.checks.final import FinalChecks, find_changed_functions
from burnish.events import Evidence

CODE, TESTS = "def f(n):\n    return n\n", "from solution import f\n\n\ndef test_f():\n    assert f(1) == 1\n"


class Counting(FinalChecks):
    """Says what it is asked for; an answer comes at once, "not_run" for what is in `silent`."""

    def __init__(self, *names: str, silent: str = "") -> None:
        super().__init__(names)
        self.silent, self.judged = silent, list[str]()

    def _judge_files(self, names: Sequence[str], code: str, tests: str) -> tuple[Evidence, ...]:
        self.judged += names
        return tuple(
            Evidence(check=name, verdict="not_run" if name == self.silent else "passed", why="") for name in names
        )


def test_the_same_bytes_are_judged_once() -> None:
    checks = Counting("security", "quality")
    first = checks.judge(CODE, TESTS)
    assert checks.judge(CODE, TESTS) == first
    assert checks.judged == ["security", "quality"]


@pytest.mark.parametrize(("code", "tests"), [(CODE + "\n", TESTS), (CODE, TESTS + "\n")])
def test_other_code_or_other_tests_are_judged_anew(code: str, tests: str) -> None:
    checks = Counting("security")
    checks.judge(CODE, TESTS)
    checks.judge(code, tests)
    assert checks.judged == ["security", "security"]


def test_some_checks_can_be_asked_for_alone_and_the_others_later() -> None:
    checks = Counting("security", "quality", "performance")
    assert [item.check for item in checks.judge(CODE, TESTS, names=("quality",))] == ["quality"]
    assert [item.check for item in checks.judge(CODE, TESTS)] == ["security", "quality", "performance"]
    assert checks.judged == ["quality", "security", "performance"]


def test_a_check_that_was_not_run_is_asked_again() -> None:
    checks = Counting("security", silent="security")
    checks.judge(CODE, TESTS)
    checks.judge(CODE, TESTS)
    assert checks.judged == ["security", "security"]


def test_code_whose_tests_fail_is_read_and_not_measured() -> None:
    checks = Counting("security", "performance")
    answers = checks.judge(CODE, TESTS, sound=False)
    assert [item.verdict for item in answers] == ["passed", "not_run"]
    assert checks.judged == ["security"]


BEFORE = "def one():\n    return 1\n\n\ndef two():\n    return 1\n"


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        (BEFORE, BEFORE, ()),
        (BEFORE, BEFORE.replace("two():\n    return 1", "two():\n    return 2"), ("two",)),
        (BEFORE.replace("two():", "two()"), BEFORE, ("two",)),
        (BEFORE, "A = 1\n" + BEFORE, ()),
        (BEFORE, BEFORE + "\n\nclass C:\n    def three(self):\n        return 3\n", ("C.three",)),
        (BEFORE, "def", ()),
    ],
)
def test_what_a_repair_changed_is_told_from_the_code_around_it(
    before: str, after: str, changed: tuple[str, ...]
) -> None:
    assert find_changed_functions(before, after) == changed
