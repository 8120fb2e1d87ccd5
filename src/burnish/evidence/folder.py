"""Reads a delivered folder as what it is: files from anybody. What is wrong is said before anything of it is used.

The rules: nothing in `evidence.json` is believed, followed or run before its size, form, version and seal are right.
Each listed file is read once; what was read is what is run later. A file that is not listed is let be, and named, only
if it is of a kind that nothing runs or obeys when somebody opens or enters the folder with a shell, an editor, git,
Python, pytest or pip. Whatever else lies there is a reason to refuse the folder: the tools that obey some file are too
many to list.
"""

import hashlib
import json
import math
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from burnish.errors import SetupProblem
from burnish.evidence.schema import FILE, FORMAT, VERSION, Dossier
from burnish.parsing import explain_refusal
from burnish.text import one_line

MOST_BYTES = 8 * 1024 * 1024
MOST_DIGITS = 20
DEEPEST = 12
AGAIN = "Ask for the folder as `burnish write` made it, or look at the code alone: burnish check"
MOST_ENTRIES = 2_000
COMPILED = (".pyc", ".pyo")
"""Python may believe such a file and never look at the source, wherever the folder keeps it."""
GIT = ".git"
_HARMLESS = re.compile(
    r"(?:.*/)?(?:[^/]+\.(?:md|txt|rst|log|csv|tsv|png|jpe?g|gif|pdf)"
    r"|readme|licen[cs]e|notice|authors|changelog|cachedir\.tag|\.gitignore|\.gitkeep|\.editorconfig|\.ds_store)"
    r"|\.pytest_cache/v/cache/(?:nodeids|lastfailed|stepwise)|\.ruff_cache/[\d.]+/\d+|\.mypy_cache/.+\.json",
    re.IGNORECASE,
)
_OBEYED = re.compile(
    r"(?:.*/)?(?:test.*\.txt|(?:requirements|constraints).*\.txt|cmakelists\.txt"
    r"|(?:agents|claude|gemini|copilot-instructions|.+\.instructions|.+\.prompt)\.md|[^/]+\.(?:dist-info|egg-info|egg)/.*)",
    re.IGNORECASE,
)
"""Plain text that something acts upon: pytest runs the examples in test*.txt, importlib believes entry_points.txt, and
assistants in editors follow instructions.
"""
_GIT_CONFIG = re.compile(
    r'\s*(?:[#;].*|\[(?:core|user|init|(?:remote|branch) "[\w./-]+")\]'
    r"|(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|name|email"
    r"|defaultbranch|fetch|merge|rebase)\s*=[^\\\"]*|remote\s*=[\w ./-]+|url\s*=\s*(?:https?|ssh|git)(?:://|@)[^\\\"]*)?\s*",
    re.IGNORECASE,
)
"""A line that `git init`, `git clone` and `git config user.name` write. Any other may name a program."""


@dataclass(frozen=True)
class DeliveredFolder:
    """The files as they were read, and all that is not as it should be."""

    files: dict[str, bytes]
    changed: tuple[str, ...]
    unseen: tuple[str, ...] = ()
    """What lies there, is not in the evidence, and was not looked at."""

    def text(self, name: str) -> str:
        """A file as text; what is no text is shown with question marks."""
        return self.files.get(name, b"").decode("utf-8", "replace")


