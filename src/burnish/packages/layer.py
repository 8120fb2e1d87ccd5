"""A layer: one read-only folder of installed packages, laid over what a cell sees as the layers of an image are.

    packages/uv/                uv's cache: every wheel that was ever fetched, unpacked
    packages/KEY/site/          what goes onto sys.path; read-only
    packages/KEY/layer.json     the manifest
    packages/KEY.DATE/          the same again, made later, with newer versions

It is made before any cell starts, from wheels alone, appears whole, by a rename, and never changes after. One whose
files do not add up is as good as none.
"""

import hashlib
import os
import shutil
import stat
import sys
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

from packaging.requirements import Requirement
from pydantic import ValidationError

from burnish import paths
from burnish.errors import SetupProblem
from burnish.events import Frozen, PackagesAdded
from burnish.packages import problems
from burnish.packages.requirements import normalise_requirements
from burnish.packages.uv import (
    LOOK_SECONDS,
    Budget,
    Exceeded,
    InstalledPackage,
    Tell,
    Uv,
    machine_environment,
    run_watched,
)
from burnish.system import get_user, take_lock
from burnish.text import one_line

FORM = 1
"""Raised when layers are made in another way: older ones are then made anew."""
SITE, MANIFEST, USED = "site", "layer.json", "used"
"""`used` is an empty file whose time says when the layer was last asked for."""
OLD = timedelta(days=30)
"""From then on the index is asked for newer versions, where it can be reached."""
FORGOTTEN_DAYS = 90
"""A layer that nobody asked for so long is removed, so that the cache does not grow for ever."""
ASKING_SECONDS = 60.0
"""For the index to bring newer versions; what is in the cache would do."""
MOST_FILES = 200_000
"""Files of a layer. The largest packages have some ten thousand."""
MANY_SOURCES = 200
"""Sources from which on it pays to compile on all cores."""
SELF_STARTERS = {"sitecustomize", "usercustomize"}
"""Modules that Python imports without being asked."""


class Layer(Frozen):
    """Packages that code in a cell may import."""

    folder: Path
    """What goes onto sys.path. Nothing in it may be written, and nothing in it starts by itself."""
    packages: tuple[InstalledPackage, ...]
    """All that is in it, what the asked ones need too, by name."""
    asked: tuple[str, ...]
    made: str = ""
    """When, in ISO form."""

    @property
    def unpinned(self) -> set[str]:
        """The packages that were asked for without a version: only these can grow old."""
        return {one.name for one in map(Requirement, self.asked) if not one.specifier}

    @property
    def made_at(self) -> datetime:
        """When it was made; now, where its manifest does not say."""
        with suppress(ValueError):
            return datetime.fromisoformat(self.made).astimezone(UTC)
        return datetime.now(UTC)

    @property
    def is_old(self) -> bool:
        """Whether newer versions should be asked for."""
        return bool(self.unpinned) and datetime.now(UTC) - self.made_at > OLD

    def describe_age(self) -> str:
        """A notice about packages that are not of today and might be newer; empty where there are none."""
        if not self.unpinned or self.made_at.date() == datetime.now(UTC).date():
            return ""
        versions = [f"{one.name} {one.version}" for one in self.packages if one.name in self.unpinned]
        return f"{', '.join(versions)}, from the cache of {self.made_at.day} {self.made_at:%b %Y}"


class Manifest(Frozen):
    """What a layer's own file says of it."""

    form: int
    python: str
    asked: tuple[str, ...]
    packages: tuple[InstalledPackage, ...]
    set_aside: tuple[str, ...]
    """Files of the wheels that would have started by themselves, so they were taken out."""
    files: int
    size_bytes: int
    made: str


@dataclass(frozen=True)
class _Order:
    """One layer that is wanted, and where it goes."""

    folder: Path
    asked: tuple[str, ...]
    tell: Tell
    budget: Budget
    newest: bool = False
    """Whether the index is asked whatever was fetched before."""


