"""Where evaluations are kept, and how one is found again by the name that a user types."""

import secrets
from difflib import get_close_matches
from pathlib import Path

from burnish.errors import SetupProblem
from burnish.paths import home
from burnish.text import slug

FILE = "eval.json"
"""The file that makes a folder an evaluation."""


def place() -> Path:
    """The folder of evaluations that were not put elsewhere with --out."""
    return home() / "evals"


def fresh(name: str) -> Path:
    """A folder that does not exist yet, with a name that people can type."""
    for _ in range(100):
        path = place() / f"{slug(name, 40)}-{secrets.token_hex(2)}"
        if not path.exists():
            return path
    raise SetupProblem(
        f"Could not find a free name for an evaluation in {place()}. Remove old ones: rm -r {place()}/NAME"
    )


def check_free(path: Path) -> None:
    """Raise unless the folder can be made, or is there and empty."""
    if path.is_dir() and not any(path.iterdir()):
        return
    if path.exists() or path.is_symlink():
        raise SetupProblem(
            f"{str(path)!r} exists and is no evaluation, and Burnish never overwrites. Name a new folder: --out DIR"
        )


def kept() -> list[Path]:
    """Every evaluation in the usual place, newest first."""
    found = place().iterdir() if place().is_dir() else ()
    folders = [folder for folder in found if (folder / FILE).is_file()]
    return sorted(folders, key=lambda folder: (folder / FILE).stat().st_mtime_ns, reverse=True)


def find(name: str) -> Path:
    """The folder of an evaluation: by id, by the beginning of one, "last", or by its path."""
    path = Path(name).expanduser()
    if name and (path / FILE).is_file():
        return path.absolute()
    folders = kept()
    if name == "last" and folders:
        return folders[0]
    matches = [folder for folder in folders if folder.name == name]
    matches = matches or [folder for folder in folders if name and folder.name.startswith(name)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        names = ", ".join(sorted(folder.name for folder in matches))
        raise SetupProblem(f"{name!r} could be any of {names}. Type a little more of the id.")
    raise _unknown(name, [folder.name for folder in folders])


def _unknown(name: str, known: list[str]) -> SetupProblem:
    near = get_close_matches(name, known, n=3, cutoff=0.4)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    return SetupProblem(f"There is no evaluation {name!r}.{hint} See which there are with: burnish eval list")
