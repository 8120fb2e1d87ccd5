"""What the project says it requires: dependencies and extras in pyproject.toml, and requirements*.txt in its root.

Files are text from strangers. None outside the project is opened, no address in them is called, nothing is installed;
a line that cannot be judged is a gap, never silence.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from packaging.markers import InvalidMarker, UndefinedComparison, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from burnish.checks.dependencies.package import Gap, Use
from burnish.text import one_line

LARGEST = 2_000_000
_OPTION = re.compile(r"^(-[a-z]|--[a-z-]+)[ \t=]*(.*)$")
_ADDRESS = re.compile(r"^([a-z+]+:|[./~])", re.IGNORECASE)


def required(root: Path) -> Iterator[Use | Gap]:
    """Every stated requirement, with its file and line; the project itself is not one."""
    own, stated = _pyproject(root)
    seen: set[Path] = set()
    for file in sorted(root.glob("requirements*.txt")):
        stated += _requirements_file(root, file, seen)
    yield from (found for found in stated if isinstance(found, Gap) or found.name != own)


def _pyproject(root: Path) -> tuple[str, list[Use | Gap]]:
    """The project's own name, and what it depends on."""
    file = root / "pyproject.toml"
    if not file.exists():
        return "", []
    try:
        text = _read(root, file)
        project = tomllib.loads(text).get("project", {})
        own, wanted = str(project.get("name", "")), [(line, False) for line in project.get("dependencies", [])]
        extras = project.get("optional-dependencies", {})
        wanted += [(line, True) for extra in extras.values() for line in extra]
    except (OSError, ValueError, AttributeError, TypeError, RecursionError) as error:
        why = one_line(str(error))
        return "", [Gap(file=file.name, what=f"the dependencies in pyproject.toml cannot be read: {why}")]
    stated = [_requirement(str(line), file.name, _line_of(str(line), text), extra) for line, extra in wanted]
    return canonicalize_name(own), stated


def _line_of(requirement: str, text: str) -> int:
    place = text.find(requirement, max(text.find("dependencies"), 0))
    return text.count("\n", 0, place) + 1 if place >= 0 else 0


def _requirements_file(root: Path, file: Path, seen: set[Path]) -> list[Use | Gap]:
    """One file and those it includes, each once."""
    named = _inside(root, file)
    if not named:
        return [Gap(what=f"{one_line(str(file))} lies outside the project and was not opened")]
    if file.resolve() in seen:
        return []
    seen.add(file.resolve())
    try:
        lines = _logical_lines(_read(root, file))
    except (OSError, ValueError) as error:
        return [Gap(file=named, what=f"{named} cannot be read: {one_line(str(error))}")]
    return [found for number, line in lines for found in _stated(root, file, number, line, seen)]


def _stated(root: Path, file: Path, number: int, line: str, seen: set[Path]) -> list[Use | Gap]:
    """What one line of a requirements file asks for."""
    named = _inside(root, file)
    option = _OPTION.match(line)
    if option and option[1] in {"-r", "--requirement"}:
        return _requirements_file(root, file.parent / option[2].strip(), seen)
    if option and option[1] not in {"-e", "--editable"}:
        return []
    wanted = option[2] if option else re.split(r"\s--?\w", line)[0].strip()
    if option or _ADDRESS.match(wanted):
        return [] if _is_own(root, file, wanted) else [_from_address(wanted, named, number)]
    return [_requirement(wanted, named, number)]


def _is_own(root: Path, file: Path, wanted: str) -> bool:
    """Whether a path leads into the project itself, whose sources are looked at anyway."""
    path = re.split(r"[\[;#]", wanted)[0].strip() or "."
    return ":" not in path and bool(_inside(root, file.parent / path))


def _from_address(wanted: str, file: str, line: int) -> Use | Gap:
    """A package that comes from an address; its name stands behind `#egg=`, if anywhere."""
    if egg := re.search(r"[#&]egg=([\w.-]+)", wanted):
        return Use(name=canonicalize_name(egg[1]), file=file, line=line, stated=True, elsewhere=True)
    return Gap(file=file, line=line, what=f"a requirement comes from an address, not from the index: {_shown(wanted)}")


def _requirement(wanted: str, file: str, line: int, extra: bool = False) -> Use | Gap:
    try:
        read = Requirement(wanted)
        name = canonicalize_name(read.name)
    except InvalidRequirement:
        return Gap(file=file, line=line, what=f"not a requirement that can be read: {_shown(wanted)}")
    return Use(
        name=name,
        file=file,
        line=line,
        stated=True,
        pinned=_pin(read),
        optional=extra or not _applies(read),
        elsewhere=read.url is not None,
    )


def _shown(wanted: str) -> str:
    """A stranger's line, short, without a password that an address may hold."""
    return repr(one_line(re.sub(r"//[^/@\s]*@", "//…@", wanted), 60))


def _pin(read: Requirement) -> str:
    exact = [rule.version for rule in read.specifier if rule.operator in {"==", "==="}]
    try:
        return Version(exact[0]).public if len(read.specifier) == 1 and exact else ""
    except InvalidVersion:  # "==2.*"
        return ""


def _applies(read: Requirement) -> bool:
    """Whether its marker holds here; one that cannot be decided counts as holding."""
    try:
        return read.marker is None or read.marker.evaluate({"extra": ""})
    except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName):
        return True


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
