"""Every wheel that was ever fetched, each with its SHA-256 beside it from the day it came."""

import hashlib
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from packaging.requirements import Requirement
from packaging.utils import InvalidWheelFilename, NormalizedName, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from burnish.packages.layer import Installed

MOST_FILES = 200_000
"""Files of all wheels of a layer. The largest packages have some ten thousand."""
USUAL_BYTES, USUAL_RATIO = 100 << 20, 20
"""Unpacked, wheels have no more than this many bytes, and this many times their own besides; usual is five times."""


class Wheels:
    """A folder that pip can install from without asking anybody."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def take_in(self, fetched: Path) -> None:
        """Keep the wheels of a folder. The note comes first: a wheel without one would be trusted for nothing."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for file in sorted(fetched.glob("*.whl")):
            note = fetched / f"{file.name}.sha256"
            note.write_text(_sha256(file), "utf-8")
            note.replace(self.folder / note.name)
            file.replace(self.folder / file.name)

    def altered(self, packages: tuple[Installed, ...]) -> list[str]:
        """The wheels, of those that were installed, that are not what was once fetched."""
        return [one.wheel for one in packages if self._noted(one.wheel) != one.sha256]

    def forget(self, wheel: str) -> None:
        """Use a wheel no more."""
        (self.folder / wheel).unlink(missing_ok=True)
        (self.folder / f"{wheel}.sha256").unlink(missing_ok=True)

    def missing(self, requirements: tuple[str, ...]) -> list[str]:
        """The requirements that no wheel here fits."""
        here = list(self._versions())
        return [one for one in requirements if not any(_fits(Requirement(one), *wheel) for wheel in here)]

    def _versions(self) -> Iterator[tuple[NormalizedName, Version]]:
        for file in self.folder.glob("*.whl"):
            try:
                yield parse_wheel_filename(file.name)[:2]
            except (InvalidWheelFilename, InvalidVersion):
                continue

    def _noted(self, wheel: str) -> str:
        try:
            return (self.folder / f"{wheel}.sha256").read_text("utf-8")
        except (OSError, ValueError):
            return ""


def installed(report: Path) -> tuple[Installed, ...]:
    """What pip's report of an installation says was put there, by name. ValueError: some came from an address."""
    told = json.loads(report.read_text("utf-8"))["install"]
    if any(item["is_direct"] for item in told):
        raise ValueError("not from the index")
    return tuple(sorted((_package(item) for item in told), key=lambda one: one.name))


def is_bomb(fetched: Path) -> bool:
    """Whether the wheels of a folder would unpack to far more than wheels usually do.

    Python unpacks no more of a file than the wheel announces, so what is announced is what counts.
    """
    files = list(fetched.glob("*.whl"))
    try:
        entries = [entry for file in files for entry in zipfile.ZipFile(file).infolist()]
    except (zipfile.BadZipFile, NotImplementedError):
        return False  # pip says what is wrong with it
    most_bytes = USUAL_BYTES + USUAL_RATIO * sum(file.stat().st_size for file in files)
    return len(entries) > MOST_FILES or sum(entry.file_size for entry in entries) > most_bytes


def _package(item: dict[str, Any]) -> Installed:
    source = item["download_info"]
    return Installed(
        name=canonicalize_name(item["metadata"]["name"]),
        version=item["metadata"]["version"],
        wheel=unquote(source["url"]).rsplit("/", 1)[-1],
        sha256=source["archive_info"]["hashes"]["sha256"],
    )


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _fits(wanted: Requirement, name: NormalizedName, version: Version) -> bool:
    return wanted.name == name and wanted.specifier.contains(version, prereleases=True)