def read_bytes(path: Path, most: int = MOST_BYTES) -> bytes:
    """A regular file, read once and never through a link; ValueError says why not."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise ValueError("is a link" if path.is_symlink() else error.strerror or "cannot be read") from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise ValueError("is not a regular file")
    with os.fdopen(handle, "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise ValueError(f"is larger than {most // 1024 // 1024} MB")
    return data


def read_evidence(folder: Path) -> dict[str, Any]:
    """What `evidence.json` holds, as plain data of the right version. SetupProblem for anything else."""
    if not (folder / FILE).is_symlink() and not (folder / FILE).exists():
        raise SetupProblem(
            f"There is no {FILE} in {str(folder)!r}, so there is nothing to verify. `burnish write` puts one into "
            f"the folder that it delivers. To look at the code alone, type: burnish check {folder}"
        )
    try:
        data = _parse_json(read_bytes(folder / FILE))
    except ValueError as error:
        raise _refuse(one_line(str(error), 200)) from error
    version = data.get("version")
    if data.get("format") != FORMAT or not isinstance(version, int) or isinstance(version, bool):
        raise _refuse(f"does not begin as evidence does (format {FORMAT!r} and a version)")
    if version > VERSION:
        raise SetupProblem(
            f"{FILE} was made by a newer Burnish (its form is version {version}, this one reads up to {VERSION}). "
            "Update Burnish to verify it: git pull"
        )
    if version < 1:
        raise _refuse(f"has a version that never was: {version}")
    return data


def parse_dossier(data: dict[str, Any]) -> Dossier:
    """The data in its form, strictly: no field too many, none of the wrong kind."""
    try:
        dossier = Dossier.model_validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise _refuse(f"has a wrong {one_line(where, 80)!r}: {one_line(first['msg'], 160)}") from error
    if {*dossier.files} != {*dossier.delivered}:
        odd = sorted({*dossier.files} ^ {*dossier.delivered})[0]
        raise _refuse(f"lists other files than Burnish delivers ({one_line(odd, 80)})")
    return dossier


def _parse_json(data: bytes) -> dict[str, Any]:
    """JSON without its traps: huge numbers, numbers that are none, a name that occurs twice, endless nesting."""

    def parse_int(text: str) -> int:
        if len(text) > MOST_DIGITS:
            raise ValueError("holds a number that is too large")
        return int(text)

    def parse_float(text: str) -> float:
        if not math.isfinite(float(text)):
            raise ValueError("holds a number that is too large")
        return float(text)

    def refuse_constant(text: str) -> float:
        raise ValueError(f"holds {text}, which is no number")

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise ValueError("says something twice")
        return dict(pairs)

    try:
        found = json.loads(
            data.decode("utf-8"),
            parse_int=parse_int,
            parse_float=parse_float,
            parse_constant=refuse_constant,
            object_pairs_hook=collect,
        )
    except UnicodeDecodeError as error:
        raise ValueError("is not text") from error
    except RecursionError as error:
        raise ValueError("is nested too deeply") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON: {error.msg} in line {error.lineno}") from error
    if not isinstance(found, dict):
        raise ValueError("is not an object")
    level: list[Any] = [found]
    for _ in range(DEEPEST):
        inner = [one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list)]
        level = [part for parts in inner for part in parts]
    if level:
        raise ValueError("is nested too deeply")
    return found


def _refuse(why: str) -> SetupProblem:
    return SetupProblem(f"{FILE} {why}, so nothing of it can be believed, and nothing was run. {AGAIN} FOLDER")


def read_folder(dossier: Dossier, folder: Path, let_be: Sequence[str] = ()) -> DeliveredFolder:
    """Read every listed file, compare hashes, and name what is missing, changed or too much.

    Folders to `let_be` are named, and not looked into. Raises SetupProblem for a folder with more in it than anybody
    delivers.
    """
    files: dict[str, bytes] = {}
    changed = []
    for name, sha256 in sorted(dossier.files.items()):
        try:
            place = folder
            for part in name.split("/"):  # no part of the way to it may be a link
                place = place / part
                if place.is_symlink():
                    raise ValueError("is a link" if place == folder / name else f"lies behind a link ({place.name})")
            if not place.exists():
                raise ValueError("is missing")
            files[name] = read_bytes(place)
        except ValueError as error:
            changed.append(f"{name} {error}")
            continue
        if hashlib.sha256(files[name]).hexdigest() != sha256:
            changed.append(f"{name} has changed")
        elif name.endswith(".py") and (why := explain_refusal(files[name])):
            changed.append(f"{name} is not what Python would import: {why}")
    known, unseen = {*dossier.files, FILE}, []
    folded = {name.casefold() for name in known}
    for path, mode in _walk(folder, let_be):  # of what is not listed, nothing is opened but the settings of git
        name = path.relative_to(folder).as_posix()
        if name in known:
            continue
        if why := _why_refused(path, mode, name, folded):
            changed.append(f"{one_line(name, 120)} {why}")
        elif name in (GIT, *let_be) or not stat.S_ISDIR(mode):
            unseen.append(name)
    return DeliveredFolder(files, tuple(changed), tuple(unseen))


def _walk(folder: Path, let_be: Sequence[str]) -> Iterator[tuple[Path, int]]:
    """Every file and folder with its mode, none of them followed; of git's own folder, and those, only themselves."""
    seen = 0
    for here, folders, names in os.walk(folder, followlinks=False):
        for name in sorted((*folders, *names)):
            seen += 1
            if seen > MOST_ENTRIES:
                raise SetupProblem(
                    f"There are more than {MOST_ENTRIES} files in {str(folder)!r}, so this is not a folder that "
                    "Burnish delivered. Name that one: burnish verify FOLDER"
                )
            path = Path(here) / name
            yield path, path.lstat().st_mode
        folders[:] = sorted(name for name in folders if Path(here) != folder or name not in (GIT, *let_be))


def _why_refused(path: Path, mode: int, name: str, known: set[str]) -> str:
    """Why the folder is refused for this; "" where it is not."""
    if stat.S_ISLNK(mode):
        return "is a link that the evidence does not know"
    if not path.name.isprintable():
        return "has signs in its name that are not shown"
    if stat.S_ISDIR(mode):
        if not os.access(path, os.R_OK | os.X_OK):
            return "is a folder that cannot be looked into"
        return _why_git_refused(path) if name == GIT else ""
    if not stat.S_ISREG(mode):
        return "is not a regular file"
    if name.lower().endswith(COMPILED):
        return "is compiled code, which Python may run in place of the source; delete it and verify again"
    if name.casefold() in known or _OBEYED.fullmatch(name) or not _HARMLESS.fullmatch(name):
        return "is a file that the evidence does not know"
    return ""


def _why_git_refused(folder: Path) -> str:
    """Git runs hooks, and programs that its settings name, on as little as a prompt that shows the branch."""
    hooks = folder / "hooks"
    elsewhere = [name for name in ("commondir", "config.worktree") if os.path.lexists(folder / name)]
    try:
        if hooks.is_symlink() or (hooks.is_dir() and any(hook.suffix != ".sample" for hook in hooks.iterdir())):
            return "is a folder of git with hooks, which git runs; remove them and verify again"
        lines = read_bytes(folder / "config").decode("utf-8").split("\n") if os.path.lexists(folder / "config") else []
    except (ValueError, OSError):
        return "is a folder of git whose settings cannot be read"
    odd = elsewhere or [line for line in lines if not _GIT_CONFIG.fullmatch(line)]
    return f"is a folder of git with settings that may run something ({one_line(odd[0], 60)})" if odd else ""
