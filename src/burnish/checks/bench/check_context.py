"""What a check works with: a sandbox that sees the project read-only, and tools of our own.

The rule: code of the project runs in `run` and nowhere else. `tool` starts programs of ours that only read text.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from burnish.checks.bare_venv import fill_bare_venv, make_bare_venv
from burnish.checks.bench.interpreter import interpreter_in, must_do_without_environment, read_interpreter
from burnish.checks.bench.readable_copy import copy_of, find_caches, open_copy
from burnish.checks.project import Project
from burnish.errors import CheckError
from burnish.events import CommandRan
from burnish.packages.uv import MACHINE_VARIABLES
from burnish.sandbox import JobLimits, open_sandbox
from burnish.sandbox.bubblewrap import CELL_INSIDE, CELL_INSTALLED, CELL_LAYER, CELL_PACKAGES, SYSTEM, find_packages
from burnish.sandbox.docker.command import find_own_image as own_image

PROJECT, VENV = "/project", "/venv"
"""Where a cell sees the project and its virtual environment when it cannot see them where they are."""
OURS = (CELL_INSIDE, CELL_PACKAGES, CELL_INSTALLED, CELL_LAYER)
TAKEN = ("/tmp", "/work", "/dev", "/proc", "/etc", "/sys", *SYSTEM, *OURS)
MOST_CACHES = 200
"""Folders with compiled code that are hidden one by one; a project with more is copied without them."""
MIB = 1024 * 1024
LIMITS = JobLimits(output_bytes=64 * MIB, memory_bytes=2048 * MIB, processes=128, open_files=1024)

Tell = Callable[[int, int], None]
"""How far a check has come: steps done, steps in all (0: nobody knows)."""


class CheckContext:
    """One sandbox for all checks of one project. Use it as a context manager."""

    def __init__(
        self, project: Project, sandbox: str = "auto", tell: Tell | None = None, seen: Path | None = None
    ) -> None:
        self.project = project
        self._seen = seen or project.root
        """What commands see in the project's place: a copy with more in it, or the project itself."""
        self.tell: Tell = tell or (lambda done, total: None)
        layer = "" if project.layer is None else str(project.layer) if sandbox == "process" else CELL_LAYER
        if sandbox == "docker" and own_image():
            must_do_without_environment(project)
        self._bare = make_bare_venv(layer) if project.alone else None
        self._interpreter = self._bare or read_interpreter(project.python)
        with ExitStack() as self._cleanup:
            if self._bare:
                self._remove_later(self._bare.environment)
            self.sandbox = open_sandbox(sandbox, limits=LIMITS, folders=self._folders(sandbox), layer=project.layer)
            self.python = self._find_python(layer)
            """The project's interpreter, as a command sees it; in an image of the user's own that image's."""
            self._cleanup = self._cleanup.pop_all()

    @property
    def root(self) -> str:
        """The project's folder, as a command sees it."""
        return str(self._seen) if self.sandbox.kind == "process" else place_of(self.project.root, PROJECT)

    @property
    def packages(self) -> str:
        """Our own pytest and coverage, for projects that have none."""
        if self.sandbox.kind == "process":
            return str(find_packages())
        return CELL_PACKAGES if self._in_own_image else CELL_INSTALLED

    @property
    def _in_own_image(self) -> bool:
        return self.sandbox.kind == "docker" and bool(own_image())

    def _find_python(self, layer: str) -> str:
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
        self,
        argv: Sequence[str],
        files: Mapping[str, str] | None = None,
        timeout_seconds: float = 60.0,
        heard: Callable[[bytes], None] | None = None,
    ) -> CommandRan:
        """One command in the sandbox. It starts in a fresh folder with `files`; the project is at `root`, read-only.

        Nothing of Burnish's own packages is on its path: they lie at `packages`, for a script that wants them last.
        `heard` is told what the command writes, as it comes.
        """
        return self.sandbox.run(["env", "-u", "PYTHONPATH", *argv], files, timeout_seconds, heard)

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

    def _folders(self, sandbox: str) -> dict[str, str]:
        """The project, its virtual environment and the interpreter behind that, where the cell has not got it yet."""
        root, known = self.project.root, self._interpreter
        seen, caches = self._seen, list[Path]()
        if sandbox != "process":
            caches = find_caches(seen, known.environment)
            if copy := copy_of(seen) if len(caches) > MOST_CACHES else open_copy(seen):
                self._remove_later(copy)
                seen, caches = copy / "copy", []
        # Absolute paths in an environment hold only where it is seen at its own place.
        folders = {str(seen): place_of(root, PROJECT)}
        for named in known.installations:
            # A link inside of the project is in the cell already, so what it leads to is mounted.
            home = Path(os.path.realpath(named)) if named.is_relative_to(root) else named
            system = any(home.is_relative_to(place) for place in SYSTEM) or len(home.parts) < 2
            if not system and str(home) != sys.base_prefix:
                folders[str(home)] = str(home)
        if known.environment is not None:
            folders[str(known.environment)] = place_of(known.environment, VENV)
        places = (*TAKEN, sys.base_prefix, *map(str, known.installations), *folders.values())
        return self._link_folders(known.links, places) | folders | self._empty_folders(caches, folders[str(seen)])

    def _empty_folders(self, caches: Sequence[Path], place: str) -> dict[str, str]:
        """An empty folder for each of the project's caches of compiled code, to be seen in its place."""
        top = self._make_folder() if caches else Path()
        empty = {top / str(number): f"{place}/{cache}" for number, cache in enumerate(caches)}
        for folder in empty:
            folder.mkdir(mode=0o755)
        return {str(folder): cache for folder, cache in empty.items()}

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
        """A new folder that the user of a cell may read, too; it is removed with the context."""
        folder = Path(tempfile.mkdtemp(prefix="burnish-"))
        self._remove_later(folder)
        folder.chmod(0o755)
        return folder

    def _remove_later(self, folder: Path | None) -> None:
        if folder:
            self._cleanup.callback(shutil.rmtree, folder, ignore_errors=True)

    def close(self) -> None:
        """End every process of this context, and remove its folders."""
        self.sandbox.close()
        self._cleanup.close()

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


@contextmanager
def open_overlay(project: Project, files: Mapping[Path, str], sandbox: str = "auto") -> Iterator[CheckContext]:
    """A context in which the project has these files too, by their paths below its root; the disk never has them."""
    top = copy_of(project.root)
    copy = top / "copy"
    try:
        for path, text in files.items():
            place = copy / path
            place.parent.chmod(0o755)
            place.write_text(text, "utf-8")
            place.chmod(0o644)
        environment = read_interpreter(project.python).environment
        # An environment inside the project is not copied; a cell mounts it where it was, so its folder must be there.
        if environment is not None and environment.is_relative_to(project.root):
            (copy / environment.relative_to(project.root)).mkdir(parents=True, exist_ok=True)
        with CheckContext(project, sandbox, seen=copy) as context:
            yield context
    finally:
        shutil.rmtree(top, ignore_errors=True)
