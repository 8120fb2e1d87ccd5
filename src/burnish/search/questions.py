"""The question that settles it: a call on which versions differ, and which a person can answer by reading it.

A good question splits the votes, so that its answer decides much; it is short, and its values are like those that the
examples show; every answer to it is a plain value. Nothing is run here: whoever asks runs the calls.
"""

import ast
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

from burnish.events import QuestionOption
from burnish.parsing import PARSE_ERRORS, parse_expression
from burnish.search.argument_invariants import FIRM, Relation, find_relations
from burnish.search.behaviour_groups import AnswerKind, answer_kind, compare_key
from burnish.search.call_generator import take_turns
from burnish.search.seed_calls import SeedCall, seeds_from_prompt, seeds_from_tests, split_call
from burnish.tasks.examples import is_error

MOST_OPTIONS = 4
LONGEST_OPTION, LONGEST_CALL = 80, 100
LARGEST_PLAIN = 20
"""Numbers up to this need no paper, whatever the examples show."""
MOST_DIGITS = 6
LEAST_WORTH = -0.5
"""Below this nobody should be bothered."""
PLAIN_WORDS = ("ann", "bob", "cat", "apple", "level", "hello", "a", "b")
LONGEST_WORD, MOST_WORDS = 12, 6
RELATION_PRICES = {Relation.SORTED: 0.3, **dict.fromkeys(FIRM, 0.6)}
"""What it costs not to keep what all examples keep; others are mostly an accident of the examples."""
_WORD = re.compile(r"[A-Za-z]{2,}")
_NO_LITERAL = object()

Votes = Callable[[Iterable[int]], float]
"""What several versions count for together."""
Answers = Mapping[int, Sequence[str]]
"""What each version gives for the calls, in their order."""


@dataclass(frozen=True)
class Split:
    """A call that tells versions apart, and what each side gives."""

    call: str
    options: tuple[QuestionOption, ...]
    worth: float
    """Bits that an answer brings, less what it takes to answer."""


class Familiar:
    """What the examples show of how the function is called, to tell a usual call from an odd one."""

    def __init__(self, entry_point: str, tests: Sequence[str], prompt: str) -> None:
        self.seeds = [*seeds_from_tests(entry_point, tests), *seeds_from_prompt(entry_point, prompt)]
        rows = [seed.values for seed in self.seeds if seed.form == self.seeds[0].form]
        self.relations = find_relations(rows) if rows else []
        self.width = len(rows[0]) if rows else 0
        values = [part for seed in self.seeds for value in seed.values for part in _list_parts(value)]
        self.kinds = {type(value) for value in values}
        self.has_empty = any(not value for value in values if isinstance(value, str | list | tuple | dict | set))
        numbers = [value for value in values if type(value) in (int, float)]
        self.largest = max([LARGEST_PLAIN, *map(abs, numbers)])
        self.has_negative, self.has_zero = any(one < 0 for one in numbers), 0 in numbers
        texts = [value for value in values if isinstance(value, str)]
        self.texts = list(dict.fromkeys(texts))
        self.letters = {letter for text in texts for letter in text}
        self.words = {word.lower() for text in (*texts, prompt, *PLAIN_WORDS) for word in _WORD.findall(text)}
        self.longest = max([3, *(len(value) for value in values if isinstance(value, list | tuple | dict | set))])
        self.repeats = any(_has_repeats(value) for value in values)

    def name_words(self, count: int) -> list[list[str]]:
        """A few lists of so many different plain words, those of the examples first, in either order."""
        titled = any(text.istitle() for text in self.texts)
        seen = [token for text in self.texts for token in text.split(" ")]
        words = list(dict.fromkeys([*seen, *(word.title() if titled else word for word in PLAIN_WORDS)]))
        plain = [word for word in words if word and len(word) <= LONGEST_WORD][: max(count, MOST_WORDS)]
        return [plain[start : start + count] for start in range(len(plain) - count + 1)] + [plain[::-1][:count]]

    def oddness(self, call: str) -> float:
        """0 for a short call like those of the examples; each oddity adds to it."""
        seed = _split(call)
        parts = [part for value in seed.values for part in _list_parts(value)] if seed else []
        # Once for each kind of oddity, and a little for each further part that has it.
        found: dict[str, float] = {}
        for part in parts:
            for name, price in self._list_oddities(part):
                found[name] = found[name] + 0.1 if name in found else price
        for invariant in self.relations if seed and len(seed.values) == self.width else ():
            kept = False
            with suppress(TypeError, AttributeError, ValueError):  # it makes no sense for values of another kind
                kept = seed is not None and invariant.holds(seed.values)
            price = 0.0 if kept else RELATION_PRICES.get(invariant.relation, 0.1)
            found["relation"] = max(found.get("relation", 0.0), price)
        return len(call) / 100 + sum(found.values())

    def _list_oddities(self, value: Any) -> Iterator[tuple[str, float]]:
        if self.kinds and type(value) not in self.kinds:
            yield "kind", 0.6
        match value:
            case bool() | None:
                return
            case int() | float():
                if value < 0 and not self.has_negative:
                    yield "negative", 0.4
                if value == 0 and not self.has_zero:
                    yield "zero", 0.25
                if abs(value) > self.largest:
                    yield "large", 0.3
                if isinstance(value, float) and round(value, 2) != value:
                    yield "digits", 0.4
            case str():
                if not value and not self.has_empty:
                    yield "empty", 0.4
                if value != value.strip():
                    yield "blanks", 0.3
                if not value.isascii() or not value.isprintable():
                    yield "signs", 0.6
                strange = {one for one in value if not (one.isalpha() or one == " ")} - self.letters
                if strange:
                    yield "marks", 0.3
                if len(value) == 1 and self.texts and all(len(one) > 1 for one in self.texts):
                    yield "letter", 0.2
                words = _WORD.findall(value)
                if any(word.lower() not in self.words for word in words):
                    yield "no word", 0.15
                if any(not (word.islower() or word.isupper() or word.istitle()) for word in words):
                    yield "case", 0.15
            case list() | tuple() | set() | dict():
                if not value and not self.has_empty:
                    yield "empty", 0.4
                if len(value) > self.longest:
                    yield "long", 0.2
                if _has_repeats(value) and not self.repeats:
                    yield "repeats", 0.1
                if len({type(one) for one in value}) > 1 and isinstance(value, list | set):
                    yield "mixed", 0.3


