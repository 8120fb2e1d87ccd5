"""The file that is to be repaired: read once, written once, and nothing of it lost on the way."""

import codecs
import contextlib
import hashlib
import itertools
import os
import shlex
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from burnish.checks.bench.project_finder import FOLDERS, find_root, is_collected, is_named_as_test, is_test
from burnish.errors import SetupProblem
from burnish.parsing import decode_source
from burnish.text import one_line

SIGNED = "utf-8-sig"


@dataclass(frozen=True)
class Target:
    """A Python file as it lay on disk when the run began."""

    path: Path
    """As named; a link is followed only when the file is written."""
    text: str
    """Without a byte order mark; line ends as they are."""
    encoding: str
    """UTF-8, with a byte order mark (`SIGNED`) or without."""
    sha256: str


def read_target(path: Path | str) -> Target:
    """The file, or a SetupProblem that says what to name instead."""
    named = Path(path).expanduser()
    full = Path(os.path.abspath(named))  # noqa: PTH100
    _check_is_code(named, full)
    try:
        data = full.read_bytes()
        text = decode_source(data)
    except OSError as error:
        raise SetupProblem(f"{_quote(named)} cannot be read ({error.strerror}). Name a file that can.") from error
    except SyntaxError as error:
        raise SetupProblem(
            f"{_quote(named)} is not Python in UTF-8: {error.msg}. "
            f"Convert it first, without a line that names another encoding: iconv -f latin-1 -t utf-8 {named.name}"
        ) from error
    if not text.strip():
        raise SetupProblem(
            f'{_quote(named)} is empty, so there is nothing to repair. To have code written, type: burnish write "…"'
        )
    encoding = SIGNED if data.startswith(codecs.BOM_UTF8) else "utf-8"
    return Target(full, text, encoding, hashlib.sha256(data).hexdigest())


def _check_is_code(named: Path, full: Path) -> None:
    if full.is_dir():
        inside = sorted(file.name for file in full.glob("*.py") if not is_named_as_test(file))
        example = named / (inside[0] if inside else "FILE.py")
        raise SetupProblem(f"{_quote(named)} is a folder, and one file is repaired at a time: burnish fix {example}")
    if not full.exists():
        raise SetupProblem(f"There is no file {_quote(named)}. Look at the path and try again.")
    if not full.is_file() or full.suffix != ".py":
        raise SetupProblem(f"{_quote(named)} is not Python code: its name does not end in .py. Name a file that does.")
    if not str(full).isprintable():  # a line end in it would be a line of the diff
        raise SetupProblem(f"The path {_quote(named)} holds characters that cannot be printed. Rename the file first.")
    if not full.resolve().is_relative_to(find_root([full]).resolve()):
        raise SetupProblem(
            f"{_quote(named)} is a link that leads out of its project. If that file is meant, name it itself: "
            f"burnish fix {shlex.quote(str(full.resolve()))}"
        )
    if any(_is_test(file) for file in {full, full.resolve()}):
        code = full.name.removeprefix("test_").removesuffix(".py").removesuffix("_test")
        raise SetupProblem(
            f"{_quote(named)} is a test, and Burnish never changes a test. "
            f"Name the code that it tests: burnish fix {code}.py --tests {named}"
        )


def _is_test(file: Path) -> bool:
    """By its name, or by a folder of tests that it lies in; what the project itself lies in does not matter."""
    beside = file.parent.name in FOLDERS and any(is_named_as_test(other) for other in file.parent.glob("*.py"))
    root = find_root([file])
    return is_test(file, root) or file.name == "conftest.py" or beside or is_collected(file, root)


def check_writable(target: Target) -> None:
    """Refuse, before any work is done, a file that could not be put in place."""
    real = target.path.resolve()
    for place, wanted in ((real, os.W_OK), (real.parent, os.W_OK | os.X_OK)):
        if not os.access(place, wanted):
            raise SetupProblem(
                f"{str(place)!r} cannot be written, so a repair could not be put in place. "
                f"Make it writable, or leave out --apply: chmod u+w {place}"
            )


def put_in_place(path: Path, sha256: str, data: bytes) -> Path:
    """Write a file all at once, its old content beside it; returns where that is. Raises SetupProblem, OSError.

    Nothing is written when the file is not what it was: `sha256` is of the content that the repair was made from.
    """
    real = path.resolve()
    before = _read_unchanged(real, sha256)
    handle, name = tempfile.mkstemp(prefix=f".{real.name}.", dir=real.parent)
    backup: Path | None = None
    try:
        backup = keep_beside(real, before)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(real, name)
        with contextlib.suppress(OSError):
            state = real.stat()
            os.chown(name, state.st_uid, state.st_gid)
        _read_unchanged(real, sha256)
        os.replace(name, real)  # noqa: PTH105
    except BaseException:
        for left in (Path(name), *([backup] if backup else [])):
            left.unlink(missing_ok=True)
        raise
    return backup


def _read_unchanged(real: Path, sha256: str) -> bytes:
    data = real.read_bytes() if real.is_file() else b""
    if hashlib.sha256(data).hexdigest() != sha256:
        raise SetupProblem(f"{real.name} has changed on disk since the run began, so it was left as it is.")
    return data


def keep_beside(real: Path, data: bytes) -> Path:
    """Put what a file held beside it, under the first name that is free; returns where that is."""
    for number in itertools.count(1):
        place = real.with_name(f"{real.name}.orig" if number == 1 else f"{real.name}.orig.{number}")
        with contextlib.suppress(FileExistsError):
            handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            break
    try:  # nobody else may read it until it has the mode of the file
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            shutil.copymode(real, place)
    except BaseException:  # no backup is better than half of one
        place.unlink(missing_ok=True)
        raise
    return place


def _quote(path: Path) -> str:
    return repr(one_line(str(path), 200))
