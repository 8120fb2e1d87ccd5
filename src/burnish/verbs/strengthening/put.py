"""New files beside those that are there: each whole or not at all, and never over another."""

import contextlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from burnish.checks.suite_finder import is_named_as_test
from burnish.errors import SetupProblem
from burnish.text import one_line


def put_beside(root: Path, files: Mapping[Path, str], tests: Sequence[Path]) -> list[Path]:
    """Write new files; those that are there stay, and where one cannot be written none is. Raises SetupProblem.

    `tests` are the files and folders of tests below the root. Nothing but a test is written, and nowhere but there.
    """
    for path in files:
        _must_belong(root, path, tests)
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


def _must_belong(root: Path, path: Path, tests: Sequence[Path]) -> None:
    """The record that names root and tests may be a stranger's, and the project's folders may be links."""
    there = [root / test for test in tests if (root / test).exists()]
    places = [place if place.is_dir() else place.parent for place in there]
    folder = (root / path).parent
    beside = any(folder.resolve().is_relative_to(place.resolve()) for place in places)
    if not (beside and is_named_as_test(path) and folder.resolve().is_relative_to(root.resolve())):
        raise SetupProblem(
            f"{one_line(str(root / path), 300)!r} is no test beside the tests of the run, so nothing was written. "
            f"The new tests are kept with the run; look at it with: burnish show last"
        )


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
