"""Blueprints that have everything at once, and words that would do harm wherever they were taken for code."""

import copy
from typing import Any

NASTY = '"{{ 7 * 7 }}" <b>\'\\ [[ x ]] {% raw %}'
TYPES = ("text", "long_text", "integer", "decimal", "yes_no", "date", "date_time", "time", "email", "link")


def make_fields(required: bool) -> list[dict[str, Any]]:
    """A field of every type."""
    first = "r" if required else "o"
    plain = [{"name": f"{first}_{kind}", "label": f"{kind} {NASTY}", "type": kind, "help": NASTY} for kind in TYPES]
    choice = {"name": f"{first}_choice", "label": "Choice", "type": "choice", "options": [NASTY, "two", "three's"]}
    return [field | {"required": required} for field in (*plain, choice | {"default": "two"})]


def condition(field: str, operator: str, value: str = "", other: str = "") -> dict[str, str]:
    return {"field": field, "operator": operator, "value": value, "other": other}


CONDITIONS = {
    "past": condition("r_date", "is_past"),
    "future": condition("o_date_time", "is_future"),
    "empty": condition("o_text", "is_empty"),
    "given": condition("o_text", "is_set"),
    "unlike": condition("o_integer", "!=", "3"),
    "chosen": condition("r_choice", "=", NASTY),
    "off": condition("r_yes_no", "!=", "yes"),
    "early": condition("r_time", "<", "12:30"),
    "since": condition("r_date_time", ">=", "2026-01-01T10:00"),
    "small": condition("r_decimal", "<=", "2.5"),
    "bigger": condition("o_integer", ">", other="r_integer"),
}
WIDE = {
    "name": "wide",
    "label": f"Wide {NASTY}",
    "plural": "Wides <b>",
    "read": "members",
    "write": "owner",
    "sort": "o_date",
    "descending": True,
    "fields": make_fields(True) + make_fields(False)[:8],
    "computed": [
        *(
            {"name": f"is_{name}", "label": name, "gives": "yes_no", "condition": one}
            for name, one in CONDITIONS.items()
        ),
        {"name": "total", "label": "Total", "gives": "decimal", "sentence": "sum", "takes": ["r_integer", "r_decimal"]},
        {"name": "gone", "label": "Gone", "gives": "text", "sentence": "never written", "takes": ["r_text"]},
    ],
    "rules": [
        {"kind": "in_order", "fields": ["r_date", "o_date"]},
        {"kind": "not_past", "fields": ["r_date_time"]},
        {"kind": "unique_together", "fields": ["r_text", "r_email"]},
    ],
    "actions": [
        {
            "name": "delete",
            "label": "Toggle",
            "when": condition("r_yes_no", "=", "no"),
            "changes": [
                {"field": "r_yes_no", "how": "toggle"},
                {"field": "o_integer", "how": "add", "value": "2"},
                {"field": "o_decimal", "how": "add", "value": "-0.5"},
                {"field": "o_date_time", "how": "set", "value": "now"},
            ],
        },
        {
            "name": "close",
            "label": "Close",
            "changes": [
                {"field": "r_choice", "how": "set", "value": "three's"},
                {"field": "o_text", "how": "set", "value": ""},
            ],
        },
    ],
    "views": [{"name": name, "label": name, "conditions": [one]} for name, one in CONDITIONS.items()],
}
REQUEST = {
    "name": "request",
    "label": "Request",
    "plural": "Requests",
    "read": "everyone",
    "write": "owner",
    "parent": "wide",
    "fields": [
        {"name": "wide", "label": "Wide", "type": "reference", "target": "wide"},
        {"name": "before", "label": "Before", "type": "reference", "target": "request", "required": False},
        {"name": "order", "label": "Order", "type": "integer", "unique": True, "minimum": 1, "maximum": 900},
    ],
    "rules": [{"kind": "unique_together", "fields": ["wide", "order"]}],
    "actions": [{"name": "more", "label": "More", "changes": [{"field": "order", "how": "add", "value": "1"}]}],
}
GROUP = {
    "name": "group",
    "label": "Group",
    "plural": "Groups",
    "fields": [
        {"name": "request", "label": "Request", "type": "reference", "target": "request"},
        {"name": "title", "label": "Title", "type": "long_text", "unique": True},
        {"name": "starts", "label": "Starts", "type": "time"},
        {"name": "ends", "label": "Ends", "type": "time"},
    ],
    "rules": [{"kind": "no_overlap", "fields": ["starts", "ends"]}],
}
TABLE = {
    "name": "table",
    "label": "Table",
    "plural": "Tables",
    "computed": [
        {"name": "many", "label": "Many", "gives": "yes_no", "condition": condition("seats", ">", "4")},
    ],
    "fields": [
        {"name": "group", "label": "Group", "type": "reference", "target": "group"},
        {"name": "property", "label": "Property", "type": "reference", "target": "group", "required": False},
        {"name": "page", "label": "Page", "type": "choice", "options": ["left", "right"]},
        {"name": "seats", "label": "Seats", "type": "integer", "minimum": 1, "maximum": 9},
    ],
}
MEMBERS: dict[str, Any] = {
    "title": f"All {NASTY}"[:60],
    "sentence": "everything",
    "accounts": True,
    "accent": "#ffe066",
    "entities": [WIDE, REQUEST, GROUP, TABLE],
}
OPEN = copy.deepcopy(MEMBERS) | {"accounts": False}
OPEN["entities"] = [entity | {"read": "everyone", "write": "everyone"} for entity in OPEN["entities"]]
SINGLE = MEMBERS | {"registration": False, "entities": [TABLE | {"fields": TABLE["fields"][2:]}]}
TOTAL = """import math


def total(r_integer: int, r_decimal: float) -> float:
    return math.fsum([r_integer, r_decimal])
"""
