"""New files beside those that are there: each whole or not at all, and never over another."""

import contextlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from burnish.errors import SetupProblem


def put_beside(root: Path, files: Mapping[Path, str]) -> list[Path]:
    """Write new files; those that are there stay, and where one cannot be written none is. Raises SetupProblem."""
    done: list[Path] = []
    try:
        for path, text in files.items():
            _write(root / path, text)
            done.append(root / path)
    except BaseException as error:
        for file in done:
            file.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise SetupProblem(
                f"The new tests could not be written ({error.strerror}: {error.filename}). They are kept with the run; "
                f"look at it with: burnish show last"
            ) from error
        raise
    return done


def _write(place: Path, text: str) -> None:
    """All at once, under a name that is still free."""
    handle, name = tempfile.mkstemp(prefix=f".{place.name}.", dir=place.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o666 & ~_umask())
        os.link(name, place)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)  # noqa: PTH108


def _umask() -> int:
    """What the user does not want others to do with new files."""
    now = os.umask(0o077)
    os.umask(now)
    return now
