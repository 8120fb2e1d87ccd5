"""What a model is asked of an app, and its answer as a draft.

The schema is flat and small enough for a model of 0.5B: tables with columns, and which table a row belongs to. What
follows from the words of the sentence (accounts, rights, rules, buttons, lists) is never asked for.
"""

import re
from collections.abc import Container, Mapping
from typing import Any

from burnish.apps.blueprint import Blueprint
from burnish.apps.planning.drafts import Draft, EntityDraft, FieldDraft
from burnish.apps.planning.entities import is_answer
from burnish.apps.planning.vocabulary import HOLDERS, find_singular, fold, know, make_label
from burnish.apps.planning.wishes import repeats_wish
from burnish.errors import ModelError
from burnish.events import Message
from burnish.json_schema import freeze_schema, read_by_schema
from burnish.models.model import Ask

MOST_TOKENS = 1500
TYPES = ("text", "long_text", "integer", "decimal", "yes_no", "date", "date_time", "time", "email", "link", "choice")
_SYSTEM = (
    "You plan small web apps: which tables they keep, and which columns the tables have. Accounts, ids, days of"
    " creation, search, and pages to add, edit and delete are there already: never list them. Answer with JSON only."
)
_PLAN = """An app is asked for: {sentence}

List its tables, the most important one first, three to seven columns each. Names are single words or short \
phrases, as people say them, in the language of the sentence.
- A column holds one value. Its type is text, long_text, integer, decimal, yes_no, date, date_time, time, email, link,
  or choice with its options (else options is []).
- A table whose rows belong to rows of another table names that one in belongs_to (else belongs_to is []).
- No table of users, and no column that the app does not need."""
_CHANGE = """An app has these tables:
{tables}

A change is asked for: {sentence}

List only what is new: the columns that a table gets. A table that is not there yet is listed with its columns, and
with the table it belongs to (else belongs_to is []). Types: text, long_text, integer, decimal, yes_no, date, date_time,
time, email, link, or choice with its options (else options is [])."""


def build_plan_ask(sentence: str) -> Ask:
    """The question which tables an app has."""
    return _build_ask("plan", _PLAN.format(sentence=sentence), _make_schema(5, 8))


def build_change_ask(blueprint: Blueprint, sentence: str) -> Ask:
    """The question what a follow-up adds to an app."""
    tables = "\n".join(f"- {one.label}: {', '.join(field.label for field in one.fields)}" for one in blueprint.entities)
    return _build_ask("change", _CHANGE.format(tables=tables, sentence=sentence), _make_schema(3, 5))


def read_tables(ask: Ask, answer: str, german: bool) -> tuple[str, tuple[EntityDraft, ...]]:
    """Title and tables of an answer; of one that was cut, those that are whole. Raises ModelError where none is."""
    try:
        data = read_by_schema(ask.json_schema, answer)
    except ModelError as error:
        data = _read_cut(ask, answer)
        if data is None:
            raise error
    tables = tuple(_read_table(one, german) for one in data["tables"] if _clean(one["name"]))
    return _clean(data["title"]), tables


def merge(rules: Draft, title: str, tables: tuple[EntityDraft, ...]) -> Draft:
    """What rules read and what a model said: all that the sentence names holds, the model fills what it leaves open.

    A column for a thing whose values the sentence names, and a table of which it says nothing, are invented: they go.
    """
    said = fold(rules.title + " " + " ".join(one.label for one in rules.entities))
    known = {fold(one.label) for one in (*rules.entities, *tables)}
    left = [_drop_strays(one, known) for one in tables]
    merged: list[EntityDraft] = []
    renamed: dict[str, str] = {}
    for one in rules.entities:
        match = next((table for table in left if _is_same(one.label, table.label)), None)
        if not match and one.is_general and left:
            match = left[0]
        if match:
            left.remove(match)
            renamed[fold(one.label)] = match.label if one.is_general else one.label
        # A model gives answers a title and a day, and forgets that they must say something.
        merged.append(_merge_entity(one, None if is_answer(one, rules) else match))
    is_open = len(rules.entities) == 1 and not [field for field in rules.entities[0].fields if not _is_assumed(field)]
    words = set(re.findall(r"\w+", said))
    for table in left:
        parts = set(re.findall(r"\w+", fold(table.label)))
        if repeats_wish(table.label) or parts & {"user", "users", "account", "accounts", "benutzer", "login", "member"}:
            continue
        if is_open or parts & words:
            merged.append(table)
    known = {fold(one.label) for one in merged}
    return rules.model_copy(
        update={
            "title": rules.title or title,
            "entities": tuple(_rename(one, renamed, known) for one in merged),
        }
    )


