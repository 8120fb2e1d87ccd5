"""Shipped cases, their answers, and pages that just miss a criterion: the right answer with an edit or two."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files

from burnish.events import PageScored
from burnish.pages.answer import read_answer
from burnish.pages.headless import HeadlessPage
from burnish.pages.page import PageLimits, PageTools
from burnish.pages.rubric import NO_FOLLOW_UP, Case, judge_version, load_case, score

ANSWERS = files("burnish.models") / "scripts" / "pages"
THROWS = ("```js\n", '```js\nsetTimeout(() => { throw new Error("late"); }, 50);\n')
"""An edit for any page: something is thrown, and all else works."""


def read_code(name: str, edits: Sequence[tuple[str, str]] = ()) -> str:
    """The code of a shipped answer, with these edits; each must find its place."""
    text = (ANSWERS / f"{name}.md").read_text("utf-8")
    for old, new in edits:
        assert text.count(old) == 1, (name, old)
        text = text.replace(old, new)
    return read_answer(text).code


def open_page(settle_seconds: float = 0.4) -> HeadlessPage:
    """A real browser with the small network of the case `scan` in it."""
    scan = load_case("scan")
    tools = PageTools(log=len, done=len, give_up=len, ask=str)  # nobody hears what these pages say
    return HeadlessPage(tools, PageLimits(settle_seconds=settle_seconds), scan.targets, threading.Event(), scan.servers)


def only(case: Case, *names: str, **changes: object) -> Case:
    """The case with these criteria alone, and without the use of the page before they are judged."""
    kept = [replace(one, **changes) for one in case.criteria if one.name in names]  # type: ignore[arg-type]
    return replace(case, criteria=tuple(kept), measure="")


def run_and_score(page: HeadlessPage, case: Case, code: str, is_last: bool = False) -> PageScored:
    """The score of this code as a first version; every criterion has been judged, one way or the other."""
    seen = page.run(code, 1)
    assert not seen.killed
    held = judge_version(case, page, is_last, seen)
    expected = [one.name for one in case.criteria if one.function != NO_FOLLOW_UP and (is_last or not one.at_end)]
    assert [one.name for one in held] == expected
    assert [one for one in held if one.holds is None] == []
    return score(case, {1: held})


def list_missed(scored: PageScored) -> set[str]:
    """The criteria that do not hold; each is told why, and each other one has its points."""
    missed = {row.name for row in scored.criteria if row.holds is False}
    assert all(row.why for row in scored.criteria if row.name in missed)
    assert scored.points == sum(row.of for row in scored.criteria if row.holds)
    return missed
