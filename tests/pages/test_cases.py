"""Counter, clock and scan: the right page holds every criterion, and one that just misses some misses just those."""

from collections.abc import Iterator

import pytest

from burnish.pages.headless import HeadlessPage
from burnish.pages.rubric import load_case
from tests.pages.shipped import THROWS, find_missed, open_page, read_code

pytestmark = pytest.mark.browser

QUICK_CLICKS_ARE_LOST = """
  if (performance.now() - window.last < 5) return;
  window.last = performance.now();
  count += 1;"""
MISSES = {
    "counter": [
        ({"button", "adds-one", "adds-ten"}, [("ui.append(", "button.hidden = true;\nui.append(")]),
        ({"zero"}, [("let count = 0", "let count = 1")]),
        ({"adds-one", "adds-ten"}, [("count += 1", "count += 2")]),
        ({"adds-ten"}, [("  count += 1;", QUICK_CLICKS_ARE_LOST)]),
        ({"no-exception"}, [THROWS]),
    ],
    "clock": [
        ({"shown", "right", "goes-on"}, [('join(":")', 'join(" o\'clock ")')]),
        ({"right"}, [("new Date()", "new Date(Date.now() - 4000)")]),
        ({"goes-on"}, [("setTimeout(show, 1000 - now.getMilliseconds())", "setTimeout(show, 2000)")]),
        ({"no-exception"}, [THROWS]),
    ],
    "scan": [
        (
            {"bars", "address", "list", "blocked", "memory", "no-exception"},
            [
                ("[host / HOSTS.length, done", "[0, done"),
                ("Looking at ${HOSTS[host]}", "Looking at ${HOSTS[0]}"),
                ("LAST_PORT = 12000", "LAST_PORT = 8080"),
                ("Blocked ports: ${", "Closed ports: ${"),
                ("let host = 0", "window.kept = Array.from({ length: 6e6 }, (_, n) => n + 0.5);\nlet host = 0"),
                THROWS,
            ],
        ),
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def page() -> Iterator[HeadlessPage]:
    opened = open_page()
    yield opened
    opened.close()


@pytest.mark.parametrize("name", MISSES)
def test_a_right_page_holds_every_criterion(page: HeadlessPage, name: str) -> None:
    assert find_missed(page, load_case(name), read_code(name), is_last=True) == {}


@pytest.mark.parametrize(
    ("name", "missed", "edits"), [(name, missed, edits) for name, rows in MISSES.items() for missed, edits in rows]
)
def test_a_page_that_just_misses_some_criteria_holds_all_others(
    page: HeadlessPage, name: str, missed: set[str], edits: list[tuple[str, str]]
) -> None:
    found = find_missed(page, load_case(name), read_code(name, edits), is_last=True)
    assert found.keys() == missed, found
    assert all(found.values()), "each is told why"
