"""What is asked for, as requirements: by a user or a model in words, and by a project in its files.

Words are names with versions and nothing else that an installer would take: an address, a path or an option could make
it fetch, build or run anything, and none of them gets past this file.

A project states its dependencies in pyproject.toml and requirements*.txt in its root. Files are text from strangers.
None outside the project is opened and no address in them is called; a line that cannot be read is said to be one, never
passed over. Where a project says from which index its packages come, or which files they must be, nothing is asked of
any other index: a private name could be anybody's there.
"""

import configparser
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from packaging.markers import InvalidMarker, UndefinedComparison, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from burnish.errors import SetupProblem
from burnish.events import Frozen
from burnish.packages.names import find_lookalike, well_known_names
from burnish.text import one_line

LARGEST_BYTES = 2_000_000
FOR_TESTS = {"test", "tests", "testing"}
"""Extras without which a project's tests do not run."""
FOR_WORK = {*FOR_TESTS, "dev", "develop", "development", "pytest", "unittest"}
"""Extras, groups and environments that may hold what tests need, beside other tools."""
TEST_FILES = re.compile(
    r"(?:requirements[-_/])?(?:tests?|testing|dev|develop|pytest)(?:[-_/]requirements)?\.(?:txt|pip)", re.IGNORECASE
)
"""How a file of requirements for tests is called, from the root."""
AUTO = "auto"
"""In place of a package: all that the project states for its tests."""
BINDING = {
    *("-i", "--index-url", "--pypi-url", "--extra-index-url", "--no-index", "-f", "--find-links", "--trusted-host"),
    *("-c", "--constraint", "--require-hashes", "--hash"),
}
"""Options that say where packages come from, or which ones do. A layer cannot keep to them."""
BINDING_TABLES = {
    "uv": ("index", "index-url", "extra-index-url", "find-links", "sources", "constraint-dependencies"),
    "poetry": ("source",),
    "pdm": ("source",),
}
"""The same below `tool` in pyproject.toml."""
_OPTION = re.compile(r"^(-[a-z]|--[a-z-]+)[ \t=]*(.*)$")
_ADDRESS = re.compile(r"^([a-z+]+:|[./~])", re.IGNORECASE)
_BETWEEN = re.compile(r",(?![^\[\]]*\])\s*(?=[^\s<>=!~])")
"""A comma before another package; one inside brackets or before an operator belongs to its requirement."""
_SECRET = re.compile(r"([@:?]|//).*")
"""Where an address may begin, and all that follows: anywhere in it there may be a password."""
_VERSION = re.compile(r"[A-Za-z0-9.*+!_-]+")


def parse_requirements(text_or_names: Sequence[str], allow: Sequence[str] = ()) -> tuple[str, ...]:
    """Requirements in their normal form, sorted, each package once; each a well-known one, or in `allow`.

    Raises SetupProblem for any other name, with the one it may have been meant for, for what is no requirement, and for
    words that name no package at all.
    """
    texts = [text_or_names] if isinstance(text_or_names, str) else text_or_names
    found = normalise_requirements(piece for text in texts for piece in _BETWEEN.split(text.strip(" ,")))
    if texts and not found:
        raise _not_a_requirement(" ".join(texts), "names no package")
    known = well_known_names() | parse_allowed(allow)
    for name in (Requirement(one).name for one in found):
        if name in known:
            continue
        if meant := find_lookalike(name):
            raise SetupProblem(
                f"Did you mean {meant}? {name!r} is not on the list of well-known packages and looks much like it. "
                f"Type --with {meant}; or, if you are sure of the other, add: --allow-package {name}"
            )
        raise SetupProblem(
            f"{name!r} is not on the list of well-known packages, and a name that nobody knows may be a trap. "
            f"If you are sure of it, add: --allow-package {name}"
        )
    return found


def parse_allowed(texts: Sequence[str]) -> frozenset[str]:
    """The names that the user allows, in their normal form; one text may hold several, with commas between them."""
    return frozenset(canonicalize_name(name.strip()) for text in texts for name in text.split(",") if name.strip())


def normalise_requirements(requirements: Iterable[str]) -> tuple[str, ...]:
    """Names, extras and versions in one form, sorted; two requirements of one package are one that asks for both."""
    merged: dict[str, Requirement] = {}
    for text in filter(str.strip, requirements):
        read = _read(text)
        if before := merged.get(read.name):
            before.specifier &= read.specifier
            before.extras |= read.extras
        else:
            merged[read.name] = read
    return tuple(str(merged[name]) for name in sorted(merged))


