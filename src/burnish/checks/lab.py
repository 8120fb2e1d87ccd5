"""Where checks work: a sandbox that sees the project read-only, our own tools, and what earlier checks left for later.

The rule: code of the project runs in `run` and nowhere else. `tool` starts programs of ours that only read text.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from burnish.checks.bare_venv import fill_bare_venv, make_bare_venv
from burnish.checks.interpreter import interpreter_in, must_do_without_environment, read_interpreter
from burnish.checks.project import Project
from burnish.checks.readable import copy_of, find_caches, open_copy
from burnish.errors import CheckError
from burnish.events import CommandRan
from burnish.packages.uv import MACHINE_VARIABLES
from burnish.sandbox import Limits, open_sandbox
from burnish.sandbox.bubblewrap import (
    CELL_INSIDE,
    CELL_INSTALLED,
    CELL_LAYER,
    CELL_PACKAGES,
    SYSTEM,
    packages_folder,
)
from burnish.sandbox.docker.image import own as own_image

if TYPE_CHECKING:
    from burnish.checks.coverage import Measured

PROJECT, VENV = "/project", "/venv"
"""Where a cell sees the project and its virtual environment when it cannot see them where they are."""
OURS = (CELL_INSIDE, CELL_PACKAGES, CELL_INSTALLED, CELL_LAYER)
TAKEN = ("/tmp", "/work", "/dev", "/proc", "/etc", "/sys", *SYSTEM, *OURS)
MOST_CACHES = 200
"""Folders with compiled code that are hidden one by one; a project with more is copied without them."""
MIB = 1024 * 1024
LIMITS = Limits(output_bytes=64 * MIB, memory_bytes=2048 * MIB, processes=128, open_files=1024)

Tell = Callable[[int, int], None]
"""How far a check has come: steps done, steps in all (0: nobody knows)."""


class Lab:
    """One sandbox for all checks of one project. Use it as a context manager."""

    def __init__(
        self, project: Project, sandbox: str = "auto", tell: Tell | None = None, seen: Path | None = None
    ) -> None:
        self.project = project
        self._seen = seen or project.root
        """What commands see in the project's place: a copy with more in it, or the project itself."""
        self.tell: Tell = tell or (lambda done, total: None)
        self.touched: dict[str, dict[int, tuple[str, ...]]] | None = None
        """Which tests run which line of which source; None until the coverage check has found out."""
        self.measured: Measured | None = None
        """What the run of the tests with coverage found; None until the coverage check has made it."""
        layer = "" if project.layer is None else str(project.layer) if sandbox == "process" else CELL_LAYER
        if sandbox == "docker" and own_image():
            must_do_without_environment(project)
        self._bare = make_bare_venv(layer) if project.alone else None
        self._interpreter = self._bare or read_interpreter(project.python)
        self._copy, self._caches = None, list[Path]()
        if sandbox != "process":
            caches = find_caches(self._seen, self._interpreter.environment)
            self._copy = copy_of(self._seen) if len(caches) > MOST_CACHES else open_copy(self._seen)
            self._caches = [] if self._copy else caches
        self._made: list[Path] = []
        try:
            self.sandbox = open_sandbox(sandbox, limits=LIMITS, folders=self._folders(), layer=project.layer)
            self._python = self._found(layer)
        except BaseException:
            self._remove_folders()
            raise

    @property
    def root(self) -> str:
        """The project's folder, as a command sees it."""
        return str(self._seen) if self.sandbox.kind == "process" else place_of(self.project.root, PROJECT)

    @property
    def python(self) -> str:
        """The project's interpreter, as a command sees it; in an image of the user's own that image's."""
        return self._python

    @property
    def _in_own_image(self) -> bool:
        return self.sandbox.kind == "docker" and bool(own_image())

    def _found(self, layer: str) -> str:
        """Where a command finds the interpreter. A bare environment is made anew for the Python of an own image."""
        python, environment = self._interpreter.python, self._interpreter.environment
        if self._in_own_image:
            must_do_without_environment(self.project)
            theirs = interpreter_in(self.sandbox)
            if self._bare is None or environment is None:
                return theirs
            fill_bare_venv(environment, Path(theirs), self.sandbox.python, layer)
        if self.sandbox.kind == "process" or environment is None:
            return str(python)
        return f"{place_of(environment, VENV)}/{python.relative_to(environment)}"

    def run(
        self, argv: Sequence[str], files: Mapping[str, str] | None = None, timeout_seconds: float = 60.0
    ) -> CommandRan:
        """One command in the sandbox. It starts in a fresh folder with `files`; the project is at `root`, read-only.

        Nothing of Burnish's own packages is on its path: they lie at `packages`, for a script that wants them last.
        """
        return self.sandbox.run(["env", "-u", "PYTHONPATH", *argv], files, timeout_seconds)

    @property
    def packages(self) -> str:
        """Our own pytest and coverage, for projects that have none."""
        if self.sandbox.kind == "process":
            return str(packages_folder())
        return CELL_PACKAGES if self._in_own_image else CELL_INSTALLED

    def tool(self, *argv: str, timeout_seconds: float = 120.0, cwd: Path = Path("/")) -> str:
        """The standard output of one of our own tools, `python -m …` of our interpreter; any exit code but a crash's.

        Nothing below `cwd` can be imported by it, and of the user's variables it sees those that say how to reach an
        index. Raises CheckError when the tool is missing, is ended by a signal, or takes too long.
        """
        command = [sys.executable, "-I", "-m", *argv]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=timeout_seconds, cwd=cwd, env=tool_environment()
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CheckError(f"{argv[0]} could not be run: {error}") from error
        if done.returncode < 0 or f"No module named {argv[0]}" in done.stderr:
            raise CheckError(f"{argv[0]} did not run: {done.stderr.strip()[-300:] or done.returncode}")
        return done.stdout

    def _folders(self) -> dict[str, str]:
        """The project, its virtual environment and the interpreter behind that, where the cell has not got it yet."""
        root, known = self.project.root, self._interpreter
        seen = self._copy / "copy" if self._copy else self._seen
        folders = {str(seen): place_of(root, PROJECT)}
        for named in known.installations:
            home = (
                Path(os.path.realpath(named)) if named.is_relative_to(root) else named
            )  # the cell has the link itself
            system = any(home.is_relative_to(place) for place in SYSTEM) or len(home.parts) < 2
            if not system and str(home) != sys.base_prefix:
                folders[str(home)] = str(home)
        if known.environment is not None:
            folders[str(known.environment)] = place_of(known.environment, VENV)
        places = (*TAKEN, sys.base_prefix, *map(str, known.installations), *folders.values())
        return self._link_folders(known.links, places) | folders | self._empty_folders(folders[str(seen)])

    def _empty_folders(self, place: str) -> dict[str, str]:
        """An empty folder for each of the project's caches of compiled code, to be seen in its place."""
        if not self._caches:
            return {}
        top = self._make_folder()
        empty = [top / str(number) for number in range(len(self._caches))]
        for folder in empty:
            folder.mkdir(mode=0o755)
        return {str(one): f"{place}/{cache}" for one, cache in zip(empty, self._caches, strict=True)}

    def _link_folders(self, links: Sequence[Path], places: Sequence[str]) -> dict[str, str]:
        """Links to the interpreter that lie in none of the places a cell sees, in folders of ours with nothing else.

        The folder in which such a link lies may be private, `~/.local/bin` for example.
        """
        missing: dict[Path, list[Path]] = {}
        for link in links:
            seen = any(link.is_relative_to(place) or Path(place).is_relative_to(link.parent) for place in places)
            if link.is_symlink() and not seen:
                missing.setdefault(link.parent, []).append(link)
        shown: dict[str, str] = {}
        for parent, inside in missing.items():
            folder = self._make_folder()
            for link in inside:
                (folder / link.name).symlink_to(link.readlink())
            shown[str(folder)] = str(parent)
        return shown

    def _make_folder(self) -> Path:
        """A new folder that the user of a cell may read, too; it is removed with the lab."""
        folder = Path(tempfile.mkdtemp(prefix="burnish-"))
        self._made.append(folder)
        folder.chmod(0o755)
        return folder

    def close(self) -> None:
        """End every process of this lab."""
        self.sandbox.close()
        self._remove_folders()

    def _remove_folders(self) -> None:
        for folder in (self._copy, self._bare and self._bare.environment, *self._made):
            if folder:
                shutil.rmtree(folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def tool_environment() -> dict[str, str]:
    """The user's variables about this machine and about pip; no key of a service is among them."""
    return {name: value for name, value in os.environ.items() if name in MACHINE_VARIABLES or name.startswith("PIP_")}


def place_of(folder: Path, otherwise: str) -> str:
    """Where a cell sees a folder: where it is, so that absolute paths in it hold, unless the cell has its own there."""
    taken = any(folder.is_relative_to(place) or Path(place).is_relative_to(folder) for place in TAKEN)
    return otherwise if taken else str(folder)
