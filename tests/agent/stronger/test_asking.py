"""Calls are taken out of whatever the model says, and only what needs nothing but plain values."""

import pytest

from burnish.agent.stronger.asking import calls_in
from tests.support import block


@pytest.mark.parametrize(
    ("answer", "calls"),
    [
        (block("fee(5)\nfee(6)"), ("fee(5)", "fee(6)")),
        ("1. `fee(5)`\n2. fee(7)", ("fee(5)", "fee(7)")),
        (block("assert fee(5) == 0\nprint(fee(6))"), ("fee(5)", "fee(6)")),
        (block("fee(x)\nfee(open('a'))\nfee(6)\nfee(6)"), ("fee(6)",)),
        ("I do not know.", ()),
        ("", ()),
        (block("other(3)"), ()),
        (block(f"fee({'9' * 200})"), ()),
    ],
)
def test_calls_in_an_answer(answer: str, calls: tuple[str, ...]) -> None:
    assert calls_in(answer, ("fee",)) == calls
