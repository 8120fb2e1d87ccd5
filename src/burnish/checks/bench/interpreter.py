"""The project's interpreter, and the folders of this machine it needs to start: read from its files.

The rule: it is never started here. It may be anybody's program; only a cell runs it.
"""

import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from burnish.errors import SetupProblem
from burnish.sandbox.bubblewrap import find_interpreter as own_interpreter

LARGEST = 100_000
"""More than any pyvenv.cfg has."""


@dataclass(frozen=True)
class Interpreter:
    """An interpreter as it lies on this machine."""

    python: Path
    """What to start: in a virtual environment the environment's own."""
    installations: tuple[Path, ...]
    """Where the Python behind it is installed, under every name by which it is reached; the first one counts."""
    environment: Path | None = None
    """The virtual environment, if it is one's."""
    links: tuple[Path, ...] = ()
    """Links on the way from `python` to the real file, wherever they lie."""

    @property
    def base(self) -> Path:
        """Where Python itself is installed."""
        return self.installations[0]


@cache
def read_interpreter(python: Path) -> Interpreter:
    """What is known about an interpreter. Raises SetupProblem for one that belongs to no Python installation.

    A cell sees the environment and the installations, and a project may name any folder as such. So an installation is
    only what looks like one.
    """
    around = (python.parent.parent, python.parent)
    found = next((folder for folder in around if (folder / "pyvenv.cfg").is_file()), None)
    environment = Path(os.path.realpath(found)) if found and found.is_symlink() else found
    if environment and holds_home(environment):
        raise _unusable(python, f"its environment {str(environment)!r} is your home folder, or holds private files")
    real = Path(os.path.realpath(python))
    links = tuple(_links(python))
    named = _home(environment) if environment else None
    near = [*([named.parent] if named else []), real.parent.parent, *(link.parent.parent for link in links)]
    installations = tuple(folder for folder in dict.fromkeys(near) if is_installation(folder))
    if not installations:
        where = f"the folder {str(named)!r} that its pyvenv.cfg names" if named else f"the folder of {str(real)!r}"
        raise _unusable(python, f"{where} belongs to no Python installation")
    if found and environment:
        return Interpreter(environment / python.relative_to(found), installations, environment, links)
    return Interpreter(real, installations, None, links)


def is_installation(folder: Path) -> bool:
    """Whether Python is installed there, and no home folder is: programs in `bin`, its own library in `lib`.

    The library must lie in the folder, not behind a link that leads out of it.
    """
    real = Path(os.path.realpath(folder))
    if real == Path(os.path.realpath(sys.base_prefix)):
        return True
    # A folder that only links to a library elsewhere could make a cell see all of that elsewhere.
    library = (Path(os.path.realpath(file)) for file in real.glob("lib*/py*3*/os.py"))
    return not holds_home(real) and any(real.glob("bin/py*3*")) and any(one.is_relative_to(real) for one in library)


def holds_home(folder: Path) -> bool:
    """Whether the user's own files lie below it; `~/.local` has programs, and passwords beside them."""
    home = Path(os.path.realpath(os.path.expanduser("~")))  # noqa: PTH111 it may not be known, which is no error here
    return home.is_relative_to(folder) or folder == home / ".local"


def _home(environment: Path) -> Path | None:
    """The folder of programs that an environment's pyvenv.cfg names; None where it names none, or cannot be read."""
    try:
        with (environment / "pyvenv.cfg").open("rb") as file:
            text = file.read(LARGEST).decode("utf-8", "replace")
    except OSError:
        return None
    named = re.search(r"^\s*home\s*=\s*(/.*?)\s*$", text, re.MULTILINE | re.IGNORECASE)
    return Path(os.path.normpath(named[1])) if named and "\0" not in named[1] else None


def _unusable(python: Path, why: str) -> SetupProblem:
    return SetupProblem(
        f"The interpreter {str(python)!r} cannot be used: {why}. Name another: --python /usr/bin/python3"
    )


def _links(path: Path) -> Iterator[Path]:
    """The links after the first one, one after the other, as written."""
    for _ in range(40):
        if not path.is_symlink():
            return
        path = Path(os.path.normpath(path.parent / path.readlink()))
        yield path


def make_bare_venv(layer: str = "") -> Interpreter:
    """A new environment of the interpreter behind Burnish, with no packages but those in `layer`, as a command sees it.

    For code whose packages are those that were asked for, and no others: Burnish's own environment has packages that
    are missing at the user's, and code that leans on one of them must fail. The caller removes its `environment`.
    """
    folder = Path(tempfile.mkdtemp(prefix="burnish-bare-"))
    fill_bare_venv(folder, own_interpreter(), platform.python_version(), layer)
    folder.chmod(0o755)
    return Interpreter(folder / "bin" / "python", (Path(sys.base_prefix),), folder)


def fill_bare_venv(folder: Path, python: Path, version: str, layer: str = "") -> None:
    """Make the folder a bare environment of this interpreter, which may lie in an image, whatever it was before."""
    shutil.rmtree(folder / "bin", ignore_errors=True)
    site = folder / "lib" / f"python{'.'.join(version.split('.')[:2])}" / "site-packages"
    for place in (folder / "bin", site):
        place.mkdir(parents=True, exist_ok=True)
    (folder / "bin" / "python").symlink_to(python)
    (folder / "pyvenv.cfg").write_text(f"home = {python.parent}\ninclude-system-site-packages = false\n", "utf-8")
    (site / "sitecustomize.py").touch()  # found before one in the layer, which would run at every start
    if layer:
        (site / "layer.pth").write_text(f"{layer}\n", "utf-8")
