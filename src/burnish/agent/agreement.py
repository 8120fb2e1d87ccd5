"""Which versions behave alike, and how much the others agree with each.

Versions that go wrong tend to go wrong each in its own way, so the behaviour that many share is the likeliest to be
right. Inputs outside of what the task is about make noise; so errors are all one, and there is a soft measure too.
"""

import re
from collections.abc import Mapping, Sequence

from burnish.agent.inputs import calls_for
from burnish.checks.ground import Ground
from burnish.events import Frozen
from burnish.text import one_line

BATCHES = 3
A_BATCH = 60
LONGEST_VALUE = 60
NO_VALUE = "no value"
_NO_VALUE = re.compile(r"raises \w+|too slow|no answer")
_TRUTH = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\b(?:True|False)\b")
Behaviours = Mapping[int, tuple[str, ...]]
Weights = Mapping[int, float]


class Group(Frozen):
    """Versions that no call told apart."""

    versions: tuple[int, ...]
    support: float
    """The sum of their weights; a version that was given none weighs 1."""
    agreement: float = 0.0
    """How much the versions outside and inside of the group agree with it, see `agreements`."""


def groups_of(behaviours: Behaviours, weights: Weights | None = None) -> tuple[Group, ...]:
    """The versions in groups, the one with most support first; with equal support, the one with the earliest version.

    Two versions are alike when they give equal values on every call where at least one of them gives a value. Calls on
    which both raise, be it different errors, or never answer do not tell them apart.
    """
    by_key: dict[tuple[str, ...], list[int]] = {}
    for version in sorted(behaviours):
        by_key.setdefault(_key(behaviours[version]), []).append(version)
    share = agreements(behaviours, weights)
    groups = [
        Group(versions=tuple(own), support=sum(_weight(one, weights) for one in own), agreement=share[own[0]])
        for own in by_key.values()
    ]
    return tuple(sorted(groups, key=lambda group: (-group.support, group.versions[0])))


def agreements(behaviours: Behaviours, weights: Weights | None = None) -> dict[int, float]:
    """For each version, from 0 to 1: the weighted mean over the others of the share of telling calls they agree on.

    A call tells something when not all versions answer it alike, and it counts by the share of versions that give a
    value on it: what makes most of them fail is likely nothing the task is about. With no other version, or no call
    that counts, it is 1.
    """
    keys = {version: _key(answers) for version, answers in behaviours.items()}
    said = list(zip(*keys.values(), strict=False))
    telling = {at: 1 - row.count(NO_VALUE) / len(row) for at, row in enumerate(said) if len(set(row)) > 1}
    return {version: _agreement(version, keys, telling, weights) for version in keys}


def _agreement(version: int, keys: Behaviours, telling: Mapping[int, float], weights: Weights | None) -> float:
    others = {other: _weight(other, weights) for other in keys if other != version}
    whole = sum(others.values()) * sum(telling.values())
    if whole <= 0:
        return 1.0
    own = keys[version]
    equal = (others[one] * share for one in others for at, share in telling.items() if keys[one][at] == own[at])
    return round(sum(equal) / whole, 6)


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


def telling_apart(
    first_code: str,
    second_code: str,
    entry_point: str,
    tests: Sequence[str],
    ground: Ground,
    signature: str = "",
    prompt: str = "",
    batches: int = BATCHES,
) -> tuple[str, ...]:
    """Calls on which two versions differ, from fresh draws; the first batch that has one ends the search.

    Empty when no batch told them apart: then they are alike as far as anybody can see. Raises SandboxError.
    """
    modules = (first_code, second_code)
    for draw in range(1, batches + 1):
        calls = calls_for(entry_point, signature, tests, A_BATCH, prompt, modules, draw)
        first, second = (ground.behave(module, calls) for module in modules)
        found = tuple(calls[at] for at in differences(first, second))
        if found:
            return found
    return ()


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


def _weight(version: int, weights: Weights | None) -> float:
    return 1.0 if weights is None else weights.get(version, 1.0)
