"""Which versions behave alike, and on which call two of them differ.

Versions that go wrong tend to go wrong each in its own way, so the behaviour that many share is the likeliest to be
right. Inputs outside of what the task is about make noise; so errors are all one.
"""

import re
from collections.abc import Mapping, Sequence

from burnish.text import one_line

LONGEST_VALUE = 60
NO_VALUE = "no value"
_NO_VALUE = re.compile(r"raises \w+|too slow|no answer")
_TRUTH = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\b(?:True|False)\b")
Behaviours = Mapping[int, tuple[str, ...]]


def group_versions(behaviours: Behaviours) -> tuple[tuple[int, ...], ...]:
    """The versions in groups, the largest first; of equal ones, the one with the earliest version.

    Two versions are alike when they give equal values on every call where at least one of them gives a value. Calls on
    which both raise, be it different errors, or never answer do not tell them apart.
    """
    by_key: dict[tuple[str, ...], list[int]] = {}
    for version in sorted(behaviours):
        by_key.setdefault(_compare_key(behaviours[version]), []).append(version)
    return tuple(sorted(map(tuple, by_key.values()), key=lambda group: (-len(group), group[0])))


def has_values(answers: Sequence[str]) -> bool:
    """Whether any call gave a value: where none did, there is nothing to agree on."""
    return any(not _NO_VALUE.fullmatch(answer) for answer in answers)


def find_differences(first: tuple[str, ...], second: tuple[str, ...]) -> list[int]:
    """The places of the calls that tell two behaviours apart."""
    pairs = zip(_compare_key(first), _compare_key(second), strict=False)
    return [at for at, (one, other) in enumerate(pairs) if one != other]


def describe_difference(first: tuple[str, ...], second: tuple[str, ...], calls: Sequence[str]) -> str:
    """The shortest call on which two behaviours differ, and what each says; empty when there is none.

    A call on which both give a value says more than one on which one of them fails.
    """
    differing = [at for at in find_differences(first, second) if at < len(calls)]
    if not differing:
        return ""
    fails = [any(_NO_VALUE.fullmatch(answer) for answer in pair) for pair in zip(first, second, strict=False)]
    at = min(differing, key=lambda at: (fails[at], len(calls[at]), at))
    one, other = _describe_answer(first[at]), _describe_answer(second[at])
    both = one.startswith("gives ") and other.startswith("gives ")
    return f"{one_line(calls[at], 120)} {one} or {other.removeprefix('gives ') if both else other}"


def _describe_answer(answer: str) -> str:
    """What a call does, as the end of a sentence."""
    words = one_line(answer, LONGEST_VALUE)
    if not _NO_VALUE.fullmatch(answer) or answer == "no answer":
        return f"gives {words}"
    return words if answer.startswith("raises") else f"is {words}"


def _compare_key(answers: Sequence[str]) -> tuple[str, ...]:
    """The answers as they are compared.

    All errors are one; True is 1, as in Python; what a call did to its arguments counts when it returns nothing.
    """
    numbers = {"True": "1", "False": "0"}
    key: list[str] = []
    for answer in answers:
        value, _, _ = answer.partition("\n")
        if _NO_VALUE.fullmatch(answer):
            key.append(NO_VALUE)
        elif value == "None":
            key.append(answer)
        else:
            key.append(_TRUTH.sub(lambda match: numbers.get(match[0], match[0]), value))
    return tuple(key)