def choose_call(calls: Sequence[str], answers: Answers, votes: Votes, familiar: Familiar) -> list[Split]:
    """The calls that tell versions apart and can be asked about, the best first."""
    found = []
    for place, call in enumerate(calls):
        split = rate_call(call, {version: said[place] for version, said in answers.items()}, votes, familiar)
        found += [split] if split else []
    return sorted(found, key=lambda one: (-one.worth, len(one.call), one.call))


def rate_call(call: str, said: Mapping[int, str], votes: Votes, familiar: Familiar) -> Split | None:
    """What the versions give, by votes; None where they all agree, or a person could not say which is right."""
    by_key: dict[str, list[int]] = {}
    for version, answer in said.items():
        key = compare_key([answer.partition("\n")[0]])[0]
        value = _read_literal(key)
        by_key.setdefault(key if value is _NO_LITERAL else repr(_round(value)), []).append(version)
    sides = sorted(by_key.values(), key=lambda versions: (-votes(versions), versions[0]))
    answers = [_name_answer([said[version] for version in versions]) for versions in sides]
    options = [
        QuestionOption(value=answer, versions=tuple(versions), votes=votes(versions))
        for answer, versions in zip(answers, sides, strict=True)
        if answer
    ]
    total = sum(map(votes, sides))
    values = [one for one in options if answer_kind(one.value) is AnswerKind.VALUE]
    # Versions that come to no answer are no option, and neither is what cannot be written as a value.
    silent = any(not answer for answer in answers)
    too_long = len(call) > LONGEST_CALL or any(len(one.value) > LONGEST_OPTION for one in options)
    if len(options) < 2 or not values or too_long or total <= 0 or _split(call) is None:
        return None
    shares = [votes(versions) / total for versions in sides]
    bits = -sum(share * math.log2(share) for share in shares if share)
    worth = bits - familiar.oddness(call) - _price_options(options) - 0.5 * silent
    return Split(call, tuple(options[:MOST_OPTIONS]), worth) if worth > LEAST_WORTH else None


def parts_alike(options: Iterable[QuestionOption], earlier: Sequence[QuestionOption]) -> bool:
    """Whether the options part those versions that were there earlier as they were parted then."""
    known = {version for option in earlier for version in option.versions}
    sides = {frozenset(known & {*option.versions}) for option in options} - {frozenset()}
    return sides == {frozenset(option.versions) for option in earlier}


def _name_answer(answers: Sequence[str]) -> str:
    """What one side says, as an option; of several errors the commonest. Empty where it cannot be one."""
    plain = [answer.partition("\n")[0] for answer in answers]
    first = max(plain, key=lambda answer: (plain.count(answer), -plain.index(answer)))
    match answer_kind(first):
        case AnswerKind.VALUE:
            return first if _read_literal(first) is not _NO_LITERAL else ""
        case AnswerKind.ERROR:
            return first if is_error(first.removeprefix("raises ")) else ""
    return ""


def _price_options(options: Sequence[QuestionOption]) -> float:
    """How hard it is to tell which is right: errors, long values, numbers that nobody works out in their head."""
    values = [_read_literal(one.value) for one in options if answer_kind(one.value) is AnswerKind.VALUE]
    price = sum(len(one.value) for one in options) / 150
    price += 0.35 * (len(values) < len(options)) + 0.2 * (len(options) > MOST_OPTIONS)
    numbers = [part for value in values for part in _list_parts(value) if type(part) in (int, float)]
    price += 0.4 * any(len(f"{abs(one):.9g}".replace(".", "").lstrip("0")) > MOST_DIGITS for one in numbers)
    # [1, 2] or (1, 2), 3 or "3": answerable, but seldom what the words of a task are about.
    alike = len({re.sub(r"[\[\](){}'\", ]", "", one.value) for one in options}) < len(options)
    return price + 0.3 * alike


