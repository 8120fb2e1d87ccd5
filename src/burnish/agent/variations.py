"""Values like given ones: at the edges, a small step away, or drawn afresh. All chance comes from the caller's dice."""

import random
from collections.abc import Sequence
from typing import Any

LARGEST = 10_000
"""Numbers stay below this, or below twice the largest example: a call should be cheap."""
LONGEST = 9
Values = Sequence[Any]


def edges(examples: Values) -> list[Any]:
    """The values at which code most often goes wrong, for an argument that was seen with these examples."""
    example = examples[0]
    found: list[Any] = []
    if isinstance(example, bool):
        found = [True, False]
    elif isinstance(example, int | float):
        found = _edge_numbers(example, [one for one in examples if isinstance(one, int | float)])
    elif isinstance(example, str):
        found = _edge_texts(example)
    elif isinstance(example, list | tuple):
        found = _edge_lists(example)
    elif isinstance(example, set | frozenset):
        ordered = sorted(example, key=repr)
        found = [type(example)(part) for part in (ordered[:0], ordered[:1], ordered[1:])]
    elif isinstance(example, dict):
        found = [{}, dict(list(example.items())[:1]), dict(list(example.items())[1:])]
    return found


def _edge_numbers(example: float, seen: Sequence[float]) -> list[float]:
    near = [example + 1, example - 1, 1, 0, 2, 3, 10, 2 * example, 5, 7, 12, 100]
    beyond = [-1, -example, example * 10 if abs(example) < LARGEST / 10 else example // 2]
    floats = [example + 0.5, 0.5, 2.25] if isinstance(example, float) else []
    positive = min(seen) > 0
    return [*floats, *near, *beyond] if not positive else [*floats, *(one for one in near if one > 0), 0, *beyond]


def _edge_texts(text: str) -> list[str]:
    head, tail = text[:1], text[-1:]
    mixed = f"{text[:8].title()}1 {head.lower()}2{tail.upper()}"
    whole = [text[::-1], "", head, text.swapcase(), mixed, text + text, text[1:], text[:-1], text + head, tail + text]
    return [
        *whole,
        f"{text}1",
        text.upper(),
        text.lower(),
        head * 3,
        f" {text} ",
        text.replace(" ", ""),
        f"{text} {head}",
        " ",
    ]


def _edge_lists(items: list[Any] | tuple[Any, ...]) -> list[Any]:
    kind, plain = type(items), list(items)
    found = [plain[::-1], [], plain[:1], plain[:1] * 3, plain[:-1], plain[1:], plain + plain[:1], plain[-1:] + plain]
    return [kind(one) for one in [*found, _ordered(plain), _ordered(plain)[::-1], plain[:2], plain + plain]]


def _ordered(items: list[Any]) -> list[Any]:
    try:
        return sorted(items)
    except TypeError:
        return items


def near(value: Any, dice: random.Random, fixed: bool = False) -> Any:
    """The value with one small change; `fixed` keeps the length, as of one row of a table."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + dice.choice((1, -1, 1, -1, 2, -2, 10, value, -2 * value))
    if isinstance(value, float):
        return round(value + dice.choice((0.5, -0.5, 1, -1, 0.01, value, -2 * value)), 4)
    if isinstance(value, str):
        return _near_text(value, dice)
    if isinstance(value, list | tuple):
        return type(value)(_near_list(list(value), dice, fixed))
    if isinstance(value, dict) and value:
        return _near_dict(value, dice)
    if isinstance(value, set | frozenset) and value:
        return type(value)(_near_list(sorted(value, key=repr), dice, False))
    return value


def _near_text(text: str, dice: random.Random) -> str:
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


def _near_list(items: list[Any], dice: random.Random, fixed: bool) -> list[Any]:
    if not items:
        return items
    at = dice.randrange(len(items))
    changed = [*items[:at], near(items[at], dice, is_table(items)), *items[at + 1 :]]
    if fixed:
        return changed
    again = [*items[:at], dice.choice(items), *items[at:]]
    instead = [*items[:at], dice.choice(items), *items[at + 1 :]]
    shuffled = dice.sample(items, len(items))
    turned = items[at:] + items[:at]
    return dice.choice((changed, changed, again, instead, items[:at] + items[at + 1 :], shuffled, turned))


def _near_dict(value: dict[Any, Any], dice: random.Random) -> dict[Any, Any]:
    key = dice.choice(list(value))
    other = dice.choice(list(value))
    fewer = {k: v for k, v in value.items() if k != key}
    return dice.choice((value | {key: near(value[key], dice)}, value | {key: value[other]}, fewer))


def is_table(items: Values) -> bool:
    """Whether all items are lists of one length: rows, points, records."""
    rows = [item for item in items if isinstance(item, list | tuple)]
    return len(rows) == len(items) > 0 and len({len(row) for row in rows}) == 1 and bool(rows[0])


def drawn(examples: Values, dice: random.Random, extra: Values = ()) -> Any:
    """A fresh value like the examples: of the same kind, letters and size; what is in `extra` may come in."""
    example = dice.choice(examples)
    alike = [one for one in examples if type(one) is type(example)]
    if isinstance(example, bool):
        return dice.random() < 0.5
    if isinstance(example, int | float):
        return _drawn_number(alike, dice, [one for one in extra if type(one) is int])
    if isinstance(example, str):
        return _drawn_text(alike, dice, [one for one in extra if isinstance(one, str)])
    if isinstance(example, list | tuple):
        return type(example)(_drawn_list(alike, dice, extra))
    if isinstance(example, set | frozenset):
        return type(example)(_drawn_list([sorted(one, key=repr) for one in alike], dice, extra))
    if isinstance(example, dict) and any(alike):
        return _drawn_dict(alike, dice, extra)
    return example


def _drawn_number(examples: Sequence[float], dice: random.Random, extra: Sequence[int]) -> float:
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


def _drawn_text(examples: Sequence[str], dice: random.Random, extra: Sequence[str]) -> str:
    chance = dice.random()
    example = dice.choice(examples)
    if chance < 0.35:
        return _near_text(_near_text(example, dice), dice)
    if chance < 0.45 and extra:
        other = dice.choice(extra)[:20]
        half = example[: len(example) // 2]
        return dice.choice((other, example + other, other + example, half + other, example[:1] + 3 * other))
    if chance < 0.55:
        return "".join(dice.choice((letter.upper(), letter.lower())) for letter in example)
    letters = "".join(examples) or "ab"
    few = "".join(dice.sample(letters, min(len(letters), 3)))
    return "".join(
        dice.choices(few if chance < 0.8 else letters, k=dice.randint(1, min(max(map(len, examples)) + 2, 20)))
    )


def _drawn_list(examples: Sequence[Values], dice: random.Random, extra: Values) -> list[Any]:
    if is_table(examples) and not _is_even(examples):
        return [drawn([row[at] for row in examples], dice, extra) for at in range(len(examples[0]))]
    inside = [item for one in examples for item in one]
    if not inside:
        return []
    size = dice.randint(1, min(max(map(len, examples)) + 2, LONGEST))
    if is_table(inside) and dice.random() < 0.9:
        rows = [tuple(row) for row in inside]
        return [type(inside[0])(_drawn_row(rows, dice, extra)) for _ in range(size)]
    fresh = [drawn(inside, dice, extra) for _ in range(size)]
    return [dice.choice(fresh[: 1 + size // 2]) for _ in fresh] if dice.random() < 0.3 else fresh


def _drawn_row(rows: Sequence[Values], dice: random.Random, extra: Values) -> list[Any]:
    return [drawn([row[at] for row in rows], dice, extra) for at in range(len(rows[0]))]


def _is_even(examples: Sequence[Values]) -> bool:
    """Whether all items are of one kind, so that their number may vary."""
    return len({type(item) for one in examples for item in one}) == 1


def _drawn_dict(examples: Sequence[dict[Any, Any]], dice: random.Random, extra: Values) -> dict[Any, Any]:
    keys = [key for one in examples for key in one]
    values = [value for one in examples for value in one.values()]
    size = dice.randint(1, max(map(len, examples)) + 1)
    names = [dice.choice(keys) if dice.random() < 0.6 else drawn(keys, dice) for _ in range(size)]
    return {name: drawn(values, dice, extra) for name in names}
