"""Two examples that no code can fulfil together are named before any work."""

import pytest

from burnish.tasks.contradiction import allow_one_answer, find_contradiction, refuse_contradiction
from tests.support import refused

RAISES = "with pytest.raises(ValueError):\n    f(1)"


MARK = "# test_a, from your file\ndef test_a():\n    "


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
        ("assert f(1)", "assert f(1) == 2", "assert f(1) != 3", "assert not f(2)"),
        (f"{MARK}assert tick(1) == 1\n    assert tick(1) == 2", "assert tick(1) == 1"),
        (f"{MARK}assert f(1) == 1".replace("test_a()", "test_a(tmp_path)"), "assert f(1) == 2"),
        (
            "s = Stack()\ns.push(1)\nassert s.pop() == 1\nassert s.pop() == 2",
            "s = Stack()\ns.push(1)\nassert s.pop() == 1",
        ),
    ],
)
def test_what_may_hold_together_is_no_contradiction(tests: tuple[str, ...]) -> None:
    assert find_contradiction(tests) is None


def test_both_are_named() -> None:
    with refused(name="tasks/examples that contradict each other"):
        refuse_contradiction(("assert f(1) == 1", "assert f(1) == 2"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("assert f(1)", "assert not f(1)"),
        ("assert f(1) is True", "assert not f(1)"),
        ("assert f(1) == 2", "assert f(1) != 2"),
        ("assert not f(1)", RAISES),
        ("s = Stack()\nassert s.pop() == 1", "s = Stack()\nwith pytest.raises(IndexError):\n    s.pop()"),
        ("assert f(1) == 2", f"{MARK}assert f(0) == 0\n    assert f(1) == 3"),
    ],
)
def test_yes_and_no_steps_and_a_file_of_tests_contradict_too(one: str, other: str) -> None:
    assert find_contradiction((one, other)) == (one, other)
    assert find_contradiction((one, one)) is None


def test_a_test_of_a_file_is_named() -> None:
    with refused(name="tasks/an example that contradicts a file of tests"):
        refuse_contradiction(("assert f(1) == 1", f"{MARK}assert f(1) == 2"))


@pytest.mark.parametrize(
    ("tests", "allowed"),
    [
        (("assert not f(1)", "assert f(2) == False", "assert f(3) is False", "assert f(4) != 3"), True),
        (("assert f(1) == 3", "assert f(2) == 3"), True),
        (("assert f(1)", "assert not f(2)"), False),
        (("assert f(1) == 3", "assert f(2) == 4"), False),
        ((RAISES, RAISES.replace("1", "2")), True),
        ((RAISES, "assert not f(2)"), False),
        (("assert not f(1)", "assert len(f(2)) > 3"), False),
    ],
)
def test_whether_one_answer_to_every_call_would_pass(tests: tuple[str, ...], allowed: bool) -> None:
    assert allow_one_answer(tests) is allowed
