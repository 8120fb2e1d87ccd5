"""What a project says it requires: dependencies in pyproject.toml, and requirements*.txt in its root, line by line.

Files are text from strangers. None outside the project is opened and no address in them is called; a line that cannot
be read is said to be one, never passed over. Where a project says from which index its packages come, or which files
they must be, nothing is asked of any other index: a private name could be anybody's there.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.markers import InvalidMarker, UndefinedComparison, UndefinedEnvironmentName
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from burnish.events import Frozen
from burnish.text import one_line

LARGEST = 2_000_000
BINDING = {
    *("-i", "--index-url", "--pypi-url", "--extra-index-url", "--no-index", "-f", "--find-links", "--trusted-host"),
    *("-c", "--constraint", "--require-hashes", "--hash"),
}
"""Options that say where packages come from, or which ones do. A layer cannot keep to them."""
TABLES = {
    "uv": ("index", "index-url", "extra-index-url", "find-links", "sources", "constraint-dependencies"),
    "poetry": ("source",),
    "pdm": ("source",),
}
"""The same below `tool` in pyproject.toml."""
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
    inside: bool = False
    """It is a part of the project, whose sources are looked at anyway."""


class Unread(Frozen):
    """Something that could not be read, so nothing may be said about it."""

    file: str = ""
    what: str
    """One sentence for a person."""


class Bound(Frozen):
    """Something that says where packages come from, or which they must be."""

    file: str
    line: int = 0
    what: str
    """The option, without its value: that may hold a password."""


def applies(read: Requirement) -> bool:
    """Whether its marker holds here; one that cannot be decided counts as holding."""
    try:
        return read.marker is None or read.marker.evaluate({"extra": ""})
    except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName):
        return True


def stated(root: Path, files: str = "requirements*.txt") -> tuple[str, list[Stated | Unread]]:
    """The project's own name, if it says one, and every requirement with its file and line."""
    own, found = everything(root, files)
    return own, [one for one in found if not isinstance(one, Bound) and not (isinstance(one, Stated) and one.inside)]


def everything(root: Path, files: str) -> tuple[str, list[Stated | Unread | Bound]]:
    """The same, with what lies in the project, and with what binds its packages."""
    own, found = _pyproject(root)
    seen: set[Path] = set()
    for file in sorted(root.glob(files)):
        found += _requirements_file(root, file, seen)
    return own, found


def _pyproject(root: Path) -> tuple[str, list[Stated | Unread | Bound]]:
    file = root / "pyproject.toml"
    if not file.exists():
        return "", []
    try:
        text = _read(root, file)
        data = tomllib.loads(text)
        project, tools = data.get("project", {}), data.get("tool", {})
        own, wanted = str(project.get("name", "")), list(_named(project))
        bound = [f"tool.{tool}.{key}" for tool, keys in TABLES.items() for key in keys if key in tools.get(tool, {})]
    except (OSError, ValueError, AttributeError, TypeError, RecursionError) as error:
        why = one_line(str(error))
        return "", [Unread(file=file.name, what=f"the dependencies in pyproject.toml cannot be read: {why}")]
    lines = [Stated(text=one, file=file.name, line=_line_of(one, text), extra=extra) for one, extra in wanted]
    return canonicalize_name(own), [*lines, *(Bound(file=file.name, what=one) for one in bound)]


def _named(project: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Each dependency with the extra it belongs to."""
    yield from ((str(line), "") for line in project.get("dependencies", []))
    for extra, lines in project.get("optional-dependencies", {}).items():
        yield from ((str(line), extra) for line in lines)


def _line_of(requirement: str, text: str) -> int:
    place = text.find(requirement, max(text.find("dependencies"), 0))
    return text.count("\n", 0, place) + 1 if place >= 0 else 0


def _requirements_file(root: Path, file: Path, seen: set[Path]) -> list[Stated | Unread | Bound]:
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


def _stated(root: Path, file: Path, number: int, line: str, seen: set[Path]) -> list[Stated | Unread | Bound]:
    """What one line of a requirements file asks for."""
    option, named = _OPTION.match(line), _inside(root, file)
    bound = [Bound(file=named, line=number, what=one) for one in _options(line) if _binds(one)]
    if option and option[1] in {"-r", "--requirement"}:
        return _included(root, file, number, option[2].strip(), seen)
    if option and option[1] not in {"-e", "--editable"}:
        return [*bound]
    wanted = option[2] if option else re.split(r"\s--?\w", line)[0].strip()
    from_address = bool(option or _ADDRESS.match(wanted))
    inside = _path(root, file, wanted) if from_address else ""
    if inside == ".":
        return [*bound]
    return [Stated(text=wanted, file=named, line=number, from_address=from_address, inside=bool(inside)), *bound]


def _options(line: str) -> list[str]:
    """The options of a line, without their values."""
    return [found[1] for word in line.split() if (found := re.match(r"(--[a-z-]+|-[a-z])", word))]


def _binds(option: str) -> bool:
    """Whether pip takes it for one that binds; it knows long ones by their beginning too."""
    return option in BINDING or (len(option) > 3 and any(one.startswith(option) for one in BINDING))


def _included(root: Path, file: Path, number: int, name: str, seen: set[Path]) -> list[Stated | Unread | Bound]:
    """What another file asks for. One that is not opened may name an index, for all that is known."""
    named = _inside(root, file)
    unknown = Bound(file=named, line=number, what="-r with a file that was not read")
    if "://" in name:
        return [Unread(file=named, what=f"line {number} includes a file at an address, which was not opened"), unknown]
    found = _requirements_file(root, file.parent / name, seen)
    return [*found, unknown] if any(isinstance(one, Unread) for one in found) else found


def _path(root: Path, file: Path, wanted: str) -> str:
    """A path into the project as its root sees it, "." for that itself; empty for another, and for an address."""
    path = re.split(r"[\[;#]", wanted)[0].strip() or "."
    return "" if ":" in path else _inside(root, file.parent / path)


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
