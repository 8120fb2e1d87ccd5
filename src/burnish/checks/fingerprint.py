"""What the files of a project's tests hold, as hashes: tests that are to stay as they are can be seen to change."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

Fingerprint = tuple[tuple[str, str], ...]
"""Each file below the project's root, with the hash of its content; "" for one that is gone."""


def fingerprint(root: Path, tests: Iterable[str], source: Path) -> Fingerprint:
    """Of the files that hold these tests, by pytest's ids, and of every conftest.py above them.

    Examples in the docstrings of the file that is being repaired are no file of tests: that file has to change.
    """
    files = {Path(test.partition("::")[0]) for test in tests} - {source}
    above = {folder / "conftest.py" for file in files for folder in file.parents}
    known = sorted(files | {file for file in above if (root / file).is_file()})
    return tuple((file.as_posix(), _hash(root / file)) for file in known)


def _hash(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""
