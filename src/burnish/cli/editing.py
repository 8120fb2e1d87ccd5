"""A file that a person edits in the middle of a run: in their own editor, or elsewhere."""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from burnish.agent.ask import Shown
from burnish.errors import SetupProblem

USUAL = ("nano", "vi")
"""Editors to look for where the person names none."""
MOST_BYTES = 1_000_000
NAMES = {"tests": "test_solution.py", "checks": "solution.py"}


def edited_in_editor(shown: Shown) -> str:
    """What is shown, as the person leaves it in their editor, which has the terminal meanwhile.

    SetupProblem where there is no editor, where it fails, and where nothing was changed.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise SetupProblem("An editor needs a terminal. Edit the file elsewhere, and name it: e FILE")
    before = shown.code if shown.where == "checks" else shown.tests
    with tempfile.TemporaryDirectory(prefix="burnish-review-") as folder:
        file = Path(folder) / NAMES[shown.where]
        file.write_text(before, "utf-8", "replace")
        _open(file)
        text = _read(file)
    if text == before:
        raise SetupProblem("Nothing was changed in the editor. Press Enter to go on with it as it is.")
    return text


def edited_in_file(name: str) -> str:
    """The text of a file that was edited elsewhere; SetupProblem where it cannot be read."""
    return _read(Path(name.strip().strip("'\"")).expanduser())


def editor() -> list[str]:
    """The person's own editor, else one that is usually there."""
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if named and named.strip():
        try:
            return shlex.split(named)
        except ValueError:
            return [named]
    found = next((path for path in map(shutil.which, USUAL) if path), None)
    if found is None:
        raise SetupProblem("There is no editor. Name one before you start, export EDITOR=…, or hand in a file: e FILE")
    return [found]


def _open(file: Path) -> None:
    command = editor()
    try:
        # not in the current folder, which may be a stranger's: some editors obey files that lie there
        code = subprocess.run([*command, str(file)], cwd=file.parent).returncode
    except OSError as error:
        raise SetupProblem(
            f"The editor {command[0]!r} could not be started ({error.strerror}). Hand in a file instead: e FILE"
        ) from error
    if code:
        raise SetupProblem(f"The editor ended with {code}, so nothing was taken from it. Try again: e")


def _read(file: Path) -> str:
    try:
        if file.exists() and not file.is_file():
            raise SetupProblem(f"{str(file)!r} is no plain file. Name a file of Python code: e FILE")
        if file.stat().st_size > MOST_BYTES:
            raise SetupProblem(f"{str(file)!r} is too large. Name a file of Python code: e FILE")
        return file.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise SetupProblem(f"{str(file)!r} cannot be read ({reason}). Name another one: e FILE") from error
