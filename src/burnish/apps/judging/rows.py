"""Rows that a person would type into a built app, derived from its blueprint, and what must follow from them."""

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from burnish.apps.blueprint import Blueprint, Condition, Entity, Field, RowRule

Typed = dict[str, str]
"""What is typed into a form, by field; "yes" or nothing for a checkbox."""
COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    ">": operator.gt,
}
NOTHING = re.compile(r"|–|—|-|#\d+")
"""What a page may show where there is nothing; a number where that leads to the row."""
SORTABLE = ("text", "integer", "decimal", "date", "date_time", "time")
FIRST_DAYS, DAYS_APART = 20, 10
MINUTES_APART = 40


def derive_row(entity: Entity, number: int, salt: str, references: Mapping[str, str]) -> Typed:
    """The row of this number: valid, and other than every other one where there are enough values."""
    later = {rule.fields[1]: 1 for rule in entity.rules if rule.kind in ("no_overlap", "in_order")}
    return {
        field.name: references[field.name]
        if field.type == "reference"
        else derive_value(field, number, salt, later.get(field.name, 0))
        for field in entity.fields
        if field.type != "reference" or field.name in references
    }


def derive_value(field: Field, number: int, salt: str, later: int = 0) -> str:
    """One value. `later` moves it up for a field that must be above another one."""
    day = datetime.combine(date.today(), time(9)) + timedelta(days=FIRST_DAYS + DAYS_APART * number + 2 * later)
    match field.type:
        case "text" | "long_text":
            return f"{field.label[:20]} {word(number)}{salt}"
        case "email":
            return f"{word(number)}{salt}@example.org"
        case "link":
            return f"https://example.org/{salt}/{word(number)}"
        case "integer" | "decimal":
            least, most = field.minimum, field.maximum
            low = int(least) if least is not None else (int(most) - 60 if most is not None and most < 60 else 0)
            space = int(most) - low if most is not None else 10**6
            return str(low + min(space, (5 + number) % max(1, space) + later * min(50, space)))
        case "yes_no":
            return "yes" if number % 2 else ""
        case "date":
            return day.date().isoformat()
        case "date_time":
            return day.isoformat(timespec="minutes")
        case "time":
            return (datetime.min + timedelta(minutes=MINUTES_APART * (number % 35) + 20 * later)).strftime("%H:%M")
        case _:
            return field.options[number % len(field.options)]


def word(number: int) -> str:
    """A word of letters for a number: no other number's word is part of it."""
    return "".join("bcdfghjklm"[int(digit)] + "aeiou"[int(digit) % 5] for digit in f"{number:03}")


def parse_value(field: Field, text: str) -> Any:
    """What was typed, as something to compare; None for nothing."""
    if field.type == "yes_no":
        return text == "yes"
    if not text:
        return None
    match field.type:
        case "integer" | "decimal":
            return Decimal(text)
        case "date":
            return date.today() if text == "today" else date.fromisoformat(text)
        case "date_time":
            return datetime.now() if text == "now" else datetime.fromisoformat(text)
        case "time":
            return time.fromisoformat(text)
        case _:
            return text


def holds(entity: Entity, condition: Condition, values: Mapping[str, str]) -> bool:
    """Whether a condition is true of a row; comparing with nothing never is."""
    field = entity.field(condition.field)
    assert field
    left = parse_value(field, values.get(field.name, ""))
    match condition.operator:
        case "is_empty" | "is_set":
            return (left is None) == (condition.operator == "is_empty")
        case "is_past" | "is_future":
            now = date.today() if field.type == "date" else datetime.now()
            return left is not None and (left < now if condition.operator == "is_past" else left > now)
    right = parse_value(field, values.get(condition.other, "") if condition.other else condition.value)
    return left is not None and right is not None and COMPARE[condition.operator](left, right)


def bend(entity: Entity, conditions: Sequence[Condition], values: Typed, wanted: bool = True) -> Typed | None:
    """The row changed so that all conditions hold, or the first does not; None where that cannot be had."""
    for condition in conditions if wanted else conditions[:1]:
        field = entity.field(condition.field)
        assert field
        for value in _list_candidates(field, condition, values):
            bent = {**values, field.name: value}
            if holds(entity, condition, bent) == wanted and is_valid(entity, bent):
                values = bent
                break
        else:
            return None
    return values


