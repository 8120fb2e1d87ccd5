"""A project with a few files more than it has on disk: cells see them, the disk never does."""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from burnish.checks.interpreter import read_interpreter
from burnish.checks.lab import Lab
from burnish.checks.project import Project
from burnish.checks.readable import copy_of

READABLE = 0o644


@contextmanager
def staged(project: Project, files: Mapping[Path, str], sandbox: str = "auto") -> Iterator[Lab]:
    """A lab in which the project has these files too, by their paths below its root."""
    top = copy_of(project.root)
    try:
        for path, text in files.items():
            _put(top / "copy" / path, text)
        _room_for_environment(project, top / "copy")
        with Lab(project, sandbox, seen=top / "copy") as lab:
            yield lab
    finally:
        shutil.rmtree(top, ignore_errors=True)


def _put(place: Path, text: str) -> None:
    os.chmod(place.parent, 0o755)  # noqa: PTH101
    place.write_text(text, "utf-8")
    place.chmod(READABLE)


def _room_for_environment(project: Project, copy: Path) -> None:
    """An environment inside the project is not copied; a cell puts it where it was, so its folder must be there."""
    environment = read_interpreter(project.python).environment
    if environment is not None and environment.is_relative_to(project.root):
        (copy / environment.relative_to(project.root)).mkdir(parents=True, exist_ok=True)
