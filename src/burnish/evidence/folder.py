"""Is the folder what its evidence speaks of? Each file is read once; what was read is what is run later."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from burnish.evidence.beside import look_beside
from burnish.evidence.form import FILE, Dossier
from burnish.evidence.read import read_bytes
from burnish.parsing import refusal


@dataclass(frozen=True)
class Held:
    """The files as they were read, and all that is not as it should be."""

    files: dict[str, bytes]
    changed: tuple[str, ...]
    unseen: tuple[str, ...] = ()
    """What lies there, is not in the evidence, and was not looked at."""

    def text(self, name: str) -> str:
        """A file as text; what is no text is shown with question marks."""
        return self.files.get(name, b"").decode("utf-8", "replace")


def hold(dossier: Dossier, folder: Path) -> Held:
    """Read every listed file, compare hashes, and name what is missing, changed or too much."""
    files: dict[str, bytes] = {}
    changed = []
    for name, sha256 in sorted(dossier.files.items()):
        try:
            files[name] = _read(folder, name)
        except ValueError as error:
            changed.append(f"{name} {error}")
            continue
        if hashlib.sha256(files[name]).hexdigest() != sha256:
            changed.append(f"{name} has changed")
        elif name.endswith(".py") and (why := refusal(files[name])):
            changed.append(f"{name} is not what Python would import: {why}")
    beside = look_beside(folder, {*dossier.files, FILE})
    return Held(files, (*changed, *beside.refused), beside.unlisted)


def _read(folder: Path, name: str) -> bytes:
    """A file inside the folder; no part of the way to it may be a link."""
    place = folder
    for part in name.split("/"):
        place = place / part
        if place.is_symlink():
            raise ValueError("is a link" if place == folder / name else f"lies behind a link ({place.name})")
    if not place.exists():
        raise ValueError("is missing")
    return read_bytes(place)