def _read(text: str) -> Requirement:
    try:
        read = Requirement(text.strip())
    except InvalidRequirement:
        raise _not_a_requirement(text, "cannot be read") from None
    if read.url is not None:
        raise _not_a_requirement(text, "names an address")
    if read.marker is not None:
        raise _not_a_requirement(text, "has a condition")
    if any(one.operator == "===" or not _VERSION.fullmatch(one.version) for one in read.specifier):
        raise _not_a_requirement(text, "names something other than a version")
    read.name = canonicalize_name(read.name)
    read.extras = {canonicalize_name(extra) for extra in read.extras}
    return read


def _not_a_requirement(text: str, why: str) -> SetupProblem:
    return SetupProblem(
        f"{hide_address(text)!r} {why}, and only the name of a package, with versions if you like, can be asked for: "
        "no addresses, files, options or conditions. For example: --with 'numpy,pandas>=2'"
    )


def hide_address(text: str) -> str:
    """What somebody wrote as a requirement, short, and without any address in it."""
    flat = one_line(text, len(text))  # not cut before: half an address is none that can be told
    return one_line(_SECRET.sub(r"\1…", flat), 60)


class StatedRequirement(Frozen):
    """One requirement as it is written, and where; or what binds packages to an index."""

    text: str
    """Of a binding, only the option: its value may hold a password."""
    file: str
    line: int = 0
    extra: str = ""
    """The extra it belongs to."""
    from_address: bool = False
    """It comes from an address or a folder, not from the index."""
    inside: bool = False
    """It is a part of the project, whose sources are looked at anyway."""


class UnreadRequirements(Frozen):
    """Something that could not be read, so nothing may be said about it."""

    file: str = ""
    what: str
    """One sentence for a person."""


class ProjectNeeds(Frozen):
    """What a project states, as far as it holds for this machine."""

    packages: tuple[str, ...]
    """Requirements in normal form."""
    left_out: tuple[str, ...] = ()
    """What no layer can hold, each in a few words for a person, without any address."""
    instead: str = ""
    """What to type so that it is there."""


def split_auto(texts: Sequence[str]) -> tuple[list[str], bool]:
    """What is asked for by name, and whether what the project states for its tests is asked for too."""
    pieces = [piece.strip() for text in texts for piece in _BETWEEN.split(text)]
    return [piece for piece in pieces if piece != AUTO], AUTO in pieces


def read_project_needs(root: Path, for_work: bool = False) -> ProjectNeeds:
    """What a layer for this project needs: requirements.txt, dependencies, and the extra for its tests.

    With `for_work` also what its development extras and groups, its files of requirements for tests, and tox name.

    What holds for other machines only is left out, and so is, but not in silence, what no layer can have: addresses,
    folders, odd lines. Raises SetupProblem for a project that names an index, hashes or constraints, or may do so in a
    file that is not its own.
    """
    reader = ProjectReader(root, "requirements.txt", for_work)
    wanted = FOR_WORK if for_work else FOR_TESTS
    if reader.bindings:
        bound = reader.bindings[0]
        raise SetupProblem(
            f"{_before_verb(bound)} says {one_line(bound.text, 60)}, and packages that are prepared here "
            f"would not keep to that, so none is fetched. {_how_to_install(bound.file)}"
        )
    packages: list[str] = []
    left_out: dict[str, str] = {}
    for one in reader.requirements:
        if isinstance(one, UnreadRequirements):
            left_out[one.what] = one.file
        elif not one.extra or canonicalize_name(one.extra) in wanted:
            read = _read_for_layer(one, reader.own_name)
            if isinstance(read, Requirement):
                packages.append(str(read))
            elif read:
                left_out[read] = one.file
    return ProjectNeeds(
        packages=normalise_requirements(packages),
        left_out=tuple(left_out),
        instead=_how_to_install(*left_out.values()) if left_out else "",
    )


