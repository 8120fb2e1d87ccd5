"""What an entity can be given as a whole: a state with its button and lists, a low quantity, what is late, claims.

Each function takes an entity and gives another one, so that a first plan, a switch and a follow-up use the same.
"""

import re
from collections.abc import Sequence

from burnish.apps.blueprint import NUMBERS, Action, Change, Computed, Condition, Entity, Field, RowRule, View
from burnish.apps.planning.vocabulary import fold, make_label, make_name, say

MOST_FIELDS = 20
_QUANTITIES = ("quantity", "left", "count", "number", "pieces", "amount", "menge", "anzahl", "bestand", "stueck")
_DUE = ("due", "deadline", "return", "until", "frist", "faellig", "rueckgabe", "bis")


def is_least(field: Field) -> bool:
    """Whether a number says below which another one is low."""
    words = field.name.split("_")
    return field.type in NUMBERS and any(re.match("min$|minimum|mindest|least|threshold", word) for word in words)


def find_field(entity: Entity, words: str) -> Field | None:
    """The field that words mean: of this name or label, leading to this entity, or the only one that has the word."""
    wanted = make_name(words)
    exact = [one for one in entity.fields if wanted in (one.name, one.target) or one.label.lower() == words.lower()]
    part = [one for one in entity.fields if wanted in one.name.split("_") or one.name in wanted.split("_")]
    return exact[0] if exact else part[0] if len(part) == 1 else None


def add_fields(entity: Entity, *fields: Field) -> Entity:
    """The entity with more fields, behind those it has; one of the same name takes the place of the old one."""
    new = {field.name: field for field in fields}
    kept = tuple(new.pop(field.name, field) for field in entity.fields)
    return entity.model_copy(update={"fields": (*kept, *new.values())})


def name_new(entity: Entity, label: str) -> str:
    """A name for one more field or computed value."""
    return make_name(label, used={one.name for one in entity.fields} | {one.name for one in entity.computed})


def add_state(entity: Entity, label: str, german: bool = False) -> Entity:
    """A yes-or-no that a button turns, with a list for each of its sides."""
    field = find_field(entity, label)
    if field and field.type == "choice":
        return entity
    chosen = next((one for one in entity.fields if one.type == "choice" and _find_option(one, label)), None)
    if chosen and not field:
        option = _find_option(chosen, label)
        if any(action.name == make_name(f"set_{option}") for action in entity.actions):
            return entity
        set_it = Action(
            name=make_name(f"set_{option}"),
            label=say("set", german, option),
            changes=(Change(field=chosen.name, how="set", value=option),),
            when=Condition(field=chosen.name, operator="!=", value=option),
        )
        return entity.model_copy(update={"actions": (*entity.actions, set_it)})
    if not field or field.type != "yes_no":
        field = Field(name=name_new(entity, label), label=make_label(label), type="yes_no", required=False)
        entity = add_fields(entity, field)
    if any(change.field == field.name for action in entity.actions for change in action.changes):
        return entity
    turn = Action(
        name=make_name(f"mark_{field.name}"),
        label=say("mark", german, field.label),
        changes=(Change(field=field.name, how="toggle"),),
    )
    views = tuple(
        View(name=make_name(name), label=label, conditions=(Condition(field=field.name, operator="=", value=value),))
        for name, label, value in (
            (f"not_{field.name}", make_label(say("not", german, field.label.lower())), "no"),
            (f"only_{field.name}", field.label, "yes"),
        )
    )
    return entity.model_copy(
        update={
            "actions": (*entity.actions, turn),
            "views": (*(_ask_for_open(view, field) for view in entity.views), *views),
        }
    )


def remove_field(entity: Entity, name: str) -> Entity:
    """The entity without a field and all that leans on it; unchanged where it is the only one."""
    if len(entity.fields) == 1:
        return entity

    def is_free(*conditions: Condition | None) -> bool:
        return all(name not in (one.field, one.other) for one in conditions if one)

    lists = [(view, tuple(one for one in view.conditions if is_free(one))) for view in entity.views]
    return entity.model_copy(
        update={
            "fields": tuple(one for one in entity.fields if one.name != name),
            "parent": "" if entity.parent == name else entity.parent,
            "sort": "" if entity.sort == name else entity.sort,
            "computed": tuple(one for one in entity.computed if is_free(one.condition) and name not in one.takes),
            "rules": tuple(one for one in entity.rules if name not in (*one.fields, *one.per)),
            "actions": tuple(
                one
                for one in entity.actions
                if is_free(one.when) and name not in {change.field for change in one.changes}
            ),
            "views": tuple(view.model_copy(update={"conditions": left}) for view, left in lists if left),
        }
    )


