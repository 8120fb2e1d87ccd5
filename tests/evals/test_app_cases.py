"""What a person wants of the five apps: right ones pass all of it, and broken ones fail in just what is broken."""

from typing import Any

import pytest

from burnish.apps.generator.generate import REQUIREMENTS, generate_app
from burnish.apps.judging.browsing import Browsing
from burnish.apps.judging.served_app import ServedApp
from burnish.evals.app_cases.case import CheckResult, try_case
from burnish.evals.apps import CASES
from burnish.packages import prepare_layer
from tests.evals.right_apps import APPS, BAD_LOOKS, BROKEN, OTHER_WAYS, UNSEEN, Broken, make_right_app, plan_app


def try_plainly(name: str, broken: Broken | None = None) -> tuple[CheckResult, ...]:
    """All checks that need no browser."""
    with ServedApp(make_right_app(name, broken), prepare_layer(REQUIREMENTS)) as app:
        return try_case(CASES[name], app, None)


def test_each_case_has_about_25_checks_that_say_what_they_promise() -> None:
    assert CASES.keys() == APPS.keys()
    for case in CASES.values():
        assert len(case.checks) >= 25
        assert len({check.__name__ for check in case.checks}) == len(case.checks)
        assert all(check.__doc__ for check in case.checks)


@pytest.mark.slow
@pytest.mark.parametrize("name", APPS)
def test_a_right_app_passes_all_that_needs_no_browser(name: str) -> None:
    results = try_plainly(name)
    assert [one for one in results if one.verdict == "failed"] == []
    assert {one.check for one in results if one.verdict == "not_run"} == {*UNSEEN.split()}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "plan"), OTHER_WAYS)
def test_an_app_that_is_right_in_other_words_and_ways_passes_too(name: str, plan: dict[str, Any]) -> None:
    with ServedApp(generate_app(plan_app(plan)), prepare_layer(REQUIREMENTS)) as app:
        assert [one for one in try_case(CASES[name], app, None) if one.verdict == "failed"] == []


@pytest.mark.slow
@pytest.mark.parametrize(("name", "broken", "checks"), BROKEN)
def test_what_is_broken_fails_its_check_and_no_other(name: str, broken: Broken, checks: str) -> None:
    failed = {one.check: one.why for one in try_plainly(name, broken) if one.verdict == "failed"}
    assert failed.keys() == {*checks.split()}, failed
    assert all(failed.values())


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.timeout(420)
@pytest.mark.parametrize(("broken", "checks"), [({}, ""), (BAD_LOOKS, UNSEEN)])
def test_what_only_a_browser_shows_is_seen_in_one(broken: Broken, checks: str) -> None:
    with ServedApp(make_right_app("todo", broken), prepare_layer(REQUIREMENTS)) as app, Browsing(app) as browser:
        failed = {one.check: one.why for one in try_case(CASES["todo"], app, browser) if one.verdict != "passed"}
    assert failed.keys() == {*checks.split()}, failed
