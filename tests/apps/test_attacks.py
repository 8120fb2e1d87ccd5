"""Attacks on a built app: a good one holds them all off, and each gets through where just its hole is."""

import pytest

from burnish.apps.blueprint import Blueprint
from burnish.apps.judging.attacks import ATTACKS, attack
from tests.apps.conftest import Serve
from tests.apps.hand_app import BLUEPRINT
from tests.apps.test_acceptance import OPEN

ALONE = {
    "csrf_any": "forge_csrf",
    "sql_injection": "inject_sql",
    "no_escape": "store_markup",
    "static_anything": "leave_static",
    "no_limit": "send_too_much",
    "huge_crash": "send_huge_numbers",
    "nul_crash": "send_hostile_text",
    "duplicates": "send_twice",
    "host_links": "lie_about_host",
    "any_next": "lead_away",
    "wildcards": "search_wildcards",
    "no_headers": "check_headers",
    "tells_accounts": "tell_accounts",
    "no_rate": "guess_password",
    "fixed_session": "fix_session",
    "session_lives": "forge_session",
}
"""Holes that do not get into each other's way, but for an injection, which fails where markup is searched."""
OTHERS = {
    ("no_csrf", "crashes", "reflects"): {"omit_csrf", "forge_csrf", "send_malformed", "reflect_markup"},
    ("no_owner", "mass_assignment", "get_deletes", "put_deletes"): {
        *("read_others", "change_others", "assign_more", "change_by_link", "use_other_methods"),
    },
}
WIDE = {"no_login": "change_as_nobody", "any_reference": "refer_to_others", "unsigned": "forge_session"}
"""What these let through lets others through, too."""


def test_every_attack_has_a_hole_that_lets_it_through() -> None:
    assert {*ALONE.values(), *WIDE.values(), *set().union(*OTHERS.values())} == ATTACKS.keys()
    assert len(ATTACKS) >= 20


@pytest.mark.slow
def test_a_good_app_holds_off_every_attack(serve: Serve) -> None:
    told: list[str] = []
    results = attack(BLUEPRINT, serve(), told.append)
    assert [one for one in results if not one.held] == []
    assert told == [one.name for one in results] == [*ATTACKS]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("holes", "through"), [([*ALONE], {*ALONE.values(), "reflect_markup"}), *((list(a), b) for a, b in OTHERS.items())]
)
def test_attacks_get_through_their_own_holes_and_no_others(serve: Serve, holes: list[str], through: set[str]) -> None:
    assert {one.name for one in attack(BLUEPRINT, serve(*holes)) if one.held is False} == through


@pytest.mark.slow
@pytest.mark.parametrize(("hole", "through"), WIDE.items())
def test_a_wide_hole_lets_its_attack_through(serve: Serve, hole: str, through: str) -> None:
    assert through in {one.name for one in attack(BLUEPRINT, serve(hole)) if one.held is False}


@pytest.mark.slow
def test_where_nobody_can_come_in_no_attack_was_tried(serve: Serve) -> None:
    assert {one.held for one in attack(BLUEPRINT, serve("no_register"))} == {None}
    assert Blueprint.model_validate(OPEN).accounts is False
