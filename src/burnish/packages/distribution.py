"""From the name of a module to the package that brings it."""

import sys
from collections.abc import Callable, Iterable

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from burnish.packages.names import PACKAGE_OF
from burnish.packages.near import well_known

PYTHONS_OWN = sys.stdlib_module_names | {"__main__", "annotationlib", "compression"}
"""Modules of the standard library, those of newer Pythons too."""

NAMESPACES = {"google", "azure"}
"""Modules that many packages share, so that they do not say which of them is meant."""


def distribution_of(module: str) -> str | None:
    """The well-known package that brings a module, in its normal form; None for Python's own and for strangers."""
    top = module.split(".")[0]
    if not top or top in PYTHONS_OWN:
        return None
    name = canonicalize_name(usual_name(module) or ("" if top in NAMESPACES else top))
    return name if name in well_known() else None


def brings(requirements: Iterable[str]) -> Callable[[str], bool]:
    """Says of a module whether one of these packages brings it, as far as its name tells."""
    names = {canonicalize_name(Requirement(text).name) for text in requirements}
    return lambda module: canonicalize_name(usual_name(module) or module.split(".")[0]) in names


def usual_name(module: str) -> str:
    """The package of a module that goes by another name; empty where none is known."""
    return PACKAGE_OF.get(module.split(".")[0]) or _in_namespace(module)


def _in_namespace(module: str) -> str:
    """A namespace of many packages says little by its first name; its packages go by the first two or three."""
    parts = module.split(".")
    if parts[:2] == ["google", "cloud"] and len(parts) > 2:
        return "-".join(parts[:3])
    return next((PACKAGE_OF[name] for end in (3, 2) if (name := ".".join(parts[:end])) in PACKAGE_OF), "")
