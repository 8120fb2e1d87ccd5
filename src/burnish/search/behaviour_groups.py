"""Which versions behave alike, and on which call two of them differ.

Versions that go wrong tend to go wrong each in its own way, so the behaviour that many share is the likeliest to be
right. Inputs outside of what the task is about make noise; so errors are all one.
"""

import re
from collections.abc import Mapping, Sequence
from enum import Enum

from burnish.text import one_line

NO_ANSWER, TOO_SLOW = "no answer", "too slow"
"""What a call says that gives neither a value nor an error."""
LONGEST_VALUE = 60
NO_VALUE = "no value"
_ERROR = re.compile(r"raises \w+")
_TRUTH = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\b(?:True|False)\b")
_NUMBERS = {"True": "1", "False": "0"}
Behaviours = Mapping[int, tuple[str, ...]]


class AnswerKind(Enum):
    """What came back from a call."""

    VALUE, ERROR, TOO_SLOW, NO_ANSWER = range(4)


PREDICATES = {AnswerKind.ERROR: "{}", AnswerKind.TOO_SLOW: "is {}"}
"""How an answer ends a sentence about its call, where it is not "gives 3"."""


def answer_kind(answer: str) -> AnswerKind:
    """The kind of an answer of `run_calls`, which writes errors and silence by fixed words that no value reads like."""
    kinds = {TOO_SLOW: AnswerKind.TOO_SLOW, NO_ANSWER: AnswerKind.NO_ANSWER}
    return kinds.get(answer, AnswerKind.ERROR if _ERROR.fullmatch(answer) else AnswerKind.VALUE)


def group_versions(behaviours: Behaviours) -> tuple[tuple[int, ...], ...]:
    """The versions in groups, the largest first; of equal ones, the one with the earliest version.

    Two versions are alike when they give equal values on every call where at least one of them gives a value. Calls on
    which both raise, be it different errors, or never answer do not tell them apart.
    """
    by_key: dict[tuple[str, ...], list[int]] = {}
    for version in sorted(behaviours):
        by_key.setdefault(compare_key(behaviours[version]), []).append(version)
    return tuple(sorted(map(tuple, by_key.values()), key=lambda group: (-len(group), group[0])))


def has_values(answers: Sequence[str]) -> bool:
    """Whether any call gave a value: where none did, there is nothing to agree on."""
    return any(answer_kind(answer) is AnswerKind.VALUE for answer in answers)


def find_differences(first: tuple[str, ...], second: tuple[str, ...]) -> list[int]:
    """The places of the calls that tell two behaviours apart."""
    pairs = zip(compare_key(first), compare_key(second), strict=False)
    return [at for at, (one, other) in enumerate(pairs) if one != other]


def describe_difference(first: tuple[str, ...], second: tuple[str, ...], calls: Sequence[str]) -> str:
    """The shortest call on which two behaviours differ, and what each says; empty when there is none.

    A call on which both give a value says more than one on which one of them fails.
    """
    differing = [at for at in find_differences(first, second) if at < len(calls)]
    if not differing:
        return ""
    kinds = [(answer_kind(one), answer_kind(other)) for one, other in zip(first, second, strict=False)]
    at = min(differing, key=lambda at: (set(kinds[at]) != {AnswerKind.VALUE}, len(calls[at]), at))
    words = [PREDICATES.get(kind, "gives {}") for kind in kinds[at]]
    words[1] = "{}" if words[0] == words[1] == "gives {}" else words[1]
    shown = [one_line(said[at], LONGEST_VALUE) for said in (first, second)]
    one, other = (form.format(answer) for form, answer in zip(words, shown, strict=True))
    return f"{one_line(calls[at], 120)} {one} or {other}"


def find_unasked_changes(
    repairs: Behaviours, old: tuple[str, ...], jurors: Sequence[int], calls: Sequence[str]
) -> dict[int, str]:
    """The repairs that do something else than the old code where most jurors do not, each with a call that shows it.

    Where as many jurors do as do not, the old code has the last word; without one that does not, nobody has. Only calls
    to which the old code gave a value count. That fewer changes are better is not assumed: of planted bugs
    it is wrong (docs/design/confidence.md).
    """
    known, keys = compare_key(old), {number: compare_key(answers) for number, answers in repairs.items()}
    kept: list[int] = []
    for at, value in enumerate(known):
        keeping = sum(keys[number][at] == value for number in jurors)
        if value != NO_VALUE and keeping >= max(1, len(jurors) - keeping):
            kept.append(at)
    found: dict[int, str] = {}
    for number, answers in repairs.items():
        if places := [at for at in kept if keys[number][at] != known[at]]:
            before, now = (tuple(said[at] for at in places) for said in (old, answers))
            found[number] = describe_difference(before, now, [calls[at] for at in places])
    return found


def compare_key(answers: Sequence[str]) -> tuple[str, ...]:
    """The answers as they are compared.

    All errors are one; True is 1, as in Python; what a call did to its arguments counts when it returns nothing.
    """
    key: list[str] = []
    for answer in answers:
        value, _, _ = answer.partition("\n")
        if answer_kind(answer) is not AnswerKind.VALUE:
            key.append(NO_VALUE)
        else:
            key.append(answer if value == "None" else truth_as_number(value))
    return tuple(key)


def truth_as_number(answer: str) -> str:
    """The answer with 1 for True and 0 for False, which are equal in Python; texts keep their words."""
    return _TRUTH.sub(lambda one: _NUMBERS.get(one[0], one[0]), answer)
