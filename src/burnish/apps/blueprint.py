"""What an app is to be, as data: everything else is made from a blueprint, and nothing but it.

A blueprint that was accepted can be built: every name is a safe identifier, every reference leads somewhere, every
condition compares what can be compared. Rules that hold between its parts are checked here and nowhere else.
"""

import keyword
import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal, Self

from pydantic import Field as Limit
from pydantic import model_validator

from burnish.events import Frozen

FieldType = Literal[
    "text",
    "long_text",
    "integer",
    "decimal",
    "yes_no",
    "date",
    "date_time",
    "time",
    "email",
    "link",
    "choice",
    "reference",
]
NUMBERS = ("integer", "decimal")
MOMENTS = ("date", "date_time", "time")
ORDERED = (*NUMBERS, *MOMENTS)
Operator = Literal["<", "<=", "=", "!=", ">=", ">", "is_empty", "is_set", "is_past", "is_future"]
Name = Annotated[str, Limit(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
"""Of a table, a column, a module: also a Python identifier and the word in an address."""
Label = Annotated[str, Limit(min_length=1, max_length=60)]
"""For people. What a model wrote: templates escape it."""
TAKEN = frozenset(
    {*keyword.kwlist, *keyword.softkwlist, "self", "id", "owner", "created", "csrf", "view", "q", "user", "account"}
    | {"metadata", "registry", "session", "static", "login", "logout", "register", "settings", "tests", "app", "main"}
    | {"accounts", "database", "forms", "migrations", "security", "templates"}
    | {"bool", "dt", "float", "int", "mapped_column", "relationship", "str"}
)
"""Names that generated code or addresses use themselves."""


class Field(Frozen):
    """What an entity holds."""

    name: Name
    label: Label
    type: FieldType
    required: bool = True
    unique: bool = False
    """Within what one person sees, where the entity belongs to its owner; else within all."""
    options: tuple[Label, ...] = ()
    """Of a choice."""
    target: Name | Literal[""] = ""
    """Of a reference: the entity that it leads to."""
    minimum: float | None = None
    maximum: float | None = None
    default: str = ""
    """As it would be typed; "today" for a date, "now" for a moment; "yes" or "no"."""
    help: Annotated[str, Limit(max_length=120)] = ""


class Condition(Frozen):
    """A comparison of one field; `value` is as it would be typed, `other` another field in its place."""

    field: Name
    operator: Operator
    value: str = ""
    other: Name | Literal[""] = ""


class Computed(Frozen):
    """What follows from the fields and is shown beside them."""

    name: Name
    label: Label
    gives: Literal["yes_no", "integer", "decimal", "text"]
    condition: Condition | None = None
    """Of a yes-or-no that rules can build; else a function is written for `sentence`."""
    sentence: Annotated[str, Limit(max_length=300)] = ""
    takes: tuple[Name, ...] = ()
    """Fields that the function is given."""
    examples: tuple[str, ...] = ()
    """Calls as Python asserts, `is_late(3, 5) == True`: those of the user, or of the model."""


class RowRule(Frozen):
    """What must hold between rows, or between the fields of one; broken, it is said beside the fields.

    no_overlap: `fields` are start and end of a period; no two rows with the same `per` share a moment (ends touch).
    unique_together: no two rows have the same `fields`. in_order: the first of `fields` is before, or less than, the
    second. not_past: the first of `fields` is not before now.
    """

    kind: Literal["no_overlap", "unique_together", "in_order", "not_past"]
    fields: tuple[Name, ...]
    per: tuple[Name, ...] = ()


class Change(Frozen):
    """What an action does to a field: `set` to a value (as typed; "now", "today"), `toggle` a yes-or-no, `add`."""

    field: Name
    how: Literal["set", "toggle", "add"]
    value: str = ""


class Action(Frozen):
    """A button beside a row."""

    name: Name
    label: Label
    changes: Annotated[tuple[Change, ...], Limit(min_length=1)]
    when: Condition | None = None
    """Offered, and allowed, only where this holds."""


class View(Frozen):
    """A list with a name: the rows for which all conditions hold."""

    name: Name
    label: Label
    conditions: Annotated[tuple[Condition, ...], Limit(min_length=1)]


class Entity(Frozen):
    """A table with its pages: a list that adds, edits, deletes, filters and sorts, and a page for each row.

    `read` and `write` say who may: everyone without an account, every member, or only who added the row. A row is
    deleted by whoever may write it.
    """

    name: Name
    label: Label
    plural: Label
    fields: Annotated[tuple[Field, ...], Limit(min_length=1, max_length=20)]
    parent: Name | Literal[""] = ""
    """A reference field that shows these rows on the page of what it leads to, with a form to add one there."""
    read: Literal["everyone", "members", "owner"] = "owner"
    write: Literal["everyone", "members", "owner"] = "owner"
    """"owner": every member may add rows, and change the own ones. "everyone" only in an app without accounts."""
    computed: tuple[Computed, ...] = ()
    rules: tuple[RowRule, ...] = ()
    actions: tuple[Action, ...] = ()
    views: tuple[View, ...] = ()
    sort: Name | Literal["", "created"] = ""
    descending: bool = False

    @property
    def title_field(self) -> Field:
        """What names a row where it is referred to."""
        texts = (field for field in self.fields if field.type in ("text", "email", "link"))
        return next(texts, self.fields[0])

    def field(self, name: str) -> Field | None:
        """The field of this name."""
        return next((field for field in self.fields if field.name == name), None)

    @property
    def references(self) -> tuple[Field, ...]:
        """The fields that lead to other entities."""
        return tuple(field for field in self.fields if field.type == "reference")


class Switch(Frozen):
    """What the sentence left open and was assumed; `planning.flip` turns it."""

    id: Annotated[str, Limit(pattern=r"^[a-z][a-z0-9_.-]{0,80}$")]
    text: Annotated[str, Limit(max_length=200)]
    otherwise: Annotated[str, Limit(max_length=200)]
    """What holds once it is switched off."""
    on: bool = True


class Blueprint(Frozen):
    """An app, whole."""

    title: Label
    sentence: Annotated[str, Limit(max_length=2000)]
    entities: Annotated[tuple[Entity, ...], Limit(min_length=1, max_length=8)]
    accounts: bool = False
    """Whether people log in."""
    registration: bool = True
    """Whether anybody may make an account; else the first one is the only one."""
    accent: Annotated[str, Limit(pattern=r"^#[0-9a-f]{6}$")] = "#2257bf"
    switches: tuple[Switch, ...] = ()
    left_out: tuple[Annotated[str, Limit(max_length=200)], ...] = ()
    """What was asked for and cannot be built: said to the user, and broken off before anything leans on it."""

    def entity(self, name: str) -> Entity:
        """The entity of this name."""
        return next(entity for entity in self.entities if entity.name == name)

    @model_validator(mode="after")
    def _check(self) -> Self:
        flaws = list(find_flaws(self))
        if flaws:
            raise ValueError("; ".join(flaws))
        return self


def find_flaws(blueprint: Blueprint) -> Iterator[str]:
    """Everything in a blueprint that could not be built, each as a sentence with its place."""
    names = [entity.name for entity in blueprint.entities]
    yield from (f"{name}: two entities have this name" for name in set(names) if names.count(name) > 1)
    for entity in blueprint.entities:
        where = entity.name
        own = [*(one.name for part in (entity.fields, entity.computed) for one in part)]
        yield from (f"{where}.{name}: two fields have this name" for name in set(own) if own.count(name) > 1)
        yield from (f"{name}: this name is taken" for name in ({where, *own} & TAKEN) | ({where} & {"pages"}))
        if not blueprint.accounts and (entity.read, entity.write) != ("everyone", "everyone"):
            yield f"{where}: without accounts everyone reads and writes"
        if blueprint.accounts and entity.write == "everyone":
            yield f"{where}: with accounts only members write"
        if (entity.read, entity.write) == ("owner", "members"):
            yield f"{where}: nobody can change what they do not see"
        for field in entity.fields:
            yield from _find_field_flaws(field, f"{where}.{field.name}", names)
        if entity.parent and entity.parent not in {field.name for field in entity.references}:
            yield f"{where}: its parent {entity.parent!r} is no reference of it"
        if entity.sort not in ("", "created") and not entity.field(entity.sort):
            yield f"{where}: there is no field {entity.sort!r} to sort by"
        for kind in (entity.computed, entity.actions, entity.views):
            listed = [one.name for one in kind]
            yield from (f"{where}.{name}: this name is there twice" for name in set(listed) if listed.count(name) > 1)
        yield from _find_special_flaws(entity)
    yield from (f"{name}: required references lead in a circle" for name in _find_circle(blueprint.entities))


def _find_field_flaws(field: Field, where: str, names: Sequence[str]) -> Iterator[str]:
    if (field.type == "choice") != (len(field.options) >= 2):
        yield f"{where}: a choice has two options or more, and nothing else has any"
    if len({*field.options}) < len(field.options):
        yield f"{where}: an option is there twice"
    if (field.type == "reference") != bool(field.target):
        yield f"{where}: a reference has a target, and nothing else has one"
    if field.target and field.target not in names:
        yield f"{where}: there is no entity {field.target!r}"
    if (field.minimum is not None or field.maximum is not None) and field.type not in NUMBERS:
        yield f"{where}: only numbers have a minimum or a maximum"


def _find_special_flaws(entity: Entity) -> Iterator[str]:
    """What conditions, rules, actions and functions of an entity cannot do."""
    where = entity.name
    conditions = [one.condition for one in entity.computed if one.condition]
    conditions += [action.when for action in entity.actions if action.when]
    conditions += [condition for view in entity.views for condition in view.conditions]
    for condition in conditions:
        yield from (f"{where}: {flaw}" for flaw in find_condition_flaws(entity, condition))
    for one in entity.computed:
        if (one.condition is None) == (not one.sentence):
            yield f"{where}.{one.name}: it has either a condition or a sentence"
        if one.condition and one.gives != "yes_no":
            yield f"{where}.{one.name}: a condition gives yes or no"
        yield from (f"{where}.{one.name}: there is no field {name!r}" for name in one.takes if not entity.field(name))
    for rule in entity.rules:
        fields = [entity.field(name) for name in (*rule.fields, *rule.per)]
        wanted = {"no_overlap": 2, "in_order": 2, "not_past": 1}.get(rule.kind)
        types = {field.type for field in fields[: len(rule.fields)] if field}
        if None in fields or len(rule.fields) != (wanted or max(2, len(rule.fields))):
            yield f"{where}: a rule of kind {rule.kind} cannot have the fields {', '.join(rule.fields)}"
        elif rule.kind in ("no_overlap", "in_order") and (len(types) > 1 or not types & {*ORDERED}):
            yield f"{where}: {' and '.join(rule.fields)} cannot be compared"
        elif rule.kind == "not_past" and not types & {"date", "date_time"}:
            yield f"{where}: {rule.fields[0]} is no day and no moment"
    for action in entity.actions:
        for change in action.changes:
            changed = entity.field(change.field)
            fits = (
                changed is not None
                and {
                    "toggle": changed.type == "yes_no",
                    "add": changed.type in NUMBERS and bool(re.fullmatch(r"-?\d+(\.\d+)?", change.value)),
                    "set": changed.type != "reference" and _can_be_set(entity, changed, change.value),
                }[change.how]
            )
            if not fits:
                yield f"{where}.{action.name}: {change.how} cannot be done to {change.field!r}"


def _can_be_set(entity: Entity, field: Field, value: str) -> bool:
    if not value:
        return not field.required
    return not [*find_condition_flaws(entity, Condition(field=field.name, operator="=", value=value))]


def find_condition_flaws(entity: Entity, condition: Condition) -> Iterator[str]:
    """Why a condition says nothing about rows of an entity."""
    field, other = entity.field(condition.field), entity.field(condition.other)
    if field is None:
        yield f"there is no field {condition.field!r}"
        return
    if condition.other and (other is None or other.type != field.type):
        yield f"{condition.field!r} cannot be compared with {condition.other!r}"
    if condition.operator in ("is_past", "is_future") and field.type not in ("date", "date_time"):
        yield f"{condition.field!r} is no day and no moment"
    if condition.operator in ("<", "<=", ">=", ">") and field.type not in ORDERED:
        yield f"{condition.field!r} has no order"
    if condition.operator not in ("is_empty", "is_set", "is_past", "is_future") and not condition.other:
        patterns = {
            "integer": r"-?\d+",
            "decimal": r"-?\d+(\.\d+)?",
            "yes_no": r"yes|no",
            "date": r"\d{4}-\d\d-\d\d|today",
            "date_time": r"\d{4}-\d\d-\d\dT\d\d:\d\d|now",
            "time": r"\d\d:\d\d",
        }
        if field.type == "choice" and condition.value not in field.options:
            yield f"{condition.value!r} is no option of {condition.field!r}"
        elif field.type == "reference" or not re.fullmatch(patterns.get(field.type, r"(?s).*"), condition.value):
            yield f"{condition.field!r} cannot be compared with {condition.value!r}"


def _find_circle(entities: Sequence[Entity]) -> list[str]:
    """Entities of which none could have a first row, since each needs one of the others."""
    left = {entity.name: {field.target for field in entity.references if field.required} for entity in entities}
    while free := [name for name, needs in left.items() if not needs & left.keys()]:
        for name in free:
            del left[name]
    return sorted(left)
