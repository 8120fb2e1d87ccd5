"""Public data files: from a folder the user names, from the cache, or from their public home.

The hash decides, not the address: what is downloaded is kept only if it has the pinned SHA-256. A file in a folder that
the user named is taken as it is; the tasks made of it are hashed into every result.
"""

import gzip
import hashlib
import json
import os
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any

from burnish import paths
from burnish.errors import SetupProblem

Progress = Callable[[int, int, str], None]
"""Bytes so far, bytes in all, where they come from."""
Row = dict[str, Any]

TIMEOUT_SECONDS = 10.0
BLOCK_BYTES = 1 << 16
NO_ANSWER = (urllib.error.URLError, HTTPException, TimeoutError, ConnectionError, OSError)
_HUB = "hub:"
"""Stands for the hub's address, which is looked up when it is asked."""
_RAW = "https://raw.githubusercontent.com"


@dataclass(frozen=True)
class DataFile:
    """One public file, and the addresses where its bytes may be had."""

    name: str
    sha256: str
    bytes: int
    sources: tuple[str, ...]

    @property
    def addresses(self) -> tuple[str, ...]:
        """The sources, in the order they are asked."""
        return tuple(source.replace(_HUB, paths.hub_address(), 1) for source in self.sources)


HUMANEVALPACK = DataFile(
    "humanevalpack-python.jsonl",
    "b1376d72be4bd016a62ad043d9de3846edb8d63edf1222da802a31330c14c3a7",
    537907,
    (
        f"{_HUB}/datasets/bigcode/humanevalpack/resolve/main/data/python/data/humanevalpack.jsonl",
        f"{_RAW}/bigcode-project/octopack/main/evaluation/create/humaneval-x/data/python/data/humanevalpack.jsonl",
    ),
)
MBPP = DataFile(
    "mbpp.jsonl",
    "ccf64ceae9c5403bf50a044cb6d505bfd2a2963ee58338ba268fd65beab92a9f",
    563743,
    (f"{_RAW}/google-research/google-research/master/mbpp/mbpp.jsonl",),
)
MBPPPLUS = DataFile(
    "MbppPlus.jsonl.gz",
    "af43697e8791c4c149bdfd6b489d8b5412507551ac20e28a439f650b8225db63",
    336032,
    ("https://github.com/evalplus/mbppplus_release/releases/download/v0.2.0/MbppPlus.jsonl.gz",),
)


def find(file: DataFile, data: Path | None = None, progress: Progress | None = None) -> Path:
    """The file on this machine: in `data`, in BURNISH_DATA, in the cache, or fetched into the cache now."""
    named = [folder for folder in (data, _from_environment()) if folder is not None]
    for folder in named:
        if not folder.is_dir():
            raise SetupProblem(
                f"There is no folder {str(folder)!r} to read benchmark data from. "
                f"Name one that holds {file.name!r}: export BURNISH_DATA=/path/to/folder"
            )
        if (folder / file.name).is_file():
            return folder / file.name
    kept = paths.cache() / "data" / file.name
    if kept.is_file() and _sha256(kept.read_bytes()) == file.sha256:
        return kept
    return _fetch(file, kept, named, progress or _silent)


def read_rows(path: Path) -> list[Row]:
    """The rows of a JSON-lines file, unpacked if its name says so."""
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
        rows = [json.loads(line) for line in text.split("\n") if line.strip()]
    except (OSError, EOFError, ValueError) as error:
        raise damaged(path, f"{type(error).__name__}: {error}") from error
    if not all(isinstance(row, dict) for row in rows):
        raise damaged(path, "a row is not a JSON object")
    return rows


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Rows that are not what the benchmark publishes are the file's fault, and said so."""
    try:
        yield
    except (LookupError, TypeError, AttributeError, ValueError, SyntaxError) as error:
        raise damaged(path, f"a row has not the fields it should: {type(error).__name__}: {error}") from error


def damaged(path: Path, why: str) -> SetupProblem:
    """What to say of a data file that cannot be read."""
    return SetupProblem(
        f"The data file {str(path)!r} cannot be used ({why}). Put an unchanged copy in its place, or move it away "
        f"and let Burnish fetch one: mv {path} {path}.bad"
    )


def _from_environment() -> Path | None:
    named = os.environ.get("BURNISH_DATA")
    return Path(named).expanduser() if named else None


def _fetch(file: DataFile, kept: Path, looked: list[Path], progress: Progress) -> Path:
    """Ask each address in turn; other bytes than the pinned ones are passed over."""
    tried = []
    for address in file.addresses:
        host = address.split("/")[2]
        try:
            found = _download(address, file, lambda done, host=host: progress(done, file.bytes, host))  # type: ignore[misc]
        except NO_ANSWER as error:
            tried.append(f"{host}: {getattr(error, 'reason', error) or type(error).__name__}")
            continue
        if _sha256(found) == file.sha256:
            return _keep(found, kept)
        tried.append(f"{host}: its file has a wrong SHA-256")
    raise _not_to_be_had(file, kept, looked, tried)


def _download(address: str, file: DataFile, report: Callable[[int], None]) -> bytes:
    found = b""
    with urllib.request.urlopen(address, timeout=TIMEOUT_SECONDS) as response:
        while len(found) <= file.bytes and (block := response.read(BLOCK_BYTES)):
            found += block
            report(len(found))
    return found


def _keep(found: bytes, kept: Path) -> Path:
    """Write the file under its name only when it is whole."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=kept.parent, delete=False) as file:
        file.write(found)
    return Path(file.name).replace(kept)


def _not_to_be_had(file: DataFile, kept: Path, looked: list[Path], tried: list[str]) -> SetupProblem:
    where = " and ".join(repr(str(folder)) for folder in [*looked, kept.parent])
    return SetupProblem(
        f"The benchmark file {file.name!r} is not in {where}, and it could not be fetched ({'; '.join(tried)}). "
        f"Get it from {' or '.join(file.addresses)}, put it in a folder under the name {file.name!r}, and name "
        "the folder: export BURNISH_DATA=/path/to/folder"
    )


def _sha256(found: bytes) -> str:
    return hashlib.sha256(found).hexdigest()


def _silent(done: int, total: int, where: str) -> None:
    """Nobody is watching."""
