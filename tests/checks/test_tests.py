"""The tests check: passed only when there was a test and every one passed."""

import pytest

from burnish.checks import Suite, TestsCheck
from burnish.checks.bench.bench import ModuleBench
from burnish.checks.tests import SuiteDetails
from burnish.errors import SandboxError
from burnish.events import Evidence, Graded, SpecAgreed
from burnish.sandbox import Sandbox
from burnish.sandbox.sandbox import NO_KINDS, Kinds
from burnish.tasks.sentence import from_sentence
from tests.snapshots import assert_snapshot

SUITE = Suite(entry_point="f", given=("assert f(1) == 1",), model=("assert f(2) == 4",))


def outcomes(evidence: Evidence) -> list[str]:
    """What became of each test, in their order."""
    return [case.outcome for case in SuiteDetails.read(evidence).cases]


@pytest.mark.slow
def test_good_code_passes(box: Sandbox) -> None:
    evidence = TestsCheck().judge("def f(n):\n    return n * n\n", SUITE, ModuleBench(box))
    assert (evidence.verdict, outcomes(evidence)) == ("passed", ["passed", "passed"])
    assert evidence.details["separated"] is True


def test_wrong_code_fails_with_its_count(box: Sandbox) -> None:
    evidence = TestsCheck().judge("def f(n):\n    return n\n", SUITE, ModuleBench(box))
    assert (evidence.verdict, outcomes(evidence)) == ("failed", ["passed", "failed"])
    assert_snapshot(evidence.why, "bench/a version that fails one of two tests")


@pytest.mark.parametrize(
    "code",
    [
        "def f(n:",
        "raise SystemExit(0)",
        "import os\nos._exit(0)",
        "def g(n):\n    return 1",
        "class f:\n    __eq__ = 1",
    ],
)
def test_code_that_cannot_be_run_fails(box: Sandbox, code: str) -> None:
    assert TestsCheck().judge(code, SUITE, ModuleBench(box)).verdict == "failed"


@pytest.mark.parametrize(
    "code",
    [
        "class Yes:\n    def __eq__(self, other):\n        return True\ndef f(n):\n    return Yes()\n",
        "import sys\ndef f(n):\n    print('2 passed')\n    sys.exit(0)\n",
        "import builtins\nbuiltins.AssertionError = Exception\ndef f(n):\n    return 0\n",
    ],
    ids=["equal-to-everything", "leaves-with-success", "patched-assert"],
)
def test_code_that_cheats_fails(box: Sandbox, code: str) -> None:
    assert TestsCheck().judge(code, SUITE, ModuleBench(box)).verdict == "failed"


MEAN = "class mean:\n    def __init__(self, xs): pass\n    def __sub__(self, other): return 0\n"
CLOSE = "assert abs(mean([1, 2]) - 1.5) < 1e-9"


@pytest.mark.parametrize("name", ["mean", "Mean"])
def test_a_class_in_the_place_of_the_function_that_the_task_asks_for_fails(box: Sandbox, name: str) -> None:
    task = from_sentence(f"a function {name}(xs) that averages numbers")
    test = CLOSE.replace("mean", name)
    spec = SpecAgreed(entry_point=name, signature=task.signature, given_tests=(test,))
    suite, ground = Suite.for_task(task, spec), ModuleBench(box)
    wrong, right = MEAN.replace("mean", name), f"def {name}(xs):\n    return sum(xs) / len(xs)\n"
    assert [ground.grade(code, suite).all_passed for code in (wrong, right)] == [False, True]
    assert [ground.passes(code, suite) for code in (wrong, right)] == [False, True]


def test_a_disputed_test_is_left_out(box: Sandbox) -> None:
    evidence = TestsCheck(("assert f(2) == 4",)).judge("def f(n):\n    return n\n", SUITE, ModuleBench(box))
    assert (evidence.verdict, outcomes(evidence)) == ("passed", ["passed"])


def test_no_test_at_all_is_not_a_pass(box: Sandbox) -> None:
    assert TestsCheck().judge("def f(n):\n    return n\n", Suite(entry_point="f"), ModuleBench(box)).verdict != "passed"


class Crashed:
    """A sandbox whose cell dies."""

    level = "isolated"

    def grade(self, code: str, tests: str, timeout_seconds: float = 10.0, kinds: Kinds = NO_KINDS) -> Graded:
        raise SandboxError("the cell is gone")


def test_a_crashed_sandbox_is_not_run_and_not_a_failure() -> None:
    evidence = TestsCheck().judge("def f(n): ...", SUITE, ModuleBench(Crashed()))  # type: ignore[arg-type]
    assert (evidence.verdict, evidence.why) == ("not_run", "the cell is gone")