def add_scarcity(entity: Entity, german: bool = False) -> Entity:
    """A quantity with a least one, a mark and a list of rows that run low, and buttons for one more and one less."""
    if any(view.name == "low" for view in entity.views):
        return entity
    numbers = [one for one in entity.fields if one.type in NUMBERS and not is_least(one)]
    quantity = next((one for one in numbers if any(word in one.name.split("_") for word in _QUANTITIES)), None)
    least = next((one for one in entity.fields if one.type in NUMBERS and is_least(one)), None)
    if not quantity:
        label = say("quantity", german)
        quantity = Field(name=name_new(entity, label), label=label, type="integer")
    # A sum needs a number in every row, and what is counted starts with none.
    quantity = quantity.model_copy(update={"minimum": 0, "required": True, "default": quantity.default or "0"})
    if not least:
        label = say("minimum", german)
        least = Field(name=name_new(entity, label), label=label, type=quantity.type)
    updates = {"type": quantity.type, "minimum": 0, "required": True, "default": least.default or "1"}
    least = least.model_copy(update=updates)
    entity = add_fields(entity, quantity, least)
    low = Condition(field=quantity.name, operator="<=", other=least.name)
    name, label = name_new(entity, "low"), say("low", german)
    some = Condition(field=quantity.name, operator=">", value="0")
    buttons = tuple(
        Action(
            name=word,
            label=say(word, german),
            changes=(Change(field=quantity.name, how="add", value=value),),
            when=when,
        )
        for word, value, when in (("more", "1", None), ("less", "-1", some))
    )
    return entity.model_copy(
        update={
            "computed": (*entity.computed, Computed(name=name, label=label, gives="yes_no", condition=low)),
            "actions": (*entity.actions, *buttons),
            "views": (*entity.views, View(name="low", label=label, conditions=(low,))),
        }
    )


def add_due(entity: Entity, german: bool = False, kind: str = "overdue") -> Entity:
    """A list of rows whose day is over ("overdue": and that are not done yet; "expired"), sorted by that day."""
    days = [one for one in entity.fields if one.type in ("date", "date_time")]
    due = next((one for one in days if any(word in one.name.split("_") for word in _DUE)), None) or (
        days[-1] if days else None
    )
    if not due:
        label = say("due", german)
        due = Field(name=name_new(entity, label), label=label, type="date", required=False)
        entity = add_fields(entity, due)
    if kind == "overdue" and not any(one.type == "yes_no" for one in entity.fields):
        owes = any(one.type == "decimal" for one in entity.fields)
        entity = add_state(entity, say("paid" if owes else "done", german), german)
    until = Condition(field=due.name, operator="<=", value="today" if due.type == "date" else "now")
    late = until if kind == "today" else Condition(field=due.name, operator="is_past")
    view = View(name=kind, label=say(kind, german), conditions=(late,))
    state = next((one for one in entity.fields if one.type == "yes_no"), None)
    view = _ask_for_open(view, state) if state else view
    views = tuple(one for one in entity.views if one.name != kind)
    return entity.model_copy(update={"views": (*views, view), "sort": entity.sort or due.name})


def add_period(entity: Entity, per: Sequence[str], german: bool = False) -> Entity:
    """Claims: from a moment to a later one, and no two of the same at once."""
    if any(rule.kind == "no_overlap" for rule in entity.rules):
        return entity
    moments = [one for one in entity.fields if one.type in ("date", "date_time")]
    if len(moments) < 2 or moments[0].type != moments[1].type:
        moments = [
            Field(
                name=make_name(word, used={one.name for one in entity.fields}),
                label=say(word, german),
                type="date_time",
            )
            for word in ("start", "end")
        ]
    start, end = (one.model_copy(update={"required": True}) for one in moments[:2])
    rules = (
        RowRule(kind="in_order", fields=(start.name, end.name)),
        RowRule(kind="no_overlap", fields=(start.name, end.name), per=tuple(per)),
    )
    entity = add_fields(entity, start, end)
    return entity.model_copy(update={"rules": (*entity.rules, *rules), "sort": entity.sort or start.name})


def add_once(entity: Entity, names: Sequence[str]) -> Entity:
    """That no two rows are the same in these fields."""
    names = [*dict.fromkeys(names)]
    if len(names) < 2 or any({*rule.fields} == {*names} for rule in entity.rules):
        return entity
    required = [field.model_copy(update={"required": True}) for field in entity.fields if field.name in names]
    rule = RowRule(kind="unique_together", fields=tuple(names))
    return add_fields(entity, *required).model_copy(update={"rules": (*entity.rules, rule)})


def _find_option(field: Field, label: str) -> str:
    """The option that a participle means: "closed", "done"."""
    return next((one for one in field.options if fold(one) == fold(label)), "")


def _ask_for_open(view: View, state: Field) -> View:
    """A list of what is late, without what is done."""
    if view.name not in ("overdue", "today") or any(one.field == state.name for one in view.conditions):
        return view
    open_only = Condition(field=state.name, operator="=", value="no")
    return view.model_copy(update={"conditions": (*view.conditions, open_only)})
