"""Files that are there whole or not at all, whatever happens meanwhile, and that are never written through a link."""

import os
import secrets
from pathlib import Path

PRIVATE = 0o600
"""For files that only their owner may read."""


def write_whole(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Write beside the file, make it last, then give it its name; a reader sees the old content or the new.

    The folder may come from a stranger, who can guess names: the file beside has one that nobody knows, and a link that
    lies under the final name is replaced, not followed.
    """
    beside = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