def layers_home() -> Path:
    """The folder of all layers; it may not exist yet."""
    return paths.cache() / "packages"


def layer_folder(requirements: Sequence[str]) -> Path:
    """The place of a layer: the same for the same interpreter and requirements, and for no other."""
    identity = "\n".join([str(FORM), _interpreter_tag(), *requirements])
    return layers_home() / f"{_interpreter_tag()}-{hashlib.sha256(identity.encode()).hexdigest()[:20]}"


def _interpreter_tag() -> str:
    """What tells interpreters apart whose packages differ: kind, version, machine and system."""
    return str(sysconfig.get_config_var("SOABI") or sys.implementation.cache_tag)


def load_layer(folder: Path) -> Layer | None:
    """The layer in a folder, if it is there and whole."""
    try:
        manifest = _read_manifest(folder)
        if manifest.form != FORM or (manifest.files, manifest.size_bytes) != measure_folder(folder / SITE):
            return None
    except (OSError, ValidationError):
        return None
    return Layer(folder=folder / SITE, packages=manifest.packages, asked=manifest.asked, made=manifest.made)


def _read_manifest(folder: Path) -> Manifest:
    """What is written in a layer's folder. Raises OSError or ValidationError."""
    return Manifest.model_validate_json((folder / MANIFEST).read_bytes())


def prepare_layer(requirements: Sequence[str], *, tell: Tell | None = None, budget: Budget | None = None) -> Layer:
    """The layer with these requirements and all they need, from the cache if it is there.

    Made anew, it comes from wheels that were fetched before, if they do, and else from the user's index. Nothing of a
    package runs. Once the `budget` is spent, uv is ended, whatever it does. Raises SetupProblem.
    """
    asked = normalise_requirements(requirements)
    home = layers_home()
    with suppress(OSError):  # there is none yet, or it cannot be entered: that is said later
        found = home.stat()
        if found.st_uid not in {0, get_user()[0]} or found.st_mode & stat.S_IWOTH:
            raise problems.explain_shared_cache(home)
    folder = layer_folder(asked)
    order = _Order(folder, asked, tell or (lambda _: None), budget or Budget())
    # None that may be in use is ever replaced: newer ones lie beside it.
    later = sorted(home.glob(f"{folder.name}.2???????"), reverse=True)
    prepared = next((made for place in (*later, folder) if (made := load_layer(place))), None)
    if prepared:
        _note_use(prepared)  # at once: whoever makes a layer meanwhile, even we, may prune
    today = folder.with_name(f"{folder.name}.{datetime.now(UTC):%Y%m%d}")
    if prepared and prepared.is_old and not lock_file(today).exists():
        newer = replace(order, folder=today, budget=order.budget.at_most(ASKING_SECONDS), newest=True)
        with suppress(SetupProblem):  # what was found will do; its lock stays, so that the index is asked once a day
            prepared = _make_alone(newer)
        prepared = load_layer(prepared.folder.parent)  # somebody may have emptied the cache in the meantime
    if not prepared:
        prepared = _make_alone(order)
    elif age := prepared.describe_age():
        order.tell(age)
    _note_use(prepared)
    return prepared


def _note_use(layer: Layer) -> None:
    """Note that the layer is wanted today."""
    with suppress(OSError):  # a cache that cannot be written is never pruned either
        (layer.folder.parent / USED).touch()


def prepare_recorded_layer(
    recorded: Sequence[InstalledPackage], *, tell: Tell | None = None, budget: Budget | None = None
) -> Layer:
    """The layer with these versions and no others. Raises SetupProblem where it, or the same wheels, cannot be had."""
    prepared = prepare_layer([f"{one.name}=={one.version}" for one in recorded], tell=tell, budget=budget)
    check_same_wheels(prepared, recorded)
    return prepared


