"""What the code leans on: packages that its sources import and its files require, and what of them is installed.

Everything is read from text; nothing of the project, or of its environment, is run or imported. What cannot be read is
a gap, never silence.
"""

import ast
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from functools import cache, cached_property, partial
from importlib.metadata import Distribution, distributions
from itertools import groupby
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from burnish.checks.bench.interpreter import read_interpreter
from burnish.checks.project import Project
from burnish.events import Frozen
from burnish.packages.names import PYTHONS_OWN, usual_package
from burnish.packages.requirements import (
    StatedRequirement,
    UnreadRequirements,
    applies_here,
    hide_address,
    read_stated,
)
from burnish.parsing import PARSE_ERRORS, parse

LARGEST_BYTES = 20_000_000
"""RECORD of the largest packages has a few megabytes."""
_SEES_SYSTEM = re.compile(r"^include-system-site-packages\s*=\s*true", re.MULTILINE | re.IGNORECASE)
"""In a virtual environment's settings: what is installed outside of it counts too."""
_PACKAGE_FOLDERS = (
    *("lib*/python3*/site-packages", "lib*/python3*/dist-packages"),
    "local/lib/python3*/dist-packages",
)
_MODULE_FILE = re.compile(r"([\w/]+?)(?:/__init__)?(?:\.[\w-]+)?\.(?:py|so|pyd)$")
_CAUGHT = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
_CONDITIONS = {"TYPE_CHECKING", "version_info", "platform", "PY2", "PY3", "os_name", "implementation"}
_IMPORTERS = {"import_module", "__import__"}


Gap = str
"""A sentence about something that could not be looked at, so that nothing may be said about it."""


class PackageUse(Frozen):
    """One place that leans on a package."""

    name: str
    """The package's name on the index, in its normal form."""
    file: str
    line: int = 0
    stated: bool = False
    """A requirement names the package; otherwise an import was traced to it."""
    pinned: str = ""
    """The one version that the requirement allows."""
    optional: bool = False
    """The code does without it, or it belongs to an extra, or to another machine."""
    elsewhere: bool = False
    """It comes from an address or a folder, not from the index."""


class UsedPackage(Frozen):
    """One package, every place that leans on it, and what the project's environment holds of it."""

    name: str
    uses: tuple[PackageUse, ...]
    installed: str = ""
    elsewhere: bool = False

    @property
    def place(self) -> PackageUse:
        """Where to tell a person about it: the requirement if there is one."""
        return min(self.uses, key=lambda use: not use.stated)

    @property
    def versions(self) -> tuple[str, ...]:
        """What is installed, then every other version that is pinned: each may be the one that runs."""
        return tuple(dict.fromkeys(filter(None, (self.installed, *(use.pinned for use in self.uses)))))

    @property
    def idle(self) -> bool:
        """Only tried for, and not there: the code runs without it."""
        return not self.installed and all(use.optional and not use.stated for use in self.uses)

    @property
    def needed(self) -> bool:
        """Whether it must be there; what the project states about it outweighs how it is imported."""
        stated = [use for use in self.uses if use.stated]
        return any(not use.optional for use in stated or self.uses)

    @property
    def unaudited(self) -> str:
        """Why no advisory can be looked up for it; empty when one can, or when it is not needed here."""
        if self.elsewhere:
            return f"{self.name} comes from an address or a folder, not from the package index"
        if not self.versions and self.needed:
            return f"{self.name} is neither installed nor pinned to one version"
        return ""


