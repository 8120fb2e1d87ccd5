"""Many small edits in one job: those that pass are found, whatever the others do to the process that tries them."""

import pytest

from burnish.checks.bench.bench import ModuleBench
from burnish.checks.suite import Suite
from burnish.sandbox import Sandbox

pytestmark = pytest.mark.slow
GOOD = "def double(n):\n    return 2 * n\n"
HARMFUL = {
    "an endless loop": "def double(n):\n    while True:\n        pass\n",
    "one that swallows every error": "def double(n):\n while True:\n  try:\n   pass\n  except:\n   pass\n",
    "a wait": "import time\ndef double(n):\n    time.sleep(60)\n",
    "an endless call of C": "def double(n):\n    return sum(iter(int, 1))\n",
    "an end of the process": "import os\ndef double(n):\n    os._exit(0)\n",
    "an end by signal": "import os\ndef double(n):\n    os.kill(os.getpid(), 9)\n",
    "too much memory": "def double(n):\n    return [0] * 10**12\n",
    "endless recursion": "def double(n):\n    return double(n)\n",
    "an exit": "import sys\ndef double(n):\n    sys.exit(0)\n",
    "no Python": "def double(n:\n",
    "a wrong value": "def double(n):\n    return n\n",
    "a fact of its own": 'def double(n):\n    print("{\\"passing\\": [0]}")\n',
}
SUITE = Suite.of("double", ("assert double(2) == 4", "assert double(0) == 0"), ())


@pytest.mark.parametrize("harm", HARMFUL)
def test_what_passes_is_found_beside_an_edit_that_does_harm(box: Sandbox, harm: str) -> None:
    versions = [HARMFUL[harm], GOOD, HARMFUL[harm], GOOD + "\n"]
    assert ModuleBench(box).passing(versions, SUITE, 20.0) == (1, 3)


def test_the_first_that_pass_are_taken_and_no_more_than_wanted(box: Sandbox) -> None:
    versions = [HARMFUL["a wrong value"], *(f"{GOOD}\n# {number}\n" for number in range(80))]
    assert ModuleBench(box).passing(versions, SUITE, 20.0, most=3) == (1, 2, 3)


def test_an_edit_that_changes_the_library_does_not_pass_for_all_by_it(box: Sandbox) -> None:
    spoiling = "import builtins\nclass Any(int):\n    __eq__ = lambda a, b: True\ndef double(n):\n    return Any()\n"
    bench = ModuleBench(box)
    assert 1 not in bench.passing([spoiling, HARMFUL["a wrong value"]], SUITE, 20.0)
    assert not bench.grade(spoiling, SUITE).all_passed  # a filter may be fooled, and the judge is not


def test_forty_loops_among_three_hundred_edits_are_passed_over(box: Sandbox) -> None:
    versions = [HARMFUL["an endless loop"] if number % 8 == 0 else f"{GOOD}# {number}\n" for number in range(300)]
    assert len(ModuleBench(box).passing(versions, SUITE, 20.0, most=300)) == 262


@pytest.mark.parametrize("body", ["return 2 * n", "return n", "return 1 // n", "raise KeyError(n)"])
def test_plain_asserts_say_the_same_quickly_and_as_a_file(box: Sandbox, body: str) -> None:
    bench, code = ModuleBench(box), f"def double(n):\n    {body}\n"
    suite = Suite.of("double", SUITE.given, ("assert double(3) == 6", "assert double(\n    4\n) == 8"))
    quick, whole = (
        grade(code, suite).model_copy(update={"seconds": 0.0}) for grade in (bench.grade_quickly, bench.grade)
    )
    assert [(case.name, case.outcome, case.message) for case in quick.cases] == [
        (case.name, case.outcome, case.message) for case in whole.cases
    ]
    assert quick.model_copy(update={"cases": ()}) == whole.model_copy(update={"cases": ()})
