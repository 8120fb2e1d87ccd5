"""A layer: one folder of installed packages, and the file beside it that says what they are.

    packages/wheels/            every wheel that was ever fetched, each with its SHA-256 beside it
    packages/KEY/site/          what goes onto sys.path; read-only
    packages/KEY/layer.json     the manifest
    packages/KEY.DATE/          the same again, made later, with newer versions

A layer appears whole, by a rename, and never changes after. One whose files do not add up is as good as none.
"""

import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import ValidationError

from burnish import paths
from burnish.events import Frozen

FORM = 1
"""Raised when layers are made in another way: older ones are then made anew."""
SITE, MANIFEST = "site", "layer.json"


class Installed(Frozen):
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
    packages: tuple[Installed, ...]
    """All that is in it, what the asked ones need too, by name."""
    asked: tuple[str, ...]
    made: str = ""
    """When, in ISO form."""


class Manifest(Frozen):
    """What a layer's own file says of it."""

    form: int
    python: str
    asked: tuple[str, ...]
    packages: tuple[Installed, ...]
    set_aside: tuple[str, ...]
    """Files of the wheels that would have started by themselves, so they were taken out."""
    files: int
    size_bytes: int
    made: str


def home() -> Path:
    """The folder of all layers and wheels; it may not exist yet."""
    return paths.cache() / "packages"


def key(python: str, requirements: Sequence[str]) -> str:
    """The name of the layer's folder: the same for the same interpreter and requirements, and for no other."""
    told = "\n".join([str(FORM), python, *requirements])
    return f"{python}-{hashlib.sha256(told.encode()).hexdigest()[:20]}"


def pinned(packages: Iterable[tuple[str, str]]) -> list[str]:
    """Requirements for the very versions of some packages, each given as its name and version."""
    return [f"{name}=={version}" for name, version in packages]


def load(folder: Path) -> Layer | None:
    """The layer in a folder, if it is there and whole."""
    try:
        manifest = Manifest.model_validate_json((folder / MANIFEST).read_bytes())
        whole = manifest.form == FORM and (manifest.files, manifest.size_bytes) == weigh(folder / SITE)
    except (OSError, ValidationError):
        return None
    if not whole:
        return None
    return Layer(folder=folder / SITE, packages=manifest.packages, asked=manifest.asked, made=manifest.made)


def weigh(folder: Path) -> tuple[int, int]:
    """How many files a folder has, and their bytes. Raises OSError when it is not there."""
    files = size = 0
    waiting = [str(folder)]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    files, size = files + 1, size + entry.stat(follow_symlinks=False).st_size
    return files, size
