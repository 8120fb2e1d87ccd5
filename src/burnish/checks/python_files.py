"""Python files as they lie in folders, without those that are nobody's own code."""

import os
from collections.abc import Iterator
from pathlib import Path

from burnish.parsing import find_flaw

LEFT_OUT = {"node_modules", "build", "dist", "__pycache__", "site-packages"}


def python_files(folder: Path) -> Iterator[Path]:
    """Every .py file below a folder, in order, but for those that are nobody's own code."""
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not is_left_out(Path(here, name)))
        yield from (Path(here, name) for name in sorted(files) if name.endswith(".py") and Path(here, name).is_file())


def is_left_out(folder: Path) -> bool:
    """Hidden folders, environments, and what tools have made."""
    name = folder.name
    return name.startswith(".") or name in LEFT_OUT or name.endswith(".egg-info") or (folder / "pyvenv.cfg").exists()


def flaw_of(file: Path) -> SyntaxError | OSError | None:
    """What keeps a file from being judged as Python source; None when nothing does."""
    try:
        return find_flaw(file.read_bytes())
    except OSError as error:
        return error
