"""An answer by a schema is data or an error with the reason, and a schema that cannot be held to is refused first."""

from typing import Any

import pytest

from burnish.events import Message
from burnish.json_schema import AnswerFlaw, NotBySchema, check_schema, freeze_schema, read_by_schema
from burnish.models.model import Ask

MEMBER = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "role": {"enum": ["pilot", "cook", None]},
        "under": {"type": "array", "items": {"$ref": "#/$defs/member"}},
    },
    "required": ["name", "role", "under"],
    "additionalProperties": False,
}
CREW = {
    "type": "object",
    "title": "Crew",
    "properties": {
        "members": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"$ref": "#/$defs/member"}},
        "height": {"anyOf": [{"type": "number", "minimum": 0}, {"type": "null"}]},
        "note": {"type": ["string", "null"], "description": "free text"},
    },
    "required": ["members", "height", "note"],
    "additionalProperties": False,
    "$defs": {"member": MEMBER},
}
GOOD = (
    '{"members": [{"name": "Ada", "role": "pilot", "under": [{"name": "Bo", "role": null, "under": []}]}],'
    ' "height": 2, "note": null}'
)


def test_an_answer_by_a_nested_schema_is_read_as_data_with_a_fence_around_it_or_without() -> None:
    schema = freeze_schema(CREW)
    data = read_by_schema(schema, GOOD)
    assert data["members"][0]["under"][0] == {"name": "Bo", "role": None, "under": []}
    assert data == read_by_schema(schema, f"```json\n{GOOD}\n```\n")


@pytest.mark.parametrize(
    ("text", "ended", "flaw"),
    [
        ("", "stop", AnswerFlaw.NOT_JSON),
        ("Here it is: " + GOOD, "stop", AnswerFlaw.NOT_JSON),
        (GOOD[:40], "stop", AnswerFlaw.NOT_JSON),
        (GOOD[:40], "length", AnswerFlaw.CUT),
        ("[" * 100_000, "stop", AnswerFlaw.NOT_JSON),
        ("\ud800", "stop", AnswerFlaw.NOT_JSON),
        ("{}", "stop", AnswerFlaw.WRONG_DATA),
        ("[]", "length", AnswerFlaw.WRONG_DATA),
        (GOOD.replace("pilot", "captain"), "stop", AnswerFlaw.WRONG_DATA),
        (GOOD.replace('"height": 2', '"height": "2"'), "stop", AnswerFlaw.WRONG_DATA),
        (GOOD.replace('"height": 2', '"height": NaN'), "stop", AnswerFlaw.WRONG_DATA),
        (GOOD.replace('"note"', '"more": 1, "note"'), "stop", AnswerFlaw.WRONG_DATA),
        (GOOD.replace('"Ada"', '""'), "stop", AnswerFlaw.WRONG_DATA),
    ],
)
def test_any_other_answer_is_an_error_with_its_reason(text: str, ended: str, flaw: AnswerFlaw) -> None:
    with pytest.raises(NotBySchema) as broken:
        read_by_schema(freeze_schema(CREW), text, ended)
    assert broken.value.flaw == flaw


def test_the_error_names_the_place_of_what_is_wrong() -> None:
    with pytest.raises(NotBySchema, match=r"members\[0\]\.role: "):
        read_by_schema(freeze_schema(CREW), GOOD.replace("pilot", "captain"))


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "array", "items": schema}
    return schema


@pytest.mark.parametrize(
    "schema",
    [
        [],
        {},
        {"type": "objekt"},
        {"type": "object"},
        {"type": "object", "properties": {"a": {"type": "string"}}},
        {**CREW, "required": ["members"]},
        {**CREW, "additionalProperties": True},
        {**CREW, "$defs": {}},
        {**CREW, "$defs": {"member": {"$ref": "#/$defs/member"}}},
        {**CREW, "$defs": {"member": {"anyOf": [{"$ref": "#/$defs/member"}]}}},
        {**CREW, "$defs": 3},
        {"$defs": {"a/b": {"type": "null"}}, "$ref": "#/$defs/a/b"},
        {"$defs": {"": {"type": "null"}}, "$ref": ""},
        {"$ref": "https://example.org/schema"},
        {"type": "string", "pattern": "a+"},
        {"type": "string", "maxLength": "3"},
        {"type": "string", "maxLength": True},
        {"type": "array"},
        {"type": "array", "items": {"type": "string"}, "minItems": -1},
        {"enum": []},
        {"enum": [{}]},
        {"type": "integer", "title": "x" * 100_001},
        {"type": "string", "default": {1, 2}},
        nested(5000),
    ],
)
def test_a_schema_that_not_every_provider_can_hold_to_is_refused_before_anything_is_asked(schema: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        freeze_schema(schema)


@pytest.mark.parametrize("required", ['[["a"]]', '["a", "a"]', "[{}, 1]"])
def test_text_whose_required_properties_are_none_is_refused_as_any_other(required: str) -> None:
    text = f'"type":"object","properties":{{"a":{{"type":"null"}}}},"required":{required},"additionalProperties":false'
    with pytest.raises(ValueError, match="required"):
        check_schema(f"{{{text}}}")


def test_an_ask_takes_text_for_a_schema_only_if_it_is_one_and_begins_no_answer_that_has_one() -> None:
    user, begun = Message(role="user", content="Who?"), Message(role="assistant", content="{")
    schema = freeze_schema(CREW)
    assert hash(Ask(purpose="x", messages=(user,), json_schema=schema, stop=("a", "b")))
    for wrong in ({"json_schema": "{"}, {"json_schema": "{}"}, {"stop": ("",)}, {"stop": tuple("abcde")}):
        with pytest.raises(ValueError, match=r"."):
            Ask(purpose="x", messages=(user,), **wrong)
    with pytest.raises(ValueError, match="begun"):
        Ask(purpose="x", messages=(user, begun), json_schema=schema)
