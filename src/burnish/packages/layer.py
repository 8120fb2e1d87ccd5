"""A layer: one read-only folder of installed packages, and the file that says what they are.

It is laid over what a cell sees, as the layers of an image are.


    packages/uv/                uv's cache: every wheel that was ever fetched, unpacked
    packages/KEY/site/          what goes onto sys.path; read-only
    packages/KEY/layer.json     the manifest
    packages/KEY.DATE/          the same again, made later, with newer versions

A layer appears whole, by a rename, and never changes after. One whose files do not add up is as good as none.
"""

import fcntl
import hashlib
import os
import shutil
import sys
import sysconfig
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO

from packaging.requirements import Requirement
from pydantic import ValidationError

from burnish import paths
from burnish.events import Frozen, PackagesAdded

FORM = 1
"""Raised when layers are made in another way: older ones are then made anew."""
SITE, MANIFEST, USED = "site", "layer.json", "used"
"""`used` is an empty file whose time says when the layer was last asked for."""
OLD = timedelta(days=30)
"""From then on the index is asked for newer versions, where it can be reached."""
FORGOTTEN_DAYS = 90
"""A layer that nobody asked for so long is removed, so that the cache does not grow for ever."""


class InstalledPackage(Frozen):
    """One package of a layer."""

    name: str
    """In its normal form."""
    version: str
    wheel: str = ""
    """The file it came in."""
    sha256: str = ""


class Layer(Frozen):
    """Packages that code in a cell may import."""

    folder: Path
    """What goes onto sys.path. Nothing in it may be written, and nothing in it starts by itself."""
    packages: tuple[InstalledPackage, ...]
    """All that is in it, what the asked ones need too, by name."""
    asked: tuple[str, ...]
    made: str = ""
    """When, in ISO form."""

    @property
    def unpinned(self) -> set[str]:
        """The packages that were asked for without a version: only these can grow old."""
        return {one.name for one in map(Requirement, self.asked) if not one.specifier}

    @property
    def made_at(self) -> datetime:
        """When it was made; now, where its manifest does not say."""
        try:
            return datetime.fromisoformat(self.made).astimezone(UTC)
        except ValueError:
            return datetime.now(UTC)

    @property
    def is_old(self) -> bool:
        """Whether newer versions should be asked for."""
        return bool(self.unpinned) and datetime.now(UTC) - self.made_at > OLD

    def describe_age(self) -> str:
        """A notice about packages that are not of today and might be newer; empty where there are none."""
        if not self.unpinned or self.made_at.date() == datetime.now(UTC).date():
            return ""
        versions = [f"{one.name} {one.version}" for one in self.packages if one.name in self.unpinned]
        return f"{', '.join(versions)}, from the cache of {self.made_at.day} {self.made_at:%b %Y}"


class Manifest(Frozen):
    """What a layer's own file says of it."""

    form: int
    python: str
    asked: tuple[str, ...]
    packages: tuple[InstalledPackage, ...]
    set_aside: tuple[str, ...]
    """Files of the wheels that would have started by themselves, so they were taken out."""
    files: int
    size_bytes: int
    made: str


def layers_home() -> Path:
    """The folder of all layers; it may not exist yet."""
    return paths.cache() / "packages"


def interpreter_tag() -> str:
    """What tells interpreters apart whose packages differ: kind, version, machine and system."""
    return str(sysconfig.get_config_var("SOABI") or sys.implementation.cache_tag)


def layer_folder(requirements: Sequence[str]) -> Path:
    """The place of a layer: the same for the same interpreter and requirements, and for no other."""
    identity = "\n".join([str(FORM), interpreter_tag(), *requirements])
    return layers_home() / f"{interpreter_tag()}-{hashlib.sha256(identity.encode()).hexdigest()[:20]}"


def load_layer(folder: Path) -> Layer | None:
    """The layer in a folder, if it is there and whole."""
    try:
        manifest = Manifest.model_validate_json((folder / MANIFEST).read_bytes())
        if manifest.form != FORM or (manifest.files, manifest.size_bytes) != measure_folder(folder / SITE):
            return None
    except (OSError, ValidationError):
        return None
    return Layer(folder=folder / SITE, packages=manifest.packages, asked=manifest.asked, made=manifest.made)


def load_newest(folder: Path) -> Layer | None:
    """The layer in this folder, or the newest that was made in its place: none that may be in use is ever replaced."""
    later = sorted(folder.parent.glob(f"{folder.name}.2???????"), reverse=True)
    return next((found for one in (*later, folder) if (found := load_layer(one))), None)


def successor_folder(folder: Path) -> Path:
    """Where today's layer goes that takes the place of this one."""
    return folder.with_name(f"{folder.name}.{datetime.now(UTC):%Y%m%d}")


def note_use(folder: Path) -> None:
    """Note that the layer in this folder is wanted today."""
    with suppress(OSError):  # a cache that cannot be written is never pruned either
        (folder / USED).touch()


def remove_forgotten() -> set[str]:
    """Remove layers that nobody used for a long time; the names of packages that no layer has any more."""
    names: set[str] = set()
    for folder in [file.parent for file in layers_home().glob(f"[!.]*/{MANIFEST}") if _is_forgotten(file.parent)]:
        with lock_file(folder).open("ab") as lock:
            # The second look is under the lock: somebody may have asked for the layer in the meantime.
            if take_lock(lock) and _is_forgotten(folder):
                names |= _names_in(folder)
                remove(folder)
    kept = [_names_in(file.parent) for file in layers_home().glob(f"[!.]*/{MANIFEST}")]
    return names.difference(*kept)


def _is_forgotten(folder: Path) -> bool:
    newest = max((file.stat().st_mtime for file in (folder / USED, folder / MANIFEST) if file.exists()), default=0.0)
    return time.time() - newest > FORGOTTEN_DAYS * 86400


def _names_in(folder: Path) -> set[str]:
    try:
        return {one.name for one in Manifest.model_validate_json((folder / MANIFEST).read_bytes()).packages}
    except (OSError, ValidationError):
        return set()


def lock_file(folder: Path) -> Path:
    """The file whose lock says who makes this layer; the kernel frees the lock of a process that died."""
    return folder.with_name(f"{folder.name}.lock")


def take_lock(file: BinaryIO) -> bool:
    """Take the lock, unless somebody has it; it is held until the file is closed."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def measure_folder(folder: Path) -> tuple[int, int]:
    """How many files a folder has, and their bytes. Raises OSError when it is not there."""
    files = size = 0
    waiting = [str(folder)]
    while waiting:  # os.walk would take three times as long, and every use of a layer waits for this
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    files, size = files + 1, size + entry.stat(follow_symlinks=False).st_size
    return files, size


def remove(path: Path) -> None:
    """Away with a file or a folder, read-only or not; nothing happens if it is not there."""
    if not path.is_dir() or path.is_symlink():
        path.unlink(missing_ok=True)
        return
    for folder, _, _ in os.walk(path):
        Path(folder).chmod(0o755)
    shutil.rmtree(path)


def list_recorded_packages(event: PackagesAdded) -> tuple[InstalledPackage, ...]:
    """What a record says was there. Older ones do not name the wheels."""
    wheels = dict(zip((name for name, _ in event.packages), event.wheels, strict=False))
    found = ((name, version, *wheels.get(name, ("", ""))) for name, version in event.packages)
    return tuple(
        InstalledPackage(name=name, version=version, wheel=wheel, sha256=sha256)
        for name, version, wheel, sha256 in found
    )
