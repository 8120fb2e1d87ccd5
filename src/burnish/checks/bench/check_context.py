"""What a check works with: a sandbox that sees the project read-only, and tools of our own.

The rule: code of the project runs in `run` and nowhere else. `tool` starts programs of ours that only read text.
"""

import importlib.util
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Self

from burnish.checks.bench.interpreter import fill_bare_venv, make_bare_venv, read_interpreter
from burnish.checks.project import Project
from burnish.errors import CheckError, SandboxError, SetupProblem
from burnish.events import CommandRan
from burnish.packages.uv import MACHINE_VARIABLES
from burnish.sandbox import JobLimits, open_sandbox, owner
from burnish.sandbox.bubblewrap import CELL_INSIDE, CELL_INSTALLED, CELL_LAYER, CELL_PACKAGES, SYSTEM, find_packages
from burnish.sandbox.docker.command import NAMED_BY
from burnish.sandbox.docker.command import find_own_image as own_image
from burnish.system import get_user, has_cells
from burnish.text import one_line

PROJECT, VENV = "/project", "/venv"
"""Where a cell sees the project and its virtual environment when it cannot see them where they are."""
OURS = (CELL_INSIDE, CELL_PACKAGES, CELL_INSTALLED, CELL_LAYER)
TAKEN = ("/tmp", "/work", "/dev", "/proc", "/etc", "/sys", *SYSTEM, *OURS)
MOST_CACHES = 200
"""Folders with compiled code that are hidden one by one; a project with more is copied without them."""
NOT_NEEDED = {".git", "node_modules", "__pycache__"}
"""Folders that no test reads."""
COPIES = "burnish-project-"
ASK = "import os, sys; print(os.path.realpath(sys.executable))"
MIB = 1024 * 1024
LIMITS = JobLimits(output_bytes=64 * MIB, memory_bytes=2048 * MIB, processes=128, open_files=1024, loopback=True)

Tell = Callable[[int, int], None]
"""How far a check has come: steps done, steps in all (0: nobody knows)."""


class CheckContext:
    """One sandbox for all checks of one project. Use it as a context manager."""

    def __init__(
        self,
        project: Project,
        sandbox: str = "auto",
        tell: Tell | None = None,
        seen: Path | None = None,
        at: Path | None = None,
    ) -> None:
        self.project = project
        self._at = at or project.root
        """Where commands see it: a copy is seen where the project itself lies."""
        self._seen = seen or project.root
        """What commands see in the project's place: a copy with more in it, or the project itself."""
        self.tell: Tell = tell or (lambda done, total: None)
        if sandbox == "docker" and own_image() and project.has_environment:
            raise SetupProblem(
                f"The project has an environment of its own ({project.python}), and the image in {NAMED_BY} has "
                "another Python, which cannot use it. Let Burnish make its own image, in which this machine's Python "
                f"is seen. Type: unset {NAMED_BY}"
            )
        if project.has_environment and not has_cells():  # before all of it is copied
            raise explain_no_python(project)
        layer = "" if project.layer is None else str(project.layer) if sandbox == "process" else CELL_LAYER
        self._bare = make_bare_venv(layer) if project.alone else None
        self._interpreter = self._bare or read_interpreter(project.python)
        with ExitStack() as self._cleanup:
            if self._bare and self._bare.environment:
                self._remove_later(self._bare.environment)
            self._open = partial(open_sandbox, sandbox, None, LIMITS, self._folders(sandbox), project.layer)
            self.sandbox = self._open()
            self._cleanup.callback(self.sandbox.close)
            if self.sandbox.has_own_python and project.has_environment:
                raise explain_no_python(project)
            is_open = self.sandbox.kind == "process"
            self.root = str(self._seen) if is_open else place_of(self._at, PROJECT)
            """The project's folder, as a command sees it."""
            self._in_own_image = self.sandbox.has_own_python
            installed = CELL_PACKAGES if self._in_own_image else CELL_INSTALLED
            self.packages = str(find_packages()) if is_open else installed
            """Our own pytest and coverage, for projects that have none."""
            self.python = self._find_python(layer)
            """The project's interpreter, as a command sees it; in an image of the user's own that image's."""
            self._cleanup = self._cleanup.pop_all()

    def _find_python(self, layer: str) -> str:
        """Where a command finds the interpreter. A bare environment is made anew for the Python of an own image."""
        python, environment = self._interpreter.python, self._interpreter.environment
        if self._in_own_image:
            asked = self.sandbox.run(["python3", "-I", "-S", "-c", ASK])
            if asked.exit_code:
                raise SandboxError(f"the image's python3 does not start: {one_line(asked.output, 300)}")
            theirs = asked.output.splitlines()[0]
            if self._bare is None or environment is None:
                return theirs
            fill_bare_venv(environment, Path(theirs), self.sandbox.python, layer)
            self.sandbox.close()
            self.sandbox = self._open()  # some cells see a folder as it was when they were opened
            self._cleanup.callback(self.sandbox.close)
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
        # The user's variables about this machine and about pip; no key of a service is among them.
        known = {key: value for key, value in os.environ.items() if key in MACHINE_VARIABLES or key.startswith("PIP_")}
        if importlib.util.find_spec(argv[0]) is None:
            raise CheckError(f"{argv[0]} did not run: it is not installed")
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_seconds, cwd=cwd, env=known)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CheckError(f"{argv[0]} could not be run: {error}") from error
        if done.returncode < 0:
            raise CheckError(f"{argv[0]} did not run: {done.stderr.strip()[-300:] or done.returncode}")
        return done.stdout

    def _folders(self, sandbox: str) -> dict[str, str]:
        """The project, its virtual environment and the interpreter behind that, where the cell has not got it yet."""
        known = self._interpreter
        seen, caches = self._seen, list[Path]()
        if sandbox != "process":
            caches = find_caches(seen, known.environment)
            if len(caches) > MOST_CACHES or not _is_readable(seen):
                seen, caches = self._remove_later(copy_folder(seen)) / "copy", []
        # Absolute paths in an environment hold only where it is seen at its own place.
        folders = {str(seen): place_of(self._at, PROJECT)}
        for named in known.installations:
            # A link inside of the project is in the cell already, so what it leads to is mounted.
            home = Path(os.path.realpath(named)) if named.is_relative_to(self._at) else named
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
        hidden = []
        for link in links:
            seen = any(link.is_relative_to(place) or Path(place).is_relative_to(link.parent) for place in places)
            if link.is_symlink() and not seen:
                hidden.append(link)
        folders = {parent: self._make_folder() for parent in dict.fromkeys(link.parent for link in hidden)}
        for link in hidden:
            (folders[link.parent] / link.name).symlink_to(link.readlink())
        return {str(folder): str(parent) for parent, folder in folders.items()}

    def _make_folder(self) -> Path:
        """A new folder that the user of a cell may read, too; it is removed with the context."""
        folder = self._remove_later(Path(tempfile.mkdtemp(prefix="burnish-")))
        folder.chmod(0o755)
        return folder

    def _remove_later(self, folder: Path) -> Path:
        self._cleanup.callback(shutil.rmtree, folder, ignore_errors=True)
        return folder

    def close(self) -> None:
        """End every process of this context, and remove its folders."""
        self._cleanup.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def explain_no_python(project: Project) -> SetupProblem:
    """Why a project with an environment cannot be checked where only images have a Python."""
    return SetupProblem(
        f"The project has an environment of its own ({project.python}), and containers on another system see nothing "
        "of this one's Python. In a copy without it, Burnish prepares what the project requires by itself. Type",
        "git worktree add ../bare && burnish check ../bare",
    )


