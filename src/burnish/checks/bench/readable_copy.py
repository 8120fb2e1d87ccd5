"""A folder as a cell can read it.

A cell that root opens runs as a user that owns nothing, and so cannot read what is closed to others. Such a folder is
seen as a copy that is open to read; nothing changes for anybody who is not root.
"""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path

from burnish.errors import SetupProblem

NOT_NEEDED = {".git", "node_modules", "__pycache__"}
"""Folders that no test reads."""


def open_copy(folder: Path) -> Path | None:
    """A copy that everybody may read, when a cell could not read the folder itself; the caller removes it."""
    if os.getuid() != 0 or all(_is_open(path) for path in _tree(folder)):
        return None
    return copy_of(folder)


def copy_of(folder: Path) -> Path:
    """A folder whose only member, `copy`, is a copy that everybody may read; the caller removes it."""
    top = Path(tempfile.mkdtemp(prefix="burnish-project-"))
    copy = top / "copy"
    shutil.copytree(folder, copy, symlinks=True, ignore=_not_ours, ignore_dangling_symlinks=True)
    for path in (top, copy, *copy.rglob("*")):
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(stat.S_IMODE(mode) | (0o555 if path.is_dir() else 0o444))
    return top


def find_caches(folder: Path, environment: Path | None) -> list[Path]:
    """Every `__pycache__` below a folder but for those of its environment, relative to it.

    Python may believe what lies there and never look at the source, so no code of a project is run with them. Raises
    SetupProblem for one that is a link: what it leads to cannot be hidden.
    """
    found = []
    for here, folders, _ in os.walk(folder):
        if "__pycache__" in folders:
            cache = Path(here, "__pycache__")
            if cache.is_symlink():
                raise SetupProblem(f"{str(cache)!r} is a link, which Python never makes. Remove it: rm {cache}")
            found.append(cache.relative_to(folder))
        folders[:] = [name for name in folders if name != "__pycache__" and Path(here, name) != environment]
    return found


def _tree(folder: Path) -> Iterable[Path]:
    """The folder and what is in it, but for what no test needs."""
    yield folder
    for here, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not _is_needless(Path(here, name))]
        yield from (Path(here, name) for name in (*folders, *files))


def _is_open(path: Path) -> bool:
    """True when anybody may read it; links and sockets are nobody's concern."""
    mode = path.lstat().st_mode
    if stat.S_ISDIR(mode):
        return mode & 0o005 == 0o005
    return not stat.S_ISREG(mode) or bool(mode & 0o004)


def _is_needless(folder: Path) -> bool:
    """True for what no test reads, and for environments, which a cell sees by themselves."""
    return folder.name in NOT_NEEDED or (folder / "pyvenv.cfg").exists()


def _not_ours(here: str, names: list[str]) -> list[str]:
    """What is not copied: environments, caches, and everything that is not a file, a folder or a link."""
    paths = {name: Path(here, name) for name in names}
    return [
        name
        for name, path in paths.items()
        if not path.is_symlink() and (_is_needless(path) if path.is_dir() else not path.is_file())
    ]
