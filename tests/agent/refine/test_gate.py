"""What may not stand in the place of a version, whatever the tests say; the node's tests have the rest of the gate."""

import pytest

from burnish.agent.refine.gate import find_objection


@pytest.mark.parametrize(
    ("after", "why"),
    [
        ("def f(a, c=1): return a", "signature"),
        ("def f(a, b=2): return a", "signature"),
        ("def f(a, *, b=1): return a", "signature"),
        ("async def f(a, b=1): return a", "signature"),
        ("import numpy\ndef f(a, b=1): return a", "numpy"),
        ("from . import x\ndef f(a, b=1): return a", "standard library"),
        ("def f(a, b=1: return a", "parse"),
        ("def f(a: int, b: int = 1) -> int: return a", ""),
        ("import os.path\ndef f(a, b=1): return b\ndef g(): pass", ""),
    ],
)
def test_a_signature_stays_and_nothing_comes_from_outside_the_standard_library(after: str, why: str) -> None:
    assert why in find_objection("def f(a, b=1): return a", after)
    assert bool(why) == bool(find_objection("def f(a, b=1): return a", after))


def test_a_list_as_default_may_become_none() -> None:
    assert find_objection("def f(a=[]): return a", "def f(a=None): return a") == ""
