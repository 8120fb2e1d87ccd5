"""`burnish bundle`: one archive that installs on a machine without any network, made where there is one.

It holds Burnish's source, the locked wheels, uv, the weights and, where uv can fetch one, a Python. install.sh in it
takes everything from there. Wheels and uv are for machines like this one: the same system and processor.
"""

import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import burnish
from burnish.errors import SetupProblem
from burnish.events import Frozen
from burnish.models.model import Progress
from burnish.models.weights import ensure_weights
from burnish.packages.uv import find_uv

Tell = Callable[[str], None]
ROOT = Path(burnish.__file__).resolve().parents[2]
"""The clone, or what the installer has put in its place."""
PYTHON = "3.13"
"""The Python that is put in: one that all packages have wheels for."""
TOP = "burnish"
"""The one folder in the archive."""


class Bundle(Frozen):
    """An archive that was made."""

    path: Path
    bytes: int
    python: str
    """The Python in it; empty where uv could not fetch one."""
    pythons: tuple[str, ...]
    """The versions that its wheels are for."""


def make_bundle(out: Path, model: str, tell: Tell, progress: Progress | None = None) -> Bundle:
    """Write the archive, whole or not at all. No weights are put in where `model` is empty.

    Raises SetupProblem if the file exists, the disk is full, a wheel cannot be had, or this Burnish came as a wheel.
    """
    if not (ROOT / "installer.py").is_file():
        raise SetupProblem(
            "A bundle is made from a clone or from what install.sh installed, and this Burnish came as a wheel. In a"
            " clone, type: ./burnish bundle OUT"
        )
    if out.exists():
        raise SetupProblem(f"There is a file {out} already. Name another one; type: burnish bundle {out}.new")
    if not out.parent.is_dir():
        raise SetupProblem(f"There is no folder {out.parent}. Type: mkdir -p {out.parent}")
    installed = runpy.run_path(str(ROOT / "installer.py"))["SOURCE"]
    weights = ensure_weights(model, progress) if model else None
    pythons = read_pythons()
    try:
        with tempfile.TemporaryDirectory(prefix=".bundle-", dir=out.parent) as folder:
            stage = Path(folder)
            tell("wheels")
            download_wheels(stage / "wheels", pythons)
            tell("Python")
            python = fetch_python(stage)
            tell("archive")
            with tarfile.open(stage / "out.tar", "w") as archive:  # nearly all in it is packed already
                for name in installed:
                    archive.add(ROOT / name, f"{TOP}/{name}", filter=_leave_out_caches)
                for source, name in _list_contents(stage, weights):
                    archive.add(source, f"{TOP}/bundle/{name}")
            size = (stage / "out.tar").stat().st_size
            (stage / "out.tar").replace(out)
    except OSError as error:
        raise SetupProblem(
            f"The bundle could not be written ({error.strerror}). Name a file on a disk with about 2 GB of room; type:"
            f" burnish bundle /a/folder/with/room/burnish.tar"
        ) from error
    return Bundle(path=out, bytes=size, python=python, pythons=pythons)


def read_pythons() -> tuple[str, ...]:
    """The versions of Python that the project claims to work with."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return tuple(re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"])))


def download_wheels(folder: Path, pythons: tuple[str, ...]) -> None:
    """Every locked wheel, for each of the Pythons; what fits all of them is fetched once."""
    folder.mkdir()
    lock = "".join((ROOT / "requirements" / f"{name}.txt").read_text("utf-8") for name in ("core", "openmp"))
    for python in pythons:
        wanted = folder.parent / "wanted.txt"
        wanted.write_text("".join(_choose_pins(lock, python, folder)), "utf-8")
        command = [sys.executable, "-I", "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        command += ["--no-deps", "--only-binary=:all:", "--require-hashes", "--python-version", python]
        done = subprocess.run([*command, "--dest", folder, "-r", wanted], capture_output=True, text=True)
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["pip gives no reason"]
            raise SetupProblem(
                f"The wheels for Python {python} could not be fetched ({errors[-1]}). Check the connection, or pip's"
                f" settings; type: {sys.executable} -m pip config list"
            )


def _choose_pins(lock: str, python: str, folder: Path) -> Iterator[str]:
    """The pins of a lock file that this Python needs and that no wheel in the folder serves yet, without markers."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    general = [path.name for path in folder.glob("*.whl") if re.search(r"-py\d[^-]*-none-|-abi3-", path.name)]
    here = {canonicalize_name(name.split("-")[0]) for name in general}
    machine = {"python_version": python, "python_full_version": f"{python}.0"}
    for pin in re.split(r"\n(?=[a-z0-9])", lock):
        head, _, hashes = pin.partition("\\")
        wanted = Requirement(head)
        if (wanted.marker is None or wanted.marker.evaluate(machine)) and canonicalize_name(wanted.name) not in here:
            yield f"{wanted.name}{wanted.specifier} \\{hashes}\n"


def fetch_python(stage: Path) -> str:
    """A Python that needs nothing of the system, or nothing where uv cannot reach its source."""
    brought = stage / "brought"
    command = [find_uv(), "python", "install", "--quiet", "--no-config", "--no-bin", "--install-dir", str(brought)]
    subprocess.run([*command, PYTHON], capture_output=True)
    found = [path for path in brought.glob("*/bin/python3") if not path.parents[1].is_symlink()]
    if not found:
        return ""
    shutil.move(found[0].parents[1], stage / "python")
    return subprocess.run([stage / "python/bin/python3", "-VV"], capture_output=True, text=True).stdout.split()[1]


def _list_contents(stage: Path, weights: Path | None) -> Iterator[tuple[Path, str]]:
    """What lies where in the archive's folder `bundle`."""
    yield stage / "wheels", "wheels"
    yield Path(find_uv()), "uv"
    if (stage / "python").exists():
        yield stage / "python", "python"
    if weights:
        yield weights, f"models/{weights.name}"


def _leave_out_caches(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if "__pycache__" in entry.name else entry
