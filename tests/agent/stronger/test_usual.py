"""A call is usual when it is of the kind that the tests make; near when it is only at an edge of that."""

import pytest

from burnish.agent.stronger.usual import Usual

TESTS = ("assert f([3, 1], 2) == 1", "assert f([1, 2, 3], 3) == 2")
"""The second argument is the length of the first; no number is below one."""


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
    known = Usual(("f",), TESTS)
    assert (known(call), known.near(call)) == (usual, near)


def test_without_a_known_call_nothing_is_usual() -> None:
    assert not Usual(("f",), ())("f(1)")
    assert not Usual(("f",), ()).near("f(1)")
