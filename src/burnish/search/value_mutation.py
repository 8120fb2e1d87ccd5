"""Values like given ones: at the edges, a small step away, or drawn afresh. All chance comes from the caller's dice."""

import random
from collections.abc import Sequence
from typing import Any

LARGEST = 10_000
"""Numbers stay below this, or below twice the largest example: a call should be cheap."""
LONGEST = 9
Values = Sequence[Any]


def edge_values(examples: Values) -> list[Any]:
    """The values at which code most often goes wrong, for an argument that was seen with these examples."""
    match examples[0]:
        case bool():
            return [True, False]
        case int() | float() as number:
            return edge_numbers(number, [one for one in examples if isinstance(one, int | float)])
        case str() as text:
            return edge_texts(text)
        case list() | tuple() as items:
            plain = list(items)
            ordered = sort_if_possible(plain)
            found = [plain[::-1], [], plain[:1], plain[:1] * 3, plain[:-1], plain[1:], plain + plain[:1]]
            found += [plain[-1:] + plain, ordered, ordered[::-1], plain[:2], plain + plain]
            return [type(items)(one) for one in found]
        case set() | frozenset() as items:
            ordered = sorted(items, key=repr)
            return [type(items)(part) for part in (ordered[:0], ordered[:1], ordered[1:])]
        case dict() as pairs:
            return [{}, dict(list(pairs.items())[:1]), dict(list(pairs.items())[1:])]
    return []


