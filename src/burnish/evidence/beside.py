"""What lies in a delivered folder beside the files of its evidence.

The rule: a file is let be, and named, only if it is of a kind that nothing runs or obeys when somebody opens or enters
the folder with a shell, an editor, git, Python, pytest or pip. Whatever else lies there is a reason to refuse the
folder: the tools that obey some file are too many to list.
"""

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from burnish.errors import SetupProblem
from burnish.evidence.read import read_bytes
from burnish.text import one_line

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
class Beside:
    """What is not in the evidence: what something would run or obey, in sentences, and by name what nothing does."""

    refused: tuple[str, ...]
    unlisted: tuple[str, ...]


def look_beside(folder: Path, known: set[str]) -> Beside:
    """Everything in the folder that is not among the known files. Nothing is opened but the settings of git.

    Raises SetupProblem for a folder with more in it than anybody delivers.
    """
    refused, unlisted = [], []
    folded = {name.casefold() for name in known}
    for path, mode in _entries(folder):
        name = path.relative_to(folder).as_posix()
        if name in known:
            continue
        if why := _why_refused(path, mode, name, folded):
            refused.append(f"{one_line(name, 120)} {why}")
        elif name == GIT or not stat.S_ISDIR(mode):
            unlisted.append(name)
    return Beside(tuple(refused), tuple(unlisted))


def _entries(folder: Path) -> Iterator[tuple[Path, int]]:
    """Every file and folder with its mode, none of them followed; of git's own folder only itself."""
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
        folders[:] = sorted(name for name in folders if Path(here) != folder or name != GIT)


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
