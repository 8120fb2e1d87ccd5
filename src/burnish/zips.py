"""Zips that somebody else may have made: each entry is looked at before one is written, and its bytes are counted."""

import io
import re
import stat
import zipfile
import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from burnish.errors import SetupProblem
from burnish.text import one_line, strip_controls

MOST_DEPTH = 20
FEW_BYTES = 1 << 20
"""Up to here it does not matter how well something is packed."""
LONGEST = 200
"""Bytes in a name."""
ENTRY_MARK, ENTRY_HEAD = b"PK\x01\x02", 30
"""What each line of a zip's directory begins with, and the least that stands before the bytes of a file."""


@dataclass(frozen=True)
class ZipLimits:
    """How much a zip may hold, and what somebody is to do whose zip is refused."""

    entries: int
    unpacked_bytes: int
    ratio: int
    """How many times as large as the zip all of it may be."""
    advice: str


def unpack_zip(name: str, data: bytes, folder: Path, limits: ZipLimits, left_out: Collection[str] = ()) -> None:
    """Write what is in a zip below `folder`, without files and folders named in `left_out`.

    Raises SetupProblem for what is no zip, and for what could do harm; some files may be written by then.
    """
    if data.count(ENTRY_MARK) > limits.entries:  # counted before any is read
        raise SetupProblem(f"The zip holds more than {limits.entries:,} files. {limits.advice}")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _refuse_overlap(archive, limits.advice)
            entries = [entry for entry in archive.infolist() if not {*left_out} & {*entry.orig_filename.split("/")}]
            for entry in entries:
                if why := _explain_refusal(entry):
                    raise SetupProblem(f"The zip holds {why}: {one_line(entry.orig_filename, 80)!r}. {limits.advice}")
            _write_entries(
                archive, entries, folder, min(limits.unpacked_bytes, limits.ratio * len(data)), limits.advice
            )
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        raise SetupProblem(f"The zip holds several things under one name. {limits.advice}") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise SetupProblem(f"{one_line(name, 80)!r} is no zip, or it is damaged. {limits.advice}") from error


def _refuse_overlap(archive: zipfile.ZipFile, advice: str) -> None:
    """Raises SetupProblem where files share their bytes: that is how little becomes very much."""
    ends_before = archive.start_dir
    for entry in sorted(archive.infolist(), key=lambda entry: -entry.header_offset):
        if entry.header_offset + ENTRY_HEAD + entry.compress_size > ends_before:
            raise SetupProblem(f"The zip holds files within files, as no usual program makes it. {advice}")
        ends_before = entry.header_offset


def _explain_refusal(entry: zipfile.ZipInfo) -> str:
    """Why a file of a zip is not taken; empty where it is."""
    name = entry.orig_filename  # `filename` ends where a zero byte stands
    parts = name.split("/")
    if strip_controls(name) != name or "\n" in name or "\t" in name:
        return "a name with characters that cannot be seen"
    if name.startswith("/") or "\\" in name or ".." in parts or re.match("[A-Za-z]:", name):
        return "a name that leads out of the folder"
    if len(parts) > MOST_DEPTH or any(len(part.encode()) > LONGEST for part in parts):
        return "a name that is too long, or too many folders in folders"
    if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "a link or a device where a file should be"
    if entry.flag_bits & 1:
        return "a file that is locked with a password"
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "a file that is packed in an unusual way"
    return ""


def _write_entries(
    archive: zipfile.ZipFile, entries: Sequence[zipfile.ZipInfo], top: Path, most_bytes: int, advice: str
) -> None:
    """Write files and folders below `top`; what they unpack to is counted while they do."""
    count = 0
    for entry in entries:
        path = top.joinpath(*(part for part in entry.filename.split("/") if part not in ("", ".")))
        (path if entry.is_dir() else path.parent).mkdir(parents=True, exist_ok=True)
        if entry.is_dir():
            continue
        with archive.open(entry) as source, path.open("xb") as target:
            while piece := source.read(1 << 16):
                count += len(piece)
                if count > most_bytes:
                    raise SetupProblem(f"The zip unpacks to far more than it seems to hold. {advice}")
                target.write(piece)
    if not any(path.is_file() for path in top.rglob("*")):
        raise SetupProblem(f"The zip is empty. {advice}")
