"""What a project asks of its code, read from its own files: style in a line, and a few words of AGENTS.md and
CONTRIBUTING.md.

It is an input, shown in the report. It reaches the prompt cut short, and nothing else: no word of it changes what runs,
where it runs, or which tests decide.
"""

import re
import tomllib
from contextlib import suppress
from pathlib import Path

from burnish.text import one_line

FILES = ("AGENTS.md", "CONTRIBUTING.md", "CONTRIBUTING.rst", ".ruff.toml", "ruff.toml", "pyproject.toml")
MOST_CHARACTERS, MOST_BYTES = 300, 100_000
MOST_LOOKED_AT = 20_000
"""Characters of one text: comments that never end take a time that grows with its square."""
_QUOTES = {"single": "single quotes", "double": "double quotes"}
_MARKUP = re.compile(r"<!--.*?-->|```.*?```|[#*`>|_]+", re.DOTALL)
_SENTENCE_END = re.compile(r"\n\s*\n|\n\s*[-+]\s|(?<=[.!?])\s")
_ABOUT_CODE = re.compile(
    r"\b(style|conventions?|formatt?(ed|ing)|pep ?\d+|docstrings?|type (hints?|annotations?)|annotat\w+|naming|names"
    r"|quotes|imports?|line length|indent\w*|compatib\w+)\b",
    re.IGNORECASE,
)


def read_guidance(root: Path) -> tuple[tuple[str, ...], str]:
    """The files that were read, by name, and what a prompt says of them; empty where nothing is asked for."""
    texts = {}
    for path in (root / name for name in FILES):
        with suppress(OSError):
            if path.is_file() and not path.is_symlink():
                with path.open("rb") as file:
                    texts[path.name] = file.read(MOST_BYTES).decode("utf-8", "replace")
    project = _parse(texts.get("pyproject.toml", ""))
    ruff = next(
        (_parse(texts[name]) for name in (".ruff.toml", "ruff.toml") if name in texts), _find(project, "tool.ruff")
    )
    black, requires = _find(project, "tool.black"), _find(project, "project.requires-python")
    length = _find(ruff, "line-length") or _find(black, "line-length")
    target = re.search(r"py3(\d+)", str(_find(ruff, "target-version") or _find(black, "target-version")))
    target = target or re.search(r">=\s*3\.(\d+)", str(requires))
    convention = str(_find(ruff, "lint.pydocstyle.convention"))
    style = [
        f"lines of at most {length} characters" if isinstance(length, int) and 40 <= length <= 400 else "",
        _QUOTES.get(str(_find(ruff, "format.quote-style")), ""),
        f"docstrings as {convention} has them" if convention in ("google", "numpy", "pep257") else "",
        f"Python 3.{target[1][:2]} and later" if target else "",
    ]
    asks = _find(project, "tool.ruff") or black or requires
    used = [name for name, text in texts.items() if (asks if name == "pyproject.toml" else text)]
    said = "; ".join(filter(None, style))
    # The first words of AGENTS.md, which are meant for us, and what CONTRIBUTING says of the code itself.
    plain = {name: _MARKUP.sub(" ", text[:MOST_LOOKED_AT]) for name, text in texts.items() if "toml" not in name}
    quoted = [plain.pop("AGENTS.md", "")]
    for text in plain.values():
        sentences = [sentence for sentence in _SENTENCE_END.split(text) if "http" not in sentence]
        quoted.append(" ".join(filter(_ABOUT_CODE.search, sentences)))
    found = [text for text in quoted if text.strip()]
    words = [one_line(text, MOST_CHARACTERS // len(found)) for text in found]
    return tuple(used), " ".join([*([f"{said[:1].upper()}{said[1:]}."] if said else []), *words])


def _parse(text: str) -> object:
    """The table; an empty one where it is none, so that no setting of style is in the way of a repair."""
    with suppress(ValueError, RecursionError):  # a number of many digits is no TOMLDecodeError
        return tomllib.loads(text)
    return {}


def _find(table: object, path: str) -> object:
    """The value at a dotted path; None where there is none, whatever is there instead of a table."""
    for key in path.split("."):
        table = table.get(key) if isinstance(table, dict) else None
    return table
