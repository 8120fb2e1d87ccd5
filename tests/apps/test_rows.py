"""Rows that are typed into a built app: valid, all different, and such that what follows from them can be foreseen."""

import pytest

from burnish.apps.blueprint import Blueprint, Condition, Entity, RowRule
from burnish.apps.judging.rows import (
    bend,
    derive_breach,
    derive_invalid,
    derive_row,
    holds,
    is_valid,
    order_entities,
    shows,
)
from tests.apps.test_blueprint import GOOD

EVERYTHING = Entity.model_validate(
    {
        "name": "thing",
        "label": "Thing",
        "plural": "Things",
        "fields": [
            {"name": "a", "label": "A", "type": "text"},
            {"name": "b", "label": "B", "type": "integer", "minimum": 1, "maximum": 100},
            {"name": "c", "label": "C", "type": "decimal", "required": False},
            {"name": "d", "label": "D", "type": "yes_no"},
            {"name": "e", "label": "E", "type": "date"},
            {"name": "f", "label": "F", "type": "date"},
            {"name": "g", "label": "G", "type": "time"},
            {"name": "h", "label": "H", "type": "date_time"},
            {"name": "i", "label": "I", "type": "email"},
            {"name": "j", "label": "J", "type": "link"},
            {"name": "k", "label": "K", "type": "choice", "options": ["x", "y"]},
            {"name": "l", "label": "L", "type": "long_text"},
        ],
        "rules": [
            {"kind": "in_order", "fields": ["e", "f"]},
            {"kind": "not_past", "fields": ["e"]},
            {"kind": "unique_together", "fields": ["a", "b"]},
        ],
    }
)


def test_derived_rows_are_valid_and_differ_in_everything() -> None:
    derived = [derive_row(EVERYTHING, number, "salt", {}) for number in range(1, 8)]
    assert all(is_valid(EVERYTHING, row) for row in derived)
    for first, second in zip(derived, derived[1:], strict=False):
        assert not [name for name in first if first[name] == second[name]]


@pytest.mark.parametrize(
    ("field", "value"), [("a", ""), ("b", "0"), ("b", "101"), ("f", "2001-01-01"), ("e", "2001-01-01")]
)
def test_a_row_that_breaks_its_fields_or_rules_is_not_valid(field: str, value: str) -> None:
    assert not is_valid(EVERYTHING, {**derive_row(EVERYTHING, 1, "salt", {}), field: value})


@pytest.mark.parametrize(
    ("field", "operator", "value", "other"),
    [
        ("b", "<", "3", ""),
        ("b", ">=", "100", ""),
        ("c", "is_empty", "", ""),
        ("d", "=", "yes", ""),
        ("k", "!=", "y", ""),
        ("e", "is_future", "", ""),
        ("g", ">", "12:00", ""),
        ("f", ">", "", "e"),
        ("h", "is_past", "", ""),
        ("a", "=", "saw", ""),
    ],
)
def test_rows_are_bent_to_either_side_of_a_condition(field: str, operator: str, value: str, other: str) -> None:
    condition = Condition.model_validate({"field": field, "operator": operator, "value": value, "other": other})
    row = derive_row(EVERYTHING, 1, "salt", {})
    for wanted in (True, False):
        bent = bend(EVERYTHING, [condition], row, wanted)
        if bent is None:
            assert (field, operator) in {("f", ">"), ("e", "is_future")}, "a rule of the entity says so"
        else:
            assert holds(EVERYTHING, condition, bent) == wanted


def test_each_rule_can_be_broken_by_a_row_that_is_else_valid() -> None:
    fresh, there = (derive_row(EVERYTHING, number, "salt", {}) for number in (1, 2))
    for rule in EVERYTHING.rules[:2]:
        broken = derive_breach(EVERYTHING, rule, fresh, there)
        assert broken
        assert not is_valid(EVERYTHING, broken)
    double = derive_breach(EVERYTHING, EVERYTHING.rules[2], fresh, there)
    assert double
    assert (double["a"], double["b"], double["l"]) == (there["a"], there["b"], fresh["l"])
    overlap = RowRule(kind="no_overlap", fields=("e", "f"), per=("k",))
    assert derive_breach(EVERYTHING, overlap, fresh, {}) is None


def test_what_no_field_takes_is_known_for_each_type() -> None:
    invalid = {field.type: derive_invalid(field) for field in EVERYTHING.fields}
    assert (invalid["integer"], invalid["email"], invalid["text"]) == ("0", "nobody", "")


@pytest.mark.parametrize(
    ("kind", "typed", "shown", "is_shown"),
    [
        ("decimal", "5", "5.00", True),
        ("decimal", "5", "5.01", False),
        ("integer", "5", "five", False),
        ("yes_no", "", "no", True),
        ("yes_no", "", "yes", False),
        ("date_time", "2031-01-02T09:00", "2031-01-02 09:00", True),
        ("text", "", "", True),
        ("text", "saw", "axe", False),
    ],
)
def test_what_is_shown_is_compared_with_what_was_typed(kind: str, typed: str, shown: str, is_shown: bool) -> None:
    assert shows(kind, typed, shown) == is_shown


def test_entities_come_after_those_that_they_need() -> None:
    data = {**GOOD, "entities": [*reversed(GOOD["entities"])]}
    assert [entity.name for entity in order_entities(Blueprint.model_validate(data))] == ["tool", "loan"]
