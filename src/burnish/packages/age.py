"""Packages that were asked for without a version: how old a layer of them may grow, and what is said of its age."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from packaging.requirements import Requirement

from burnish.packages import layer
from burnish.packages.layer import Layer

OLD = timedelta(days=30)
"""From then on the index is asked for newer versions, where it can be reached."""
ASKING_SECONDS = 60.0
"""For the index to bring them; what is in the cache would do."""


def newest(folder: Path) -> Layer | None:
    """The layer in this folder, or the newest that was made in its place: none that may be in use is ever replaced."""
    later = sorted(folder.parent.glob(f"{folder.name}.2???????"), reverse=True)
    return next((found for one in (*later, folder) if (found := layer.load(one))), None)


def successor(folder: Path) -> Path:
    """Where today's layer goes that takes the place of this one."""
    return folder.with_name(f"{folder.name}.{datetime.now(UTC):%Y%m%d}")


def is_old(found: Layer) -> bool:
    """Whether newer versions should be asked for: only where the user left it open which."""
    return bool(_open(found)) and datetime.now(UTC) - _made(found) > OLD


def from_the_cache(found: Layer) -> str:
    """What is said of packages that are not of today, and might be newer; empty where there is nothing to say."""
    names = _open(found)
    made = _made(found)
    if not names or made.date() == datetime.now(UTC).date():
        return ""
    versions = [f"{one.name} {one.version}" for one in found.packages if one.name in names]
    return f"{', '.join(versions)}, from the cache of {made.day} {made:%b %Y}"


def _open(found: Layer) -> set[str]:
    """The packages that were asked for without a version."""
    asked = map(Requirement, found.asked)
    return {one.name for one in asked if not one.specifier}


def _made(found: Layer) -> datetime:
    try:
        return datetime.fromisoformat(found.made).astimezone(UTC)
    except ValueError:
        return datetime.now(UTC)
