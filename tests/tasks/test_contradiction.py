"""Two examples that no code can fulfil together are named before any work."""

import pytest

from burnish.tasks.examples import find_contradiction, refuse_contradiction
from tests.support import refused

RAISES = "with pytest.raises(ValueError):\n    f(1)"


@pytest.mark.parametrize("other", ["assert f(1) == 3", "assert f( 1 ) == [2]", "assert f(1) is None", RAISES])
def test_examples_that_contradict_each_other_are_found(other: str) -> None:
    assert find_contradiction(("assert f(1) == 2", "assert f(2) == 2", other)) == ("assert f(1) == 2", other)


@pytest.mark.parametrize(
    "tests",
    [
        ("assert f(1) == [1]", "assert f(1) == [ 1 ]", "assert f(1) != 4"),
        ("assert f(1) == 1", "assert f(1) == 1.0", "assert f(1) == True"),
        ("assert f(1) == g(2)", "assert f(1) == 3"),
        (RAISES, "with pytest.raises(Exception):\n    f(1)"),
        ("s = Stack()\nassert s.pop() == 1", "s = Stack(2)\nassert s.pop() == 2", "def ("),
        (),
    ],
)
def test_what_may_hold_together_is_no_contradiction(tests: tuple[str, ...]) -> None:
    assert find_contradiction(tests) is None


def test_both_are_named() -> None:
    with refused(name="tasks/examples that contradict each other"):
        refuse_contradiction(("assert f(1) == 1", "assert f(1) == 2"))
