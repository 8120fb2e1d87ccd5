"""Third-party packages of a run: what code may import, and what becomes of code that imports something else.

A package is never fetched from inside a cell. A version that lacks one names it by failing; if it is a well-known one,
or one that the user allowed, the layer is made anew with it, out here, and the version is run again.
"""

import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from burnish.errors import SetupProblem
from burnish.events import Graded, PackagesAdded
from burnish.packages import Installed, Layer, distribution_of, prepare, wanted
from burnish.packages.distribution import PYTHONS_OWN
from burnish.packages.near import near
from burnish.packages.same import prepare_again
from burnish.runs.sentences import joined
from burnish.text import one_line

MOST_TIMES = 3
"""How often the code of one run may make the layer larger."""
_MISSING = re.compile(r"ModuleNotFoundError: No module named '([A-Za-z_]\w*)((?:\.\w+)*)'")
OWN_NAMES = ("solution", "tests")


class Packages:
    """The layer of a run. `wear` is told of each larger one before any code runs in it."""

    def __init__(
        self,
        layer: Layer | None,
        allow: Sequence[str],
        wear: Callable[[Path], None],
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self.layer = layer
        self._allow = tuple(allow)
        self._wear = wear
        self._tell = tell
        self._times = 0

    def add(self, graded: Graded, version: int) -> PackagesAdded | Graded:
        """More packages, for code that lacks some; else the same result, with what is to be said about what it lacks.

        An equal result means that nothing is missing.
        """
        there = {one.name for one in self.layer.packages} if self.layer else set()
        found = {module: self._package(module) for module in missing_in(graded)}
        missing = {module: package for module, package in found.items() if package not in there}
        unknown = [module for module, package in missing.items() if not package]
        if not missing:
            return graded
        if unknown or self._times >= MOST_TIMES:
            often = [_too_often(module, package) for module, package in missing.items()]
            return _told(graded, [_advice(module) for module in unknown] or often)
        self._times += 1
        try:
            return self._grown([package for package in missing.values() if package], version)
        except SetupProblem as problem:
            return _told(graded, [f"{joined([*missing])} cannot be had here: {one_line(str(problem), 300)}"])

    def _grown(self, names: Sequence[str], version: int) -> PackagesAdded:
        began = time.monotonic()
        had = self.layer.asked if self.layer else ()
        layer = prepare(wanted([*had, *names], self._allow), tell=self._tell)
        self.layer = layer
        self._wear(layer.folder)
        why = f"version {version} imports {'it' if len(names) == 1 else 'them'}"
        return added(layer, why, time.monotonic() - began)

    def _package(self, module: str) -> str:
        """The package that brings a module, if it may be had; else empty."""
        top = module.partition(".")[0]
        named = [name for name in self._allow if name.replace("-", "_").lower() == top.lower()]
        return distribution_of(module) or (named[0] if named else "")


def layer_for(
    asked: Sequence[str], earlier: PackagesAdded | None, tell: Callable[[str], None] | None = None
) -> Layer | None:
    """The packages that a run begins with: those that were asked for; of a run that goes on, the same versions again.

    Raises SetupProblem where they cannot be had.
    """
    if earlier:
        return prepare_again(recorded(earlier), tell=tell)
    return prepare(asked, tell=tell) if asked else None


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


def missing_in(graded: Graded) -> tuple[str, ...]:
    """Modules that code or tests could not import: neither Python's own nor the task's."""
    said = (graded.problem, *(case.message for case in graded.cases if case.outcome != "passed"))
    found = [top + rest for text in said for top, rest in _MISSING.findall(text)]
    return tuple(dict.fromkeys(name for name in found if name.partition(".")[0] not in (*PYTHONS_OWN, *OWN_NAMES)))


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
        case.model_copy(update={"message": f"{case.message}: {words}"}) if _MISSING.search(case.message) else case
        for case in graded.cases
    ]
    return graded.model_copy(update={"cases": tuple(cases)})