class InstalledPackages:
    """The packages in some folders of an environment.

    Which package owns a module is asked of the lists of files that installers leave behind, so that `google.protobuf`
    is told from `google.auth` although both live in one namespace.
    """

    def __init__(self, folders: Iterable[Path]) -> None:
        self._found: dict[str, Distribution] = {}
        self.versions: dict[str, str] = {}
        """Public versions by normal name; one that no standard knows is left out."""
        for found in distributions(path=[str(folder) for folder in folders]):
            name = canonicalize_name(_metadata_field(found, "Name"))
            # The first of a name is the one that Python would import.
            if name and name not in self._found:
                self._found[name] = found
                with suppress(InvalidVersion):
                    self.versions[name] = Version(_metadata_field(found, "Version")).public

    def is_from_elsewhere(self, name: str) -> bool:
        """Whether a package was installed from a folder or an address."""
        return name in self._found and bool(_read_text(self._found[name], "direct_url.json"))

    def owners(self, module: str) -> tuple[str, ...]:
        """The packages whose files make up a module, or the nearest package around it that anybody owns."""
        while module and module not in self._owners:
            module = module.rpartition(".")[0]
        return tuple(sorted(self._owners.get(module, ())))

    @cached_property
    def _owners(self) -> dict[str, set[str]]:
        """The packages that have files of a module, by its dotted name."""
        owners: dict[str, set[str]] = {}
        for name, found in self._found.items():
            recorded = _read_text(found, "RECORD") or _read_text(found, "installed-files.txt")
            files = [line.split(",", 1)[0].removeprefix("../") for line in recorded.splitlines()]
            modules = [found_in[1].replace("/", ".") for file in files if (found_in := _MODULE_FILE.match(file))]
            for module in modules if recorded else _read_text(found, "top_level.txt").split():
                owners.setdefault(module, set()).add(name)
        return owners


def read_environment(python: Path) -> InstalledPackages:
    """What an interpreter finds installed, seen from outside. Raises SetupProblem when it cannot be used."""
    known = read_interpreter(python)
    homes = [known.base]
    if known.environment:
        settings = _read_small(known.environment / "pyvenv.cfg")
        homes = [known.environment, *(homes if _SEES_SYSTEM.search(settings) else [])]
    folders: list[Path] = []
    for home in homes:
        found = [folder for places in _PACKAGE_FOLDERS for folder in home.glob(places)]
        # Folders of another Python version count only if there is no better guess.
        named = {python.resolve().name, "python3"}
        folders += [folder for folder in found if folder.parent.name in named] or found
    return InstalledPackages(folders)


def read_layer(layer: Path | None) -> InstalledPackages:
    """What a layer holds, for code that sees nothing else."""
    return InstalledPackages([layer] if layer else [])


def _metadata_field(found: Distribution, field: str) -> str:
    metadata = _read_text(found, "METADATA") or _read_text(found, "PKG-INFO")
    line = re.search(rf"^{field}:[ \t]*(\S+)", metadata, re.MULTILINE)
    return line[1] if line else ""


def _read_text(found: Distribution, file: str) -> str:
    """A file of a package's own; empty as in `_read_small`."""
    return _read_small(Path(str(getattr(found, "_path", ""))) / file)  # no public name tells where a distribution lies


def _read_small(place: Path) -> str:
    """The text of a file; empty for one that is missing, too large, no text, or no file: a pipe would never end."""
    try:
        is_small = place.is_file() and place.stat().st_size <= LARGEST_BYTES
        return place.read_text("utf-8") if is_small else ""
    except (OSError, UnicodeDecodeError):
        return ""


def group_uses(uses: Iterable[PackageUse], installed: InstalledPackages) -> list[UsedPackage]:
    """The uses by package, in the order of their names."""
    packages = []
    for name, group in groupby(sorted(uses, key=lambda use: (use.name, use.file, use.line)), lambda use: use.name):
        own = tuple(group)
        elsewhere = installed.is_from_elsewhere(name) or any(use.elsewhere for use in own)
        version = installed.versions.get(name, "")
        packages.append(UsedPackage(name=name, uses=own, installed=version, elsewhere=elsewhere))
    return packages


def find_required(root: Path) -> Iterator[PackageUse | Gap]:
    """Every stated requirement, with its file and line; the project itself is not one."""
    own_name, lines = read_stated(root)
    for one in lines:
        found = one.what if isinstance(one, UnreadRequirements) else _read_requirement(one)
        if isinstance(found, Gap) or found.name != own_name:
            yield found


