"""Results that took long, kept in the cache with a hash of themselves: a torn or edited file counts as none."""

import hashlib
import json
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from burnish.paths import make_private_folder


def kept(place: Path) -> Any | None:
    """What was kept there, or None when there is nothing that can be trusted."""
    try:
        found = json.loads(place.read_text("utf-8"))
        return found["kept"] if found["sha256"] == _sha256(found["kept"]) else None
    except (OSError, ValueError, LookupError, TypeError):
        return None


def keep(place: Path, what: Any) -> None:
    """Keep it, whole or not at all; a cache that cannot be written only costs time."""
    with suppress(OSError):
        make_private_folder(place.parent)
        with tempfile.NamedTemporaryFile("w", dir=place.parent, delete=False, encoding="utf-8") as file:
            json.dump({"sha256": _sha256(what), "kept": what}, file)
        Path(file.name).replace(place)


def _sha256(what: Any) -> str:
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()
