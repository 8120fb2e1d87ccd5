"""What an answer must be as data: a JSON schema that every engine can be bound to, and answers read by it.

Only what all providers hold a model to is taken, and anything else is refused before it is asked: an engine that
ignores half of a schema would give answers that look bound and are not.
"""

import json
import re
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Any

from pydantic_core import CoreSchema, SchemaError, SchemaValidator, ValidationError, core_schema

from burnish.errors import ModelError

ALWAYS = {"title", "description", "default", "$defs"}
"""Words about a schema; they bind nothing."""
LIMITS: dict[str, dict[str, str]] = {
    "object": {},
    "array": {"minItems": "min_length", "maxItems": "max_length"},
    "string": {"minLength": "min_length", "maxLength": "max_length"},
    "integer": {"minimum": "ge", "maximum": "le"},
    "number": {"minimum": "ge", "maximum": "le"},
    "boolean": {},
    "null": {},
}
"""The types, and for each of them its limits as pydantic calls them."""
OWN = {"object": {"properties", "required", "additionalProperties"}, "array": {"items"}}
MOST_CHARACTERS = 100_000
_NAME = re.compile(r"[\w.-]+", re.ASCII)
_FENCE = re.compile(r"\s*```(?:json)?[ \t]*\n(.*?)\n?```\s*", re.DOTALL | re.IGNORECASE)


class AnswerFlaw(StrEnum):
    """Why an answer is not the data that was asked for."""

    CUT = "cut"
    NOT_JSON = "not_json"
    WRONG_DATA = "wrong_data"


class NotBySchema(ModelError):
    """An answer that is not what its schema asks for; nothing of it is handed on."""

    def __init__(self, flaw: AnswerFlaw, why: str) -> None:
        super().__init__(f"the answer is not by its schema: {why}")
        self.flaw = flaw


def freeze_schema(schema: Mapping[str, Any]) -> str:
    """The schema as text that cannot change, its properties in the order in which the model is to write them.

    Raises ValueError, with the place, for what is no schema, or uses a keyword that not every provider holds to.
    """
    try:
        return check_schema(json.dumps(schema, ensure_ascii=False, separators=(",", ":")))
    except (RecursionError, TypeError) as error:
        raise ValueError(f"this is no JSON schema: {error}") from None


def check_schema(text: str) -> str:
    """The same text, once it is known to be a schema (or empty: none). Raises ValueError."""
    if text:
        _make_validator(text)
    return text


def read_by_schema(schema: str, text: str, ended: str = "stop") -> Any:
    """The answer as data. Raises NotBySchema; one that was cut at its token limit is called that.

    A fence around it is forgiven, as models put one there where no engine binds them.
    """
    fenced = _FENCE.fullmatch(text)
    data = (fenced[1] if fenced else text).encode("utf-8", "replace")
    try:
        return _make_validator(schema).validate_json(data, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    if first["type"] != "json_invalid":
        place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).lstrip(".")
        raise NotBySchema(AnswerFlaw.WRONG_DATA, f"{place or 'the whole'}: {first['msg']}")
    if ended == "length":
        raise NotBySchema(AnswerFlaw.CUT, "it was cut at its token limit")
    raise NotBySchema(AnswerFlaw.NOT_JSON, first["msg"])


@lru_cache(maxsize=64)
def _make_validator(text: str) -> SchemaValidator:
    """Pydantic's own validator for a schema."""
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"a schema has at most {MOST_CHARACTERS} characters, and this one {len(text)}")
    try:
        schema = json.loads(text)
        definitions = schema.get("$defs", {}) if isinstance(schema, dict) else {}
        parts = list(definitions.values()) if isinstance(definitions, dict) else [None]
        if not all(isinstance(part, dict) and {"type", "enum", "const"} & part.keys() for part in parts):
            # A reference that leads to itself, with nothing in between, would never end.
            raise ValueError("$defs: it names schemas, each of a type of its own, and none that only points to another")
        if odd := [name for name in definitions if not _NAME.fullmatch(name)]:
            raise ValueError(f"$defs: a name is of letters, digits and any of _.-, and {odd[0][:60]!r} is not")
        known: list[CoreSchema] = [
            {**_convert(part, f"$defs.{name}", definitions.keys()), "ref": name} for name, part in definitions.items()
        ]
        whole = _convert(schema, "", definitions.keys())
        return SchemaValidator(core_schema.definitions_schema(whole, known))
    except (RecursionError, SchemaError) as error:
        raise ValueError(f"the schema cannot be used: {' '.join(str(error).split())[:200]}") from None


