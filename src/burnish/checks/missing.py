"""Tests that fail because a package is not there: which one it is, and how it can be had.

What a test said is the code's own word, so only well-known packages are named, and none that the project brings itself.
"""

import re
import shlex
from collections.abc import Iterable

from burnish.checks.project import Project
from burnish.packages import distribution_of
from burnish.packages.distribution import NAMESPACES

_MISSING = re.compile(r"\bModuleNotFoundError: No module named '([A-Za-z_]\w*(?:\.\w+)*)'")


def missing_package(messages: Iterable[str], project: Project) -> str:
    """The first package that a message misses; "" where none does.

    A module inside another is missing in a package that is there, unless many packages share the outer one.
    """
    for module in (found[1] for message in messages for found in _MISSING.finditer(message)):
        top, inner, _ = module.partition(".")
        package = distribution_of(module) if top in NAMESPACES or not inner else None
        if package and not _is_own(top, project):
            return package
    return ""


def how_to_have(package: str, project: Project) -> str:
    """What to add to the command, or what to type where an environment brings the packages."""
    if not project.has_environment:
        return f"add --with {package}"
    return f"type {pip_line(package, project)}"


def pip_line(package: str, project: Project) -> str:
    """The command that puts a package into the project's environment."""
    return shlex.join([str(project.python), "-m", "pip", "install", package])


def _is_own(module: str, project: Project) -> bool:
    places = [project.root, project.root / "src"]
    return any((place / name).exists() for place in places for name in (module, f"{module}.py"))