def check_same_wheels(prepared: Layer, recorded: Sequence[InstalledPackage]) -> None:
    """Raise SetupProblem for a wheel that is not the file it was.

    A wheel with another name, because it is for another machine, cannot be compared; nor one without a hash on record.
    """
    known = {one.wheel: one.sha256 for one in recorded if one.wheel and one.sha256}
    changed = [one.wheel for one in prepared.packages if known.get(one.wheel, one.sha256) != one.sha256]
    if changed:
        raise SetupProblem(
            f"{one_line(', '.join(changed), 300)}: a file of this name was used, and the one that can be had now is "
            "another. One of them is not what its makers published. Look where pip gets its packages: pip config list"
        )


def list_recorded_packages(event: PackagesAdded) -> tuple[InstalledPackage, ...]:
    """What a record says was there. Older ones do not name the wheels."""
    wheels = [*event.wheels, *[("", "")] * len(event.packages)]
    return tuple(
        InstalledPackage(name=name, version=version, wheel=wheel, sha256=sha256)
        for (name, version), (wheel, sha256) in zip(event.packages, wheels, strict=False)
    )


def _make_alone(order: _Order) -> Layer:
    """The layer, made by us or by another process that was at it: one at a time."""
    try:
        order.folder.parent.mkdir(parents=True, exist_ok=True)
        with lock_file(order.folder).open("wb") as lock:
            if not take_lock(lock):
                order.tell("Waiting for another Burnish that prepares the same packages")
                while not take_lock(lock):
                    order.budget.check()
                    time.sleep(LOOK_SECONDS)
            return load_layer(order.folder) or _make(order, lock.fileno())
    except OSError as error:
        raise problems.explain_disk_error(layers_home(), error) from error
    except Exceeded as exceeded:
        raise problems.explain_budget(exceeded.why, order.asked) from None


def _make(order: _Order, lock: int) -> Layer:
    """Build the layer beside its place and rename it: what a killed process leaves is never taken for a layer."""
    home = order.folder.parent
    for left in [order.folder, *home.glob(f".{order.folder.name}-*")]:
        remove(left)
    for left in home.glob(".*-*"):  # of other layers; what somebody makes just now is locked, and stays
        with lock_file(home / left.name[1:].rpartition("-")[0]).open("ab") as other:
            if take_lock(other):
                remove(left)
    place, scratch = (Path(tempfile.mkdtemp(prefix=f".{order.folder.name}-", dir=home)) for _ in range(2))
    uv = Uv(home / "uv", scratch, lock, order.budget, order.tell)
    try:
        (place / SITE).mkdir()
        packages = _unpack(order, uv, place) if order.asked else ()
        made = _finish(order, place, packages, uv)
        place.rename(order.folder)
        # Only now, because offline what is old may be all that there is; and whatever becomes of it, the layer is made.
        with suppress(OSError, Exceeded):
            uv.forget(sorted(_remove_forgotten()))
    finally:
        remove(place)
        remove(scratch)
    return Layer(folder=order.folder / SITE, packages=packages, asked=order.asked, made=made)


def _unpack(order: _Order, uv: Uv, place: Path) -> tuple[InstalledPackage, ...]:
    """Put the packages into the site folder: from what uv has in its cache, or else from the index."""
    linked = uv.scratch / "linked"
    try:
        cached = not order.newest and uv.resolve(order.asked, offline=True).ok and uv.install(linked, offline=True).ok
        if not cached:
            remove(linked)
            order.tell(f"Fetching {', '.join(order.asked)}")
            result = uv.resolve(order.asked)
            result = uv.install(linked) if result.ok else result
            if not result.ok:
                raise problems.explain_failure(result.text, order.asked, uv)
        if uv.is_bomb() or measure_folder(linked)[0] > MOST_FILES:
            raise Exceeded("bomb")
        # A copy, because links would let a change of a layer's file reach into uv's cache, and so into other layers.
        shutil.copytree(linked, place / SITE, ignore=lambda *_: [".lock"], dirs_exist_ok=True)
        return uv.wheels()
    except ValueError as error:
        raise problems.explain_address(order.asked) from error
    except Exceeded as exceeded:
        uv.forget([Requirement(one).name for one in order.asked] if exceeded.why == "bomb" else [])
        raise


