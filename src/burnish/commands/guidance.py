"""What a project asks of its code, read from its own files: style in a line, and the first words of AGENTS.md.

It is an input, shown in the report. It reaches the prompt cut short, and nothing else: no word of it changes what runs,
where it runs, or which tests decide.
"""

import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from burnish.checks.project import tool_table
from burnish.text import one_line

FILES = ("AGENTS.md", "CONTRIBUTING.md", "CONTRIBUTING.rst", "ruff.toml", ".ruff.toml", "pyproject.toml")
MOST_CHARACTERS, MOST_BYTES = 300, 100_000
_QUOTES = {"single": "single quotes", "double": "double quotes"}
_MARKUP = re.compile(r"<!--.*?-->|```.*?```|[#*`>|_]+", re.DOTALL)


def read_guidance(root: Path) -> tuple[tuple[str, ...], str]:
    """The files that were read, by name, and what a prompt says of them; empty where nothing is asked for."""
    texts = {}
    for file in (root / name for name in FILES):
        with suppress(OSError):
            if file.is_file() and not file.is_symlink() and (start := file.read_bytes()[:MOST_BYTES]):
                texts[file.name] = start.decode("utf-8", "replace")
    ruff: Mapping[str, Any] = {}
    with suppress(tomllib.TOMLDecodeError):
        ruff = tomllib.loads(texts.get("ruff.toml") or texts.get(".ruff.toml", ""))
    tools = tool_table(root) if "pyproject.toml" in texts else {}
    ruff, black = ruff or tools.get("ruff", {}), tools.get("black", {})
    length = ruff.get("line-length") or black.get("line-length")
    quotes = _QUOTES.get(str(ruff.get("format", {}).get("quote-style", "")))
    target = re.search(r"py(3)(\d+)", str(ruff.get("target-version") or black.get("target-version", "")))
    style = [
        f"lines of at most {length} characters" if isinstance(length, int) else "",
        quotes or "",
        f"Python {target[1]}.{target[2]} and later" if target else "",
    ]
    used = [name for name in texts if name != "pyproject.toml" or ruff or black]
    words = one_line(_MARKUP.sub(" ", texts.get("AGENTS.md", "")), MOST_CHARACTERS)
    said = "; ".join(part for part in style if part)
    return tuple(used), " ".join(filter(None, [f"{said[:1].upper()}{said[1:]}." if said else "", words]))