def _list_candidates(field: Field, condition: Condition, values: Typed) -> Iterator[str]:
    """Values of a field near the place where a condition turns."""
    yield values.get(field.name, "")
    about = values.get(condition.other, "") if condition.other else condition.value
    around = parse_value(field, about) if about else None
    match field.type:
        case "integer" | "decimal":
            middle = int(around or 0)
            yield from (str(middle + step) for step in (0, -1, 1, -5, 5))
        case "date" | "date_time":
            middle = around or parse_value(field, "today" if field.type == "date" else "now")
            for days in (0, -1, 1, -9, 9):
                moved = middle + timedelta(days=days)
                yield moved.isoformat() if field.type == "date" else moved.isoformat(timespec="minutes")
        case "time":
            yield from ("00:10", about, "23:40")
        case "choice":
            yield from field.options
        case "yes_no":
            yield from ("yes", "")
        case "reference":
            pass
        case _:
            yield about
    if not field.required:
        yield ""


def is_valid(entity: Entity, values: Mapping[str, str]) -> bool:
    """Whether a row keeps to its fields and to the rules that look at it alone."""
    for field in entity.fields:
        text = values.get(field.name, "")
        if not text and field.required and field.type != "yes_no":
            return False
        if text and field.type in ("integer", "decimal"):
            above = field.minimum is None or Decimal(text) >= Decimal(str(field.minimum))
            if not above or (field.maximum is not None and Decimal(text) > Decimal(str(field.maximum))):
                return False
    return not any(break_rule_alone(entity, rule, values) for rule in entity.rules)


def break_rule_alone(entity: Entity, rule: RowRule, values: Mapping[str, str]) -> bool:
    """Whether a row breaks a rule whatever other rows there are."""
    fields = [entity.field(name) for name in rule.fields]
    parsed = [parse_value(field, values.get(field.name, "")) for field in fields if field]
    if None in parsed or rule.kind == "unique_together":
        return False
    if rule.kind == "not_past":
        return bool(parsed[0] < (date.today() if fields[0] and fields[0].type == "date" else datetime.now()))
    return bool(parsed[0] >= parsed[1])


def derive_breach(entity: Entity, rule: RowRule, fresh: Typed, there: Typed) -> Typed | None:
    """A row that breaks a rule: by itself, or beside one that is there; None where that cannot be typed."""
    first = rule.fields[0]
    match rule.kind:
        case "no_overlap" | "unique_together":
            names = (*rule.fields, *rule.per)
            return (
                {**fresh, **{name: there[name] for name in names}} if all(there.get(name) for name in names) else None
            )
        case "in_order":
            second = rule.fields[1]
            return {**fresh, first: fresh[second], second: fresh[first]}
        case "not_past":
            before = datetime.now() - timedelta(days=3)
            field = entity.field(first)
            is_day = field is not None and field.type == "date"
            return {**fresh, first: before.date().isoformat() if is_day else before.isoformat(timespec="minutes")}
    return None


def derive_invalid(field: Field) -> str:
    """What a person may type into a field and must not get away with; empty where there is no such thing."""
    if field.type in ("integer", "decimal"):
        if field.minimum is not None:
            return str(int(field.minimum) - 1)
        return "" if field.maximum is None else str(int(field.maximum) + 1)
    return {"email": "nobody", "link": "javascript:alert(1)"}.get(field.type, "")


def shows(field_type: str, typed: str, shown: str) -> bool:
    """Whether what is shown of a value is what was typed."""
    match field_type:
        case "integer" | "decimal":
            try:
                return not typed if not shown else Decimal(shown.replace(",", "")) == Decimal(typed)
            except ArithmeticError:
                return False
        case "yes_no":
            return shown == ("yes" if typed == "yes" else "no")
        case "date_time":
            return typed.partition("T")[0] in shown and typed.partition("T")[2] in shown
        case "reference":
            return bool(NOTHING.fullmatch(shown)) != bool(typed)
        case _:
            return typed[:30] in shown if typed else bool(NOTHING.fullmatch(shown))


def order_entities(blueprint: Blueprint) -> list[Entity]:
    """Each after those that it needs, and after those that it may refer to where they are in no circle."""
    left, ordered = [*blueprint.entities], list[Entity]()
    while left:
        names = {entity.name for entity in left}
        free = [one for one in left if not {ref.target for ref in one.references} & (names - {one.name})]
        able = [one for one in left if not {ref.target for ref in one.references if ref.required} & names]
        ready = [one for one in free if one in able] or able
        ordered.append(ready[0])
        left.remove(ready[0])
    return ordered
