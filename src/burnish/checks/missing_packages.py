"""Tests that fail because a package is not there: which one it is, and how it can be had.

What a test said is the code's own word, so only well-known packages are named, and none that the project brings itself.
"""

import re
import shlex
from collections.abc import Iterable

from burnish.checks.project import Project
from burnish.packages import find_distribution
from burnish.packages.names import NAMESPACES

_MISSING = re.compile(r"\bModuleNotFoundError: No module named '([A-Za-z_]\w*(?:\.\w+)*)'")


def find_missing_package(messages: Iterable[str], project: Project) -> str:
    """The first package that a message misses; "" where none does.

    A module inside another is missing in a package that is there, unless many packages share the outer one.
    """
    places = [project.root, project.root / "src"]
    for module in (found[1] for message in messages for found in _MISSING.finditer(message)):
        top, inner, _ = module.partition(".")
        package = find_distribution(module) if top in NAMESPACES or not inner else None
        is_own = any((place / name).exists() for place in places for name in (top, f"{top}.py"))
        if package and not is_own:
            return package
    return ""


def explain_install(package: str, project: Project) -> str:
    """What to add to the command, or what to type where an environment brings the packages."""
    if not project.has_environment:
        return f"add --with {package}"
    return f"type {install_command(package, project)}"


def install_command(package: str, project: Project) -> str:
    """The command that puts a package into the project's environment."""
    return shlex.join([str(project.python), "-m", "pip", "install", package])
