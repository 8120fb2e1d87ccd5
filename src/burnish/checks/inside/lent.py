"""Lends our pytest and coverage to an interpreter that has none, and nothing else of our packages."""

from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any

NAMES = {
    "pytest": ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "exceptiongroup", "tomli", "py"),
    "coverage": ("coverage", "tomli"),
}


class Lender:
    """Finds a few modules in one folder when nobody else has found them. Comes last."""

    def __init__(self, folder: str, names: tuple[str, ...]) -> None:
        self.folder = folder
        self.names = set(names)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Where the module is, if it is one that we lend."""
        return PathFinder.find_spec(name, [self.folder]) if name in self.names else None


def lend(name: str, folder: str) -> bool:
    """Make a package importable; True when it had to be lent."""
    if importlib.util.find_spec(name) is not None:
        return False
    sys.meta_path.append(Lender(folder, NAMES[name]))
    return True
