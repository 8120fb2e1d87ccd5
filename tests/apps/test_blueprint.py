"""A blueprint that is accepted can be built."""

from typing import Any

import pytest
from pydantic import ValidationError

from burnish.apps.blueprint import Blueprint

GOOD: dict[str, Any] = {
    "title": "Lending",
    "sentence": "lend tools to members, with login",
    "accounts": True,
    "entities": [
        {
            "name": "tool",
            "label": "Tool",
            "plural": "Tools",
            "read": "members",
            "write": "members",
            "fields": [
                {"name": "name", "label": "Name", "type": "text", "unique": True},
                {"name": "state", "label": "State", "type": "choice", "options": ["whole", "broken"]},
                {"name": "pieces", "label": "Pieces", "type": "integer", "minimum": 0},
                {"name": "least", "label": "Least", "type": "integer", "minimum": 0},
            ],
            "computed": [
                {
                    "name": "scarce",
                    "label": "Scarce",
                    "gives": "yes_no",
                    "condition": {"field": "pieces", "operator": "<=", "other": "least"},
                }
            ],
            "actions": [
                {"name": "take", "label": "Take", "changes": [{"field": "pieces", "how": "add", "value": "-1"}]}
            ],
            "views": [
                {"name": "few", "label": "Few", "conditions": [{"field": "pieces", "operator": "<", "value": "3"}]}
            ],
        },
        {
            "name": "loan",
            "label": "Loan",
            "plural": "Loans",
            "parent": "tool",
            "fields": [
                {"name": "tool", "label": "Tool", "type": "reference", "target": "tool"},
                {"name": "starts", "label": "From", "type": "date"},
                {"name": "ends", "label": "To", "type": "date"},
            ],
            "rules": [{"kind": "no_overlap", "fields": ["starts", "ends"], "per": ["tool"]}],
        },
    ],
}


def changed(path: str, value: object) -> dict[str, Any]:
    """The good one with one thing other than it should be."""
    import copy

    data: Any = copy.deepcopy(GOOD)
    *way, last = path.split(".")
    place = data
    for step in way:
        place = place[int(step) if step.isdigit() else step]
    place[int(last) if last.isdigit() else last] = value
    return data


def test_a_whole_blueprint_is_accepted_and_survives_its_own_json() -> None:
    blueprint = Blueprint.model_validate(GOOD)
    assert Blueprint.model_validate_json(blueprint.model_dump_json()) == blueprint
    assert blueprint.entity("tool").title_field.name == "name"


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("entities.1.name", "tool", "two entities"),
        ("entities.0.fields.0.name", "class", "taken"),
        ("entities.0.fields.0.name", "state", "two fields"),
        ("entities.0.fields.1.options", ["whole"], "two options"),
        ("entities.0.fields.0.minimum", 3, "only numbers"),
        ("entities.1.fields.0.target", "garden", "no entity 'garden'"),
        ("entities.1.parent", "starts", "is no reference"),
        ("entities.0.write", "everyone", "only members write"),
        ("accounts", False, "everyone reads and writes"),
        ("entities.0.computed.0.condition.other", "name", "cannot be compared with 'name'"),
        ("entities.0.computed.0.sentence", "whether it is scarce", "either a condition or a sentence"),
        ("entities.0.views.0.conditions.0.value", "many", "cannot be compared with 'many'"),
        ("entities.0.actions.0.changes.0.field", "name", "add cannot be done"),
        ("entities.0.actions.0.changes", [{"field": "pieces", "how": "set", "value": "many"}], "set cannot be done"),
        ("entities.0.actions.0.changes", [{"field": "name", "how": "set"}], "set cannot be done"),
        ("entities.1.name", "pages", "taken"),
        ("entities.1.rules.0.fields", ["starts", "tool"], "cannot be compared"),
        ("entities.1.rules.0.fields", ["starts"], "cannot have the fields"),
        ("entities.0.sort", "price", "to sort by"),
    ],
)
def test_what_could_not_be_built_is_named(path: str, value: object, said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Blueprint.model_validate(changed(path, value))


def test_required_references_in_a_circle_are_refused() -> None:
    data = changed("entities.0.fields.0", {"name": "loan", "label": "Loan", "type": "reference", "target": "loan"})
    with pytest.raises(ValidationError, match="circle"):
        Blueprint.model_validate(data)
