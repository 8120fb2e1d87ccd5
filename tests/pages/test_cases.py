"""Shipped cases: the right page holds every criterion, and one that just misses some holds all others."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from burnish.pages.headless import HeadlessPage
from burnish.pages.rubric import SHIPPED, Case, load_case
from tests.pages.shipped import THROWS, list_missed, only, open_page, read_code, run_and_score

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
ONE_CELL_STAYS = ("due--) step();", "due--) step();\n    cells[10 * SIZE + 10] = 1;")
UPRIGHT = ("(top + y)", "(top + GUN.length - y)")
MISSES = {
    "counter": [
        ({"button", "adds-one", "adds-ten"}, [("ui.append(", "button.hidden = true;\nui.append(")]),
        ({"zero", "no-exception"}, [("let count = 0", "let count = 1"), THROWS]),
        ({"adds-one", "adds-ten"}, [("count += 1", "count += 2")]),
        ({"adds-ten"}, [("  count += 1;", QUICK_CLICKS_ARE_LOST)]),
    ],
    "clock": [
        ({"shown", "right", "goes-on"}, [('join(":")', 'join(" o\'clock ")')]),
        ({"right", "no-exception"}, [("new Date()", "new Date(Date.now() - 4000)"), THROWS]),
        ({"goes-on"}, [("setTimeout(show, 1000 - now.getMilliseconds())", "setTimeout(show, 2000)")]),
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
        ({"rules", "rate", "resets"}, [HIGH_LIFE, ("    reset();\n    draw();", "    draw();")]),
        ({"starts", "resets"}, [("reset();\ndraw();\n```", "reset();\ndraw();\nbutton.click();\n```")]),
    ],
    "life-direction": [
        ({"gun", "beside", "rules"}, [("top = SIZE - GUN.length - 2", "top = 60"), FAR, ONE_CELL_STAYS]),
        ({"direction", "no-exception"}, [("GUN.length - 2;", "GUN.length - 22;"), UPRIGHT, THROWS]),
        ({"way", "starts"}, [("SIZE = 100", "SIZE = 40"), ("  reset();\n  draw();\n  [before", "  [before")]),
    ],
}  # fmt: skip
"""For each case pages that just miss some criteria: which, and the edits of the right page."""


@pytest.fixture(scope="module")
def page() -> Iterator[HeadlessPage]:
    opened = open_page()
    yield opened
    opened.close()


def load_quick(name: str) -> Case:
    """The case, but where its memory is watched for a minute, it is for four seconds, and as much less may be kept."""
    case = load_case(name)
    return replace(case, criteria=tuple(replace(one, seconds=min(one.seconds, 4.0)) for one in case.criteria))


@pytest.mark.parametrize("name", SHIPPED)
def test_a_right_page_has_full_points(page: HeadlessPage, name: str) -> None:
    scored = run_and_score(page, load_quick(name), read_code(name), is_last=True)
    assert list_missed(scored) == set(), scored
    assert scored.points == scored.of


@pytest.mark.parametrize(
    ("name", "missed", "edits"), [(name, missed, edits) for name, rows in MISSES.items() for missed, edits in rows]
)
def test_a_page_that_just_misses_some_criteria_holds_all_others(
    page: HeadlessPage, name: str, missed: set[str], edits: list[tuple[str, str]]
) -> None:
    is_last = name == "scan"  # that of `life` takes long, and has a test of its own
    scored = run_and_score(page, load_case(name), read_code(name, edits), is_last)
    assert list_missed(scored) == missed, scored


def test_memory_that_grows_while_the_game_runs_is_missed(page: HeadlessPage) -> None:
    memory = only(load_quick("life"), "memory")
    line = "  if (!isRunning) return;"
    leak = (line, f"{line}\n  (window.kept ??= []).push(new Array(10_000).fill(now));")
    code = read_code("life", [leak, ("reset();\ndraw();\n```", "reset();\ndraw();\nbutton.click();\n```")])
    assert list_missed(run_and_score(page, memory, code, is_last=True)) == {"memory"}


def test_each_probe_of_each_case_has_a_page_that_misses_it() -> None:
    """But the two thresholds of the scan that take minutes, which `test_probes` looks at, and memory, just above."""
    others = {"no-follow-up", "memory", "in-time", "speed"}
    for name in SHIPPED:
        missed = set[str]().union(*(missed for missed, _ in MISSES[name]))
        assert missed | others >= {one.name for one in load_case(name).criteria}
