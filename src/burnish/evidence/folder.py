"""Is the folder what its evidence speaks of? Each file is read once; what was read is what is run later."""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from burnish.errors import SetupProblem
from burnish.evidence.form import FILE, Dossier
from burnish.evidence.read import read_bytes
from burnish.text import one_line

MOST_ENTRIES = 2_000
MATTERS = (".py", ".pyi", ".pyc", ".pyo", ".pyd", ".so", ".pth")
SETTINGS = ("pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml", ".coveragerc", "requirements.txt")
"""Files that change what happens when somebody runs the tests in the folder."""
COMPILED = (".pyc", ".pyo")
"""Python may believe such a file and never look at the source, wherever the folder keeps it."""
PASSED_OVER = (".git",)
"""At the top of the folder: full of files that nobody can judge, and none of them is ever run from here."""


@dataclass(frozen=True)
class Held:
    """The files as they were read, and all that is not as it should be."""

    files: dict[str, bytes]
    changed: tuple[str, ...]
    unseen: tuple[str, ...] = ()
    """What lies there and was not looked at."""

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
    unseen = tuple(name for name in PASSED_OVER if _is_passed_over(folder / name))
    return Held(files, (*changed, *_extra(folder, {*dossier.files, FILE})), unseen)


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


def _extra(folder: Path, known: set[str]) -> Iterator[str]:
    """What lies there beside the known files and would have a say when somebody runs them."""
    seen = 0
    for here, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if Path(here) != folder or not _is_passed_over(folder / name))
        for name in sorted((*folders, *names)):
            seen += 1
            if seen > MOST_ENTRIES:
                raise SetupProblem(
                    f"There are more than {MOST_ENTRIES} files in {str(folder)!r}, so this is not a folder that "
                    "Burnish delivered. Name that one: burnish verify FOLDER"
                )
            path = Path(here) / name
            told = path.relative_to(folder).as_posix()
            if told not in known and (path.is_symlink() or (name in names and _matters(name))):
                yield f"{one_line(told, 120)} {_called(path)}"


def _called(path: Path) -> str:
    if path.is_symlink():
        return "is a link that the evidence does not know"
    if path.name.lower().endswith(COMPILED):
        return "is compiled code, which Python may run in place of the source; delete it and verify again"
    return "is a file that the evidence does not know"


def _is_passed_over(path: Path) -> bool:
    return path.name in PASSED_OVER and path.is_dir() and not path.is_symlink()


def _matters(name: str) -> bool:
    return name.lower().endswith(MATTERS) or name in SETTINGS
