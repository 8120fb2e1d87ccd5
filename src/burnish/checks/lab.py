"""Where checks work: a sandbox that sees the project read-only, our own tools, and what earlier checks left for later.

The rule: code of the project runs in `run` and nowhere else. `tool` starts programs of ours that only read text.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Self

from burnish.checks.project import Project
from burnish.errors import CheckError
from burnish.events import CommandRan
from burnish.sandbox import Limits, open_sandbox

PROJECT, VENV = "/project", "/venv"
"""Where a cell sees the project and its virtual environment."""
MIB = 1024 * 1024
LIMITS = Limits(output_bytes=64 * MIB, memory_bytes=2048 * MIB, processes=128, open_files=1024)

Tell = Callable[[int, int], None]
"""How far a check has come: steps done, steps in all (0: nobody knows)."""


class Lab:
    """One sandbox for all checks of one project. Use it as a context manager."""

    def __init__(self, project: Project, sandbox: str = "auto", tell: Tell | None = None) -> None:
        self.project = project
        self.tell: Tell = tell or (lambda done, total: None)
        self.touched: dict[str, dict[int, tuple[str, ...]]] | None = None
        """Which tests run which line of which source; None until the coverage check has found out."""
        self._prefix, self._base = prefixes(str(project.python))
        self.sandbox = open_sandbox(sandbox, limits=LIMITS, folders=self._folders())

    @property
    def root(self) -> str:
        """The project's folder, as a command sees it."""
        return PROJECT if self.sandbox.kind != "process" else str(self.project.root)

    @property
    def python(self) -> str:
        """The project's interpreter, as a command sees it."""
        if self.sandbox.kind == "process" or not self._is_virtual:
            return str(self.project.python)
        return f"{VENV}/{self.project.python.relative_to(self._prefix)}"

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
        from burnish.sandbox.bubblewrap import CELL_PACKAGES, packages_folder

        return CELL_PACKAGES if self.sandbox.kind != "process" else str(packages_folder())

    def tool(self, *argv: str, timeout_seconds: float = 120.0, cwd: Path | None = None) -> str:
        """The standard output of one of our own tools, `python -m …` of our interpreter; any exit code but a crash's.

        Raises CheckError when the tool is missing, is ended by a signal, or takes too long.
        """
        command = [sys.executable, "-I", "-m", *argv]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=timeout_seconds, cwd=cwd or self.project.root
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CheckError(f"{argv[0]} could not be run: {error}") from error
        if done.returncode < 0 or f"No module named {argv[0]}" in done.stderr:
            raise CheckError(f"{argv[0]} did not run: {done.stderr.strip()[-300:] or done.returncode}")
        return done.stdout

    @property
    def _is_virtual(self) -> bool:
        return self._prefix != self._base

    def _folders(self) -> dict[str, str]:
        """The project, its virtual environment and the interpreter behind that, where the cell has not got it yet."""
        folders = {str(self.project.root): PROJECT}
        if self._is_virtual:
            folders[self._prefix] = VENV
        if not Path(self._base).is_relative_to("/usr") and self._base != sys.base_prefix:
            folders[self._base] = self._base
        return folders

    def close(self) -> None:
        """End every process of this lab."""
        self.sandbox.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@cache
def prefixes(python: str) -> tuple[str, str]:
    """Where an interpreter and the one behind it are installed; the same unless it is a virtual environment's."""
    if (
        os.path.realpath(python) == os.path.realpath(sys.executable)
        and Path(python).parent == Path(sys.executable).parent
    ):
        return sys.prefix, sys.base_prefix
    ask = "import json, sys; print(json.dumps([sys.prefix, sys.base_prefix]))"
    try:
        said = subprocess.run([python, "-I", "-S", "-c", ask], capture_output=True, text=True, timeout=20, check=True)
        prefix, base = json.loads(said.stdout)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise CheckError(f"the interpreter {python!r} cannot be used: {error}") from error
    return prefix, base
