"""What leaves this machine with a folder names no place of it, and holds no secret."""

import os
import re
from pathlib import Path, PurePosixPath

LINE = 2_000
"""Characters of a remark."""
_HOME = re.compile(r"/(?:home|Users)/[\w@+-][\w.@+-]*(?<!\.)")
_PLACE = re.compile(r"(?<![\w./~-])~?/+(?:[\w.@+~-]+/+)+[\w.@+~-]*")
_ADDRESS = re.compile(r"\bhttps?://[^\s'\"`,;)]+")
_SECRET = re.compile(r"key|token|secret|passw|credential", re.IGNORECASE)
SHORTEST_SECRET = 12
"""Shorter ones may be any word."""
OF_FILES = (".gguf", ".json")


def discreet(text: str, most: int = LINE) -> str:
    """The text with only the last name of each absolute path, without homes, addresses of servers, secret variables."""
    for secret in _secrets():
        text = text.replace(secret, "(secret)")
    text = _ADDRESS.sub("(an address)", text)
    text = _HOME.sub("~", _without_home(text))
    return _PLACE.sub(lambda found: PurePosixPath(found[0]).name, text)[:most]


def model_name(name: str) -> str:
    """The name of a model; of one that is a file here, the file's own name."""
    provider, colon, rest = name.partition(":")
    is_file = rest.startswith(("/", "~", ".")) or rest.endswith(OF_FILES)
    return discreet(f"{provider}:{PurePosixPath(rest).name}" if colon and is_file else name)


def _without_home(text: str) -> str:
    try:
        home = Path.home()
    except RuntimeError:
        return text
    return re.sub(rf"{re.escape(str(home))}(?![\w-])", "~", text) if home != Path("/") else text


def _secrets() -> list[str]:
    named = [value for name, value in os.environ.items() if _SECRET.search(name)]
    return sorted((value for value in named if len(value) >= SHORTEST_SECRET), key=len, reverse=True)
