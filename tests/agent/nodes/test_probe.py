"""How much the given tests notice: tried once for a version and its tests, and never where that says nothing."""

import pytest

from burnish.agent.nodes.run import probe
from burnish.events import Event, TestsProbed
from burnish.events.replay import Replay
from burnish.sandbox import Sandbox
from tests.agent.history import WRITING, proposed, ran, work
from tests.agent.nodes.at_work import Gone, tools

CODE = "def f(n):\n    if n < 0:\n        return -1\n    return n\n"
STRONG = WRITING.model_copy(update={"visible_tests": (*WRITING.visible_tests, "assert f(-3) == -1")})


def right(tests: int = 2) -> list[Event]:
    return [proposed(1, CODE), ran(1, "p" * tests)]


@pytest.mark.slow
def test_more_tests_notice_more_small_edits(box: Sandbox) -> None:
    [weak] = probe(work(*right()), tools(box))
    [strong] = probe(work(*right(3), task=STRONG), tools(box))
    assert isinstance(weak, TestsProbed)
    assert isinstance(strong, TestsProbed)
    assert weak.tried == strong.tried > 10
    assert 0 < weak.noticed < strong.noticed <= strong.tried


def test_it_is_tried_once_for_a_version_and_its_tests() -> None:
    ground, known = Gone(), TestsProbed(version=1, tests=2, tried=9, noticed=5)
    assert list(probe(work(*right(), known), tools(ground=ground))) == []
    assert list(probe(work(*right()), tools(ground=ground, replay=Replay([known])))) == [known]
    assert ground.asked == 0
    assert list(probe(work(*right(3), known, task=STRONG), tools(ground=ground))) == []
    assert ground.asked == 1, "another test was given since; a sandbox that breaks is no end"


@pytest.mark.parametrize(
    ("events", "task"),
    [
        ([], WRITING),
        ([proposed(1, CODE), ran(1, "pf")], WRITING),
        ([proposed(1, CODE), ran(1, "")], WRITING.model_copy(update={"visible_tests": ()})),
        ([proposed(1, "def f(n:"), ran(1, "ff")], WRITING),
    ],
    ids=["no-version", "a-test-fails", "no-test", "no-code"],
)
def test_nothing_is_tried_where_nothing_passes_or_was_given(events: list[Event], task: object) -> None:
    ground = Gone()
    assert list(probe(work(*events, task=task), tools(ground=ground))) == []  # type: ignore[arg-type]
    assert ground.asked == 0
