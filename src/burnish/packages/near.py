"""Names that look like a well-known package and are not it: slips of the finger, and traps laid for them."""

import re
from datetime import date
from functools import cache
from pathlib import Path

from packaging.utils import canonicalize_name

from burnish.packages.names import PACKAGE_OF

_LIST = Path(__file__).with_name("well_known.txt")
_PREFIX = re.compile(r"^(?:python[23]?-|py-|pip-|lib-)")
_SUFFIX = re.compile(r"-(?:python[23]?|py[23]?|lib|pip)$")
_LOOKALIKES = (("rn", "m"), ("vv", "w"), ("0", "o"), ("1", "l"), ("5", "s"), ("-", ""))
_MODULES: dict[str, str] = {
    canonicalize_name(module): package for module, package in PACKAGE_OF.items() if canonicalize_name(module) != package
}
"""A module's name taken for its package's: another package may lie in wait under it."""
ONE_SLIP, TWO_SLIPS = 5, 9
"""How long a word must be for one and for two slips to be a likeness; short words are all alike."""


@cache
def well_known() -> frozenset[str]:
    """The shipped names, in their normal form."""
    lines = _LIST.read_text("utf-8").splitlines()
    return frozenset(name for line in lines if not line.startswith("#") for name in line.split())


@cache
def dated() -> date:
    """The day the list was made: what is on it was no newcomer then."""
    told = re.search(r"^# date: (\S+)", _LIST.read_text("utf-8"), re.MULTILINE)
    return date.fromisoformat(told[1]) if told else date.min


@cache
def near(name: str) -> str:
    """The well-known package that a normal name could be mistaken for; empty for none, and for the well-known."""
    if name in well_known():
        return ""
    if name in _MODULES:
        return canonicalize_name(_MODULES[name])
    alike = [known for known in well_known() if is_like(name, known)]
    return min(alike, key=lambda known: (slips(name, known), known), default="")


def is_like(name: str, known: str) -> bool:
    """Whether two different names differ as a slip or a trap would have them differ."""
    if abs(len(name) - len(known)) > 10:
        return False
    return _face(name) == _face(known) or _is_dressed(name, known) or _is_slip(*_different_words(name, known))


@cache
def _face(name: str) -> str:
    """How a name looks at a glance: look-alikes, doubled letters, separators and a plural make no difference."""
    for seen, taken in _LOOKALIKES:
        name = name.replace(seen, taken)
    name = re.sub(r"(.)\1+", r"\1", name)
    return name.removesuffix("s") if len(name) > ONE_SLIP - 1 else name


def _is_dressed(name: str, known: str) -> bool:
    """Whether only a "python-" or "-py" more or less tells them apart."""
    ours, theirs = _bare(name), _bare(known)
    if ours == theirs:
        return True
    return min(len(ours), len(theirs)) >= ONE_SLIP - 1 and (f"py{ours}" == theirs or ours == f"py{theirs}")


@cache
def _bare(name: str) -> str:
    return _SUFFIX.sub("", _PREFIX.sub("", name))


def _different_words(name: str, known: str) -> tuple[str, str]:
    """What is left of two names without the words they share in front and behind: families share most of theirs."""
    ours, theirs = name.split("-"), known.split("-")
    while len(ours) > 1 and len(theirs) > 1 and ours[0] == theirs[0]:
        ours, theirs = ours[1:], theirs[1:]
    while len(ours) > 1 and len(theirs) > 1 and ours[-1] == theirs[-1]:
        ours, theirs = ours[:-1], theirs[:-1]
    return "-".join(ours), "-".join(theirs)


def _is_slip(word: str, known: str) -> bool:
    allowed = 2 if len(known) >= TWO_SLIPS else 1 if len(known) >= ONE_SLIP else 0
    if abs(len(word) - len(known)) > allowed or not _begin_alike(word, known):
        return False
    if not allowed:  # two letters swapped in a short word
        return len(known) == ONE_SLIP - 1 and sorted(word) == sorted(known) and slips(word, known) == 1
    return len(set(word) ^ set(known)) <= 2 * allowed and slips(word, known) <= allowed


def _begin_alike(word: str, known: str) -> bool:
    """People get the first letter right, or swap it, or leave it out; another one makes another word."""
    return word[:1] == known[:1] or word[:2] == known[1::-1] or word == known[1:]


def slips(one: str, other: str) -> int:
    """Letters added, left out, changed, or swapped with their neighbour, to make one word of the other."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        before, last, row = row, before, [i]
        for j, wanted in enumerate(other, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]
