"""What a person would try: all of it works in a good app, and each step fails in an app that is bad in just that."""

import pytest

from burnish.apps.blueprint import Blueprint
from burnish.apps.judging.acceptance import ACTS, IN_BROWSER, accept, derive_steps
from burnish.apps.judging.browsing import Browsing
from tests.apps.conftest import Serve
from tests.apps.hand_app import BLUEPRINT
from tests.apps.test_blueprint import GOOD

OPEN = {
    **GOOD,
    "accounts": False,
    "entities": [{**entity, "read": "everyone", "write": "everyone"} for entity in GOOD["entities"]],
}
BAD_PARTS = {
    "any_password": "refuse_wrong_password",
    "forgets_typed": "refuse_missing tool, refuse_missing loan",
    "no_minimum": "refuse_invalid tool",
    "no_unique": "refuse_double tool",
    "blank_page": "show tool",
    "edit_lost": "edit tool, edit loan",
    "search_all": "search tool",
    "filter_all": "filter tool state, filter loan tool",
    "sort_none": "sort tool, sort loan",
    "view_all": "view tool few",
    "computed_wrong": "computed tool scarce",
    "action_nothing": "action tool take",
    "no_rule": "rule loan 0",
    "child_lost": "add_on_parent loan",
    "no_owner": "keep_from_others loan",
    "delete_nothing": "use_plain_forms, delete loan, delete tool",
}
BAD_LOOKS = {
    "no_keyboard": "reach_by_keyboard",
    "wide": "fit_375_and_1280",
    "no_dark": "darken",
    "reloads": "update_without_reload",
    "no_label": "name_controls",
    "foreign_script": "be_quiet",
    "console_error": "be_quiet",
}


def split(steps: object) -> set[str]:
    return {step for listed in steps for step in listed.split(", ")}  # type: ignore[attr-defined]


def test_steps_follow_from_the_blueprint_and_each_has_an_act() -> None:
    steps = derive_steps(BLUEPRINT)
    names = [step.id for step in steps]
    assert len(names) == len(set(names))
    assert {step.name for step in steps} <= ACTS.keys()
    assert split([*BAD_PARTS.values(), *BAD_LOOKS.values()]) <= set(names)
    assert names[:3] == ["register", "refuse_wrong_password", "log_in"]


def test_an_app_without_accounts_has_no_steps_about_them() -> None:
    names = {step.name for step in derive_steps(Blueprint.model_validate(OPEN))}
    assert not names & {"register", "log_in", "log_out", "keep_from_others", "keep_from_strangers"}
    assert {"add", "edit", "delete", "survive_restart"} <= names


@pytest.mark.slow
def test_by_plain_forms_a_good_app_passes_all_that_needs_no_browser(serve: Serve) -> None:
    results = accept(BLUEPRINT, serve())
    assert {one.step for one in results if one.verdict == "not_run"} == {*IN_BROWSER}
    assert [one for one in results if one.verdict == "failed"] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("holes", "failed"),
    [
        (BAD_PARTS.keys(), split(BAD_PARTS.values())),
        (["no_register"], {"register", "log_in", "add tool"}),
        (["not_listed"], {"add tool"}),
        (["no_required"], {"refuse_missing tool", "refuse_missing loan"}),
        (["memory_only"], {"survive_restart"}),
        (["no_login", "logout_nothing"], {"keep_from_strangers tool", "keep_from_strangers loan", "log_out"}),
        (["dangling"], {"delete_referred loan tool"}),
    ],
)
def test_each_step_fails_where_just_that_is_bad(serve: Serve, holes: list[str], failed: set[str]) -> None:
    results = accept(BLUEPRINT, serve(*holes))
    found = {one.step for one in results if one.verdict == "failed"}
    assert failed <= found
    if holes == BAD_PARTS.keys():
        assert found == failed


@pytest.mark.browser
def test_in_a_browser_a_good_app_passes_all(serve: Serve) -> None:
    app = serve()
    with Browsing(app) as browser:
        results = accept(BLUEPRINT, app, browser)
        assert [one for one in results if one.verdict != "passed"] == []
        assert browser.problems == []


@pytest.mark.browser
@pytest.mark.parametrize(
    ("holes", "failed"), [(BAD_LOOKS.keys(), split(BAD_LOOKS.values())), (["stale"], {"stay_in_step_in_two_tabs"})]
)
def test_what_only_a_browser_shows_fails_where_just_that_is_bad(
    serve: Serve, holes: list[str], failed: set[str]
) -> None:
    app = serve(*holes)
    with Browsing(app) as browser:
        results = accept(BLUEPRINT, app, browser)
    found = {one.step for one in results if one.verdict == "failed"}
    assert failed <= found
    if holes == BAD_LOOKS.keys():
        assert found == failed
