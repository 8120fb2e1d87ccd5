"""What of a project's requirements a layer can hold, and what it cannot: that is said, never passed over."""

import re
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from burnish.errors import SetupProblem
from burnish.events import Frozen
from burnish.packages.stated import Bound, Stated, Unread, applies, everything
from burnish.packages.wanted import normal, shown
from burnish.text import one_line

FOR_TESTS = {"test", "tests", "testing"}
"""Extras without which a project's tests do not run."""


class Needed(Frozen):
    """What a project states, as far as it holds for this machine."""

    packages: tuple[str, ...]
    """Requirements in normal form."""
    left_out: tuple[str, ...] = ()
    """What no layer can hold, each in a few words for a person, without any address."""
    instead: str = ""
    """What to type so that it is there."""


def requirements_of(root: Path) -> Needed:
    """What a layer for this project needs: requirements.txt, dependencies, and the extra for its tests.

    What holds for other machines only is left out, and so is, but not in silence, what no layer can have: addresses,
    folders, odd lines. Raises SetupProblem for a project that names an index, hashes or constraints, or may do so in a
    file that is not its own.
    """
    own, found = everything(root, "requirements.txt")
    if bound := next((one for one in found if isinstance(one, Bound)), None):
        raise SetupProblem(_bound(bound))
    judged = [(one, _judged(one, own)) for one in found if not isinstance(one, Bound) and _counts(one)]
    packages = normal(str(read) for _, read in judged if isinstance(read, Requirement))
    left_out = {words: one.file for one, words in judged if isinstance(words, str)}
    return Needed(packages=packages, left_out=tuple(left_out), instead=_instead(*left_out.values()) if left_out else "")


def _counts(one: Stated | Unread) -> bool:
    return isinstance(one, Unread) or not one.extra or canonicalize_name(one.extra) in FOR_TESTS


def _judged(one: Stated | Unread, own: str) -> Requirement | str | None:
    """A requirement without its condition, or why it is left out; None for the project itself and other machines."""
    if isinstance(one, Unread):
        return one.what
    if one.from_address:
        return _from_elsewhere(one)
    try:
        read = Requirement(one.text)
    except InvalidRequirement:
        return f"{_there(one)} cannot be read as a requirement"
    if not applies(read) or canonicalize_name(read.name) == own:
        return None
    if read.url:
        return f"{read.name} ({_where(one)}) comes from an address"
    read.marker = None
    return read


def _from_elsewhere(one: Stated) -> str:
    """In words; the name of what comes from an address stands behind `#egg=`, if anywhere."""
    if egg := re.search(r"[#&]egg=([\w.-]+)", one.text):
        return f"{egg[1]} ({_where(one)}) comes from an address"
    if ":" in one.text:
        return f"what {_there(one)} names comes from an address"
    return f"{shown(one.text)} ({_where(one)}) is a path"


def _where(one: Stated | Bound) -> str:
    return one_line(f"{one.file}, line {one.line}" if one.line else one.file, 200)


def _there(one: Stated | Bound) -> str:
    """The same before a verb."""
    return f"{_where(one)}," if one.line else _where(one)


def _bound(one: Bound) -> str:
    return (
        f"{_there(one)} says {one_line(one.what, 60)}, and packages that are prepared here "
        f"would not keep to that, so none is fetched. {_instead(one.file)}"
    )


def _instead(*files: str) -> str:
    """How to have an environment with what these files ask for."""
    again = "-r requirements.txt" if any(file.endswith(".txt") for file in files) else "."
    return f"Make an environment, it is used then: python -m venv .venv && .venv/bin/pip install {again}"
