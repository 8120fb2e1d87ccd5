"""Third-party packages of a run: what code may import, and what becomes of code that imports something else.

A package is never fetched from inside a cell. A version that lacks one names it by failing; if it is a well-known one,
or one that the user allowed, the layer is made anew with it, out here, and the version is run again. How a version
fails is its own word, so only what its text imports counts as missing.
"""

import ast
import re
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from packaging.utils import canonicalize_name

from burnish.errors import SetupProblem
from burnish.events import Graded, PackagesAdded
from burnish.packages import Bounds, Installed, Layer, distribution_of, prepare, wanted
from burnish.packages.distribution import PYTHONS_OWN
from burnish.packages.near import near
from burnish.packages.same import prepare_again
from burnish.packages.wanted import allowed, normal
from burnish.parsing import try_parse
from burnish.text import one_line

LONGEST = 1000
"""Characters of why a package cannot be had. It ends with what to type, and paths in it may be long."""
MOST_TIMES = 3
"""How often the code of one run may make the layer larger."""
MOST_BYTES = 200_000_000
"""That are fetched for what nobody but the code asks for."""
_RAISED = re.compile(r"\w*(?:Error|Exception|Warning): ")
_MISSING = re.compile(r"ModuleNotFoundError: No module named '([A-Za-z_]\w*(?:\.\w+)*)'")
OWN_NAMES = ("solution", "tests")


class Packages:
    """The layer of a run. `wear` is told of each larger one before any code runs in it; `bounds` says what making one
    may take just now.
    """

    def __init__(
        self,
        layer: Layer | None,
        allow: Sequence[str],
        wear: Callable[[Path], None],
        tell: Callable[[str], None] | None = None,
        bounds: Callable[[], Bounds] = Bounds,
    ) -> None:
        self.layer = layer
        self._allow = allowed(allow)
        self._wear = wear
        self._tell = tell
        self._bounds = bounds
        self._times = 0

    def add(self, graded: Graded, version: int, sources: Sequence[str]) -> PackagesAdded | Graded:
        """One more package, for code that lacks it; else the same result, with what is to be said about what it lacks.

        `sources` are the texts of the code and of its tests. An equal result means that nothing is missing.
        """
        there = {one.name for one in self.layer.packages} if self.layer else set()
        imports = frozenset(name for source in sources for name in imported_by(source))
        found = {module: self._package(module, imports) for module in missing_in(graded, imports)}
        missing = {module: package for module, package in found.items() if package not in there}
        unknown = [module for module, package in missing.items() if not package]
        if not missing:
            return graded
        if unknown or self._times >= MOST_TIMES:
            often = [_too_often(module, package) for module, package in missing.items()]
            return _told(graded, [_advice(module) for module in unknown] or often)
        self._times += 1
        module, package = next(iter(missing.items()))
        try:
            return self._grown(package, version)
        except SetupProblem as problem:
            return _told(graded, [f"{module} cannot be had here: {one_line(str(problem), LONGEST)}"])

    def _grown(self, name: str, version: int) -> PackagesAdded:
        began = time.monotonic()
        had = self.layer.asked if self.layer else ()
        asked = normal([*had, *wanted([name], [*self._allow])])
        layer = prepare(asked, tell=self._tell, bounds=self._bounds())
        self._wear(layer.folder)
        self.layer = layer
        came = added(layer, f"version {version} imports it", time.monotonic() - began)
        return came.model_copy(update={"new": name})

    def _package(self, module: str, imports: frozenset[str]) -> str:
        """The package that brings a module, if it may be had; else empty.

        What is imported from a module says more than its own name, which several packages may share.
        """
        for name in (module, *sorted(one for one in imports if one.startswith(f"{module}."))):
            own = canonicalize_name(name.partition(".")[0])
            if package := distribution_of(name) or (own if own in self._allow else ""):
                return package
        return ""


def layer_for(
    asked: Sequence[str],
    earlier: PackagesAdded | None,
    tell: Callable[[str], None] | None = None,
    bounds: Bounds | None = None,
) -> Layer | None:
    """The packages that a run begins with: those that were asked for; of a run that goes on, the same versions again.

    Raises SetupProblem where they cannot be had.
    """
    if earlier:
        return prepare_again(recorded(earlier), tell=tell, bounds=bounds)
    return prepare(asked, tell=tell, bounds=bounds) if asked else None


def added(layer: Layer, why: str = "", seconds: float = 0.0) -> PackagesAdded:
    """A layer as the record has it."""
    packages = tuple((one.name, one.version) for one in layer.packages)
    wheels = tuple((one.wheel, one.sha256) for one in layer.packages)
    return PackagesAdded(asked=layer.asked, packages=packages, wheels=wheels, why=why, seconds=seconds)


def recorded(event: PackagesAdded) -> tuple[Installed, ...]:
    """What a record says was there."""
    wheels = dict(zip((name for name, _ in event.packages), event.wheels, strict=False))
    found = ((name, version, *wheels.get(name, ("", ""))) for name, version in event.packages)
    return tuple(Installed(name=name, version=version, wheel=wheel, sha256=sha) for name, version, wheel, sha in found)


def missing_in(graded: Graded, imports: frozenset[str]) -> tuple[str, ...]:
    """Modules that could not be imported, of those that `imports` names: neither Python's own nor the task's."""
    said = (graded.problem, *(case.message for case in graded.cases if case.outcome != "passed"))
    found = dict.fromkeys(filter(None, map(_missing, said)))
    stranger = [name for name in found if name.partition(".")[0] not in (*PYTHONS_OWN, *OWN_NAMES)]
    return tuple(name for name in stranger if any(f"{one}.".startswith(f"{name}.") for one in imports))


def imported_by(source: str) -> Iterator[str]:
    """Every module that a text imports, wherever; with each name of a `from` import, which may be a module too."""
    tree = try_parse(source)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))


def _missing(said: str) -> str:
    """The module that was not found, where that is what was raised and not words of another exception; else empty."""
    raised = _RAISED.search(said)
    found = _MISSING.match(said, raised.start()) if raised else None
    return found[1] if found else ""


def _advice(module: str) -> str:
    """For the model and for whoever reads the report."""
    top = module.partition(".")[0]
    meant = near(top.replace("_", "-").lower())
    instead = f"there is no well-known package of that name; if you mean {meant}, import that" if meant else ""
    otherwise = f"{top} is not among the packages here; do without it (to allow it: --allow-package {top})"
    return instead or otherwise


def _too_often(module: str, package: str) -> str:
    return f"packages were added {MOST_TIMES} times already; do without {module} (or ask for it: --with {package})"


def _told(graded: Graded, lacking: Sequence[str]) -> Graded:
    """The result with the reasons in its problem, once."""
    words = "; ".join(lacking)
    if graded.problem:
        return graded.model_copy(update={"problem": f"{graded.problem}: {words}"})
    cases = [
        case.model_copy(update={"message": f"{case.message}: {words}"}) if _missing(case.message) else case
        for case in graded.cases
    ]
    return graded.model_copy(update={"cases": tuple(cases)})
