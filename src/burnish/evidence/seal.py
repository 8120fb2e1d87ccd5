"""One text for one content, and the hash over it: whoever edits the file without making it anew is noticed."""

import hashlib
import json
from typing import Any

from burnish.evidence.form import Dossier


def canonical(data: Any) -> bytes:
    """The same bytes for the same content, whatever the order of keys and the layout were."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def seal_of(data: dict[str, Any]) -> str:
    """The hash over all but the seal itself."""
    return hashlib.sha256(canonical({key: value for key, value in data.items() if key != "seal"})).hexdigest()


def sealed(dossier: Dossier) -> Dossier:
    """The dossier with its seal."""
    return dossier.model_copy(update={"seal": seal_of(dossier.model_dump(mode="json"))})


def as_text(dossier: Dossier) -> str:
    """The text of `evidence.json`: for people too, in ASCII, so that a model's words are harmless in a terminal."""
    return json.dumps(dossier.model_dump(mode="json"), indent=1, allow_nan=False) + "\n"
