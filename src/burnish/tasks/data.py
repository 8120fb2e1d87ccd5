"""Public data files: from a folder the user names, from the cache, or from their public home.

The hash decides, not the address: what is downloaded is kept only if it has the pinned SHA-256. A file in a folder that
the user named is taken as it is; the tasks made of it are hashed into every result.
"""

import gzip
import hashlib
import json
import os
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


def find_file(file: DataFile, data: Path | None = None, progress: Progress | None = None) -> Path:
    """The file on this machine: in `data`, in BURNISH_DATA, in the cache, or fetched into the cache now."""
    named = os.environ.get("BURNISH_DATA")
    folders = [*([data] if data else []), *([Path(named).expanduser()] if named else [])]
    for folder in folders:
        if not folder.is_dir():
            raise SetupProblem(
                f"There is no folder {str(folder)!r} to read benchmark data from. "
                f"Name one that holds {file.name!r}: export BURNISH_DATA=/path/to/folder"
            )
        if (folder / file.name).is_file():
            return folder / file.name
    kept = paths.cache() / "data" / file.name
    if kept.is_file() and hashlib.sha256(kept.read_bytes()).hexdigest() == file.sha256:
        return kept
    return _fetch(file, kept, folders, progress)


def read_rows(path: Path) -> list[Row]:
    """The rows of a JSON-lines file, unpacked if its name says so."""
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
        rows = [json.loads(line) for line in text.split("\n") if line.strip()]
    except (OSError, EOFError, ValueError) as error:
        raise _damaged_file(path, f"{type(error).__name__}: {error}") from error
    if not all(isinstance(row, dict) for row in rows):
        raise _damaged_file(path, "a row is not a JSON object")
    return rows


@contextmanager
def blame_file(path: Path) -> Iterator[None]:
    """Rows that are not what the benchmark publishes are the file's fault, and said so."""
    try:
        yield
    except (LookupError, TypeError, AttributeError, ValueError, SyntaxError) as error:
        raise _damaged_file(path, f"a row has not the fields it should: {type(error).__name__}: {error}") from error


def _damaged_file(path: Path, why: str) -> SetupProblem:
    return SetupProblem(
        f"The data file {str(path)!r} cannot be used ({why}). Put an unchanged copy in its place, or move it away "
        f"and let Burnish fetch one: mv {path} {path}.bad"
    )


def _fetch(file: DataFile, kept: Path, looked: list[Path], progress: Progress | None) -> Path:
    """Ask each address in turn; other bytes than the pinned ones are passed over."""
    tried = []
    for address in file.addresses:
        host = address.split("/")[2]
        try:
            found = _download(address, host, file, progress)
        except NO_ANSWER as error:
            tried.append(f"{host}: {getattr(error, 'reason', error) or type(error).__name__}")
            continue
        if hashlib.sha256(found).hexdigest() == file.sha256:
            kept.parent.mkdir(parents=True, exist_ok=True)
            paths.write_atomically(kept, found, paths.PRIVATE_MODE)
            return kept
        tried.append(f"{host}: its file has a wrong SHA-256")
    where = " and ".join(repr(str(folder)) for folder in [*looked, kept.parent])
    raise SetupProblem(
        f"The benchmark file {file.name!r} is not in {where}, and it could not be fetched ({'; '.join(tried)}). "
        f"Get it from {' or '.join(file.addresses)}, put it in a folder under the name {file.name!r}, and name "
        "the folder: export BURNISH_DATA=/path/to/folder"
    )


def _download(address: str, host: str, file: DataFile, progress: Progress | None) -> bytes:
    """The bytes at an address; no more than a block beyond what the file has."""
    found = b""
    with urllib.request.urlopen(address, timeout=TIMEOUT_SECONDS) as response:
        while len(found) <= file.bytes and (block := response.read(BLOCK_BYTES)):
            found += block
            if progress:
                progress(len(found), file.bytes, host)
    return found
