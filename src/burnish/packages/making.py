"""Makes one layer beside its place, then renames it: what a killed process leaves is never taken for a layer."""

import os
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from burnish.packages import faults, layer, unused
from burnish.packages.bounds import Bounds
from burnish.packages.layer import Installed, Layer, Manifest
from burnish.packages.lock import lock_of, taken
from burnish.packages.pip import Pip, Tell
from burnish.packages.removal import remove
from burnish.packages.wheels import Wheels, installed, is_bomb

SELF_STARTERS = {"sitecustomize", "usercustomize"}
"""Modules that Python imports without being asked."""


@dataclass(frozen=True)
class Making:
    """One layer to be made by a process that is alone at it."""

    folder: Path
    asked: tuple[str, ...]
    python: str
    interpreter: Path | None
    tell: Tell | None
    lock: int
    """The open file whose lock says that we are alone."""
    bounds: Bounds
    newest: bool = False
    """Whether the index is asked whatever wheels there are."""

    def made(self) -> Layer:
        """The layer, whole. Raises SetupProblem, Passed, or OSError for what the disk refuses; nothing is left then."""
        for left in [self.folder, *self.folder.parent.glob(f".{self.folder.name}-*")]:
            remove(left)
        _sweep(self.folder.parent)
        place = Path(tempfile.mkdtemp(prefix=f".{self.folder.name}-", dir=self.folder.parent))
        try:
            (place / layer.SITE).mkdir()
            packages = self._filled(place) if self.asked else ()
            made = self._finish(place, packages)
            place.rename(self.folder)
        finally:
            remove(place)
        with suppress(OSError):  # the layer is made, whatever becomes of others
            unused.sweep(self.folder.parent)  # now only: offline, what is old may be all that there is
        return Layer(folder=self.folder / layer.SITE, packages=packages, asked=self.asked, made=made)

    def _filled(self, place: Path) -> tuple[Installed, ...]:
        """Install from the wheels that are here; if they do not do, fetch others."""
        (place / "tmp").mkdir()
        pip, wheels = self._pip(place / "tmp"), Wheels(layer.home() / "wheels")
        must_fetch = self.newest or wheels.missing(self.asked)
        packages = None if must_fetch else self._from_wheels(place, pip, wheels)
        return packages if packages is not None else self._from_index(place, pip, wheels)

    def _pip(self, scratch: Path) -> Pip:
        return Pip(self.interpreter, scratch, self.lock, self.bounds)

    def _from_wheels(self, place: Path, pip: Pip, wheels: Wheels) -> tuple[Installed, ...] | None:
        """What was installed; None where a wheel is missing, or is not what it was when it came."""
        site, report = place / layer.SITE, place / "report.json"
        if not pip.install(self.asked, wheels.folder, site, report).ok:
            return None
        packages = self._installed(report)
        altered = wheels.altered(packages)
        for wheel in altered:
            wheels.forget(wheel)
        return None if altered else packages

    def _from_index(self, place: Path, pip: Pip, wheels: Wheels) -> tuple[Installed, ...]:
        site, fetched, report = place / layer.SITE, place / "fetched", place / "report.json"
        if self.tell:
            self.tell(f"Fetching {', '.join(self.asked)}")
        got = pip.fetch(self.asked, fetched, self.tell)
        if not got.ok:
            raise faults.problem(got, self.asked, pip, wheels)
        if is_bomb(fetched):
            raise faults.too_much_inside(self.asked)
        remove(site)
        put = pip.install(self.asked, fetched, site, report)
        if not put.ok:
            raise faults.problem(put, self.asked, pip, wheels)
        packages = self._installed(report)
        wheels.take_in(fetched)
        return packages

    def _installed(self, report: Path) -> tuple[Installed, ...]:
        try:
            return installed(report)
        except ValueError as error:
            raise faults.from_elsewhere(self.asked) from error

    def _finish(self, place: Path, packages: tuple[Installed, ...]) -> str:
        """Take out what starts by itself and what making needed; write the manifest last; let nobody write after.

        The time that the manifest says.
        """
        site = place / layer.SITE
        aside = sorted(path.name for path in site.iterdir() if _starts_by_itself(path))
        for name in aside:
            remove(site / name)
        self._pip(place).compile(site)
        for extra in [path for path in place.iterdir() if path != site]:
            remove(extra)
        _freeze(site)
        files, size = layer.weigh(site)
        told = Manifest(
            form=layer.FORM,
            python=self.python,
            asked=self.asked,
            packages=packages,
            set_aside=tuple(aside),
            files=files,
            size_bytes=size,
            made=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        _write(place / layer.MANIFEST, told.model_dump_json(indent=1))
        place.chmod(0o755)
        return told.made


def _sweep(home: Path) -> None:
    """Away with what killed processes left of other layers; what somebody makes just now stays."""
    for left in home.glob(".*-*"):
        with lock_of(home / left.name[1:].rpartition("-")[0]).open("ab") as lock:
            if taken(lock):
                remove(left)


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