def _merge_entity(one: EntityDraft, table: EntityDraft | None) -> EntityDraft:
    """An entity of the sentence with what a model knows of it."""
    if not table:
        return one
    known = {fold(field.label): field for field in table.fields}
    fields = []
    for field in one.fields:
        other = known.get(fold(field.label))
        is_unknown = not field.type and not field.target and know(field.label) is None
        typed = other if other and other.type and is_unknown and not other.target else None
        fields.append(field.model_copy(update={"type": typed.type, "options": typed.options}) if typed else field)
    if not [field for field in one.fields if not _is_assumed(field) and not field.target]:
        has = {fold(field.label) for field in fields} | {fold(field.target) for field in fields}
        alone = {field.type for field in fields} & {"date", "long_text"}  # under another name it is the same one
        more = [
            field
            for field in table.fields
            if fold(field.label) not in has and not alone & {field.type, (know(field.label) or field).type}
        ]
        if one.is_ticked_off:  # done or not is one yes-or-no, whatever else the model calls it
            more = [field for field in more if field.type != "yes_no" and fold(field.label) not in ("status", "state")]
        fields = [*more, *fields] if fields and fields[0].default else [*fields, *more]
    update: dict[str, object] = {"fields": tuple(fields), "parent": one.parent}
    if one.is_general:
        update |= {"label": table.label, "plural": table.plural, "is_general": False}
    return one.model_copy(update=update)


def _rename(one: EntityDraft, renamed: Mapping[str, str], known: set[str]) -> EntityDraft:
    """An entity whose relations lead to the labels that entities have now; those that lead nowhere are left out."""
    fields = []
    for field in one.fields:
        target = renamed.get(fold(field.target), field.target)
        fields.append(field.model_copy(update={"target": target}))
    parent = renamed.get(fold(one.parent), one.parent)
    return one.model_copy(update={"fields": tuple(fields), "parent": parent if fold(parent) in known else ""})


def _is_assumed(field: FieldDraft) -> bool:
    """Whether a value is there because of the kind of list, and not because the sentence names it."""
    return bool(field.default) or field.required is False or bool(field.type)


def _drop_strays(table: EntityDraft, known: Container[str]) -> EntityDraft:
    """A table without what leads to tables that nobody listed."""
    fields = tuple(field for field in table.fields if not field.target or fold(field.target) in known)
    return table.model_copy(update={"fields": fields})


def _is_same(one: str, other: str) -> bool:
    """Whether two labels mean one thing: the same words but "log" or "entry", or the last of the one is the other."""
    holders = {"entry", "item", "eintrag", *HOLDERS}
    a, b = ([word for word in fold(find_singular(label)).split() if word not in holders] for label in (one, other))
    return bool(a and b) and (a == b or a[-1:] == b or b[-1:] == a or a[:1] == b)


def _read_table(table: Mapping[str, Any], german: bool) -> EntityDraft:
    """A table of an answer: its columns without those that only lead elsewhere, and what it belongs to."""
    label = make_label(find_singular(_clean(table["name"]), german))
    above = [make_label(find_singular(_clean(one), german)) for one in table["belongs_to"] if _clean(one)]
    above = [one for one in dict.fromkeys(above) if fold(one) != fold(label)]
    fields = [FieldDraft(label=one, target=one, required=at == 0) for at, one in enumerate(above)]
    for column in table["columns"]:
        name = _clean(column["name"])
        if not name:
            continue
        if foreign := re.fullmatch(r"(.+?)[ _]ids?", name, re.IGNORECASE):
            target = make_label(find_singular(foreign[1], german))
            fields.append(FieldDraft(label=target, target=target))
            continue
        options = tuple(filter(None, (make_label(one) for one in column["options"])))
        kind = column["type"] if column["type"] != "choice" or len({*options}) > 1 else "text"
        name = re.sub(r"^(?:is|has|was) ", "", name, flags=re.IGNORECASE) if kind == "yes_no" else name
        fields.append(FieldDraft(label=make_label(name), type=kind, options=options if kind == "choice" else ()))
    return EntityDraft(label=label, fields=tuple(fields), parent=above[0] if above else "")


def _clean(name: str) -> str:
    """A name as people write it: "dueDate" and "due_date" are "due date"."""
    return make_label(re.sub(r"(?<=[a-zäöüß])(?=[A-Z])|_", " ", name).lower()) if name.strip() else ""


def _read_cut(ask: Ask, answer: str) -> Any | None:
    """An answer that broke off, up to the last table that is whole; None where there is none."""
    for end in [match.end() for match in re.finditer(r"\}", answer)][:-12:-1]:
        try:
            return read_by_schema(ask.json_schema, answer[:end] + "]}")
        except ModelError:
            continue
    return None


def _build_ask(purpose: str, text: str, schema: Mapping[str, Any]) -> Ask:
    messages = (Message(role="system", content=_SYSTEM), Message(role="user", content=text))
    return Ask(purpose=purpose, messages=messages, max_tokens=MOST_TOKENS, json_schema=freeze_schema(schema))


def _make_schema(tables: int, columns: int) -> Mapping[str, Any]:
    name = {"type": "string", "maxLength": 40}

    def make_list(items: Mapping[str, Any], most: int) -> dict[str, Any]:
        return {"type": "array", "items": items, "maxItems": most}

    def make_object(**properties: Any) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": properties,
            "required": [*properties],
            "additionalProperties": False,
        }

    column = make_object(name=name, type={"type": "string", "enum": [*TYPES]}, options=make_list(name, 6))
    table = make_object(name=name, columns=make_list(column, columns), belongs_to=make_list(name, 2))
    return make_object(title=name, tables=make_list(table, tables))
