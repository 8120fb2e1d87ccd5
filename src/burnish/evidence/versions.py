"""Which versions are at work: of Python, of Burnish, and of the tools behind each check."""

import platform
from importlib import metadata

from burnish.version import __version__

TOOLS = {
    "tests": ("pytest",),
    "coverage": ("pytest", "coverage"),
    "mutation": ("pytest", "mutmut"),
    "security": ("bandit",),
    "dependencies": ("pip-audit",),
    "quality": ("ruff", "radon"),
    "performance": (),
}
"""By the check that leans on them."""


def versions() -> dict[str, str]:
    """By name; a tool that is not installed is not there."""
    found = {"python": platform.python_version(), "burnish": __version__}
    for name in dict.fromkeys(tool for tools in TOOLS.values() for tool in tools):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def other_versions(check: str, then: dict[str, str], now: dict[str, str]) -> str:
    """What differs behind one check, in words: "ruff was 0.17.0, is 0.18.1"; empty where nothing does."""
    names = ("python", "burnish", *TOOLS.get(check, ()))
    return ", ".join(
        f"{name} was {then[name]}, is {now.get(name, 'missing')}"
        for name in names
        if name in then and then[name] != now.get(name)
    )
