"""Shipped cases: the right page holds every criterion, and one that just misses some holds all others."""

from collections.abc import Iterator

import pytest

from burnish.pages.headless import HeadlessPage
from burnish.pages.rubric import load_case
from tests.pages.shipped import THROWS, find_missed, only, open_page, read_code

pytestmark = pytest.mark.browser

QUICK_CLICKS_ARE_LOST = """
  if (performance.now() - window.last < 5) return;
  window.last = performance.now();
  count += 1;"""
HIGH_LIFE = (
    "sum === 3 || (sum === 4 && cells[at])",
    "sum === 3 || (sum === 4 && cells[at]) || (sum === 6 && !cells[at])",
)
FAR = ("ui.append(button", 'button.style.marginLeft = "110px";\nui.append(button')
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
    "life": [
        ({"grid", "rate"}, [("SIZE = 200", "SIZE = 198"), ("rate * (now", "rate * 1.3 * (now")]),
        ({"gun", "beside", "no-exception"}, [("const left = (SIZE", "const left = 14 + (SIZE"), FAR, THROWS]),
        ({"rules", "rate"}, [HIGH_LIFE]),
        ({"resets"}, [("    reset();\n    draw();", "    draw();")]),
        ({"starts", "resets"}, [("reset();\ndraw();\n```", "reset();\ndraw();\nbutton.click();\n```")]),
    ],
    "life-direction": [
        ({"gun", "beside", "no-exception"}, [("top = SIZE - GUN.length - 2", "top = 60"), FAR, THROWS]),
        ({"rules"}, [("due--) step();", "due--) step();\n    cells[10 * SIZE + 10] = 1;")]),
        ({"direction"}, [("GUN.length - 2;", "GUN.length - 22;"), ("(top + y)", "(top + GUN.length - y)")]),
        ({"way", "starts"}, [("SIZE = 100", "SIZE = 40"), ("  reset();\n  draw();\n  [before", "  [before")]),
    ],
}  # fmt: skip
"""For each case pages that just miss some criteria: which, and the edits of the right page."""
AT_END = {"counter": True, "clock": True, "life": False, "life-direction": False, "scan": True}
"""Whether criteria of the last version are judged, too; that of `life` takes a minute, and has a test of its own."""


@pytest.fixture(scope="module")
def page() -> Iterator[HeadlessPage]:
    opened = open_page()
    yield opened
    opened.close()


@pytest.mark.parametrize("name", MISSES)
def test_a_right_page_holds_every_criterion(page: HeadlessPage, name: str) -> None:
    assert find_missed(page, load_case(name), read_code(name), AT_END[name]) == {}


@pytest.mark.parametrize(
    ("name", "missed", "edits"), [(name, missed, edits) for name, rows in MISSES.items() for missed, edits in rows]
)
def test_a_page_that_just_misses_some_criteria_holds_all_others(
    page: HeadlessPage, name: str, missed: set[str], edits: list[tuple[str, str]]
) -> None:
    found = find_missed(page, load_case(name), read_code(name, edits), AT_END[name])
    assert found.keys() == missed, found
    assert all(found.values()), "each is told why"


@pytest.mark.parametrize(("kept", "missed"), [("[]", set()), ("(window.kept ??= [])", {"memory"})])
def test_memory_is_flat_or_grows_while_the_game_runs(page: HeadlessPage, kept: str, missed: set[str]) -> None:
    """Over four seconds in place of a minute: what may be kept in them is as much less."""
    memory = only(load_case("life"), "memory", seconds=4.0)
    leak = ("  if (!isRunning) return;", f"  if (!isRunning) return;\n  {kept}.push(new Array(10_000).fill(now));")
    code = read_code("life", [leak, ("reset();\ndraw();\n```", "reset();\ndraw();\nbutton.click();\n```")])
    assert find_missed(page, memory, code, is_last=True).keys() == missed