def dress_calls(calls: Sequence[str], familiar: Familiar, most: int) -> tuple[str, ...]:
    """The calls with plain words in the place of those that are none: what matters is mostly which are the same."""
    streams: list[list[str]] = []
    for seed in filter(None, map(_split, calls)):
        texts = [part for value in seed.values for part in _list_parts(value) if isinstance(part, str)]
        tokens = dict.fromkeys(token for text in texts for token in text.split(" ") if token)
        odd = [token for token in tokens if token.lower() not in familiar.words and token not in familiar.texts]
        lists = familiar.name_words(len(odd)) if odd else []
        streams.append([seed.call(_rename(seed.values, dict(zip(odd, words, strict=False)))) for words in lists])
    return tuple(dict.fromkeys(take_turns(streams)))[:most]


def _rename(value: Any, names: Mapping[str, str]) -> Any:
    """The value with other words in it."""
    if isinstance(value, str):
        return " ".join(names.get(token, token) for token in value.split(" "))
    if isinstance(value, dict):
        return {_rename(key, names): _rename(one, names) for key, one in value.items()}
    return type(value)(_rename(one, names) for one in value) if isinstance(value, list | tuple | set) else value


def shrink_calls(calls: Sequence[str], most: int) -> tuple[str, ...]:
    """Smaller relatives of the calls, in turn: an argument with fewer parts, or a part with a simpler value."""
    streams: list[list[str]] = []
    for seed in filter(None, map(_split, calls)):
        choices = [[(at, value) for value in _simplify(one)] for at, one in enumerate(seed.values)]
        changes = take_turns(choices)[:most]
        streams.append([seed.call((*seed.values[:at], value, *seed.values[at + 1 :])) for at, value in changes])
    return tuple(dict.fromkeys(take_turns(streams)))[:most]


def _simplify(value: Any, fixed: bool = False) -> Iterator[Any]:
    """Simpler values of the same kind: fewer parts first, then simpler ones. `fixed` keeps the length, as of a row."""
    match value:
        case bool() | None:
            return
        case int():
            near = [1, 2, 3, 4, 5, 10, abs(value), value // 2, value - 1 if value > 0 else value + 1]
            yield from (one for one in dict.fromkeys(near) if abs(one) <= abs(value) and one != value)
        case float():
            near_by = [1.0, 2.0, 0.5, 1.5, 2.5, float(round(value)), round(value, 1), abs(value)]
            yield from (one for one in dict.fromkeys(near_by) if len(repr(one)) < len(repr(value)) or one == -value)
        case str():
            words = value.split(" ")
            if len(words) > 1:
                yield from (" ".join(words[:at] + words[at + 1 :]) for at in range(min(len(words), 6)))
            half = len(value) // 2
            shorter = [value[:half], value[half:], *(value[:at] + value[at + 1 :] for at in range(min(len(value), 8)))]
            yield from (
                one
                for one in dict.fromkeys([*shorter, value.strip(), value.lower(), value.title()])
                if one and one != value
            )
        case list() | tuple():
            half = len(value) // 2
            if half > 1 and not fixed:
                yield from (value[:half], value[half:])
            if len(value) > 1 and not fixed:
                yield from (type(value)((*value[:at], *value[at + 1 :])) for at in range(min(len(value), 8)))
            simpler = [[(at, one) for one in islice(_simplify(part, True), 8)] for at, part in enumerate(value[:8])]
            yield from (type(value)((*value[:at], one, *value[at + 1 :])) for at, one in take_turns(simpler))
        case set() | frozenset() if len(value) > 1:
            yield from (value - {one} for one in sorted(value, key=repr)[:8])
        case dict() if len(value) > 1:
            yield from ({key: value[key] for key in value if key != gone} for gone in list(value)[:8])


def _list_parts(value: Any) -> Iterator[Any]:
    """A value and all that is in it."""
    yield value
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        for part in value:
            yield from _list_parts(part)


def _round(value: Any) -> Any:
    """The value with numbers to seven digits: beyond that nobody tells two of them apart."""
    match value:
        case float() | int() if not isinstance(value, bool):
            return float(f"{value:.7g}")
        case list() | tuple():
            return type(value)(map(_round, value))
        case dict():
            return {key: _round(one) for key, one in value.items()}
    return value


def _has_repeats(value: Any) -> bool:
    return isinstance(value, list | tuple) and len({repr(one) for one in value}) < len(value)


@lru_cache(maxsize=4096)
def _split(call: str) -> SeedCall | None:
    """The call taken apart; None where not all of its arguments are plain values."""
    try:
        expression = parse_expression(call)
        seed = split_call(expression)
    except (*PARSE_ERRORS, TypeError):
        return None
    return seed if re.fullmatch(r"\w+(?:\.\w+|\((?:(?:\w+=)?_hole_\d+_(?:, )?)*\))+", seed.form) else None


@lru_cache(maxsize=4096)
def _read_literal(text: str) -> Any:
    try:
        return ast.literal_eval(parse_expression(text))
    except (*PARSE_ERRORS, TypeError):
        return _NO_LITERAL
