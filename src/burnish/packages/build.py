"""Makes a layer, or finds it made: before any cell starts, from wheels alone, and whole or not at all."""

import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from packaging.requirements import Requirement

from burnish.errors import SetupProblem
from burnish.packages import layer, problems
from burnish.packages.layer import InstalledPackage, Layer, Manifest, load_layer, lock_file, remove, take_lock
from burnish.packages.requirements import normalise_requirements
from burnish.packages.uv import LOOK_SECONDS, Budget, Exceeded, Tell, Uv, machine_environment, run_watched
from burnish.text import one_line

ASKING_SECONDS = 60.0
"""For the index to bring newer versions; what is in the cache would do."""
MOST_FILES = 200_000
"""Files of a layer. The largest packages have some ten thousand."""
MANY_SOURCES = 200
"""Sources from which on it pays to compile on all cores."""
SELF_STARTERS = {"sitecustomize", "usercustomize"}
"""Modules that Python imports without being asked."""


@dataclass(frozen=True)
class _Order:
    """One layer that is wanted, and where it goes."""

    folder: Path
    asked: tuple[str, ...]
    tell: Tell | None
    budget: Budget
    newest: bool = False
    """Whether the index is asked whatever was fetched before."""


def prepare_layer(requirements: Sequence[str], *, tell: Tell | None = None, budget: Budget | None = None) -> Layer:
    """The layer with these requirements and all they need, from the cache if it is there.

    Made anew, it comes from wheels that were fetched before, if they do, and else from the user's index. Nothing of a
    package runs. Once the `budget` is spent, uv is ended, whatever it does. Raises SetupProblem.
    """
    asked = normalise_requirements(requirements)
    home = layer.layers_home()
    with suppress(OSError):  # there is none yet, or it cannot be entered: that is said later
        found = home.stat()
        if found.st_uid not in {0, os.getuid()} or found.st_mode & stat.S_IWOTH:
            raise problems.explain_shared_cache(home)
    order = _Order(layer.layer_folder(asked), asked, tell, budget or Budget())
    prepared = layer.load_newest(order.folder)
    if prepared:
        layer.note_use(prepared.folder.parent)  # at once: whoever makes a layer meanwhile, even we, may prune
    if prepared and prepared.is_old and not lock_file(later := layer.successor_folder(order.folder)).exists():
        newer = replace(order, folder=later, budget=order.budget.at_most(ASKING_SECONDS), newest=True)
        with suppress(SetupProblem):  # what was found will do; its lock stays, so that the index is asked once a day
            prepared = _make_alone(newer)
        prepared = load_layer(prepared.folder.parent)  # somebody may have emptied the cache in the meantime
    if not prepared:
        prepared = _make_alone(order)
    elif tell and (age := prepared.describe_age()):
        tell(age)
    layer.note_use(prepared.folder.parent)
    return prepared


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


def _make_alone(order: _Order) -> Layer:
    """The layer, made by us or by another process that was at it: one at a time."""
    try:
        order.folder.parent.mkdir(parents=True, exist_ok=True)
        with lock_file(order.folder).open("wb") as lock:
            if not take_lock(lock):
                if order.tell:
                    order.tell("Waiting for another Burnish that prepares the same packages")
                while not take_lock(lock):
                    order.budget.check()
                    time.sleep(LOOK_SECONDS)
            return load_layer(order.folder) or _make(order, lock.fileno())
    except OSError as error:
        raise problems.explain_disk_error(layer.layers_home(), error) from error
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
        (place / layer.SITE).mkdir()
        packages = _unpack(order, uv, place) if order.asked else ()
        made = _finish(order, place, packages, uv)
        place.rename(order.folder)
        # Only now, because offline what is old may be all that there is; and whatever becomes of it, the layer is made.
        with suppress(OSError, Exceeded):
            uv.forget(sorted(layer.remove_forgotten()))
    finally:
        remove(place)
        remove(scratch)
    return Layer(folder=order.folder / layer.SITE, packages=packages, asked=order.asked, made=made)


def _unpack(order: _Order, uv: Uv, place: Path) -> tuple[InstalledPackage, ...]:
    """Put the packages into the site folder: from what uv has in its cache, or else from the index."""
    linked = uv.scratch / "linked"
    try:
        cached = not order.newest and uv.resolve(order.asked, offline=True).ok and uv.install(linked, offline=True).ok
        if not cached:
            remove(linked)
            if order.tell:
                order.tell(f"Fetching {', '.join(order.asked)}")
            result = uv.resolve(order.asked)
            result = uv.install(linked) if result.ok else result
            if not result.ok:
                raise problems.explain_failure(result.text, order.asked, uv)
        if uv.is_bomb() or layer.measure_folder(linked)[0] > MOST_FILES:
            raise Exceeded("bomb")
        # A copy, because links would let a change of a layer's file reach into uv's cache, and so into other layers.
        shutil.copytree(linked, place / layer.SITE, ignore=lambda *_: [".lock"], dirs_exist_ok=True)
        return uv.wheels()
    except ValueError as error:
        raise problems.explain_address(order.asked) from error
    except Exceeded as exceeded:
        uv.forget([Requirement(one).name for one in order.asked] if exceeded.why == "bomb" else [])
        raise


def _finish(order: _Order, place: Path, packages: tuple[InstalledPackage, ...], uv: Uv) -> str:
    """Take out what starts by itself; compile; let nobody write; write the manifest last. The time that it says."""
    site = place / layer.SITE
    aside = sorted(
        path.name for path in site.iterdir() if path.suffix == ".pth" or path.name.split(".")[0] in SELF_STARTERS
    )
    for name in aside:
        remove(site / name)
    # Byte code is never compared with its source later: a cell cannot write its own. Files that are no Python of this
    # version stay as they are, so the exit code says nothing.
    many = next(islice(site.rglob("*.py"), MANY_SOURCES, None), None) is not None
    words = ["-q", "-f", "-j", "0" if many else "1", "--invalidation-mode", "unchecked-hash", str(site)]
    command = [sys.executable, "-I", "-S", "-m", "compileall", *words]
    run_watched(command, machine_environment(), uv.scratch / "said", uv.lock, lambda pid: order.budget.check())
    for folder, _, names in os.walk(site, topdown=False):
        for name in names:
            file = Path(folder, name)
            file.chmod(0o555 if file.stat().st_mode & stat.S_IXUSR else 0o444)
        Path(folder).chmod(0o555)
    files, size_bytes = layer.measure_folder(site)
    manifest = Manifest(
        form=layer.FORM,
        python=layer.interpreter_tag(),
        asked=order.asked,
        packages=packages,
        set_aside=tuple(aside),
        files=files,
        size_bytes=size_bytes,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    with (place / layer.MANIFEST).open("w", encoding="utf-8") as opened:
        opened.write(manifest.model_dump_json(indent=1))
        opened.flush()
        os.fsync(opened.fileno())
    place.chmod(0o755)
    return manifest.made
