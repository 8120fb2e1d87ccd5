"""The two cases of the Game of Life: the right page holds every criterion; one that just misses some, all others."""

from collections.abc import Iterator

import pytest

from burnish.pages.headless import HeadlessPage
from burnish.pages.rubric import load_case
from tests.pages.shipped import THROWS, find_missed, only, open_page, read_code

pytestmark = pytest.mark.browser

HIGH_LIFE = (
    "sum === 3 || (sum === 4 && cells[at])",
    "sum === 3 || (sum === 4 && cells[at]) || (sum === 6 && !cells[at])",
)
FAR = ("ui.append(button", 'button.style.marginLeft = "110px";\nui.append(button')
MISSES = {
    "life": [
        ({"grid", "rate"}, [("SIZE = 200", "SIZE = 198"), ("rate * (now", "rate * 1.3 * (now")]),
        ({"gun", "beside", "no-exception"}, [("const left = (SIZE", "const left = 14 + (SIZE"), FAR, THROWS]),
        ({"rules", "rate"}, [HIGH_LIFE]),
        ({"resets"}, [("    reset();\n    draw();", "    draw();")]),
        ({"starts", "resets"}, [("reset();\ndraw();\n```", "reset();\ndraw();\nbutton.click();\n```")]),
    ],
    "life-direction": [
        ({"gun", "beside", "no-exception"}, [("top = SIZE - GUN.length - 2", "top = 60"), FAR, THROWS]),
        ({"rules"}, [("  due = Math.min(", "  cells[10 * SIZE + 10] = 1;\n  due = Math.min(")]),
        ({"direction"}, [("GUN.length - 2;", "GUN.length - 22;"), ("(top + y)", "(top + GUN.length - y)")]),
        ({"way", "starts"}, [("SIZE = 100", "SIZE = 40"), ("  reset();\n  draw();\n  [before", "  [before")]),
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def page() -> Iterator[HeadlessPage]:
    opened = open_page()
    yield opened
    opened.close()


@pytest.mark.parametrize("name", MISSES)
def test_a_right_page_holds_every_criterion(page: HeadlessPage, name: str) -> None:
    assert find_missed(page, load_case(name), read_code(name)) == {}


@pytest.mark.parametrize(
    ("name", "missed", "edits"), [(name, missed, edits) for name, rows in MISSES.items() for missed, edits in rows]
)
def test_a_page_that_just_misses_some_criteria_holds_all_others(
    page: HeadlessPage, name: str, missed: set[str], edits: list[tuple[str, str]]
) -> None:
    found = find_missed(page, load_case(name), read_code(name, edits))
    assert found.keys() == missed, found
    assert all(found.values()), "each is told why"


@pytest.mark.parametrize(("kept", "missed"), [("[]", set()), ("(window.kept ??= [])", {"memory"})])
def test_memory_is_flat_or_grows_while_the_game_runs(page: HeadlessPage, kept: str, missed: set[str]) -> None:
    """Over four seconds in place of a minute: what may be kept in them is as much less."""
    memory = only(load_case("life"), "memory", seconds=4.0)
    leak = ("  if (!isRunning) return;", f"  if (!isRunning) return;\n  {kept}.push(new Array(10_000).fill(now));")
    code = read_code("life", [leak, ("reset();\ndraw();\n```", "reset();\ndraw();\nbutton.click();\n```")])
    assert find_missed(page, memory, code, is_last=True).keys() == missed
