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
from burnish.packages import Budget, Layer, find_distribution, parse_requirements, prepare_layer
from burnish.packages.layer import list_recorded_packages, prepare_recorded_layer
from burnish.packages.names import PYTHONS_OWN, find_lookalike
from burnish.packages.requirements import normalise_requirements, parse_allowed
from burnish.parsing import try_parse
from burnish.text import one_line

Tell = Callable[[str], None]
MOST_REASON_CHARACTERS = 1000
"""Of why a package cannot be had. It ends with what to type, and paths in it may be long."""
MOST_TIMES = 3
"""How often the code of one run may make the layer larger."""
_RAISED = re.compile(r"\w*(?:Error|Exception|Warning): ")
_MISSING = re.compile(r"ModuleNotFoundError: No module named '([A-Za-z_]\w*(?:\.\w+)*)'")
OWN_NAMES = ("solution", "tests")


class RunPackages:
    """The layer of a run. `use_layer` is told of each larger one before any code runs in it; `budget` says what making
    one may take just now.
    """

    def __init__(
        self,
        layer: Layer | None,
        allow: Sequence[str],
        use_layer: Callable[[Path], None],
        tell: Tell | None = None,
        budget: Callable[[], Budget] = Budget,
    ) -> None:
        self.layer = layer
        self._allow = parse_allowed(allow)
        self._use_layer = use_layer
        self._tell = tell
        self._budget = budget
        self._times = 0

    def add(self, graded: Graded, version: int, sources: Sequence[str]) -> PackagesAdded | Graded:
        """One more package, for code that lacks it; else the same result, with what is to be said about what it lacks.

        `sources` are the texts of the code and of its tests. An equal result means that nothing is missing.
        """
        there = {one.name for one in self.layer.packages} if self.layer else set()
        imports = frozenset(name for source in sources for name in imported_modules(source))
        found = {module: self._find_package(module, imports) for module in missing_modules(graded, imports)}
        missing = {module: package for module, package in found.items() if package not in there}
        if not missing:
            return graded
        if unknown := [module for module, package in missing.items() if not package]:
            return _with_reason(graded, "; ".join(map(_advise_without, unknown)))
        if self._times >= MOST_TIMES:
            often = f"packages were added {MOST_TIMES} times already"
            pairs = missing.items()
            advice = [f"{often}; do without {module} (or ask for it: --with {package})" for module, package in pairs]
            return _with_reason(graded, "; ".join(advice))
        self._times += 1
        module, package = next(iter(missing.items()))
        try:
            return self._enlarge(package, version)
        except SetupProblem as problem:
            reason = one_line(str(problem), MOST_REASON_CHARACTERS)
            return _with_reason(graded, f"{module} cannot be had here: {reason}")

    def _enlarge(self, name: str, version: int) -> PackagesAdded:
        began = time.monotonic()
        had = self.layer.asked if self.layer else ()
        asked = normalise_requirements([*had, *parse_requirements([name], [*self._allow])])
        layer = prepare_layer(asked, tell=self._tell, budget=self._budget())
        self._use_layer(layer.folder)
        self.layer = layer
        event = packages_event(layer, f"version {version} imports it", time.monotonic() - began)
        return event.model_copy(update={"new": name, "for_version": version})

    def _find_package(self, module: str, imports: frozenset[str]) -> str:
        """The package that brings a module, if it may be had; else empty.

        What is imported from a module says more than its own name, which several packages may share.
        """
        for name in (module, *sorted(one for one in imports if one.startswith(f"{module}."))):
            own = canonicalize_name(name.partition(".")[0])
            if package := find_distribution(name) or (own if own in self._allow else ""):
                return package
        return ""


def prepare_run_layer(
    asked: Sequence[str], earlier: PackagesAdded | None, tell: Tell | None = None, budget: Budget | None = None
) -> Layer | None:
    """The packages that a run begins with: those that were asked for; of a run that goes on, the same versions again.

    Raises SetupProblem where they cannot be had.
    """
    if earlier:
        return prepare_recorded_layer(list_recorded_packages(earlier), tell=tell, budget=budget)
    return prepare_layer(asked, tell=tell, budget=budget) if asked else None


def packages_event(layer: Layer, why: str = "", seconds: float = 0.0) -> PackagesAdded:
    """A layer as the record has it."""
    packages = tuple((one.name, one.version) for one in layer.packages)
    wheels = tuple((one.wheel, one.sha256) for one in layer.packages)
    return PackagesAdded(asked=layer.asked, packages=packages, wheels=wheels, why=why, seconds=seconds)


def missing_modules(graded: Graded, imports: frozenset[str]) -> tuple[str, ...]:
    """Modules that could not be imported, of those that `imports` names: neither Python's own nor the task's."""
    said = (graded.problem, *(case.message for case in graded.cases if case.outcome != "passed"))
    found = dict.fromkeys(filter(None, map(_missing_module, said)))
    stranger = [name for name in found if name.partition(".")[0] not in (*PYTHONS_OWN, *OWN_NAMES)]
    return tuple(name for name in stranger if any(f"{one}.".startswith(f"{name}.") for one in imports))


def imported_modules(source: str) -> Iterator[str]:
    """Every module that a text imports, wherever; with each name of a `from` import, which may be a module too."""
    tree = try_parse(source)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))


def _missing_module(said: str) -> str:
    """The module that was not found, where that is what was raised and not words of another exception; else empty."""
    raised = _RAISED.search(said)
    found = _MISSING.match(said, raised.start()) if raised else None
    return found[1] if found else ""


def _advise_without(module: str) -> str:
    """For the model and for whoever reads the report."""
    top = module.partition(".")[0]
    if meant := find_lookalike(top.replace("_", "-").lower()):
        return f"there is no well-known package of that name; if you mean {meant}, import that"
    return f"{top} is not among the packages here; do without it (to allow it: --allow-package {top})"


def _with_reason(graded: Graded, reason: str) -> Graded:
    """The result with the reason in its problem, or with each failure for which it is one."""
    if graded.problem:
        return graded.model_copy(update={"problem": f"{graded.problem}: {reason}"})
    cases = [
        case.model_copy(update={"message": f"{case.message}: {reason}"}) if _missing_module(case.message) else case
        for case in graded.cases
    ]
    return graded.model_copy(update={"cases": tuple(cases)})
