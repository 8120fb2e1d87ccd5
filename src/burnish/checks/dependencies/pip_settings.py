"""The package index that pip is set up with: what pip itself says about its files and variables."""

import ast
import re

from burnish.checks.dependencies.index import Index
from burnish.checks.lab import Lab


def configured_index(lab: Lab) -> Index:
    """The index, and the extra ones, that pip would ask. Raises CheckError when pip cannot be asked."""
    told = _settings(lab.tool("pip", "config", "list", timeout_seconds=20))
    if told.get("no-index", "").lower() in {"1", "true", "yes", "on"}:
        return Index(())
    urls = told.get("index-url", "").split() or _usual(lab)
    return Index((*urls, *told.get("extra-index-url", "").split()), told.get("cert", ""))


def _settings(listed: str) -> dict[str, str]:
    """Names and values; pip lists them from the weakest place to the strongest, the environment last."""
    found: dict[str, str] = {}
    strength: dict[str, int] = {}
    for place, name, value in re.findall(r"^([\w:-]*)\.([\w-]+)=(.*)$", listed, re.MULTILINE):
        weight = {"global": 0, "install": 1, ":env:": 2}.get(place, -1)
        if weight >= max(strength.get(name, 0), 0):
            found[name], strength[name] = _unquoted(value), weight
    return found


def _unquoted(value: str) -> str:
    try:
        return str(ast.literal_eval(value))
    except (ValueError, SyntaxError):
        return value


def _usual(lab: Lab) -> list[str]:
    """Where pip looks when nobody said otherwise; its help page tells."""
    told = lab.tool("pip", "install", "--help", timeout_seconds=20)
    return re.findall(r"--index-url\b.*?\(default\s+(\S+?)\)", told, re.DOTALL)[:1]