def _read_for_layer(one: StatedRequirement, own_name: str) -> Requirement | str:
    """A requirement without its condition, or why it is left out; empty for the project itself and other machines."""
    if one.from_address:
        # The name of what comes from an address stands behind `#egg=`, if anywhere.
        if egg := re.search(r"[#&]egg=([\w.-]+)", one.text):
            return f"{egg[1]} ({_place(one)}) comes from an address"
        if ":" in one.text:
            return f"what {_before_verb(one)} names comes from an address"
        return f"{hide_address(one.text)} ({_place(one)}) is a path"
    try:
        read = Requirement(one.text)
    except InvalidRequirement:
        return f"{_before_verb(one)} cannot be read as a requirement"
    if not applies_here(read) or canonicalize_name(read.name) == own_name:
        return ""
    if read.url:
        return f"{read.name} ({_place(one)}) comes from an address"
    read.marker = None
    return read


def _place(one: StatedRequirement) -> str:
    return one_line(f"{one.file}, line {one.line}" if one.line else one.file, 200)


def _before_verb(one: StatedRequirement) -> str:
    return f"{_place(one)}," if one.line else _place(one)


def _how_to_install(*files: str) -> str:
    """How to have an environment with what these files ask for."""
    again = "-r requirements.txt" if any(file.endswith(".txt") for file in files) else "."
    return f"Make an environment, it is used then: python -m venv .venv && .venv/bin/pip install {again}"


def applies_here(read: Requirement) -> bool:
    """Whether its marker holds here; one that cannot be decided counts as holding."""
    try:
        return read.marker is None or read.marker.evaluate({"extra": ""})
    except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName):
        return True


def read_stated(root: Path) -> tuple[str, list[StatedRequirement | UnreadRequirements]]:
    """The project's own name, if it says one, and every requirement with its file and line."""
    reader = ProjectReader(root, "requirements*.txt")
    found = [one for one in reader.requirements if not (isinstance(one, StatedRequirement) and one.inside)]
    return reader.own_name, found