def place_of(folder: Path, otherwise: str) -> str:
    """Where a cell sees a folder: where it is, so that absolute paths in it hold, unless the cell has its own there."""
    taken = any(folder.is_relative_to(place) or Path(place).is_relative_to(folder) for place in TAKEN)
    return otherwise if taken else str(folder)


@contextmanager
def open_overlay(project: Project, files: Mapping[Path, str], sandbox: str = "auto") -> Iterator[CheckContext]:
    """A context in which the project has these files too, by their paths below its root; the disk never has them."""
    top = copy_folder(project.root)
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


def _is_readable(folder: Path) -> bool:
    """Whether a cell can read all that it needs of a folder.

    A cell that root opens runs as a user that owns nothing, and so cannot read what is closed to others; nothing of
    this is so for anybody who is not root.
    """
    if get_user()[0] != 0:
        return True
    for mode in (path.lstat().st_mode for path in (folder, *list_needed(folder))):
        wanted = 0o005 if stat.S_ISDIR(mode) else 0o004 if stat.S_ISREG(mode) else 0
        if mode & wanted != wanted:
            return False
    return True


def list_needed(folder: Path) -> Iterator[Path]:
    """All that a copy of a folder would hold."""
    for here, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not _is_needless(Path(here, name))]
        yield from (Path(here, name) for name in (*folders, *files))


def copy_folder(folder: Path) -> Path:
    """A folder that only this user may enter, with a copy that everybody in a cell may read; the caller removes it."""
    owner.remove_left_folders(COPIES)
    top = owner.make_folder(COPIES)
    copy = top / "copy"
    shutil.copytree(folder, copy, symlinks=True, ignore=_list_needless, ignore_dangling_symlinks=True)
    for path in (copy, *copy.rglob("*")):
        if not path.is_symlink():
            path.chmod(stat.S_IMODE(path.stat().st_mode) | (0o555 if path.is_dir() else 0o444))
    return top


def _list_needless(here: str, names: list[str]) -> list[str]:
    """What is not copied: environments, caches, and everything that is not a file, a folder or a link."""
    paths = (Path(here, name) for name in names if not Path(here, name).is_symlink())
    return [path.name for path in paths if (_is_needless(path) if path.is_dir() else not path.is_file())]


def _is_needless(folder: Path) -> bool:
    """True for what no test reads, and for environments, which a cell sees by themselves."""
    return folder.name in NOT_NEEDED or (folder / "pyvenv.cfg").exists()


def find_caches(folder: Path, environment: Path | None) -> list[Path]:
    """Every `__pycache__` below a folder but for those of its environment, relative to it.

    Python may believe what lies there and never look at the source, so no code of a project is run with them. Raises
    SetupProblem for one that is a link: what it leads to cannot be hidden.
    """
    found = []
    for here, folders, _ in os.walk(folder):
        cache = Path(here, "__pycache__")
        if cache.name in folders:
            if cache.is_symlink():
                raise SetupProblem(f"{str(cache)!r} is a link, which Python never makes. Remove it: rm {cache}")
            found.append(cache.relative_to(folder))
        folders[:] = [name for name in folders if name != cache.name and Path(here, name) != environment]
    return found