def _finish(order: _Order, place: Path, packages: tuple[InstalledPackage, ...], uv: Uv) -> str:
    """Take out what starts by itself; compile; let nobody write; write the manifest last. The time that it says."""
    site = place / SITE
    aside = [path for path in site.iterdir() if path.suffix == ".pth" or path.name.split(".")[0] in SELF_STARTERS]
    for path in aside:
        remove(path)
    # Byte code is never compared with its source later: a cell cannot write its own. Files that are no Python of this
    # version stay as they are, so the exit code says nothing.
    many = next(islice(site.rglob("*.py"), MANY_SOURCES, None), None) is not None
    words = ["-q", "-f", "-j", "0" if many else "1", "--invalidation-mode", "unchecked-hash", str(site)]
    command = [sys.executable, "-I", "-S", "-m", "compileall", *words]
    run_watched(command, machine_environment(), uv.scratch / "said", uv.lock, lambda pid: order.budget.check())
    for folder, _, names in os.walk(site, topdown=False):
        for file in (Path(folder, name) for name in names):
            file.chmod(0o555 if file.stat().st_mode & stat.S_IXUSR else 0o444)
        Path(folder).chmod(0o555)
    files, size_bytes = measure_folder(site)
    manifest = Manifest(
        form=FORM,
        python=_interpreter_tag(),
        asked=order.asked,
        packages=packages,
        set_aside=tuple(sorted(path.name for path in aside)),
        files=files,
        size_bytes=size_bytes,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    paths.write_atomically(place / MANIFEST, manifest.model_dump_json(indent=1).encode())
    place.chmod(0o755)
    return manifest.made


def _remove_forgotten() -> set[str]:
    """Remove layers that nobody used for a long time; the names of packages that no layer has any more."""
    before = _names_in_layers()
    for folder in [file.parent for file in layers_home().glob(f"[!.]*/{MANIFEST}")]:
        if _is_forgotten(folder):
            with lock_file(folder).open("ab") as lock:
                # The second look is under the lock: somebody may have asked for the layer in the meantime.
                if take_lock(lock) and _is_forgotten(folder):
                    remove(folder)
    return before - _names_in_layers()


def _is_forgotten(folder: Path) -> bool:
    """Whether nobody asked for the layer for a long time."""
    newest = max((file.stat().st_mtime for file in (folder / USED, folder / MANIFEST) if file.exists()), default=0.0)
    return time.time() - newest > FORGOTTEN_DAYS * 86400


def _names_in_layers() -> set[str]:
    names: set[str] = set()
    for file in layers_home().glob(f"[!.]*/{MANIFEST}"):
        with suppress(OSError, ValidationError):
            names |= {one.name for one in _read_manifest(file.parent).packages}
    return names


def lock_file(folder: Path) -> Path:
    """The file whose lock says who makes this layer; the kernel frees the lock of a process that died."""
    return folder.with_name(f"{folder.name}.lock")


def measure_folder(folder: Path) -> tuple[int, int]:
    """How many files a folder has, and their bytes. Raises OSError when it is not there."""
    files = size = 0
    waiting = [str(folder)]
    while waiting:  # os.walk would take three times as long, and every use of a layer waits for this
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    files, size = files + 1, size + entry.stat(follow_symlinks=False).st_size
    return files, size


def remove(path: Path) -> None:
    """Away with a file or a folder, read-only or not; nothing happens if it is not there."""
    if not path.is_dir() or path.is_symlink():
        path.unlink(missing_ok=True)
        return
    for folder, _, _ in os.walk(path):
        Path(folder).chmod(0o755)
    shutil.rmtree(path)