def _read_requirement(one: StatedRequirement) -> PackageUse | Gap:
    """The package that a requirement names, or why nobody can tell."""
    place: dict[str, Any] = {"file": one.file, "line": one.line, "stated": True}
    if one.from_address:
        # The name of what comes from an address stands behind `#egg=`, if anywhere.
        if egg := re.search(r"[#&]egg=([\w.-]+)", one.text):
            return PackageUse(name=canonicalize_name(egg[1]), elsewhere=True, **place)
        return f"a requirement comes from an address, not from the index: {hide_address(one.text)!r}"
    try:
        read = Requirement(one.text)
    except InvalidRequirement:
        return f"not a requirement that can be read: {hide_address(one.text)!r}"
    pinned, rules = "", list(read.specifier)
    if len(rules) == 1 and rules[0].operator in {"==", "==="}:
        with suppress(InvalidVersion):  # "==2.*"
            pinned = Version(rules[0].version).public
    optional = bool(one.extra) or not applies_here(read)
    return PackageUse(
        name=canonicalize_name(read.name), pinned=pinned, optional=optional, elsewhere=read.url is not None, **place
    )


def find_imported(
    project: Project, installed: InstalledPackages, stated: Collection[str] = ()
) -> Iterator[PackageUse | Gap]:
    """Every package that a source imports and that is neither its own nor Python's; an unreadable source is a gap.

    Where nothing is installed the name is a guess, and a requirement that fits (`stated`) makes it a better one.
    """
    is_own = cache(partial(_is_own, project.root))
    for source in project.sources:
        try:
            found = list(_imports(parse(project.text(source))))
        except (OSError, *PARSE_ERRORS) as error:
            yield f"the imports of {source} cannot be read: {type(error).__name__}"
            continue
        for module, line, optional in found:
            top = module.split(".")[0]
            if top in PYTHONS_OWN or is_own(project.root / source.parent, top):
                continue
            plain, usual = canonicalize_name(top), canonicalize_name(usual_package(module))
            family = [name for name in sorted(stated) if name.startswith(f"{usual}-") and usual not in stated]
            guess = plain if plain in stated or not usual else next(iter(family), usual)
            for name in installed.owners(module) or (guess,):
                yield PackageUse(name=name, file=str(source), line=line, optional=optional)


def _is_own(root: Path, folder: Path, top: str) -> bool:
    """Whether a module lies where a source in this folder would find it: in the root, in `src`, or beside the source.

    Inside a package an absolute import does not see its siblings, so folders with an `__init__.py` do not count.
    """
    around = [one for one in (folder, *folder.parents) if one.is_relative_to(root)]
    bases = {root, root / "src", *(one for one in around if not (one / "__init__.py").exists())}
    return any(
        (base / f"{top}.py").is_file()
        or any(base.glob(f"{top}.*.so"))
        or next((base / top).rglob("*.py"), None) is not None
        for base in bases
    )


def _imports(tree: ast.Module) -> Iterator[tuple[str, int, bool]]:
    """Dotted names with their lines, and whether the code can do without: tried and caught, for type checkers only, for
    another Python or system. A stack in place of recursion, so that deep code is no danger.
    """
    waiting: list[tuple[ast.AST, bool]] = [(node, False) for node in tree.body]
    while waiting:
        node, optional = waiting.pop()
        match node:
            case ast.Import(names=names):
                yield from ((alias.name, node.lineno, optional) for alias in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield from ((f"{module}.{alias.name}", node.lineno, optional) for alias in names)
            case ast.Call(
                func=ast.Name(id=called) | ast.Attribute(attr=called), args=[ast.Constant(value=str(module)), *_]
            ) if called in _IMPORTERS and all(part.isidentifier() for part in module.split(".")):
                yield module, node.lineno, optional
            case ast.Try(handlers=handlers) | ast.TryStar(handlers=handlers):
                optional |= any(one.type is None or not _CAUGHT.isdisjoint(_words(one.type)) for one in handlers)
            case ast.If(test=test):
                optional |= not _CONDITIONS.isdisjoint(_words(test))
        waiting.extend((child, optional) for child in ast.iter_child_nodes(node))


def _words(node: ast.AST) -> set[str]:
    found = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return found | {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
