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


def groups_of(behaviours: Behaviours) -> tuple[tuple[int, ...], ...]:
    """The versions in groups, the largest first; of equal ones, the one with the earliest version.

    Two versions are alike when they give equal values on every call where at least one of them gives a value. Calls on
    which both raise, be it different errors, or never answer do not tell them apart.
    """
    by_key: dict[tuple[str, ...], list[int]] = {}
    for version in sorted(behaviours):
        by_key.setdefault(_key(behaviours[version]), []).append(version)
    return tuple(sorted(map(tuple, by_key.values()), key=lambda group: (-len(group), group[0])))


def has_values(answers: Sequence[str]) -> bool:
    """Whether any call gave a value: where none did, there is nothing to agree on."""
    return any(not _NO_VALUE.fullmatch(answer) for answer in answers)


def apart(first: tuple[str, ...], second: tuple[str, ...], calls: Sequence[str]) -> str:
    """The shortest call on which two behaviours differ, and what each says; empty when there is none.

    A call on which both give a value says more than one on which one of them fails.
    """
    differing = [at for at in differences(first, second) if at < len(calls)]
    if not differing:
        return ""
    fails = [any(_NO_VALUE.fullmatch(answer) for answer in pair) for pair in zip(first, second, strict=False)]
    at = min(differing, key=lambda at: (fails[at], len(calls[at]), at))
    one, other = _told(first[at]), _told(second[at])
    both = one.startswith("gives ") and other.startswith("gives ")
    return f"{one_line(calls[at], 120)} {one} or {other.removeprefix('gives ') if both else other}"


def _told(answer: str) -> str:
    """What a call does, as the end of a sentence."""
    said = one_line(answer, LONGEST_VALUE)
    if not _NO_VALUE.fullmatch(answer) or answer == "no answer":
        return f"gives {said}"
    return said if answer.startswith("raises") else f"is {said}"


def differences(first: tuple[str, ...], second: tuple[str, ...]) -> list[int]:
    """The places of the calls that tell two behaviours apart."""
    pairs = zip(_key(first), _key(second), strict=False)
    return [at for at, (one, other) in enumerate(pairs) if one != other]


def _key(answers: Sequence[str]) -> tuple[str, ...]:
    """The answers as they are compared."""
    return tuple(map(_compared, answers))


def _compared(answer: str) -> str:
    """All errors are one; True is 1, as in Python; what a call did to its arguments counts when it returns nothing."""
    if _NO_VALUE.fullmatch(answer):
        return NO_VALUE
    value, _, _ = answer.partition("\n")
    return answer if value == "None" else _TRUTH.sub(_number, value)


def _number(match: re.Match[str]) -> str:
    return {"True": "1", "False": "0"}.get(match[0], match[0])
