"""Where modules are looked for in a cell: Python's own first, then pytest and what it needs, then the task's layer.

The judge keeps this order, so nothing in a layer can take the place of what judges. For code the layer comes before
pytest's needs, as it would at the user's: whoever asked for an older `packaging` gets that one.
"""

# ruff: noqa: PTH110

import os
import sys

OURS = ("pytest", "_pytest", "pluggy")
"""What runs the tests; it stays what it is also where code shares its process."""
PLACES: list[str] = []
"""The folder with pytest and what it needs, and the layer where there is one."""


def begin(packages: str, layer: str) -> None:
    """The order for process 1 and the judge."""
    PLACES[:] = filter(None, (packages, layer))
    sys.path += PLACES


def for_code() -> None:
    """The order for this process from here on: code will run in it."""
    if len(PLACES) < 2:
        return
    packages, layer = PLACES
    sys.path.remove(packages)
    sys.path.append(packages)
    for name in list(sys.modules):
        top = name.partition(".")[0]
        if top not in OURS and is_from(packages, name) and has(layer, top):
            del sys.modules[name]


def is_from(folder: str, name: str) -> bool:
    """Whether a module that is loaded came from a folder."""
    return str(getattr(sys.modules[name], "__file__", None) or "").startswith(f"{folder}/")


def has(folder: str, top: str) -> bool:
    """Whether a folder has a module of that name."""
    return os.path.exists(f"{folder}/{top}") or os.path.exists(f"{folder}/{top}.py")
