"""A model that never gets it right, for 200 cycles: our own memory stays what it was, and is on record throughout."""

from burnish.events import PageObserved
from tests.pages.fake_page import FakePage, seen
from tests.pages.made import js, make, rounds

CYCLES = 200
MOST_BYTES = 50 << 20


def test_200_cycles_of_a_stuck_model_leave_nothing_behind_in_our_memory() -> None:
    names = [chr(97 + n // 26) + chr(97 + n % 26) for n in range(CYCLES)]
    page = FakePage(lambda code: seen(error=f"{code.strip()} is not defined", heap_bytes=10 << 20))
    limits = rounds(CYCLES - 1, calls=CYCLES, tokens=10**8)
    run = make([js(f"f{name}", "// " + "x" * 5000) for name in names], page, limits=limits)
    observed = run.all(PageObserved)[:CYCLES]
    held = [one.own_memory_bytes or 0 for one in observed]
    assert len(held) == CYCLES
    assert min(held) > 0
    assert max(held) - held[0] < MOST_BYTES
    assert all(one.heap_bytes and one.context_tokens for one in observed)
