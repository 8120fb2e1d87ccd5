"""What the project's environment holds, read from its folders. Nothing in them is run or imported.

Which package owns a module is asked of the lists of files that installers leave behind, so that `google.protobuf` is
told from `google.auth` although both live in one namespace.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from burnish.checks.interpreter import read_interpreter

LARGEST = 20_000_000
"""RECORD of the largest packages has a few megabytes."""
_MODULE = re.compile(r"([\w/]+?)(?:/__init__)?(?:\.[\w-]+)?\.(?:py|so|pyd)$")


class Installed:
    """The packages in some folders of an environment."""

    def __init__(self, folders: tuple[Path, ...]) -> None:
        self._found = list(_readable(folders))

    @cached_property
    def versions(self) -> dict[str, str]:
        """Public versions by normal name; one that no standard knows is left out."""
        read = {name: _public(found) for name, found in self._found}
        return {name: version for name, version in read.items() if version}

    @cached_property
    def elsewhere(self) -> frozenset[str]:
        """Packages that were installed from a folder or an address."""
        return frozenset(name for name, found in self._found if _text(found, "direct_url.json"))

    def owners(self, module: str) -> tuple[str, ...]:
        """The packages whose files make up a module, or the nearest package around it that anybody owns."""
        parts = module.split(".")
        for end in range(len(parts), 0, -1):
            if owners := self._modules.get(".".join(parts[:end])):
                return tuple(sorted(owners))
        return ()

    @cached_property
    def _modules(self) -> dict[str, set[str]]:
        owners: dict[str, set[str]] = defaultdict(set)
        for name, found in self._found:
            for module in _modules_of(found):
                owners[module].add(name)
        return dict(owners)


def environment(python: Path) -> Installed:
    """What an interpreter finds installed, seen from outside. Raises SetupProblem when it cannot be used."""
    known = read_interpreter(python)
    homes = [known.environment] if known.environment else []
    if not homes or _sees_system(homes[0]):
        homes.append(known.base)
    return Installed(tuple(folder for home in homes for folder in _folders(home, python)))


def layered(layer: Path | None) -> Installed:
    """What a layer holds, for code that sees nothing else."""
    return Installed((layer,) if layer else ())


def _folders(home: Path, python: Path) -> Iterator[Path]:
    """The folders with packages under a prefix; those of another Python version only if there is no better guess."""
    found = [*home.glob("lib*/python3*/site-packages"), *home.glob("lib*/python3*/dist-packages")]
    found += home.glob("local/lib/python3*/dist-packages")
    named = {python.resolve().name, "python3"}
    yield from [folder for folder in found if folder.parent.name in named] or found


def _sees_system(prefix: Path) -> bool:
    try:
        told = (prefix / "pyvenv.cfg").read_text("utf-8", errors="replace")
    except OSError:
        return False
    return re.search(r"^include-system-site-packages\s*=\s*true", told, re.MULTILINE | re.IGNORECASE) is not None


def _readable(folders: tuple[Path, ...]) -> Iterator[tuple[str, Distribution]]:
    """Distributions with their normal names; the first of a name is the one that Python would import."""
    seen: set[str] = set()
    for found in distributions(path=[str(folder) for folder in folders]):
        metadata = _text(found, "METADATA") or _text(found, "PKG-INFO")
        if told := re.search(r"^Name:[ \t]*(\S+)", metadata, re.MULTILINE):
            name = canonicalize_name(told[1])
            if name not in seen:
                seen.add(name)
                yield name, found


def _public(found: Distribution) -> str:
    metadata = _text(found, "METADATA") or _text(found, "PKG-INFO")
    told = re.search(r"^Version:[ \t]*(\S+)", metadata, re.MULTILINE)
    try:
        return Version(told[1]).public if told else ""
    except InvalidVersion:
        return ""


def _text(found: Distribution, file: str) -> str:
    """A file of a package's own; empty for one that is missing, too large, or no file: a pipe would never end."""
    place = Path(str(getattr(found, "_path", ""))) / file  # no public name tells where a distribution lies
    try:
        is_small = place.is_file() and place.stat().st_size <= LARGEST
        return (found.read_text(file) or "") if is_small else ""
    except (OSError, UnicodeDecodeError):
        return ""


def _modules_of(found: Distribution) -> Iterator[str]:
    """Dotted names of a distribution's modules; what installers recorded, or else the names at the top."""
    recorded = _text(found, "RECORD") or _text(found, "installed-files.txt")
    for line in recorded.splitlines():
        file = line.split(",", 1)[0].removeprefix("../")
        if module := _MODULE.match(file):
            yield module[1].replace("/", ".")
    if not recorded:
        yield from _text(found, "top_level.txt").split()
