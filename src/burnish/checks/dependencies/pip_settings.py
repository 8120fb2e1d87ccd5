"""The package index that pip is set up with: what pip itself says about its files and variables."""

import re

from burnish.checks.dependencies.index import Index
from burnish.checks.lab import Lab
from burnish.packages.pip_settings import settings


def configured_index(lab: Lab) -> Index:
    """The index, and the extra ones, that pip would ask. Raises CheckError when pip cannot be asked."""
    told = settings(lab.tool("pip", "config", "list", timeout_seconds=20))
    if told.get("no-index", "").lower() in {"1", "true", "yes", "on"}:
        return Index(())
    urls = told.get("index-url", "").split() or _usual(lab)
    return Index((*urls, *told.get("extra-index-url", "").split()), told.get("cert", ""))


def _usual(lab: Lab) -> list[str]:
    """Where pip looks when nobody said otherwise; its help page tells."""
    told = lab.tool("pip", "install", "--help", timeout_seconds=20)
    return re.findall(r"--index-url\b.*?\(default\s+(\S+?)\)", told, re.DOTALL)[:1]
