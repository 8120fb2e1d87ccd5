"""Probes in a real page: what they say, what they cannot say, and that the page's own code cannot talk them round."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from burnish.events import CriterionHeld
from burnish.pages.headless import HeadlessPage
from burnish.pages.probes import LOW_MEMORY_BYTES
from burnish.pages.rubric import Case, Criterion, judge_version, load_case
from tests.pages.fake_page import FakePage, seen
from tests.pages.shipped import only, open_page


@pytest.fixture(scope="module")
def page() -> Iterator[HeadlessPage]:
    opened = open_page(settle_seconds=0.2)
    opened.run("document.getElementById('dyn-ui').append('hello')", 1)
    yield opened
    opened.close()


def judge(page: HeadlessPage, script: str, seconds: float = 5.0, **more: object) -> CriterionHeld:
    """What one criterion with this script comes to."""
    criterion = Criterion(name="it", what="It.", points=1, script=script, seconds=seconds)
    case = replace(Case("own", "x", (criterion,)), **more)  # type: ignore[arg-type]
    return judge_version(case, page, is_last=False)[0]


@pytest.mark.browser
@pytest.mark.parametrize(
    ("script", "holds", "why"),
    [
        ("true", True, ""),
        ("false", False, ""),
        ("'it is red'", False, "it is red"),
        ("1", False, ""),
        ("null", False, ""),
        ("shownText().trim() === 'hello'", True, ""),
        ("await wait(1), true", True, ""),
        ("unknown('too early')", None, "too early"),
        ("nothing.at.all", None, "nothing is not defined"),
        ("'x'.repeat(5000)", False, "x"),
    ],
)
def test_a_probe_says_yes_or_why_not_or_that_it_does_not_know(
    page: HeadlessPage, script: str, holds: bool | None, why: str
) -> None:
    held = judge(page, script)
    assert held.holds is holds
    assert why in held.why
    assert bool(held.why) == bool(why)
    assert len(held.why) <= 200


@pytest.mark.browser
def test_the_page_is_used_once_and_all_criteria_see_what_came_of_it(page: HeadlessPage) -> None:
    script = "facts.uses === 1 && !isLast && servers[0] === '127.0.0.2:80'"
    criteria = tuple(Criterion(name=name, what="It.", points=1, script=script) for name in ("a", "b", "c"))
    measure = "document.uses = (document.uses ?? 0) + 1; const facts = { uses: document.uses }; return facts;"
    case = Case("own", "x", criteria, measure=measure, servers=("127.0.0.2:80",))
    assert [one.holds for one in judge_version(case, page, is_last=False)] == [True, True, True]


@pytest.mark.browser
@pytest.mark.parametrize("measure", ["throw new Error('no way')", "await wait(9999)"])
def test_where_the_page_could_not_be_used_nothing_is_judged_and_it_is_tried_once(
    page: HeadlessPage, measure: str
) -> None:
    criteria = tuple(Criterion(name=name, what="It.", points=1, script="true") for name in ("a", "b", "c"))
    held = judge_version(Case("own", "x", criteria, measure=measure, measure_seconds=0.5), page, is_last=False)
    assert [one.holds for one in held] == [None] * 3
    assert all(one.why for one in held)


@pytest.mark.browser
def test_in_the_background_where_browsers_slow_a_page_down_nothing_is_judged_and_that_is_said(
    page: HeadlessPage,
) -> None:
    held = judge(page, "true", measure="Object.defineProperty(document, 'hidden', { value: true }); await wait(1);")
    assert held.holds is None
    assert "background" in held.why
    page.run("document.getElementById('dyn-ui').append('hello')", 1)


@pytest.mark.browser
def test_page_code_that_replaces_what_probes_use_fools_none_of_them(page: HeadlessPage) -> None:
    page.run(
        "document.querySelectorAll = () => []; Element.prototype.getBoundingClientRect = () => ({ width: 9 });"
        "Object.defineProperty(HTMLElement.prototype, 'innerText', { get: () => 'hello' });"
        "Object.defineProperty(document, 'hidden', { value: true });"
        "JSON.stringify = () => 'true'; Date.now = () => 0;",
        2,
    )
    assert judge(page, "shownText().trim() === ''").holds
    assert judge(page, "!!findCanvas() && Date.now() > 0").holds
    assert judge(page, "await wait(1), true").holds
    page.run("document.getElementById('dyn-ui').append('hello')", 1)


@pytest.mark.browser
def test_text_on_a_canvas_is_read_until_it_is_wiped(page: HeadlessPage) -> None:
    write = "const ctx = document.getElementById('canvas').getContext('2d'); ctx.fillText('12:30', 10, 50);"
    for wipe, expected in (("", "12:30"), ("ctx.clearRect(0, 0, 800, 600)", ""), ("ctx.fillText('8', 10, 50)", "8")):
        page.run(f"{write} {wipe}", 2)
        assert judge(page, f"shownText().trim() === '{expected}'").holds, wipe
    page.run("document.getElementById('dyn-ui').append('hello')", 1)


@pytest.mark.browser
@pytest.mark.parametrize(
    ("code", "where"),
    [
        ("canvas.append(button)", "canvas"),
        ("ui.append(button); ui.innerText = 'clicked'", "dyn-ui"),
        (
            "const box = document.createElement('p'); box.append(button); ui.append(box); box.textContent = '1'",
            "p removed",
        ),
        ("ui.append(button); button.textContent = 'more'", ""),
        ("ui.append(button); ui.innerHTML = '<button>again</button>'", ""),
        ("ui.append(button); button.remove()", ""),
        ("canvas.remove(); ui.innerText = 'a text'", ""),
    ],
)
def test_an_element_that_nobody_can_see_is_told(page: HeadlessPage, code: str, where: str) -> None:
    make = "const ui = document.getElementById('dyn-ui'), canvas = ui.firstChild;"
    seen_errors = page.run(f"{make} const button = document.createElement('button'); {code}", 2).errors
    assert [error.kind for error in seen_errors] == (["unseen"] if where else [])
    assert all(where in error.message for error in seen_errors)


@pytest.mark.browser
def test_what_a_page_throws_only_when_it_is_used_counts(page: HeadlessPage) -> None:
    criterion = Criterion(name="it", what="Nothing is thrown.", points=1, function="no_exception")
    button = "const b = document.createElement('button'); b.textContent = 'Go'; document.body.append(b);"
    for handler, holds in (("nothing.there()", False), ("b.textContent = 'Gone'", True)):
        observed = page.run(f"{button} b.onclick = () => {{ {handler} }};", 2)
        case = Case("own", "x", (criterion,), measure="findButtons()[0].click(); await wait(100);")
        assert observed.errors == ()
        assert [one.holds for one in judge_version(case, page, is_last=False, observed=observed)] == [holds]
    page.run("document.getElementById('dyn-ui').append('hello')", 1)


@pytest.mark.parametrize(
    ("facts", "missed"),
    [
        ({"perSecond": 250, "seconds": 144.0}, set()),
        ({"perSecond": 249, "seconds": 144.6}, {"speed"}),
        ({"perSecond": None, "seconds": None}, {"speed", "in-time"}),
    ],
)
@pytest.mark.browser
def test_a_scan_must_be_fast_enough_and_be_done_in_time(
    page: HeadlessPage, facts: dict[str, object], missed: set[str]
) -> None:
    """By what was measured, as the slowest that is fast enough takes two minutes and a half."""
    case = replace(only(load_case("scan"), "speed", "in-time"), measure=f"return {json.dumps(facts)};")
    assert {one.name for one in judge_version(case, page, is_last=True) if not one.holds} == missed
    still = replace(case, measure="return { isOpen: true, seconds: null };")
    assert [one.holds for one in judge_version(still, page, is_last=False)] == [None, None]


class HeapPage(FakePage):
    """A page whose heap has these sizes, one after the other."""

    def __init__(self, *sizes: int | None) -> None:
        super().__init__()
        self.sizes = list(sizes)

    def heap_bytes(self) -> int | None:
        return self.sizes.pop(0) if len(self.sizes) > 1 else self.sizes[0]


@pytest.mark.parametrize(
    ("function", "sizes", "holds"),
    [
        ("low_memory", [LOW_MEMORY_BYTES], True),
        ("low_memory", [LOW_MEMORY_BYTES + 1], False),
        ("low_memory", [None], None),
        ("flat_memory", [5_000_000, 6_000_000], True),
        ("flat_memory", [5_000_000, 9_000_000, 5_500_000], True),
        ("flat_memory", [5_000_000, 6_100_000], False),
        ("flat_memory", [None], None),
    ],
)
def test_memory_is_judged_by_the_heap_after_a_collection(
    function: str, sizes: list[int | None], holds: bool | None
) -> None:
    criterion = Criterion(name="memory", what="Memory.", points=1, function=function, seconds=0.2)
    held = judge_version(Case("own", "x", (criterion,)), HeapPage(*sizes), is_last=True, observed=seen())
    assert held[0].holds is holds


@pytest.mark.parametrize(("error", "holds"), [("", True), ("Error: late", False)])
def test_nothing_thrown_is_judged_by_what_was_observed_and_not_known_without_that(error: str, holds: bool) -> None:
    case = only(load_case("counter"), "no-exception")
    assert judge_version(case, FakePage(), is_last=False, observed=seen(error=error))[0].holds is holds
    assert judge_version(case, FakePage(), is_last=False)[0].holds is None
