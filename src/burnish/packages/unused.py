"""Layers and wheels that nobody has used for a long time: removed, so that the cache does not grow for ever."""

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from burnish.packages.layer import MANIFEST, Manifest
from burnish.packages.lock import lock_of, taken
from burnish.packages.removal import remove
from burnish.packages.wheels import Wheels

DAYS = 90
USED = "used"
"""The file in a layer's folder whose time says when it was last asked for."""


def use(folder: Path) -> None:
    """Note that the layer in this folder is wanted today."""
    with suppress(OSError):  # a cache that cannot be written is never swept either
        (folder / USED).touch()


def sweep(home: Path) -> None:
    """Away with what was not used for so many days; what somebody makes just now stays."""
    for folder in [one for one in _layers(home) if _is_forgotten(one)]:
        with lock_of(folder).open("ab") as lock:
            if taken(lock) and _is_forgotten(folder):
                remove(folder)
    wheels = Wheels(home / "wheels")
    wanted = {wheel for folder in _layers(home) for wheel in _wheels_of(folder)}
    for wheel in [one for one in wheels.folder.glob("*.whl") if one.name not in wanted]:
        if _days(wheel) > DAYS:
            wheels.forget(wheel.name)


def _layers(home: Path) -> Iterator[Path]:
    return (file.parent for file in home.glob(f"[!.]*/{MANIFEST}"))


def _is_forgotten(folder: Path) -> bool:
    return min(_days(folder / USED), _days(folder / MANIFEST)) > DAYS


def _days(file: Path) -> float:
    """Since a file was written; without end where there is none."""
    try:
        return (time.time() - file.stat().st_mtime) / 86400
    except OSError:
        return float("inf")


def _wheels_of(folder: Path) -> list[str]:
    try:
        return [one.wheel for one in Manifest.model_validate_json((folder / MANIFEST).read_bytes()).packages]
    except (OSError, ValidationError):
        return []
