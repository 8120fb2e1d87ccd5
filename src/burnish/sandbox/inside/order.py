"""Where modules are looked for in a cell: Python's own first, then pytest and what it needs.

The judge has no more than this: nothing of a layer can be imported where code is judged from another process. For code
the task's layer comes before pytest's needs, as it would at the user's: whoever asked for an older `packaging` gets it.
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
    sys.path += filter(None, [packages])


def for_code() -> None:
    """The order for this process from here on: code will run in it."""
    if len(PLACES) < 2:
        return
    packages, layer = PLACES
    sys.path.remove(packages)
    sys.path += [layer, packages]
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
