"""Weights on this machine: fetched once, checked against their SHA-256 before first use, then never hashed again."""

import errno
import fcntl
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from burnish import places
from burnish.errors import SetupProblem
from burnish.models import sources
from burnish.models.catalog import CATALOG, Weights, nearest
from burnish.models.names import Progress
from burnish.models.sources import BLOCK_BYTES, Source, Unavailable

SPARE_BYTES = 50_000_000


def ensure(name: str, progress: Progress | None = None) -> Path:
    """The checked weights file behind a `local:…` name, fetched first if need be.

    A path to a GGUF file of the user's own is taken as it is.
    Raises SetupProblem when the name is unknown or the file cannot be had.
    """
    if Path(name.removeprefix("local:")).suffix == ".gguf":
        return _own_file(name)
    weights = known(name)
    path = place(weights)
    if is_checked(path, weights):
        return path
    with _problems_named(path), _alone(path, weights, progress or _silent):
        if not is_checked(path, weights) and not _now_checked(path, path, weights, progress or _silent):
            _fetch(weights, path, progress or _silent)
    return path


def known(name: str) -> Weights:
    """The catalogue's entry, or a SetupProblem with the nearest names."""
    if name not in CATALOG:
        near = nearest(name)
        raise SetupProblem(
            f"There is no model {name!r}. Did you mean {' or '.join(near)}? Type: ./burnish models pull {near[0]}"
        )
    return CATALOG[name]


def place(weights: Weights) -> Path:
    """Where the file belongs, whether it is there or not."""
    return places.models() / weights.file


def is_checked(path: Path, weights: Weights) -> bool:
    """True when this very file has been hashed before; costs no reading."""
    try:
        stat = path.stat()
        note = json.loads(_note(path).read_text())
    except (OSError, ValueError):
        return False
    return bool(note == {"bytes": stat.st_size, "mtime_ns": stat.st_mtime_ns, "sha256": weights.sha256})


def _own_file(name: str) -> Path:
    path = Path(name.removeprefix("local:")).expanduser().absolute()
    if not path.is_file():
        raise SetupProblem(f"There is no file {str(path)!r}. Name a GGUF file that exists: --model local:/path/to.gguf")
    return path


def _fetch(weights: Weights, path: Path, progress: Progress) -> None:
    """Ask each source in turn. Bytes with a wrong hash are kept aside and fetched again once, from the next source."""
    folder = path.parent / f".fetch-{weights.file}"
    folder.mkdir(exist_ok=True)
    left, tried, wrong = list(sources.SOURCES), [], 0
    while left and wrong < 2:
        source = left.pop(0)
        try:
            fetched = _ask(source, weights, folder, progress)
        except Unavailable as error:
            tried.append(f"{source.name}: {error}")
            continue
        if _now_checked(fetched, path, weights, progress):
            shutil.rmtree(folder, ignore_errors=True)
            return
        wrong += 1
        tried.append(f"{source.name}: the bytes have a wrong SHA-256 (kept aside in {path.parent})")
        shutil.rmtree(folder / "parts", ignore_errors=True)
        left = left or [source]
    raise _not_to_be_had(weights, tried)


def _ask(source: Source, weights: Weights, folder: Path, progress: Progress) -> Path:
    _make_room(weights, folder, source)
    progress(0, weights.bytes, source.name)
    return source.fetch(weights, folder, lambda done: progress(done, weights.bytes, source.name))


def _now_checked(file: Path, path: Path, weights: Weights, progress: Progress) -> bool:
    """Hash a file: a right one goes to its place with a note that it was checked, a wrong one is kept aside."""
    if not file.exists():
        return False
    found = _sha256(file, lambda done: progress(done, weights.bytes, "checking the SHA-256"))
    if found != weights.sha256:
        file.replace(path.with_name(f".bad-{found[:12]}-{path.name}"))
        return False
    file.replace(path)
    stat = path.stat()
    note = {"bytes": stat.st_size, "mtime_ns": stat.st_mtime_ns, "sha256": found}
    fresh = _note(path).with_suffix(".new")
    fresh.write_text(json.dumps(note))
    fresh.replace(_note(path))
    return True


def _sha256(path: Path, report: Callable[[int], None]) -> str:
    digest = hashlib.sha256()
    done = 0
    with path.open("rb") as file:
        while block := file.read(8 * BLOCK_BYTES):
            digest.update(block)
            done += len(block)
            report(done)
    return digest.hexdigest()


def _make_room(weights: Weights, folder: Path, source: Source) -> None:
    """Refuse before the first byte rather than after the last one that fits."""
    there = sources.folder_size(folder)
    needed = max(weights.bytes * source.copies - there, 0) + SPARE_BYTES
    if shutil.disk_usage(folder).free < needed:
        raise _disk_full(folder.parent, needed)


@contextmanager
def _alone(path: Path, weights: Weights, progress: Progress) -> Iterator[None]:
    """One process at a time fetches a file; the others wait for it and say so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with (path.parent / f".lock-{path.name}").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(0, weights.bytes, "another Burnish process is fetching them; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def _problems_named(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise _disk_full(path.parent, None) from error
        if error.errno in (errno.EACCES, errno.EROFS, errno.EPERM):
            raise _read_only(path.parent) from error
        raise


def _disk_full(folder: Path, needed: int | None) -> SetupProblem:
    amount = f"{needed:,} bytes are needed" if needed else "The disk is full"
    return SetupProblem(
        f"There is too little room for the weights: {amount} in {folder}. Free some space, or keep them on another"
        f" disk: export BURNISH_CACHE=/a/folder/with/room"
    )


def _read_only(folder: Path) -> SetupProblem:
    return SetupProblem(
        f"The weights belong in {folder}, but nothing can be written there. Name a folder that you may write to:"
        f" export BURNISH_CACHE=/a/folder/of/yours"
    )


def _not_to_be_had(weights: Weights, tried: list[str]) -> SetupProblem:
    return SetupProblem(
        f"The weights of {weights.name} could not be fetched. Tried {'; '.join(tried)}. With a GGUF file of your own,"
        f" use --model local:/path/to.gguf; or try again when there is a network: ./burnish models pull {weights.name}"
    )


def _note(path: Path) -> Path:
    return path.with_name(f"{path.name}.checked")


def _silent(done: int, total: int, source: str) -> None:
    """Nobody wants to know."""