def edge_numbers(example: float, seen: Sequence[float]) -> list[float]:
    """Next to the example, small numbers and round ones, and what is below zero last where none was seen."""
    near = [example + 1, example - 1, 1, 0, 2, 3, 10, 2 * example, 5, 7, 12, 100]
    if min(seen) > 0:
        near = [*(one for one in near if one > 0), 0]
    beyond = [-1, -example, example * 10 if abs(example) < LARGEST / 10 else example // 2]
    floats = [example + 0.5, 0.5, 2.25] if isinstance(example, float) else []
    return [*floats, *near, *beyond]


def edge_texts(text: str) -> list[str]:
    """Turned round, empty, shorter, longer, in other letters, with other blanks."""
    head, tail = text[:1], text[-1:]
    mixed = f"{text[:8].title()}1 {head.lower()}2{tail.upper()}"
    whole = [text[::-1], "", head, text.swapcase(), mixed, text + text, text[1:], text[:-1], text + head, tail + text]
    whole += [f"{text}1", text.upper(), text.lower(), head * 3, f" {text} ", text.replace(" ", ""), f"{text} {head}"]
    return [*whole, " "]


def unusual_values(value: Any) -> list[Any]:
    """What stands for nothing, and texts with letters that have two upper forms, two bytes or no case at all."""
    match value:
        case bool() | None:
            return []
        case int() | float():
            return [type(value)(0), -value]
        case str():
            return ["", f"{value}ß", f"é{value[1:]}", f"{value[:1]}ǆ {value[1:]}", "日本"]
        case list() | tuple() if value:
            rest = list(value[1:])
            return [type(value)(), *(type(value)([one, *rest]) for one in unusual_values(value[0]))]
        case dict() | set() | frozenset() if value:
            return [type(value)()]
    return []


def sort_if_possible(items: list[Any]) -> list[Any]:
    """The items in order; as they are where they have none."""
    try:
        return sorted(items)
    except TypeError:
        return items


def step_value(value: Any, dice: random.Random, fixed: bool = False) -> Any:
    """The value with one small change; `fixed` keeps the length, as of one row of a table."""
    match value:
        case bool():
            return not value
        case int():
            return value + dice.choice((1, -1, 1, -1, 2, -2, 10, value, -2 * value))
        case float():
            return round(value + dice.choice((0.5, -0.5, 1, -1, 0.01, value, -2 * value)), 4)
        case str():
            return _step_text(value, dice)
        case list() | tuple():
            return type(value)(_step_list(list(value), dice, fixed))
        case dict() if value:
            key, other = dice.choice(list(value)), dice.choice(list(value))
            fewer = {k: v for k, v in value.items() if k != key}
            changed = value | {key: step_value(value[key], dice)}
            return dice.choice((changed, value | {key: value[other]}, fewer))
        case set() | frozenset() if value:
            return type(value)(_step_list(sorted(value, key=repr), dice, False))
    return value


def _step_text(text: str, dice: random.Random) -> str:
    if not text:
        return dice.choice(("a", " ", "1"))
    at = dice.randrange(len(text))
    letter = dice.choice(text)
    if text[at].isdigit():
        letter = dice.choice("0123456789")
    elif text[at].isalpha():
        letter = dice.choice((letter, text[at].swapcase(), chr(ord(text[at]) + 1) if text[at] not in "zZ" else "a"))
    kept = (text[:at] + letter + text[at + 1 :], text[:at] + text[at + 1 :], text[:at] + letter + text[at:])
    words = text.split(" ")
    return dice.choice((*kept, kept[0], text[at:] + text[:at], " ".join(dice.sample(words, len(words)))))


def _step_list(items: list[Any], dice: random.Random, fixed: bool) -> list[Any]:
    if not items:
        return items
    at = dice.randrange(len(items))
    changed = [*items[:at], step_value(items[at], dice, _is_table(items)), *items[at + 1 :]]
    if fixed:
        return changed
    again = [*items[:at], dice.choice(items), *items[at:]]
    instead = [*items[:at], dice.choice(items), *items[at + 1 :]]
    shuffled = dice.sample(items, len(items))
    turned = items[at:] + items[:at]
    return dice.choice((changed, changed, again, instead, items[:at] + items[at + 1 :], shuffled, turned))


def _is_table(items: Values) -> bool:
    """Whether all items are lists of one length: rows, points, records."""
    rows = [item for item in items if isinstance(item, list | tuple)]
    return len(rows) == len(items) > 0 and len({len(row) for row in rows}) == 1 and bool(rows[0])


def draw_value(examples: Values, dice: random.Random, extra: Values = ()) -> Any:
    """A fresh value like the examples: of the same kind, letters and size; what is in `extra` may come in."""
    example = dice.choice(examples)
    alike = [one for one in examples if type(one) is type(example)]
    match example:
        case bool():
            return dice.random() < 0.5
        case int() | float():
            return _draw_number(alike, dice, [one for one in extra if type(one) is int])
        case str():
            return _draw_text(alike, dice, [one for one in extra if isinstance(one, str)])
        case list() | tuple():
            return type(example)(_draw_list(alike, dice, extra))
        case set() | frozenset():
            return type(example)(_draw_list([sorted(one, key=repr) for one in alike], dice, extra))
        case dict() if any(alike):
            keys = [key for one in alike for key in one]
            values = [value for one in alike for value in one.values()]
            size = dice.randint(1, max(map(len, alike)) + 1)
            names = [dice.choice(keys) if dice.random() < 0.6 else draw_value(keys, dice) for _ in range(size)]
            return {name: draw_value(values, dice, extra) for name in names}
    return example


def _draw_number(examples: Sequence[float], dice: random.Random, extra: Sequence[int]) -> float:
    chance = dice.random()
    low, high = min(examples), max(examples)
    if chance < 0.3:
        return dice.choice(examples)
    if isinstance(high, float):
        return round(dice.uniform(min(low, 0.0), 1.5 * max(high, 2.0)), dice.choice((0, 1, 1, 2)))
    if chance < 0.45:
        return dice.choice(examples) + dice.choice((-1, 1))
    if chance < 0.55 and extra:
        return dice.choice(extra) + dice.choice((-1, 0, 0, 1))
    if chance < 0.65:
        return dice.randint(0, 12)
    return dice.randint(int(min(low, 1)), int(max(high + high // 2, 10)))


def _draw_text(examples: Sequence[str], dice: random.Random, extra: Sequence[str]) -> str:
    chance = dice.random()
    example = dice.choice(examples)
    if chance < 0.35:
        return _step_text(_step_text(example, dice), dice)
    if chance < 0.45 and extra:
        other = dice.choice(extra)[:20]
        half = example[: len(example) // 2]
        return dice.choice((other, example + other, other + example, half + other, example[:1] + 3 * other))
    if chance < 0.55:
        return "".join(dice.choice((letter.upper(), letter.lower())) for letter in example)
    letters = "".join(examples) or "ab"
    few = "".join(dice.sample(letters, min(len(letters), 3)))
    size = dice.randint(1, min(max(map(len, examples)) + 2, 20))
    return "".join(dice.choices(few if chance < 0.8 else letters, k=size))


def _draw_list(examples: Sequence[Values], dice: random.Random, extra: Values) -> list[Any]:
    inside = [item for one in examples for item in one]
    varied = len({type(item) for item in inside}) != 1  # of one kind, so their number may vary
    if _is_table(examples) and varied:
        return _draw_row(examples, dice, extra)
    if not inside:
        return []
    size = dice.randint(1, min(max(map(len, examples)) + 2, LONGEST))
    if _is_table(inside) and dice.random() < 0.9:
        rows = [tuple(row) for row in inside]
        return [type(inside[0])(_draw_row(rows, dice, extra)) for _ in range(size)]
    fresh = [draw_value(inside, dice, extra) for _ in range(size)]
    return [dice.choice(fresh[: 1 + size // 2]) for _ in fresh] if dice.random() < 0.3 else fresh


def _draw_row(rows: Sequence[Values], dice: random.Random, extra: Values) -> list[Any]:
    return [draw_value(column, dice, extra) for column in zip(*rows, strict=True)]
