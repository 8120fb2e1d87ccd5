"""Limits on a whole cell by control groups, version 1 or 2, whichever holds the controllers and can be written.

A group is a folder named after the process that made it, so that the next Burnish can remove what a killed one left.
"""

import contextlib
import itertools
import os
import time
from dataclasses import dataclass
from pathlib import Path

from burnish.sandbox.sandbox import MIB, JobLimits
from burnish.system import CGROUP, is_running

ROOT = Path("/sys/fs/cgroup")
OURS = "burnish-"
OWN_BYTES = 96 * MIB
"""What the server and the judges of a cell need themselves."""
OWN_PROCESSES = 8
_numbers = itertools.count()


@dataclass(frozen=True)
class CgroupPlace:
    """A folder in which groups with some of our limits can be made."""

    folder: Path
    version: int
    controllers: tuple[str, ...]


def find_places(root: Path = ROOT, own: Path = CGROUP) -> list[CgroupPlace]:
    """Where groups can be made, version 1 first; empty when nowhere."""
    try:
        lines = [line.split(":", 2) for line in own.read_text().splitlines()]
    except OSError:
        return []
    mine = {controller: path for _, controllers, path in lines for controller in controllers.split(",")}
    first = [
        CgroupPlace(find_own_group(root / name, mine[name]), 1, (name,)) for name in ("memory", "pids") if name in mine
    ]
    usable = [place for place in first if os.access(place.folder, os.W_OK) and (place.folder / "tasks").exists()]
    return usable or find_v2_places(root, mine.get("", "/"))


def find_own_group(folder: Path, path: str) -> Path:
    """Our own group in a hierarchy, or its top when we cannot see our own (in a container)."""
    found = folder / path.lstrip("/")
    return found if found.is_dir() else folder


def find_v2_places(root: Path, mine: str) -> list[CgroupPlace]:
    """The nearest group above ours that may hand memory and process limits to new groups."""
    folder = find_own_group(root, mine)
    for place in (folder, *folder.parents):
        control = place / "cgroup.subtree_control"
        if not place.is_relative_to(root) or not control.exists():
            break
        given = tuple(name for name in ("memory", "pids") if name in control.read_text().split())
        if given and os.access(place, os.W_OK) and os.access(place / "cgroup.procs", os.W_OK):
            return [CgroupPlace(place, 2, given)]
    return []


def create_group(where: list[CgroupPlace], limits: JobLimits) -> list[Path]:
    """A new group with these limits in every place: its folders."""
    name = f"{OURS}{os.getpid()}-{next(_numbers)}"
    memory = limits.memory_bytes + OWN_BYTES
    # A group of either version has its own of these files, the kernel's; no other may be made.
    values = {"memory.limit_in_bytes": memory, "memory.max": memory, "memory.swap.max": 0}
    values["pids.max"] = limits.processes + OWN_PROCESSES
    made = []
    for place in where:
        folder = place.folder / name
        with contextlib.suppress(OSError):
            folder.mkdir()
            for file, value in values.items():
                if file.split(".")[0] in place.controllers and (folder / file).exists():
                    (folder / file).write_text(str(value))
            made.append(folder)
    return made


def remove_group(folders: list[Path]) -> None:
    """Remove a group; its last process may need a moment to go."""
    for folder in folders:
        for _ in range(50):
            try:
                folder.rmdir()
            except FileNotFoundError:
                break
            except OSError:
                time.sleep(0.01)


def remove_leftovers(where: list[CgroupPlace]) -> None:
    """Remove the groups of a Burnish that is no more."""
    for place in where:
        for folder in place.folder.glob(f"{OURS}*"):
            owner = folder.name.removeprefix(OURS).split("-")[0]
            if owner.isdigit() and not is_running(int(owner)):
                with contextlib.suppress(OSError):
                    folder.rmdir()


def describe_places(where: list[CgroupPlace]) -> str:
    """Which limits groups give, in words; "" when none."""
    names = {"memory": "memory", "pids": "processes"}
    given = [names[controller] for place in where for controller in place.controllers]
    return f"{' and '.join(given)} by cgroup v{where[0].version}" if given else ""
