"""What a project says it requires: dependencies in pyproject.toml, and requirements*.txt in its root, line by line.

Files are text from strangers. None outside the project is opened, no address in them is called, nothing is installed;
a line that cannot be read is said to be one, never passed over.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.markers import InvalidMarker, UndefinedComparison, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from burnish.events import Frozen
from burnish.packages.wanted import normal
from burnish.text import one_line

LARGEST = 2_000_000
FOR_TESTS = {"test", "tests", "testing"}
"""Extras without which a project's tests do not run."""
_OPTION = re.compile(r"^(-[a-z]|--[a-z-]+)[ \t=]*(.*)$")
_ADDRESS = re.compile(r"^([a-z+]+:|[./~])", re.IGNORECASE)


class Stated(Frozen):
    """One requirement as it is written, and where."""

    text: str
    file: str
    line: int = 0
    extra: str = ""
    """The extra it belongs to."""
    from_address: bool = False
    """It comes from an address or a folder, not from the index."""


class Unread(Frozen):
    """Something that could not be read, so nothing may be said about it."""

    file: str = ""
    what: str
    """One sentence for a person."""


def requirements_of(root: Path) -> tuple[str, ...]:
    """What a layer for this project needs, in normal form: requirements.txt, dependencies, and the extra for its tests.

    What holds for other machines only is left out, and so is what no layer can have: addresses, folders, odd lines.
    """
    own, found = stated(root, "requirements.txt")
    kept = [one for one in found if isinstance(one, Stated) and not one.from_address]
    return normal(
        str(read)
        for one in kept
        if (not one.extra or canonicalize_name(one.extra) in FOR_TESTS) and (read := _bare(one.text, own))
    )


def _bare(text: str, own: str) -> Requirement | None:
    """A requirement of this machine without its condition; None for all others, and for the project itself."""
    try:
        read = Requirement(text)
    except InvalidRequirement:
        return None
    if read.url or not applies(read) or canonicalize_name(read.name) == own:
        return None
    read.marker = None
    return read


def applies(read: Requirement) -> bool:
    """Whether its marker holds here; one that cannot be decided counts as holding."""
    try:
        return read.marker is None or read.marker.evaluate({"extra": ""})
    except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName):
        return True


def stated(root: Path, files: str = "requirements*.txt") -> tuple[str, list[Stated | Unread]]:
    """The project's own name, if it says one, and every requirement with its file and line."""
    own, found = _pyproject(root)
    seen: set[Path] = set()
    for file in sorted(root.glob(files)):
        found += _requirements_file(root, file, seen)
    return own, found


def _pyproject(root: Path) -> tuple[str, list[Stated | Unread]]:
    file = root / "pyproject.toml"
    if not file.exists():
        return "", []
    try:
        text = _read(root, file)
        project = tomllib.loads(text).get("project", {})
        own, wanted = str(project.get("name", "")), list(_named(project))
    except (OSError, ValueError, AttributeError, TypeError, RecursionError) as error:
        why = one_line(str(error))
        return "", [Unread(file=file.name, what=f"the dependencies in pyproject.toml cannot be read: {why}")]
    lines = [Stated(text=one, file=file.name, line=_line_of(one, text), extra=extra) for one, extra in wanted]
    return canonicalize_name(own), [*lines]


def _named(project: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Each dependency with the extra it belongs to."""
    yield from ((str(line), "") for line in project.get("dependencies", []))
    for extra, lines in project.get("optional-dependencies", {}).items():
        yield from ((str(line), extra) for line in lines)


def _line_of(requirement: str, text: str) -> int:
    place = text.find(requirement, max(text.find("dependencies"), 0))
    return text.count("\n", 0, place) + 1 if place >= 0 else 0


def _requirements_file(root: Path, file: Path, seen: set[Path]) -> list[Stated | Unread]:
    """One file and those it includes, each once."""
    named = _inside(root, file)
    if not named:
        return [Unread(what=f"{one_line(str(file))} lies outside the project and was not opened")]
    if file.resolve() in seen:
        return []
    seen.add(file.resolve())
    try:
        lines = _logical_lines(_read(root, file))
    except (OSError, ValueError) as error:
        return [Unread(file=named, what=f"{named} cannot be read: {one_line(str(error))}")]
    return [found for number, line in lines for found in _stated(root, file, number, line, seen)]


def _stated(root: Path, file: Path, number: int, line: str, seen: set[Path]) -> list[Stated | Unread]:
    """What one line of a requirements file asks for."""
    option = _OPTION.match(line)
    if option and option[1] in {"-r", "--requirement"}:
        return _requirements_file(root, file.parent / option[2].strip(), seen)
    if option and option[1] not in {"-e", "--editable"}:
        return []
    wanted = option[2] if option else re.split(r"\s--?\w", line)[0].strip()
    from_address = bool(option or _ADDRESS.match(wanted))
    if from_address and _is_own(root, file, wanted):
        return []
    return [Stated(text=wanted, file=_inside(root, file), line=number, from_address=from_address)]


def _is_own(root: Path, file: Path, wanted: str) -> bool:
    """Whether a path leads into the project itself, whose sources are looked at anyway."""
    path = re.split(r"[\[;#]", wanted)[0].strip() or "."
    return ":" not in path and bool(_inside(root, file.parent / path))


def _logical_lines(text: str) -> list[tuple[int, str]]:
    """Lines with their numbers: comments gone, continued ones joined."""
    lines, begun, start = [], "", 0
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        start = start if begun else number
        begun += re.sub(r"(^|\s)#.*$", "", line)
        if begun.endswith("\\"):
            begun = begun[:-1] + " "
        else:
            lines.append((start, begun.strip()))
            begun = ""
    return [(number, line) for number, line in lines if line]


def _inside(root: Path, file: Path) -> str:
    """The file as the root sees it; empty for one that lies, or leads, outside."""
    try:
        return str(file.resolve().relative_to(root.resolve()))
    except (OSError, ValueError, RuntimeError):
        return ""


def _read(root: Path, file: Path) -> str:
    if not _inside(root, file) or not file.is_file():
        raise OSError("not a file of the project")
    if file.stat().st_size > LARGEST:
        raise ValueError("too large")
    return file.read_text("utf-8-sig")
