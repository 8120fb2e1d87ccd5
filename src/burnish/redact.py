"""What leaves this machine with a folder names no place of it, and holds no secret."""

import base64
import os
import re
from contextlib import suppress
from pathlib import Path, PurePosixPath
from urllib.parse import quote

MOST_CHARACTERS = 2_000
"""Characters of a remark."""
_HOME = re.compile(r"/(?:home|Users)/[\w@+-][\w.@+-]*(?<!\.)")
_PLACE = re.compile(r"(?<![\w./~-])~?/+(?:[\w.@+~-]+/+)+[\w.@+~-]*")
_ADDRESS = re.compile(r"\bhttps?://[^\s'\"`,;)]+")
_SECRET = re.compile(r"key|token|secret|passw|credential", re.IGNORECASE)
SHORTEST_SECRET = 12
"""Shorter ones may be any word."""
OF_FILES = (".gguf", ".json")
HIDDEN = "(secret)"


class SecretFilter:
    """A text that comes piece by piece, without a secret in it, also where the secret is split over several pieces.

    Stops: the secret as it is, in base64, in hexadecimal digits, and as it stands in an address. Does not stop: any
    other way to write it down, such as backwards or with a space after each letter.
    """

    def __init__(self, secret: str) -> None:
        self._forms = list_encodings(secret) if len(secret) >= SHORTEST_SECRET else ()
        self._held = ""

    def take(self, text: str) -> str:
        """What can be handed on by now; an end that may be the beginning of the secret is held back."""
        text = _hide_forms(self._held + text, self._forms)
        sizes = range(min(len(text), max(map(len, self._forms), default=1) - 1), 0, -1)
        held = next((size for size in sizes if any(form.startswith(text[-size:]) for form in self._forms)), 0)
        self._held = text[len(text) - held :]
        return text[: len(text) - held]

    def rest(self) -> str:
        """What was held back, once nothing more comes."""
        held, self._held = self._held, ""
        return held


def list_encodings(secret: str) -> tuple[str, ...]:
    """The usual ways to write a secret down, the longest first; base64 looks different after one or two other bytes."""
    raw = secret.encode("utf-8", "replace")
    forms = {secret, quote(secret, safe=""), raw.hex(), raw.hex().upper()}
    for before in range(3):
        coded = base64.b64encode(bytes(before) + raw).decode()
        whole = coded[-(-before * 4 // 3) : (before + len(raw)) * 4 // 3]
        forms |= {whole, whole.translate(str.maketrans("+/", "-_"))}
    return tuple(sorted(forms - {""}, key=len, reverse=True))


def _hide_forms(text: str, forms: tuple[str, ...]) -> str:
    for form in forms:
        text = text.replace(form, HIDDEN)
    return text


def redact(text: str, most: int = MOST_CHARACTERS) -> str:
    """The text with only the last name of each absolute path, without homes, addresses of servers, secret variables."""
    named = [value for name, value in os.environ.items() if _SECRET.search(name) and len(value) >= SHORTEST_SECRET]
    for secret in sorted(named, key=len, reverse=True):  # a secret may hold a shorter one
        text = _hide_forms(text, list_encodings(secret))
    text = _ADDRESS.sub("(an address)", text)
    with suppress(RuntimeError):  # this user has no home folder
        if (home := Path.home()) != Path("/"):
            text = re.sub(rf"{re.escape(str(home))}(?![\w-])", "~", text)
    text = _HOME.sub("~", text)
    return _PLACE.sub(lambda found: PurePosixPath(found[0]).name, text)[:most]


def model_name(name: str) -> str:
    """The name of a model; of one that is a file here, the file's own name."""
    provider, colon, rest = name.partition(":")
    is_file = rest.startswith(("/", "~", ".")) or rest.endswith(OF_FILES)
    return redact(f"{provider}:{PurePosixPath(rest).name}" if colon and is_file else name)
