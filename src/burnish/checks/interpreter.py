"""The project's interpreter, and the folders of this machine it needs to start. Nothing of the project runs here."""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from burnish.checks.project import Project
from burnish.errors import SandboxError, SetupProblem
from burnish.sandbox.box import Box
from burnish.sandbox.docker.image import NAMED_BY
from burnish.text import one_line

ASK = "import os, sys; print(os.path.realpath(sys.executable)); print(sys.base_prefix)"


@dataclass(frozen=True)
class Interpreter:
    """An interpreter as it lies on this machine."""

    python: Path
    """What to start: in a virtual environment the environment's own."""
    base: Path
    """Where Python itself is installed."""
    environment: Path | None
    """The virtual environment, if it is one's."""
    homes: tuple[Path, ...]
    """Folders that links on the way from `python` to the real file lead through."""


@cache
def interpreter(python: Path) -> Interpreter:
    """What is known about an interpreter. Raises SetupProblem for one that does not start."""
    environment = next((folder for folder in (python.parent.parent, python.parent) if _is_environment(folder)), None)
    try:
        said = subprocess.run(  # neither the environment's packages nor the user's
            [os.path.realpath(python), "-I", "-S", "-c", ASK], capture_output=True, text=True, timeout=20, check=True
        )
        real, base = said.stdout.splitlines()
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise SetupProblem(
            f"The interpreter {str(python)!r} cannot be used: {error}. Name another: --python .venv/bin/python"
        ) from error
    homes = tuple(dict.fromkeys(link.parent.parent for link in _links(python)))
    return Interpreter(python if environment else Path(real), Path(base), environment, homes)


def interpreter_in(sandbox: Box) -> str:
    """Where the Python of an image lies, as a command in it sees it."""
    asked = sandbox.run(["python3", "-I", "-S", "-c", ASK])
    if asked.exit_code:
        raise SandboxError(f"the image's python3 does not start: {one_line(asked.output, 300)}")
    return asked.output.splitlines()[0]


def must_do_without_environment(project: Project) -> None:
    """SetupProblem for an environment of this machine: the Python it belongs to is not in an image of one's own."""
    if project.has_environment:
        raise SetupProblem(
            f"The project has an environment of its own ({project.python}), and the image in {NAMED_BY} has another "
            "Python, which cannot use it. Let Burnish make its own image, in which this machine's Python is seen. "
            f"Type: unset {NAMED_BY}"
        )


def _is_environment(folder: Path) -> bool:
    return (folder / "pyvenv.cfg").is_file()


def _links(path: Path) -> Iterator[Path]:
    """Where each link leads, one after the other, as written."""
    for _ in range(40):
        if not path.is_symlink():
            return
        path = Path(os.path.normpath(path.parent / path.readlink()))
        yield path