class ProjectReader:
    """Reads the files of one project: what they require, and what binds their packages to an index."""

    def __init__(self, root: Path, files: str, for_work: bool = False) -> None:
        self.root = root
        self.own_name = ""
        self.requirements: list[StatedRequirement | UnreadRequirements] = []
        self.bindings: list[StatedRequirement] = []
        self._opened: set[Path] = set()
        if (root / "pyproject.toml").exists():
            self._read_pyproject(root / "pyproject.toml")
        for file in sorted(root.glob(files)):
            self._read_requirements(file)
        if for_work:
            self._read_for_work()

    def _read_for_work(self) -> None:
        """What is stated for tests outside of the extras: groups, tox, and files of requirements."""
        for file in sorted([*self.root.glob("*.*"), *self.root.glob("*/*.*")]):
            if TEST_FILES.fullmatch(file.relative_to(self.root).as_posix()):
                self._read_requirements(file)
        if (self.root / "pyproject.toml").exists():
            try:
                data = tomllib.loads(self._read(self.root / "pyproject.toml"))
                lines = list(_list_groups(data))
            except (OSError, ValueError, AttributeError, TypeError, RecursionError) as error:
                what = f"the groups of requirements in pyproject.toml cannot be read: {one_line(str(error))}"
                self._note_unread(what, "pyproject.toml")
                lines = []
            self.requirements += [StatedRequirement(text=line, file="pyproject.toml") for line in lines]
        if (self.root / "tox.ini").exists():
            config = configparser.ConfigParser(interpolation=None)
            try:
                config.read_string(self._read(self.root / "tox.ini"))
            except (OSError, ValueError, configparser.Error) as error:
                self._note_unread(f"tox.ini cannot be read: {one_line(str(error))}", "tox.ini")
            for number, line in _join_lines(config.get("testenv", "deps", fallback="")):
                line = line.replace("{toxinidir}/", "").replace("{tox_root}/", "")
                if ":" not in line and "{" not in line:  # a condition of tox's, for one of its environments
                    self._read_line(self.root / "tox.ini", number, line)

    def _read_pyproject(self, file: Path) -> None:
        try:
            text = self._read(file)
            data = tomllib.loads(text)
            project, tools = data.get("project", {}), data.get("tool", {})
            extras = {"": project.get("dependencies", []), **project.get("optional-dependencies", {})}
            wanted = [(str(line), extra) for extra, lines in extras.items() for line in lines]
            tables = [
                (tool, key) for tool, keys in BINDING_TABLES.items() for key in keys if key in tools.get(tool, {})
            ]
            self.own_name = canonicalize_name(str(project.get("name", "")))
        except (OSError, ValueError, AttributeError, TypeError, RecursionError) as error:
            self._note_unread(f"the dependencies in pyproject.toml cannot be read: {one_line(str(error))}", file.name)
            return
        begin = max(text.find("dependencies"), 0)
        for line, extra in wanted:
            place = text.find(line, begin)
            number = text.count("\n", 0, place) + 1 if place >= 0 else 0
            self.requirements.append(StatedRequirement(text=line, file=file.name, line=number, extra=extra))
        self.bindings += [StatedRequirement(file=file.name, text=f"tool.{tool}.{key}") for tool, key in tables]

    def _read_requirements(self, file: Path) -> bool:
        """Read one file and those it includes, each once. Whether it could be read itself."""
        named = self._inside(file)
        if not named:
            return self._note_unread(f"{one_line(str(file))} lies outside the project and was not opened")
        if file.resolve() in self._opened:
            return True
        self._opened.add(file.resolve())
        try:
            lines = _join_lines(self._read(file))
        except (OSError, ValueError) as error:
            return self._note_unread(f"{named} cannot be read: {one_line(str(error))}", named)
        for number, line in lines:
            self._read_line(file, number, line)
        return True

    def _read_line(self, file: Path, number: int, line: str) -> None:
        """Note what one line asks for, or read the file that it includes."""
        option, named = _OPTION.match(line), self._inside(file)
        if option and option[1] in {"-r", "--requirement"}:
            name = option[2].strip()
            if "://" in name:
                read = self._note_unread(f"line {number} includes a file at an address, which was not opened", named)
            else:
                read = self._read_requirements(file.parent / name)
            if not read:  # it may name an index, for all that is known
                unread = "-r with a file that was not read"
                self.bindings.append(StatedRequirement(file=named, line=number, text=unread))
            return
        if not option or option[1] in {"-e", "--editable"}:
            wanted = option[2] if option else re.split(r"\s--?\w", line)[0].strip()
            from_address = bool(option or _ADDRESS.match(wanted))
            path = re.split(r"[\[;#]", wanted)[0].strip() or "."
            inside = self._inside(file.parent / path) if from_address and ":" not in path else ""
            if inside != ".":  # that is the project itself
                self.requirements.append(
                    StatedRequirement(
                        text=wanted, file=named, line=number, from_address=from_address, inside=bool(inside)
                    )
                )
        for word in [found[1] for word in line.split() if (found := re.match(r"(--[a-z-]+|-[a-z])", word))]:
            # pip knows long options by their beginning too.
            if word in BINDING or (len(word) > 3 and any(one.startswith(word) for one in BINDING)):
                self.bindings.append(StatedRequirement(file=named, line=number, text=word))

    def _note_unread(self, what: str, file: str = "") -> bool:
        self.requirements.append(UnreadRequirements(file=file, what=what))
        return False

    def _inside(self, file: Path) -> str:
        """The file as the root sees it; empty for one that lies, or leads, outside."""
        try:
            return str(file.resolve().relative_to(self.root.resolve()))
        except (OSError, ValueError, RuntimeError):
            return ""

    def _read(self, file: Path) -> str:
        if not self._inside(file) or not file.is_file():
            raise OSError("not a file of the project")
        if file.stat().st_size > LARGEST_BYTES:
            raise ValueError("too large")
        return file.read_text("utf-8-sig")


def _list_groups(data: dict[str, Any]) -> Iterator[str]:
    """The requirements of groups, and of hatch's environments, that are named after tests or development."""
    tools, groups = data.get("tool", {}), dict(data.get("dependency-groups", {}))
    groups |= tools.get("pdm", {}).get("dev-dependencies", {})
    poetry = tools.get("poetry", {})
    groups |= {name: list(group["dependencies"]) for name, group in poetry.get("group", {}).items()}
    groups |= {"dev": [*poetry.get("dev-dependencies", {}), *groups.get("dev", ())]}
    groups["dev"] += tools.get("uv", {}).get("dev-dependencies", [])
    for name, environment in tools.get("hatch", {}).get("envs", {}).items():
        if canonicalize_name(name.removeprefix("hatch-")) in FOR_WORK:
            yield from environment.get("extra-dependencies", []) + environment.get("dependencies", [])
    waiting = [name for name in groups if canonicalize_name(name) in FOR_WORK]
    for name in waiting:  # grows by the groups that are included
        for line in groups.get(name, ()):
            if isinstance(line, str):
                yield line
            elif (included := str(line.get("include-group", ""))) not in waiting:
                waiting.append(included)


def _join_lines(text: str) -> list[tuple[int, str]]:
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
