"""Makes a layer, or finds it made: before any cell starts, from wheels alone, and whole or not at all."""

import fcntl
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from burnish.packages import faults, layer
from burnish.packages.layer import Installed, Layer, Manifest
from burnish.packages.pip import Pip, Tell, identity
from burnish.packages.wanted import normal
from burnish.packages.wheels import Wheels, installed

SELF_STARTERS = {"sitecustomize", "usercustomize"}
"""Modules that Python imports without being asked."""


def prepare(requirements: Sequence[str], *, interpreter: Path | None = None, tell: Tell | None = None) -> Layer:
    """The layer with these requirements and all they need, from the cache if it is there.

    Made anew, it comes from wheels that were fetched before, if they do, and else from the user's index. Nothing of a
    package runs. `interpreter` is the one that will import it, if not the one that runs Burnish. Raises SetupProblem.
    """
    asked = normal(requirements)
    own = interpreter is None or os.path.realpath(interpreter) == os.path.realpath(sys.executable)
    python = None if own else interpreter
    name = identity(python)
    folder = layer.home() / layer.key(name, asked)
    if found := layer.load(folder):
        return found
    with faults.of_the_disk(layer.home()), _alone(folder, tell):
        return layer.load(folder) or _made(folder, asked, name, python, tell)


@contextmanager
def _alone(folder: Path, tell: Tell | None) -> Iterator[None]:
    """One process at a time for one layer; the kernel frees the lock of a process that died."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if tell:
                tell("Waiting for another Burnish that prepares the same packages")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _made(folder: Path, asked: tuple[str, ...], python: str, interpreter: Path | None, tell: Tell | None) -> Layer:
    """Build beside the place, then rename: what a killed process leaves has another name, and goes here."""
    for left in [folder, *folder.parent.glob(f".{folder.name}-*")]:
        _remove(left)
    making = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        packages = _filled(making, asked, interpreter, tell) if asked else ()
        _finish(making, python, asked, packages)
        making.rename(folder)
    finally:
        _remove(making)
    return Layer(folder=folder / layer.SITE, packages=packages, asked=asked)


def _filled(making: Path, asked: tuple[str, ...], interpreter: Path | None, tell: Tell | None) -> tuple[Installed, ...]:
    """Install from the wheels that are here; if they do not do, fetch, and install what was fetched."""
    scratch, site, report = making / "tmp", making / layer.SITE, making / "report.json"
    scratch.mkdir()
    pip, wheels = Pip(interpreter, scratch), Wheels(layer.home() / "wheels")
    wheels.folder.mkdir(exist_ok=True)
    packages = installed(report) if pip.install(asked, wheels.folder, site, report).ok else None
    altered = wheels.altered(packages or ())
    for wheel in altered:
        wheels.forget(wheel)
    if packages is None or altered:
        _remove(site)
        packages = _fetched(making, asked, pip, wheels, tell)
    pip.compile(site)
    return packages


def _fetched(
    making: Path, asked: tuple[str, ...], pip: Pip, wheels: Wheels, tell: Tell | None
) -> tuple[Installed, ...]:
    fetched, report = making / "fetched", making / "report.json"
    if tell:
        tell(f"Fetching {', '.join(asked)}")
    got = pip.fetch(asked, fetched, tell)
    if not got.ok:
        raise faults.problem(got, asked, pip, wheels)
    put = pip.install(asked, fetched, making / layer.SITE, report)
    if not put.ok:
        raise faults.problem(put, asked, pip, wheels)
    wheels.take_in(fetched)
    return installed(report)


def _finish(making: Path, python: str, asked: tuple[str, ...], packages: tuple[Installed, ...]) -> None:
    """Take out what starts by itself, and what making needed; write the manifest last; let nobody write after."""
    site = making / layer.SITE
    site.mkdir(exist_ok=True)
    for extra in [path for path in making.iterdir() if path != site]:
        _remove(extra)
    aside = sorted(path.name for path in site.iterdir() if _starts_by_itself(path))
    for name in aside:
        _remove(site / name)
    _freeze(site)
    files, size = layer.weigh(site)
    told = Manifest(
        form=layer.FORM,
        python=python,
        asked=asked,
        packages=packages,
        set_aside=tuple(aside),
        files=files,
        size_bytes=size,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    _write(making / layer.MANIFEST, told.model_dump_json(indent=1))
    making.chmod(0o755)


def _starts_by_itself(path: Path) -> bool:
    return path.suffix == ".pth" or path.name.split(".")[0] in SELF_STARTERS


def _write(file: Path, text: str) -> None:
    with file.open("w", encoding="utf-8") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())


def _freeze(site: Path) -> None:
    """For everybody to read, for nobody to write."""
    for folder, _, names in os.walk(site, topdown=False):
        for name in names:
            file = Path(folder, name)
            file.chmod(0o555 if file.stat().st_mode & stat.S_IXUSR else 0o444)
        Path(folder).chmod(0o555)


def _remove(path: Path) -> None:
    """Away with a file or a folder, read-only or not; nothing happens if it is not there."""
    if not path.is_dir() or path.is_symlink():
        path.unlink(missing_ok=True)
        return
    for folder, _, _ in os.walk(path):
        Path(folder).chmod(0o755)
    shutil.rmtree(path)