def _convert(node: Any, place: str, known: Any) -> CoreSchema:
    """One part of a schema as pydantic's."""
    here = place or "the whole"
    if not isinstance(node, dict):
        raise ValueError(f"{here}: a schema is an object with a type, and this is {json.dumps(node)[:60]}")
    bare = {name: value for name, value in node.items() if name not in ALWAYS}
    if "$ref" in bare and len(bare) == 1:
        name = str(bare["$ref"]).removeprefix("#/$defs/")
        if name not in known:
            raise ValueError(f"{here}: {bare['$ref']} is no part of $defs")
        return core_schema.definition_reference_schema(name)
    if "anyOf" in bare and len(bare) == 1 and isinstance(bare["anyOf"], list) and bare["anyOf"]:
        choices = [_convert(one, f"{place}.anyOf[{at}]", known) for at, one in enumerate(bare["anyOf"])]
        return core_schema.union_schema(choices, mode="left_to_right")  # type: ignore[arg-type]
    kind = bare.pop("type", "")
    fixed = [bare.pop("const")] if "const" in bare else bare.pop("enum", None)
    if fixed is not None:
        scalar = isinstance(fixed, list) and fixed and all(one is None or isinstance(one, str | int) for one in fixed)
        if not scalar or bare:
            raise ValueError(f"{here}: an enum lists texts, whole numbers, true, false or null, and has no limits")
        return core_schema.literal_schema(fixed)
    if isinstance(kind, list) and kind and not bare:
        return core_schema.union_schema([_convert({"type": one}, place, known) for one in kind])
    if not isinstance(kind, str) or kind not in LIMITS:
        raise ValueError(f"{here}: the type is one of {', '.join(LIMITS)}; or anyOf, enum, const or $ref")
    strange = sorted(bare.keys() - LIMITS[kind].keys() - OWN.get(kind, set()))
    if strange:
        raise ValueError(f"{here}: {strange[0]!r} is nothing that every provider holds to")
    limits = {LIMITS[kind][name]: value for name, value in bare.items() if name in LIMITS[kind]}
    if any(isinstance(value, bool) or not isinstance(value, int | float) for value in limits.values()):
        raise ValueError(f"{here}: a limit is a number")
    match kind:
        case "object":
            return _convert_object(bare, place, known)
        case "array":
            return core_schema.list_schema(_convert(bare.get("items"), f"{place}[]", known), **limits)
        case "string":
            return core_schema.str_schema(**limits)
        case "integer":
            return core_schema.int_schema(**limits)
        case "number":
            return core_schema.float_schema(allow_inf_nan=False, **limits)
    return core_schema.bool_schema() if kind == "boolean" else core_schema.none_schema()


def _convert_object(bare: dict[str, Any], place: str, known: Any) -> CoreSchema:
    """An object with all of its properties and no others: the clouds bind no other."""
    parts, required = bare.get("properties"), bare.get("required", [])
    if not isinstance(parts, dict) or not parts:
        raise ValueError(f"{place or 'the whole'}: an object names its properties")
    is_complete = isinstance(required, list) and sorted(required, key=str) == sorted(parts)
    if bare.get("additionalProperties") is not False or not is_complete:
        raise ValueError(
            f"{place or 'the whole'}: an object has all of its properties in 'required', and 'additionalProperties' is"
            " false; what may be missing is anyOf with null"
        )
    fields = {
        name: core_schema.typed_dict_field(_convert(part, f"{place}.{name}".lstrip("."), known))
        for name, part in parts.items()
    }
    return core_schema.typed_dict_schema(fields, extra_behavior="forbid")
