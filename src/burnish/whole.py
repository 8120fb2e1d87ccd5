"""Files that are there whole or not at all, whatever happens meanwhile, and that are never written through a link."""

import os
import secrets
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Write beside the file, make it last, then give it its name; a reader sees the old content or the new.

    The folder may come from a stranger, who can guess names: the file beside has one that nobody knows, and a link that
    lies under the final name is replaced, not followed.
    """
    beside = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
