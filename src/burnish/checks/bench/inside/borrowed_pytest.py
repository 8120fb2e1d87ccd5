"""Lends our pytest and coverage to an interpreter that has none, and nothing else of our packages."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import Distribution, DistributionFinder, MetadataPathFinder
from typing import Any

NAMES = {
    "pytest": ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "exceptiongroup", "tomli", "py"),
    "coverage": ("coverage", "tomli"),
}
FIRST = ("pytest", "_pytest", "pluggy", "coverage")


class Lender:
    """Finds a few modules in one folder."""

    def __init__(self, folder: str, names: tuple[str, ...]) -> None:
        self.folder = folder
        self.names = set(names)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Where the module is, if it is one that we lend."""
        return PathFinder.find_spec(name, [self.folder]) if name in self.names else None

    def find_distributions(self, context: DistributionFinder.Context) -> Iterable[Distribution]:
        """What is known about a package that we lend, when it is asked for by name; no plugin is found this way."""
        if context.name not in self.names:
            return []
        return MetadataPathFinder.find_distributions(DistributionFinder.Context(name=context.name, path=[self.folder]))


def borrow(name: str, folder: str, first: bool = False) -> bool:
    """Make a package importable; True when it had to be lent.

    `first`: ours judges in any case, whatever goes by its name among the packages of the code.
    """
    if first:
        sys.meta_path.insert(0, Lender(folder, FIRST))
    elif importlib.util.find_spec(name) is not None:
        return False
    sys.meta_path.append(Lender(folder, NAMES[name]))
    return True
